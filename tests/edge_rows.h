/* edge_rows.h - a data set with features of edges, and with weights. */
#ifndef EDGE_ROWS_H
#define EDGE_ROWS_H
#include "datasets/ggnn_file.h"
#include "ggnn.h"
#include "tests/test.h"

/* A copy with rows of edges: of column j of edge e a number of both, times `by`. */
static inline void add_edges(const char* from, const char* path, ggnn_file_type type, int64_t width, float by)
{
    ggnn_file f;
    ggnn_file_writer w;
    CHECK(ggnn_file_open(&f, from) && ggnn_file_create(&w, path));
    const int64_t dim[2] = {ggnn_file_find(&f, "indices")->dim[0], width};
    for (int32_t i = 0; i < f.num_sections; i++)
        if (strcmp(f.section[i].name, "edge_feat")) CHECK(ggnn_file_copy(&w, &f, &f.section[i]));
    void* rows = ggnn_file_reserve(&w, "edge_feat", type, 2, dim);
    for (int64_t i = 0; i < dim[0] * width; i++) {
        const float x = by * ((float)(i * 37 % 101) / 64 - .75f);
        if (type == GGNN_FILE_F32) ((float*)rows)[i] = x;
        else ((uint16_t*)rows)[i] = ggnn_float_to_half(x);
    }
    CHECK(ggnn_file_commit(&w));
    ggnn_file_close(&f);
}

/* A copy with a weight for each edge. */
static inline void add_weights_to(const char* from, const char* path, const float* weight)
{
    ggnn_file f;
    ggnn_file_writer w;
    CHECK(ggnn_file_open(&f, from) && ggnn_file_create(&w, path));
    const int64_t edges = ggnn_file_find(&f, "indices")->dim[0];
    for (int32_t i = 0; i < f.num_sections; i++) CHECK(ggnn_file_copy(&w, &f, &f.section[i]));
    CHECK(ggnn_file_append(&w, "weight", GGNN_FILE_F32, 1, &edges, weight) && ggnn_file_commit(&w));
    ggnn_file_close(&f);
}
#endif
