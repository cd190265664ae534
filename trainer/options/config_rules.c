#include "trainer/options/config_rules.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "common/options.h"

#define NEEDS CONFIG_NEEDS
#define IDLE CONFIG_IDLE
#define EXCLUDES CONFIG_EXCLUDES
#define CUDA "backend cuda|cuda-emulated"
#define SENT "gather exchange or store shards"
#define NO_TIERS "with --gather exchange, and --store shards, rows are sent by their owners, not read from tiers"
#define NO_LIMIT "with --gather exchange, and --store shards, no room of a device is planned for"
#define ALL_NEIGHBOURS "--fanout -1,-1,.., a value a layer, takes all neighbours of each --batch"

const config_rule config_rules[] = {
    /* a look, not a training: what it leaves out is no one's checkpoint */
    {"explain", EXCLUDES, "save or resume", "trains without evaluation, so it takes no --save and no --resume"},
    {"explain", EXCLUDES, "fanout full", "nothing is sampled with --fanout full; give a value a layer"},
    {"links", IDLE, "explain", ""},

    /* predict */
    {"layer", EXCLUDES, "write", "says what is written, too; give one of them"},
    {"pipeline factored", EXCLUDES, "load", "devices that predict do all stages"},

    /* models */
    {"aggregator", IDLE, "model sage", ", whose aggregator it is"},
    {"aggregator importance", NEEDS, "sampler walk", ", whose visits are its weights; other samplers have none"},
    {"aggregator importance & eval-every !0", EXCLUDES, "eval full", "--eval full takes all neighbours and has no visits; use --eval sampled"},
    {"aggregator importance", EXCLUDES, "fanout full",
     "--fanout full samples nothing, so there are no visits; give the most visited a node, as in --fanout 5,5"},
    {"heads", IDLE, "model gat", ""},
    {"out-heads", IDLE, "model gat", ""},
    {"attention-dropout", IDLE, "model gat", ""},
    {"walks", IDLE, "sampler walk", ""},
    {"walk-length", IDLE, "sampler walk", ""},
    {"walk-restart", IDLE, "sampler walk", ""},

    /* rows of edges */
    {"edge-features", NEEDS, "model sage|gat", ", which alone read them"},
    {"edge-features & model sage", NEEDS, "aggregator mean", ", which alone of GraphSAGE's reads them"},
    {"edge-features", EXCLUDES, "sampler walk", "--sampler walk takes nodes, not edges of a list, so there is no row to read"},
    {"edge-features", EXCLUDES, "preprocess", "what --preprocess has summed of the first layer has no features of edges"},
    {"edge-features", EXCLUDES, "fanout full", "with --fanout full the whole graph is one batch, which has no positions; " ALL_NEIGHBOURS},
    {"edge-features", EXCLUDES, "parallel split", "--parallel split moves rows of nodes alone; use --parallel data"},
    {"edge-features", EXCLUDES, "gather exchange or store shards",
     "with --gather exchange, and --store shards, rows of nodes alone are sent; use --gather pointer"},
    {"store-edges", IDLE, "edge-features", ""},
    {"cache-edges", IDLE, "edge-features", ""},
    {"edge-features", EXCLUDES, "explain", "--explain does not count what is read of edges"},
    {"edge-features", EXCLUDES, "trace-step !0", "--trace-step prints rows of nodes alone"},

    /* the learning rate */
    {"lr-step", IDLE, "lr-schedule step", ""},
    {"lr-decay", IDLE, "lr-schedule step", ""},

    /* what was summed once, before training, cannot be chosen or changed in a step */
    {"preprocess", EXCLUDES, "model gat", "--model gat weighs neighbours by what it learns, so nothing can be summed before training"},
    {"preprocess", EXCLUDES, "model mlp", "--model mlp looks at no neighbour, so there is nothing to sum"},
    {"preprocess & model sage", EXCLUDES, "aggregator pool",
     "--aggregator pool transforms neighbours by weights that it learns before it looks for the largest"},
    {"preprocess & model sage", EXCLUDES, "aggregator gcn",
     "the file has a node's row and its neighbours' mean, which --aggregator gcn mixes otherwise"},
    {"preprocess", EXCLUDES, "aggregator importance",
     "--aggregator importance weighs neighbours by the walks of each step, all of which were summed alike"},
    {"preprocess", EXCLUDES, "input-dropout !0", "--input-dropout changes features in each step, which were summed once"},
    {"preprocess", EXCLUDES, "residual", "--residual adds the features themselves to the first layer, which then begins without them"},
    {"preprocess & fanout !full", EXCLUDES, "sampler weighted|walk",
     "--sampler weighted and walk choose neighbours of the first layer too, which were all summed alike"},

    /* tiers */
    {"cache-ratio", NEEDS, "cache !none", ""},
    {"cache-bytes", NEEDS, "cache !none", ""},
    {"cache-ratio", EXCLUDES, "cache-bytes", "--cache-bytes says it, too; give one of them"},
    {"cache-ratio & cache dual", EXCLUDES, "ranking", "with --cache dual --ranking says how much is cached; leave out one of them"},
    {"cache-bytes & cache dual", EXCLUDES, "ranking", "with --cache dual --ranking says how much is cached; leave out one of them"},
    {"cache !none|dual", NEEDS, "cache-ratio or cache-bytes", ", which say how large it is"},
    {"cache dual", NEEDS, "cache-ratio or cache-bytes or ranking", ", which say how large it is"},
    {"cache-bytes auto & backend cpu", NEEDS, "device-memory !0", ", as a CPU has no memory of a device's"},
    {"slopes measure", NEEDS, "cache dual", ", which shares its bytes by them"},
    {"slopes", IDLE, "cache dual", ", which shares its bytes by them"},
    {"slopes", EXCLUDES, "ranking", "--ranking says what is cached; leave out one of them"},
    {"store-graph", EXCLUDES, SENT, NO_TIERS},
    {"store-features", EXCLUDES, SENT, NO_TIERS},
    {"device-memory", EXCLUDES, SENT, NO_TIERS},
    {"topology", EXCLUDES, SENT, NO_TIERS},
    {"ranking & cache none", EXCLUDES, SENT, NO_TIERS},
    {"cache dual", EXCLUDES, SENT, "with --gather exchange, and --store shards, each device has all lists; a cache has rows alone"},
    {"cache-bytes auto", EXCLUDES, SENT, NO_LIMIT},
    {"prefer & cache !none", EXCLUDES, SENT, NO_LIMIT},
    {"reserve-bytes & cache !none", EXCLUDES, SENT, NO_LIMIT},
    {"host-share & cache !none", EXCLUDES, SENT, NO_TIERS},
    {"explain & cache !none", EXCLUDES, SENT, NO_TIERS},
    {"owners & gather !exchange & store !shards", EXCLUDES, "tiers", "the parts of tiers (--store-graph, --store-features, --store-edges, --cache-edges, --cache, --device-memory, --ranking, --topology) "
                                  "follow the order of what is hot"},
    {"owners partition", NEEDS, SENT, ", whose rows lie where they are computed"},
    {"owners partition & parallel data", NEEDS, "partition pagraph", ", which says whose training nodes are whose"},
    {"owners & parallel split", IDLE, "gather exchange or store shards", ", as a part has what its device owns (--partition)"},
    {"topology", EXCLUDES, "store replica", "places parts, and with --store replica there are none"},
    {"placement", IDLE, "topology or " CUDA, ""},
    {"tiers", EXCLUDES, "fanout full",
     "with --fanout full the whole graph is one batch, which lies in the device's memory, not in tiers; " ALL_NEIGHBOURS},
    {"prefer & backend cpu", IDLE, "device-memory !0", ", as on a CPU all that is given has room"},
    {"prefer", IDLE, "tiers", ""},
    {"reserve-bytes & backend cpu", IDLE, "device-memory !0", ", as a CPU has no memory of a device's"},
    {"reserve-bytes", IDLE, "explain or tiers or partition pagraph", ""},
    {"host-share", IDLE, CUDA, ""},
    {"host-share", IDLE, "tiers or partition pagraph", ""},
    {"presample-epochs & ranking", IDLE, "balance edges or explain", ", as --ranking says what is hot"},
    {"presample-epochs", IDLE, "cache presc|dual|optimal or balance edges or explain", ""},

    /* the machine */
    {"precision tf32", NEEDS, CUDA, ""},
    {"comm nccl", NEEDS, CUDA, ""},
    {"gemm blas", NEEDS, "backend cpu", ""},
    {"device-list", NEEDS, CUDA, ""},
    {"unique cooperative", NEEDS, CUDA, ", whose lanes look for an id together"},
    {"unique", EXCLUDES, "fanout full", "nothing is sampled with --fanout full"},
    {"unique & parallel split", IDLE, CUDA " or split-sampling single", ", as each part numbers what it owns by a table that fits the cache"},

    /* who owns which node */
    {"split-sampling", NEEDS, "parallel split", ""},
    {"split-partial", NEEDS, "parallel split", ""},
    {"balance", NEEDS, "parallel split", ""},
    {"partition !none|pagraph", NEEDS, "parallel split", ", where each node has an owner; else pagraph alone divides training nodes"},
    {"partition & partition none", EXCLUDES, "parallel split", "in --parallel split each node has an owner"},
    {"split-partial", NEEDS, "model sage", ", whose mean alone is a sum that can be sent in parts"},
    {"split-partial", NEEDS, "aggregator mean", ", which alone is a sum that can be sent in parts"},
    {"balance edges", NEEDS, "partition metis", ""},
    {"partition & parallel split", EXCLUDES, "partition-file", "--partition-file says it, too; give one of them in --parallel split"},
    {"parallel split", EXCLUDES, "fanout full", "with --fanout full the whole graph is one batch, of one device; " ALL_NEIGHBOURS},
    {"parallel split", EXCLUDES, "pipeline factored",
     "devices sample and train one batch together, so none samples for the others; use --pipeline overlap"},
    {"parallel split & pipeline overlap", EXCLUDES, "gather exchange or store shards",
     "rows by exchange (--gather exchange, --store shards) come on the line that training has; use --pipeline serial"},
    {"parallel split", EXCLUDES, "explain", "--explain looks at devices that train on slices"},
    {"shuffle local", EXCLUDES, "parallel split", "in --parallel split all devices have all seeds; use --parallel data"},

    /* who has which training nodes */
    {"closure-limit", NEEDS, "partition pagraph", ""},
    {"partition-file", NEEDS, "partition pagraph or parallel split", ""},
    {"shuffle local", NEEDS, "partition pagraph", ", which says whose training nodes are whose"},
    {"closure-limit", EXCLUDES, "partition-file", "--partition-file says whose nodes are whose"},
    {"partition pagraph & parallel data", EXCLUDES, "fanout full", "with --fanout full the whole graph is one batch, of one device"},
    {"partition pagraph & parallel data", EXCLUDES, "pipeline factored",
     "with --pipeline factored devices train on what others sample, so none has nodes of its own"},
    {"partition pagraph & parallel data", EXCLUDES, "explain", "--explain compares settings that have no partition"},
    {"partition pagraph & parallel data & model !mlp", EXCLUDES, "sampler walk",
     "--sampler walk leaves the hops around a training node that a device has"},
    {"gather exchange", EXCLUDES, "store replica", "with --store replica each device has all rows"},
    {"gather & gather pointer", EXCLUDES, "store shards", "reads no memory of other machines; --store shards needs --gather exchange"},

    /* the order of stages */
    {"samplers !0", NEEDS, "pipeline factored", ""},
    {"pipeline factored", EXCLUDES, "gather exchange or store shards",
     "rows by exchange (--gather exchange, --store shards) need all devices at the same batch; use --gather pointer"},
    {"pipeline factored", EXCLUDES, "explain", "--explain looks at devices that do all stages"},
    {"pipeline factored", EXCLUDES, "fanout full", "nothing is sampled with --fanout full"},

    /* reports */
    {"trace-step !0", NEEDS, "backend cpu", ", as it prints what a CPU computes"},
    {"trace-step !0", EXCLUDES, "parallel split", "prints whole mini-batches, and --parallel split cuts them; use --parallel data"},
    {"eval sampled", EXCLUDES, "fanout full", "nothing is sampled with --fanout full"},
    {"save-every", IDLE, "save", ""},
    {"save-steps !0", NEEDS, "save", ""},
    {"patience !0", NEEDS, "eval-every !0", ""},

    {0, CONFIG_RULES_END, 0, 0}};

