/* config.h - the options of ggnn-train, what they default to, and how a checkpoint's and the command line's agree. */
#ifndef TRAINER_CONFIG_H
#define TRAINER_CONFIG_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/error.h"
#include "common/json.h"
#include "common/options.h"
#include "datasets/divide.h"
#include "trainer/net/net.h"
#include "trainer/store/tier_wants.h"

#define CONFIG_RANK "{r}" /* in --data: the number of the rank */

enum { CONFIG_OPTIONS_MAX = 96, CONFIG_TEXT_MAX = 8192, CONFIG_DEVICES_MAX = 256 };

typedef enum { SCHEDULE_CONSTANT, SCHEDULE_COSINE, SCHEDULE_STEP } config_schedule;
typedef enum { EVAL_FULL, EVAL_SAMPLED } config_eval;
typedef enum { PIPELINE_AUTO, PIPELINE_SERIAL, PIPELINE_OVERLAP, PIPELINE_FACTORED } config_pipeline;
typedef enum { PRECISION_FP32, PRECISION_TF32 } config_precision;
typedef enum { STORE_AUTO, STORE_PARTS, STORE_REPLICA, STORE_SHARDS } config_store;
typedef enum { PARALLEL_DATA, PARALLEL_SPLIT } config_parallel;
typedef enum { SPLIT_SINGLE, SPLIT_COOPERATIVE } config_split;
enum { PARTITION_NONE, PARTITION_PAGRAPH = 1 + DIVIDE_PAGRAPH }; /* else a divide_method, and one */
typedef enum { SHUFFLE_GLOBAL, SHUFFLE_LOCAL } config_shuffle;
typedef enum { GATHER_POINTER, GATHER_EXCHANGE } config_gather;
typedef enum { LOSS_AUTO, LOSS_CE, LOSS_BCE } config_loss;
typedef enum { WRITE_LOGITS, WRITE_CLASSES } config_write;

typedef struct {
    /* data */
    const char* data;
    bool verify;
    int64_t split;
    int loss;
    /* model; the enumerators of net.h */
    int model, aggregator, norm;
    int64_t layers, hidden, heads, out_heads;
    bool residual, preprocess, edge_features;
    double dropout, input_dropout, attention_dropout;
    /* mini-batches */
    const char* fanout_text;
    int sampler;
    int64_t batch, walks, walk_length;
    double walk_restart;
    /* optimisation */
    int64_t epochs, warmup, lr_step, patience;
    double lr, lr_decay, weight_decay;
    int schedule, optimizer;
    /* evaluation */
    int eval;
    int64_t eval_every, eval_memory;
    /* the machine */
    int backend, precision, gemm, pipeline, unique; /* unique: UNIQUE_AUTO, ... */
    bool dense_features;
    int64_t threads, seed;
    /* several devices */
    int64_t devices, samplers;
    const char* device_list;
    bool split_partial;
    int parallel, split_sampling, store, gather, owners, comm; /* owners: a ggnn_owner, of --owners partition GGNN_OWNER_MAP; comm: a comm_carrier */
    int partition, balance, shuffle; /* 0, or 1 + a divide_method; a divide_balance */
    const char* partition_file;
    int64_t closure_limit;
    /* tiers */
    double store_graph, store_features, store_edges, cache_edges, cache_ratio, host_share;
    int prefer, cache, placement; /* prefer: 1 features */
    const char *cache_bytes_text, *slopes_text, *ranking, *topology;
    int64_t reserve_bytes, device_memory, presample_epochs;
    /* files */
    const char *save, *resume, *log; /* resume: the checkpoint that options come from, of predict that of --load */
    int64_t save_every, save_steps;
    bool profile, explain;
    int64_t trace_step; /* from 1; 0: none */
    const char* links_text;
    /* ggnn-train predict */
    const char *out, *nodes;
    int64_t layer; /* whose rows are written, from 1; 0: the last one's */
    int write;

    bool predicts; /* the first word was predict */

    /* worked out by config_finish */
    bool full_batch;
    int32_t fanout[NET_LAYERS_MAX];
    int32_t device[CONFIG_DEVICES_MAX]; /* of --device-list */
    int32_t listed;                     /* numbers in `device` */
    bool tiers;                         /* some option says where graph or features lie */
    bool cache_auto;                    /* --cache-bytes auto */
    int64_t cache_bytes;                /* --cache-bytes as a number; -1: --cache-ratio or auto */
    int64_t links[3];                   /* GB/s of a device's own memory, a peer's, the host's */
    int64_t slopes[2];                  /* nanoseconds: of lists, of rows */
    bool slopes_measured;               /* --slopes measure: `slopes` are zeros until they are measured */
    char plain_fanout[12 * NET_LAYERS_MAX]; /* what fanout_text points to where it is not "full" */
    bool out_csv;                       /* --out is text, not .npy */
    int nodes_of;                       /* --nodes train, val, test: SPLIT_...; 0: a file's, or all */

    bool given[CONFIG_OPTIONS_MAX];  /* on the command line, by place in the table */
    char inherited[CONFIG_TEXT_MAX]; /* words of a checkpoint's options, where they have to stay */
} config;

/* Reads the command line, or prints help on standard output (OPTIONS_HELP). Checks each value alone. Where its first word is
   predict, it is that of a prediction, which takes other options: c->predicts. */
options_result config_parse(config* c, int argc, char** argv, error* why);

/* Options that were not given and that shape the training become those of the checkpoint `path`; given ones that
   contradict it are errors. text: its options as config_text wrote them. */
bool config_inherit(config* c, const char* path, const char* text, size_t length, error* why);

/* Checks values against each other and fills what is worked out. Last, after config_inherit. */
bool config_finish(config* c, error* why);

/* Checks what depends on the number of devices that train together. */
bool config_check_ranks(const config* c, int32_t ranks, error* why);

/* The options that shape the training, as command line words, a line each: "--hidden=256". Returns the length. */
size_t config_text(const config* c, char text[CONFIG_TEXT_MAX]);

/* The options that go on with this training from --save, as a shell takes them: --data, --resume, --save, and those
   given that a checkpoint does not keep. */
void config_print_resume(const config* c, FILE* out);

/* Does the training look at the edges' weights? */
bool config_reads_weights(const config* c);

/* Is --sampler one that walks? */
bool config_walks(const config* c);

/* Does it multiply by the visits of walks? */
bool config_counts_visits(const config* c);

/* What ranks must have alike, in the same form, and "no --residual" for a flag that is not given: the options that shape the
   training, and those by which they call each other. Files that they read are compared by their contents (agree.h). */
size_t config_common_text(const config* c, char text[CONFIG_TEXT_MAX]);

/* The same as members of a JSON object. */
void config_json(const config* c, json* j, const char* key);

/* Has its model one of these traits? */
bool config_has(const config* c, int traits); /* of net_trait */

/* How training samples, with local indices in all hops. */
ggnn_sampling config_sampling(const config* c);

/* What they say of tiers. */
tier_options config_tiers(const config* c);

/* The learning rate of the given step, where an epoch has `batches` of them. */
float config_rate(const config* c, int64_t step, int64_t batches);
#endif
