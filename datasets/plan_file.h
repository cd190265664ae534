/* plan_file.h - rankings and partitions: small .ggnn files beside a graph, which name it by its CRC.

   A ranking has the sections
     rank_rows  (N)  i32 | i64   the rank of each node's row, hottest 0: a permutation
     rank_lists (N)  i32 | i64   the rank of each node's list
     cached     (2)  i64         rows and lists that a budget holds, where it was made for one; else absent
     budget     (1)  i64         that budget in bytes, of lists with two entries each (ggnn_sizes_of). Absent in files of 0.2, which
                                 counted one
   a partition
     owner      (N)  i32         the part of each node; -1: none (a node that is not trained)
     parts      (1)  i64
   and both
     graph_crc  (1)  i64         the graph's ggnn_file_graph_crc
     made_by    (n)  u8          how: "presc", "mincut" */
#ifndef DATASETS_PLAN_FILE_H
#define DATASETS_PLAN_FILE_H
#include "datasets/dataset.h"
#include "ggnn_plan.h"

typedef struct {
    ggnn_file file;
    const ggnn_node *rows, *lists; /* (N) */
    const int64_t* cached;         /* (2) or NULL */
    const int64_t* budget;         /* (1) or NULL */
    char made_by[32];              /* "" where the file does not say */
} ranking;

typedef struct {
    ggnn_file file;
    const int32_t* owner; /* (N) */
    int32_t parts;
} partition;

/* Where a command writes: *out, or where that is NULL graph.ending, which is put into `beside`. False where it is the graph
   itself, or too long. */
enum { PLAN_FILE_NAME = 4096 };
bool plan_file_name(const char** out, char beside[PLAN_FILE_NAME], const char* graph, const char* ending, error* why);

/* cached (2) and budget (1) may be NULL. Whole or not at all. */
bool ranking_write(const char* path, const dataset* d, const char* made_by, const ggnn_node* rows,
                   const ggnn_node* lists, const int64_t* cached, const int64_t* budget, error* why);
bool partition_write(const char* path, const dataset* d, const char* made_by, const int32_t* owner, int32_t parts,
                     error* why);

/* Refuses a file of another graph, and what is no permutation, no owner. O(N). _close is harmless after a failure and
   after itself. */
bool ranking_open(ranking* r, const char* path, const dataset* d, error* why);
void ranking_close(ranking* r);
bool partition_open(partition* p, const char* path, const dataset* d, error* why);
void partition_close(partition* p);

/* owner (N): from a file of as many parts as there are devices, else an error that says how to have one. */
bool partition_read(int32_t* owner, const char* path, const dataset* d, int32_t devices, error* why);
#endif