/* ==== terms ===================================================================================================== */

typedef struct { /* "name", "name x|y", "name !x|y" */
    char name[64];
    const char* values; /* in `name`, behind the word; NULL: none */
    bool others;        /* all but these */
} term;

/* The first of the terms at text. Returns those behind `between`; NULL: there are none. */
static const char* next_term(term* t, const char* text, const char* between)
{
    const char* end = strstr(text, between);
    snprintf(t->name, sizeof t->name, "%.*s", (int)(end ? end - text : (ptrdiff_t)strlen(text)), text);
    char* blank = strchr(t->name, ' ');
    if (blank) *blank++ = 0;
    t->others = blank && *blank == '!';
    t->values = t->others ? blank + 1 : blank;
    return end ? end + strlen(between) : NULL;
}

static bool holds(const term* t, config_look* look, const void* of)
{
    config_option o;
    look(&o, of, t->name);
    return t->values ? o.name && (options_choice(t->values, o.value) >= 0) != t->others : o.on;
}

static bool all_hold(const char* terms, config_look* look, const void* of)
{
    term t;
    while (terms) {
        terms = next_term(&t, terms, " & ");
        if (!holds(&t, look, of)) return false;
    }
    return true;
}

static bool one_holds(const char* terms, config_look* look, const void* of)
{
    term t;
    while (terms) {
        terms = next_term(&t, terms, " or ");
        if (holds(&t, look, of)) return true;
    }
    return false;
}

