/* json_stream.h - JSON (RFC 8259) read as a stream: the caller asks for the object, array, key or whole number that it expects,
   and anything else is an error that names file, line, byte and value. So nothing nests deeper than the caller's own calls, and
   nothing is skipped. common/json.h writes JSON; bench/read_json.h finds its way in a text that lies in memory whole, while
   the labels of a graph are hundreds of megabytes. Memory: text.h's buffer, whatever the file's size. */
#ifndef DATASETS_JSON_STREAM_H
#define DATASETS_JSON_STREAM_H
#include "datasets/text.h"

enum { JSON_STREAM_KEY = 240 }; /* bytes of a key as it is written */

typedef struct {
    text t;
    bool first; /* no comma stands before the next part of an object or array */
    bool colon; /* one stands before the next value: a key was read */
} json_stream;

/* The file may be gzipped. json_stream_close is harmless after a failed open. */
bool json_stream_open(json_stream* j, const char* path, error* why);
void json_stream_close(json_stream* j);

/* The first byte of the next value, which stays to be read: '{', '[', '"', of a number, or any other. 0 on failure, and at the
   end, which is one. */
char json_stream_peek(json_stream* j, error* why);

/* Begins an object '{' or an array '['. Of an object json_stream_key is called until it returns 0, and each key's value is read
   after it; of an array json_stream_element is called before each element. 1: there is one; 0: the object or array has ended;
   -1 on failure. key: UTF-8 with its escapes resolved, and without a zero byte. */
bool json_stream_begin(json_stream* j, char bracket, error* why);
int json_stream_key(json_stream* j, char key[JSON_STREAM_KEY + 4], error* why);
int json_stream_element(json_stream* j, error* why);

/* A number without fraction and exponent, within int64 but for its least value. */
bool json_stream_int(json_stream* j, int64_t* value, error* why);

bool json_stream_end(json_stream* j, error* why); /* nothing may follow */

/* text_fail of what was read or looked at last: a key, a value, a bracket. */
bool json_stream_fail(const json_stream* j, const char* what, error* why);
#endif
