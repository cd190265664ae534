/* options.h - a command line's long options from one table: parsing, checks, help. --name value or --name=value. */
#ifndef COMMON_OPTIONS_H
#define COMMON_OPTIONS_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "error.h"

typedef enum {
    OPTION_FLAG,   /* bool*            --name, no value */
    OPTION_INT,    /* int64_t*         within low .. high; decimal */
    OPTION_REAL,   /* double*          within low .. high; finite */
    OPTION_BYTES,  /* int64_t*         within low .. high; 64M, 1.5GiB: powers of 1024 */
    OPTION_TEXT,   /* const char**     any text */
    OPTION_CHOICE, /* int*             which of choices, "gcn|sage|gat", from 0 */
    OPTION_LIST    /* option_list*     1 to OPTION_LIST_MAX integers within low .. high: 15,10,5 */
} option_kind;

enum { OPTION_LIST_MAX = 1024 };
typedef struct {
    int32_t count;
    int64_t value[OPTION_LIST_MAX];
} option_list;

typedef struct {
    const char* name; /* without the dashes; NULL ends the table */
    option_kind kind;
    void* value;         /* holds the default; overwritten where the option is given, the last time counts */
    double low, high;    /* both 0: no limit. Limits up to 2^53 are exact */
    const char* choices; /* OPTION_CHOICE's; for other kinds what help calls the value: "FILE", "N" */
    const char* help;    /* one sentence; the default is added where it is within the limits. NULL: not listed */
    bool* given;         /* NULL, or set to true where the option is given */
} option;

typedef enum { OPTIONS_GOOD, OPTIONS_HELP, OPTIONS_WRONG } options_result;

/* Reads argv[1 .. argc), where "--" ends the options. What is no option goes to argument[0 .. *num_arguments), of
   which there must be at least min and at most max. OPTIONS_HELP: --help was given, nothing else was checked after
   it. OPTIONS_WRONG: why names the option and the value. */
options_result options_parse(const option* table, int argc, char** argv, const char** argument, int* num_arguments,
                             int min, int max, error* why);

/* The option's value from text, as the command line has it; a flag's is true. */
bool options_set(const option* o, const char* text, error* why);

/* The other way: the value as the command line has it, "" of a choice below 0, a text that is NULL, an empty list; of a flag "true" or
   "false". */
void options_text(const option* o, char* text, size_t size);

/* True where --version is the first word: prints the program's name and ggnn's version. */
bool options_version(const char* program, int argc, char** argv);

/* The table as help, wrapped, defaults included: call it before parsing, as value holds them. */
void options_help(const option* table, FILE* out);

/* One number or list by the rules above; name is what errors call it. */
bool options_int(const char* name, const char* text, double low, double high, int64_t* value, error* why);
bool options_real(const char* name, const char* text, double low, double high, double* value, error* why);
bool options_bytes(const char* name, const char* text, double low, double high, int64_t* value, error* why);
bool options_ints(const char* name, const char* text, double low, double high, option_list* list, error* why);

/* The index of text in "a|b|c", or -1. */
int options_choice(const char* choices, const char* text);

/* The entry of "a|b|c" that text is most likely a slip of, copied into nearest; false where none is near. */
bool options_nearest(const char* choices, const char* text, char nearest[64]);
#endif