/* ==== sentences ================================================================================================= */

typedef struct {
    char text[640];
    size_t used;
} words;

static void say(words* w, const char* text)
{
    if (w->used < sizeof w->text) w->used += (size_t)snprintf(w->text + w->used, sizeof w->text - w->used, "%s", text);
}

/* "--samplers 2", and whose it is where it comes with a checkpoint. */
static void say_subject(words* w, const char* terms, config_look* look, const void* of)
{
    config_option o;
    term t;
    next_term(&t, terms, " & ");
    look(&o, of, t.name);
    if (o.origin) {
        say(w, o.origin);
        say(w, " was trained with ");
    }
    say(w, "--");
    say(w, o.name);
    if (o.flag) return;
    say(w, " ");
    say(w, o.value);
}

/* "--cache presc or dual or optimal", "--cache other than none" */
static void say_term(words* w, const term* t)
{
    say(w, "--");
    say(w, t->name);
    if (t->others) say(w, " other than");
    for (const char* at = t->values; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL) {
        char value[sizeof t->name];
        snprintf(value, sizeof value, "%.*s", (int)strcspn(at, "|"), at);
        say(w, at == t->values ? " " : " or ");
        say(w, value);
    }
}

static void say_needed(words* w, const char* terms)
{
    const char* rest = terms;
    term t;
    while (rest) {
        if (rest != terms) say(w, " or ");
        rest = next_term(&t, rest, " or ");
        if (strcmp(t.name, "tiers") == 0) say(w, "an option of tiers, such as --device-memory");
        else say_term(w, &t);
    }
}

bool config_check_rules(config_look* look, const void* of, error* why)
{
    const config_rule* r = config_rules;
    words w = {"", 0};
    while (r->verb != CONFIG_RULES_END && !(all_hold(r->a, look, of) && one_holds(r->b, look, of) == (r->verb == EXCLUDES))) r++;
    if (r->verb == CONFIG_RULES_END) return true;
    say_subject(&w, r->a, look, of);
    say(&w, r->verb == EXCLUDES ? ": " : r->verb == NEEDS ? ": needs " : ": has no effect without ");
    if (r->verb != EXCLUDES) say_needed(&w, r->b);
    say(&w, r->why);
    return error_set(why, "%s", w.text);
}
