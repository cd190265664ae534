/* Fuzzes a checkpoint's sections, as export, info and predict read them: a message, or weights that lie within their section. An
   input is sections: a byte that says which, two of its length, low byte first, its bytes. The container is whole, its checksums
   are good: fuzz_ggnn_file fuzzes that. */
#include <unistd.h>

#include "tests/fuzz/fuzz_convert.h"
#include "trainer/checkpoint.h"
#include "trainer/saved/saved.h"

static const struct {
    const char* name;
    ggnn_file_type type;
} sections[] = {{"options", GGNN_FILE_U8},   {"params", GGNN_FILE_U8},     {"version", GGNN_FILE_U8}, {"graph_crc", GGNN_FILE_I64}, {"data_crc", GGNN_FILE_I64},
                {"counters", GGNN_FILE_I64}, {"sums", GGNN_FILE_F64},      {"value", GGNN_FILE_F32},  {"best", GGNN_FILE_F32}};
enum { SECTIONS = sizeof sections / sizeof *sections, OTHER_TYPE = 128 };

/* False where the writer refuses them: one is there twice. */
static bool write_sections(const char* path, const uint8_t* data, size_t size)
{
    ggnn_file_writer w;
    bool good = ggnn_file_create(&w, path);
    while (good && size >= 3) {
        const int which = data[0] % OTHER_TYPE % SECTIONS;
        const ggnn_file_type type = data[0] & OTHER_TYPE ? GGNN_FILE_F16 : sections[which].type;
        size_t length = (size_t)data[1] | (size_t)data[2] << 8;
        data += 3;
        size -= 3;
        if (length > size) length = size;
        const int64_t count = (int64_t)length / ggnn_file_type_bytes(type);
        good = ggnn_file_append(&w, sections[which].name, type, 1, &count, data);
        data += length;
        size -= length;
    }
    return ggnn_file_commit(&w) && good;
}

/* Reads each weight where it is said to lie. */
static void read_weights(saved* s)
{
    error why = {""};
    const float* values = checkpoint_need(&s->file, s->at.has_best ? "best" : "value", GGNN_FILE_F32, s->floats, &why);
    if (!values) abort();
    for (int32_t i = 0; i < s->tensors; i++) {
        const weight_tensor* t = &s->tensor[i];
        if (t->from < 0 || t->count < 1 || t->from > s->floats || t->count > s->floats - t->from) abort();
        float* room = malloc((size_t)t->count * sizeof *room);
        weights_copy(room, t, values);
        free(room);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static saved s;
    char path[600], text[CONFIG_TEXT_MAX];
    error why = {""};
    checkpoint_widths widths;
    fuzz_folder();
    if (!write_sections(folder_path(path, "fuzz.ckpt"), data, size)) return 0;
    const bool good = saved_open(&s, path, &why);
    if (good != !why.text[0]) abort();
    if (good) {
        config_text(&s.options, text);
        read_weights(&s);
        if (!checkpoint_widths_of(&s.file, &s.options, &widths, &why) && !why.text[0]) abort();
    }
    saved_close(&s);
    return 0;
}

#ifndef FUZZ_LIBFUZZER
static void put_section(bytes* b, int which, const void* data, size_t length)
{
    const uint8_t head[3] = {(uint8_t)which, (uint8_t)(length & 255), (uint8_t)(length >> 8)};
    put(b, head, sizeof head);
    put(b, data, length);
}

/* One of each model, with what adds parameters to it. */
static size_t fuzz_seed(int which, uint8_t* out, size_t room)
{
    static const struct {
        const char *options, *params;
        int floats;
    } of[] = {{"--model gcn --residual --norm layer", "w0 2 3\nb0 1 3\nw_res0 2 3\ngamma0 1 3\nbeta0 1 3\nw1 3 2\nb1 1 2\nw_res1 3 2\n", 35},
              {"--model sage --edge-features", "w_self0 2 3\nw_neigh0 3 3\nb0 1 3\nw_self1 3 2\nw_neigh1 4 2\nb1 1 2\n", 34},
              {"--model sage --aggregator pool", "w_pool0 2 2\nb_pool0 1 2\nw_self0 2 3\nw_neigh0 2 3\nb0 1 3\nw_pool1 3 3\nb_pool1 1 3\nw_self1 3 2\nw_neigh1 3 2\nb1 1 2\n", 47},
              {"--model sage --aggregator gcn", "w0 2 3\nb0 1 3\nw1 3 2\nb1 1 2\n", 17},
              {"--model gat --heads 1 --edge-features", "w0 2 3\na_l0 1 3\na_r0 1 3\nw_e0 1 3\na_e0 1 3\nb0 1 3\nw1 3 2\na_l1 1 2\na_r1 1 2\nw_e1 1 2\na_e1 1 2\nb1 1 2\n", 37},
              {"--model mlp", "w0 2 3\nb0 1 3\nw1 3 2\nb1 1 2\n", 17}};
    static const int64_t crc = 5, crcs[CHECKPOINT_NUM_DATA] = {1, 2, 3, -1, -1, -1}, counters[CHECKPOINT_NUM_COUNTERS] = {1, 0, 1, 9, 1, 1, 0, 1};
    static const double sums[2] = {1, 2};
    float value[64];
    char line[400], text[CONFIG_TEXT_MAX];
    static config c;
    error why = {""};
    bytes b = {0};
    if (which >= (int)(sizeof of / sizeof *of)) return 0;
    snprintf(line, sizeof line, "ggnn-train --data x --layers 2 --hidden 3 --fanout 2,2 %s", of[which].options);
    char* argv[32];
    int argc = 0;
    for (char* at = strtok(line, " "); at; at = strtok(NULL, " ")) argv[argc++] = at;
    argv[argc] = NULL;
    memset(&c, 0, sizeof c);
    if (config_parse(&c, argc, argv, &why) != OPTIONS_GOOD || !config_finish(&c, &why)) abort();
    for (int i = 0; i < 64; i++) value[i] = (float)i;
    put_section(&b, 0, text, config_text(&c, text));
    put_section(&b, 1, of[which].params, strlen(of[which].params));
    put_section(&b, 2, "0.3.0", 5);
    put_section(&b, 3, &crc, sizeof crc);
    put_section(&b, 4, crcs, sizeof crcs);
    put_section(&b, 5, counters, sizeof counters);
    put_section(&b, 6, sums, sizeof sums);
    put_section(&b, 7, value, (size_t)of[which].floats * sizeof *value);
    put_section(&b, 8, value, (size_t)of[which].floats * sizeof *value);
    return fuzz_give(b, out, room);
}
#endif
