/* fuzz_convert.h - what the fuzz targets of convert share: bytes become a file, the file is converted, and what comes
   out must be a message or a good graph. */
#ifndef FUZZ_CONVERT_H
#define FUZZ_CONVERT_H
#include <math.h>
#include <signal.h>
#include <sys/resource.h>

#include "datasets/convert.h"
#include "datasets/dataset.h"
#include "datasets/zip.h"
#include "tests/fuzz/fuzz.h"
#include "tests/graph_files.h"

static inline void fuzz_folder(void)
{
    if (folder[0]) return;
    folder_make();
    atexit(folder_remove);
    signal(SIGXFSZ, SIG_IGN); /* sizes that lie are to fail, not to fill the disk */
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){64 << 20, 64 << 20});
}

/* Converts folder/name. Aborts where success gives no good file, or failure no message. */
static inline void fuzz_convert(const char* name, const convert_options* how)
{
    char in[600], out[600];
    error why = {""};
    dataset d;
    ggnn_fault fault;
    if (!convert(folder_path(in, name), folder_path(out, "out.ggnn"), how, &why)) {
        if (!why.text[0]) abort();
        return;
    }
    if (why.text[0] || !dataset_open(&d, out, &why) || !ggnn_file_verify(&d.file)) abort();
    ggnn_graph graph = dataset_graph(&d);
    if (ggnn_graph_validate(&graph, &fault) != GGNN_OK || !dataset_count(&d, &why)) abort();
    for (int64_t v = 0; v < d.num_nodes; v++)
        for (int64_t e = d.csc.indptr[v] + 1; e < d.csc.indptr[v + 1]; e++)
            if (d.csc.indices[e] < d.csc.indices[e - 1]) abort(); /* lists are sorted */
    for (int64_t i = 0; d.edge_feat.rows && d.edge_feat.type == GGNN_F32 && i < d.num_edges * d.edge_feat.width; i++)
        if (!isfinite(((const float*)d.edge_feat.rows)[i])) abort();
    dataset_close(&d);
}

/* One file, all defaults and everything asked for. */
static inline void fuzz_file(const char* name, convert_format format, const uint8_t* data, size_t size)
{
    char path[600];
    fuzz_folder();
    write_file(folder_path(path, name), data, size);
    fuzz_convert(name, &(convert_options){.format = format, .memory = 64 << 20});
    fuzz_convert(name, &(convert_options){.format = format,
                                          .direction = DIRECTION_BOTH,
                                          .loops = LOOPS_ADD,
                                          .num_nodes = MODEL_NODES,
                                          .memory = 64 << 20,
                                          .row_normalise = true,
                                          .half = true,
                                          .split = true,
                                          .share = {.5, .25, .25},
                                          .train = TRAIN_DEGREE});
}

/* A copy of the archive that lies at folder/name, the caller's to free, in which the CRC of every stored member is right, so that changed
   arrays are read to their end. NULL where it is none. */
static inline uint8_t* fuzz_signed(const char* name, const uint8_t* data, size_t size)
{
    char path[600];
    zip_archive z;
    error why = {""};
    if (!zip_open(&z, folder_path(path, name), &why)) return NULL;
    uint8_t* copy = malloc(size);
    memcpy(copy, data, size);
    size_t at = (size_t)z.directory;
    for (int64_t i = 0; i < z.num_members && at + 46 <= size; i++) {
        const zip_member* m = &z.member[i];
        const uint8_t *local = copy + m->header, *entry = copy + at;
        size_t begin = (size_t)m->header + 30 + local[26] + 256u * local[27] + local[28] + 256u * local[29];
        if (m->method != 0 || begin > size || (size_t)m->bytes > size - begin) break;
        uint32_t crc = crc32_more(0, copy + begin, (size_t)m->bytes);
        for (int k = 0; k < 4; k++) copy[at + 16 + (size_t)k] = (uint8_t)(crc >> 8 * k);
        at += 46 + entry[28] + 256u * entry[29] + entry[30] + 256u * entry[31] + entry[32] + 256u * entry[33];
    }
    zip_close(&z);
    return copy;
}

#ifndef FUZZ_LIBFUZZER
static inline size_t fuzz_give(bytes b, uint8_t* out, size_t room)
{
    size_t size = b.size < room ? b.size : 0;
    memcpy(out, b.data, size);
    drop(&b);
    return size;
}
static inline model* fuzz_model(void)
{
    static model m;
    test_state = 1;
    model_make(&m, 30);
    return &m;
}
#endif
#endif
