#include "trainer/store/tier_plan.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/memory.h"
#include "common/options.h"
#include "common/progress.h"
#include "datasets/hotness.h"
#include "datasets/topology.h"
#include "trainer/batch/loader.h"
#include "trainer/store/device_reads.h"

void tier_plan_note(tier_plan* p, const char* format, ...)
{
    va_list values;
    for (int i = 0; i < TIER_NOTES_MAX; i++) {
        if (p->note[i][0]) continue;
        va_start(values, format);
        vsnprintf(p->note[i], sizeof p->note[i], format, values);
        va_end(values);
        return;
    }
}

enum { DUAL = HOTNESS_DUAL + 1 }; /* of --cache */

/* By what nodes are ranked: without a cache by degree, for the parts. */
static hotness_policy policy_of(const tier_options* c)
{
    return c->cache == CACHE_NONE ? HOTNESS_DEGREE : (hotness_policy)(c->cache - 1);
}

/* ==== roles ===================================================================================================== */

/* The ranks that read lists, or rows, in training. --pipeline factored: a sampler's memory has lists, a trainer's rows (GNNLab's
   space sharing). */
static tiers_devices readers_of(const tier_plan* p, tiers_kind kind)
{
    return tiers_readers(kind, p->comm ? p->comm->ranks : 1, p->options.samplers);
}

static bool reads(const tier_plan* p, tiers_kind kind)
{
    const tiers_devices by = readers_of(p, kind);
    const int32_t rank = p->comm ? p->comm->rank : 0;
    return rank >= by.first && rank < by.first + by.count;
}

/* Do parts lie with those who read them? Not where a placement says where each lies. */
static bool parts_by_role(const tier_plan* p) { return p->options.samplers && p->parts > 1 && !p->plan.placement; }

/* Over how many parts rows lie. */
static int32_t row_parts(const tier_plan* p)
{
    return tiers_readers(TIERS_FEATURES, p->parts, parts_by_role(p) ? p->options.samplers : 0).count;
}

/* Has each device memory of its own choice, that no other one reads? */
static bool alone_by_role(const tier_plan* p) { return p->options.samplers && p->parts == 1; }

/* Does this device store what is to lie in parts? */
static bool stores(const tier_plan* p, tiers_kind kind) { return !(parts_by_role(p) || alone_by_role(p)) || reads(p, kind); }

/* ==== counting what batches read ================================================================================ */

/* --parallel split: each row is read by the rank that owns it. */
static bool in_parts(const tier_plan* p) { return p->options.split && p->comm->ranks > 1; }

typedef struct {
    tier_plan* plan;
    loader_pass pass; /* of the first epoch counted */
    int64_t batch;
    int32_t turns;    /* of as many batches this rank counts one, whole; 1: of each its slice */
} counting;

static ggnn_status sample(void* context, ggnn_batch* b, ggnn_node* seeds, int64_t i)
{
    const counting* c = context;
    const comm* with = c->plan->comm;
    const ggnn_graph* g = &c->plan->data.graph;
    if (c->turns > 1) return loader_sample_slice(b, seeds, g, &c->pass, c->batch, i * c->turns + with->rank, 0, 1);
    return loader_sample_slice(b, seeds, g, &c->pass, c->batch, i, with->rank, with->ranks);
}

static counting counting_of(tier_plan* p)
{
    const tier_options* c = &p->options;
    const ggnn_epochs of = hotness_epochs(policy_of(c), p->data.train, p->data.num_train, c->batch, c->seed);
    counting k = {.plan = p, .batch = of.batch_size, .turns = in_parts(p) ? p->comm->ranks : 1};
    k.pass = (loader_pass){.ids = of.ids, .num_ids = of.num_ids, .shuffled = true, .epoch = of.first_epoch, .rng = of.rng};
    if (c->local) {
        k.pass.ids = p->data.divided->ids;
        k.pass.parts = p->data.divided->parts;
    }
    return k;
}

/* False: the host has to, or why says that the device failed. */
static bool count_there(tier_plan* p, const counting* k, const ggnn_sampling* how, const tiers_view* there, error* why)
{
    device_reads of = {.graph = there->graph, .pass = k->pass, .how = *how, .batch = k->batch, .epochs = p->options.presample_epochs,
                       .rank = p->comm->rank, .ranks = p->comm->ranks, .whole = k->turns > 1, .total = p->total};
    error lacks = {""};
    of.pass.ids = there->ids[SPLIT_TRAIN];
    if (device_reads_count(p->count[TIERS_FEATURES], p->count[TIERS_GRAPH], there->device, &of, &lacks)) return true;
    if (there->device->failed.text[0]) return error_set(why, "%s", there->device->failed.text);
    tier_plan_note(p, "--cache %s: reads are counted on the host: %s", hotness_name[policy_of(&p->options)], lacks.text);
    return false;
}

static bool count_reads(tier_plan* p, const ggnn_sampling* how, const tiers_view* there, error* why)
{
    const comm* with = p->comm;
    counting k = counting_of(p);
    p->counted = "device";
    if (there && count_there(p, &k, how, there, why)) return true;
    if (why->text[0]) return false;
    p->counted = "host";
    const int64_t each = (k.pass.num_ids + k.batch - 1) / k.batch, batches = each * p->options.presample_epochs;
    const hotness_batches all = {.graph = &p->data.graph, .how = how, .sample = sample, .context = &k,
                                 .to = {p->count[TIERS_FEATURES], p->count[TIERS_GRAPH], NULL},
                                 .seeds = k.turns > 1 ? k.batch : (k.batch + with->ranks - 1) / with->ranks,
                                 .batches = (batches + k.turns - 1 - (k.turns > 1 ? with->rank : 0)) / k.turns};
    hotness_failure failed;
    if (hotness_look(&all, &failed, why)) return true;
    if (failed.status == GGNN_OK) return false;
    return error_set(why, "sampling the neighbours of node %lld: %s (ggnn-data verify checks the whole file)", (long long)failed.node,
                     ggnn_status_string(failed.status));
}

/* sum (N): those of all ranks, added up. Each rank adds those of some nodes, which go to all. */
static bool sum_counts(tier_plan* p, int64_t* sum, const int64_t* own, error* why)
{
    comm* c = p->comm;
    const int64_t N = p->nodes, begin = N * c->rank / c->ranks, mine = N * (c->rank + 1) / c->ranks - begin;
    int64_t bound[COMM_RANKS_MAX + 1];
    comm_piece* to = memory_new(2 * (size_t)c->ranks * sizeof *to, "counts of all devices", why);
    int64_t* parts = to ? memory_new(memory_product((size_t)mine, (size_t)c->ranks, sizeof *parts),
                                        "counts of all devices", why) : NULL;
    comm_piece* from = to ? to + c->ranks : NULL;
    for (int32_t r = 0; parts && r <= c->ranks; r++) {
        bound[r] = N * r / c->ranks;
        if (r == c->ranks) break;
        to[r] = (comm_piece){mine * r, mine};
        from[r] = (comm_piece){bound[r], N * (r + 1) / c->ranks - bound[r]};
    }
    bool good = parts && comm_exchange(c, NULL, parts, to, own, from, sizeof *own, why);
    for (int64_t i = 0; good && i < mine; i++)
        for (int32_t r = 0; r < c->ranks; r++) sum[begin + i] += parts[mine * r + i];
    good = good && comm_all_gather(c, NULL, sum, bound, sizeof *sum, why);
    memory_free(parts);
    memory_free(to);
    return good;
}

/* ==== rankings ================================================================================================== */

static ggnn_node* new_rank(tier_plan* p, error* why)
{
    int i = 0;
    while (i < TIER_RANKS_MAX && p->memory[i]) i++;
    if (i == TIER_RANKS_MAX) return error_set(why, "ranks of nodes: more than %d orders of one plan", (int)TIER_RANKS_MAX), NULL;
    p->memory[i] = memory_new(memory_product((size_t)p->nodes, sizeof **p->memory, 1), "ranks of nodes", why);
    return p->memory[i];
}

/* By what needs no sampling. */
static bool order_by_graph(const tier_plan* p, ggnn_node* rank, error* why)
{
    const size_t bytes = memory_product((size_t)p->nodes, sizeof(int64_t), 1);
    const hotness_policy by = policy_of(&p->options);
    const bool over = by == HOTNESS_ALIGRAPH;
    int64_t* out = memory_new(bytes, "degrees of nodes", why);
    int64_t* in = out && over ? memory_new(bytes, "degrees of nodes", why) : NULL;
    ggnn_fault fault;
    bool good = out && (in || !over);
    if (good && by != HOTNESS_RANDOM && ggnn_count_degrees(out, in, &p->data.graph, &fault) != GGNN_OK)
        good = error_set(why, "the neighbours of node %lld: %s (ggnn-data verify checks the whole file)",
                         (long long)fault.node, fault.what);
    if (good) hotness_rank(rank, p->work, by, over ? in : out, out, NULL, p->options.seed, p->nodes);
    memory_free(out);
    memory_free(in);
    return good;
}

/* One order for lists and rows, parts and caches; of threads the first makes it for all. */
static bool rank_by_graph(tier_plan* p, error* why)
{
    comm* c = p->comm;
    const bool shared = c->one_process, makes = !shared || c->local == 0;
    const size_t bytes = makes ? memory_product((size_t)p->nodes, sizeof(ggnn_node), 1) : 0;
    if (shared && !comm_share(c, &p->shared, bytes, "ranks of nodes", why)) return false;
    ggnn_node* rank = shared ? p->shared.part[0] : new_rank(p, why);
    for (int kind = 0; kind < TIERS_KINDS; kind++) p->of_parts[kind] = p->of_cache[kind] = rank;
    return rank && (!makes || order_by_graph(p, rank, why)) && (!shared || comm_barrier(c, why));
}

/* Does what all ranks have read foretell what this one will read? Yes where every rank may get any node in a batch, best as it
   is most, in --parallel split, of what it owns, and of samplers and trainers, of whom each gets any slice. Not where a rank has
   training nodes of its own. `optimal` knows each rank's own. */
static bool reads_as_all(const tier_plan* p)
{
    return in_parts(p) || p->options.pooled || (!p->data.divided->parts && policy_of(&p->options) != HOTNESS_OPTIMAL);
}

/* The parts' order: by what all ranks read. A cache's counts become those of all, too, or stay this rank's own. */
static bool rank_parts(tier_plan* p, tiers_kind kind, error* why)
{
    const int64_t* indptr = p->data.graph.whole.indptr;
    ggnn_node* rank = new_rank(p, why);
    int64_t* sum = rank ? memory_new(memory_product((size_t)p->nodes, sizeof *sum, 1), "counts of all devices", why) : NULL;
    bool good = sum && sum_counts(p, sum, p->count[kind], why);
    if (good) hotness_rank(rank, p->work, policy_of(&p->options), sum, NULL, indptr, 0, p->nodes);
    p->of_parts[kind] = rank;
    if (good && reads_as_all(p)) memcpy(p->count[kind], sum, (size_t)p->nodes * sizeof *sum);
    memory_free(sum);
    return good;
}

static bool rank_by_reads(tier_plan* p, const ggnn_sampling* how, const tiers_view* there, error* why)
{
    for (int kind = 0; kind < TIERS_KINDS; kind++) {
        p->count[kind] = memory_new(memory_product((size_t)p->nodes, sizeof **p->count, 1), "counts of reads", why);
        if (!p->count[kind]) return false;
    }
    if (!count_reads(p, how, there, why)) return false;
    for (int kind = 0; kind < TIERS_KINDS; kind++) {
        const int64_t* indptr = p->data.graph.whole.indptr;
        if (p->comm->ranks > 1 && !rank_parts(p, (tiers_kind)kind, why)) return false;
        p->of_cache[kind] = p->of_parts[kind];
        if (p->comm->ranks > 1 && reads_as_all(p)) continue;
        ggnn_node* rank = new_rank(p, why);
        if (!rank) return false;
        hotness_rank(rank, p->work, policy_of(&p->options), p->count[kind], NULL, indptr, 0, p->nodes);
        p->of_cache[kind] = rank;
        if (p->comm->ranks == 1) p->of_parts[kind] = rank;
    }
    return true;
}

/* Out-degrees over the lists that a part's batches read: PaGraph's hotness of a part. */
static bool rank_by_degree_within(tier_plan* p, const ggnn_node* list, int64_t lists, error* why)
{
    int64_t* out = memory_new(memory_product((size_t)p->nodes, sizeof *out, 1), "degrees of nodes", why);
    ggnn_node* rank = out ? new_rank(p, why) : NULL;
    for (int64_t i = 0; rank && i < lists; i++) {
        const ggnn_list near = ggnn_neighbors(&p->data.graph, list[i]);
        for (int64_t e = 0; e < near.degree; e++) out[near.id[e]]++;
    }
    if (rank) hotness_rank(rank, p->work, HOTNESS_DEGREE, out, NULL, NULL, 0, p->nodes);
    for (int kind = 0; rank && kind < TIERS_KINDS; kind++) p->of_cache[kind] = rank;
    memory_free(out);
    return rank != NULL;
}

/* The same order, but nodes inside before all others. */
static ggnn_node* rank_inside_first(tier_plan* p, const ggnn_node* rank, const uint8_t* inside, error* why)
{
    ggnn_node *to = new_rank(p, why), next = 0;
    for (int64_t v = 0; to && v < p->nodes; v++) p->work[rank[v]] = (ggnn_node)v;
    for (int outside = 0; to && outside < 2; outside++)
        for (int64_t i = 0; i < p->nodes; i++)
            if (inside[p->work[i]] != outside) to[p->work[i]] = next++;
    return to;
}

/* inside (N): what the training nodes of this rank reach. By degree it is ranked by the lists that are read for them. */
static bool mark_closure(tier_plan* p, uint8_t* inside, error* why)
{
    const tier_options* c = &p->options;
    const bool by_degree = !c->ranking && policy_of(c) == HOTNESS_DEGREE;
    int64_t lists = 0;
    ggnn_node* list = memory_new(memory_product((size_t)p->nodes, sizeof *list, 1), "nodes of a closure", why);
    const int64_t reach = list ? division_closure(p->data.divided, &p->data.graph, p->comm->rank, list, &lists, why) : -1;
    const bool good = reach >= 0 && (!by_degree || rank_by_degree_within(p, list, lists, why));
    for (int64_t i = 0; i < reach; i++) inside[list[i]] = 1;
    memory_free(list);
    return good;
}

/* A cache is of what its rank may read: of its role's kind; in --parallel split of what it owns, but for the lists where ranks take
   turns to sample whole batches; of a rank with training nodes of its own of what these reach. What is ordered alike is ordered once. */
static bool rank_reach(tier_plan* p, error* why)
{
    const bool split = in_parts(p), all_lists = split && p->options.whole_batches;
    for (int kind = 0; kind < TIERS_KINDS; kind++)
        if (!reads(p, (tiers_kind)kind)) p->reach[kind] = 0;
    if ((!split && !p->data.divided->parts) || p->options.cache == CACHE_NONE) return true;
    uint8_t* inside = memory_new((size_t)p->nodes, "nodes that a rank reads", why);
    bool good = inside && (split || mark_closure(p, inside, why));
    for (int64_t v = 0; good && split && v < p->nodes; v++) inside[v] = ggnn_locate(&p->data.owners, v).slot == p->comm->rank;
    const ggnn_node* rank[TIERS_KINDS] = {p->of_cache[TIERS_GRAPH], p->of_cache[TIERS_FEATURES]};
    for (int kind = all_lists ? TIERS_FEATURES : TIERS_GRAPH; good && kind < TIERS_KINDS; kind++) {
        const bool same = kind > 0 && !all_lists && rank[kind] == rank[0];
        p->reach[kind] = 0;
        for (int64_t v = 0; v < p->nodes; v++) p->reach[kind] += inside[v];
        p->of_cache[kind] = same ? p->of_cache[0] : rank_inside_first(p, rank[kind], inside, why);
        good = p->of_cache[kind] != NULL;
    }
    memory_free(inside);
    return good;
}

/* of (N): which kinds a node is of, in the closure: 0 none, 1 its row is read, 2 its list, too. */
static bool mark_kinds(tier_plan* p, uint8_t* of, error* why)
{
    int64_t lists = 0;
    ggnn_node* list = memory_new(memory_product((size_t)p->nodes, sizeof *list, 1), "nodes of a closure", why);
    const int64_t rows = list ? division_closure(p->data.divided, &p->data.graph, p->comm->rank, list, &lists, why) : -1;
    for (int64_t i = 0; i < rows; i++) of[list[i]] = i < lists ? 2 : 1;
    p->within[TIERS_GRAPH] = lists;
    p->within[TIERS_FEATURES] = rows;
    memory_free(list);
    return rows >= 0;
}

/* A rank's own part is of its closure: nodes whose lists are read come before those whose rows alone are, and these before all others. One
   order where one orders both kinds. */
static bool keep_to_closure(tier_plan* p, error* why)
{
    if (!p->options.closure) return true;
    uint8_t* of = memory_new(2 * (size_t)p->nodes, "nodes that a rank reads", why);
    bool good = of && mark_kinds(p, of, why);
    uint8_t* inside = good ? of + p->nodes : NULL;
    const bool same = p->of_parts[TIERS_GRAPH] == p->of_parts[TIERS_FEATURES];
    for (int kind = TIERS_FEATURES; good && kind >= TIERS_GRAPH; kind--) {
        for (int64_t v = 0; v < p->nodes; v++) inside[v] = of[v] >= (kind == TIERS_GRAPH ? 2 : 1);
        p->of_parts[kind] = rank_inside_first(p, p->of_parts[same ? TIERS_FEATURES : kind], inside, why);
        good = p->of_parts[kind] != NULL;
    }
    if (good && same) p->of_parts[TIERS_FEATURES] = p->of_parts[TIERS_GRAPH];
    memory_free(of);
    return good;
}

/* A file made by another policy would not be what --cache says. One made by hand names none, and goes with each. */
static bool made_for_cache(const tier_plan* p, error* why)
{
    const tier_options* c = &p->options;
    const int made_by = options_choice(HOTNESS_POLICIES, p->file.made_by);
    if (c->cache == CACHE_NONE || made_by < 0 || made_by == (int)policy_of(c)) return true;
    return error_set(why, "--cache %s: %s was made by %s; give --cache %s, or another ranking", hotness_name[policy_of(c)], c->ranking,
                     hotness_name[made_by], hotness_name[made_by]);
}

static bool make_order(tier_plan* p, const ggnn_sampling* how, const tiers_view* there, error* why)
{
    const tier_options* c = &p->options;
    if (!c->ranking) return hotness_is_counted(policy_of(c)) ? rank_by_reads(p, how, there, why) : rank_by_graph(p, why);
    if (!ranking_open(&p->file, c->ranking, p->data.set, why)) return false;
    if (c->cache == DUAL && !p->file.cached)
        return error_set(why, "--cache dual: %s does not say how much is cached (ggnn-data rank --by dual)", c->ranking);
    if (!made_for_cache(p, why)) return false;
    p->of_parts[TIERS_GRAPH] = p->of_cache[TIERS_GRAPH] = p->file.lists;
    p->of_parts[TIERS_FEATURES] = p->of_cache[TIERS_FEATURES] = p->file.rows;
    return true;
}

/* ==== opening =================================================================================================== */

static bool place(tier_plan* p, error* why)
{
    const tier_options* c = &p->options;
    ggnn_topology* t = &p->links;
    ggnn_fault fault;
    p->plan.placement = p->data.placement;
    if (!c->topology) return true;
    if (p->parts > GGNN_DEVICES_MAX)
        return error_set(why, "--topology %s: of %d devices at most, here are %d", c->topology, GGNN_DEVICES_MAX, (int)p->parts);
    if (!topology_read(t, c->topology, p->parts, why)) return false;
    if (ggnn_place_parts(&p->placement, t, (ggnn_place_rule)c->placement, 0, &fault) != GGNN_OK)
        return error_set(why, "--topology %s: %s", c->topology, fault.what);
    p->plan.placement = &p->placement;
    return true;
}

bool tier_plan_meet(tier_plan* p, comm* c, device* d, error* why)
{
    int64_t* all = memory_new((size_t)c->ranks * 2 * sizeof *all, "memory of devices", why);
    if (!all) return false;
    all[2 * c->rank] = c->machine;
    all[2 * c->rank + 1] = d->number;
    const bool good = comm_gather_each(c, all, 2 * sizeof *all, why);
    p->sharers = 0;
    for (int32_t r = 0; r < c->ranks; r++) p->sharers += all[2 * r] == c->machine && all[2 * r + 1] == d->number;
    memory_free(all);
    return good;
}

int64_t tier_plan_total(const tier_plan* p, int64_t most, device* d)
{
    const int64_t room = device_room(d), own = room == INT64_MAX ? room : room / p->sharers;
    return most && most < own ? most : own;
}

/* The order of ids themselves, as after `reorder`: a look-up needs no table of it. */
static bool is_identity(const tier_plan* p, const ggnn_node* rank)
{
    int64_t v = 0;
    while (v < p->nodes && rank[v] == v) v++;
    return v == p->nodes;
}

/* Bytes of these rankings, each once, and of `more`; NULL: none. */
static int64_t distinct_bytes(const tier_plan* p, const ggnn_node* const used[4], int64_t more)
{
    int64_t arrays = more;
    for (int i = 0; i < 4; i++) {
        bool is_new = used[i] && !is_identity(p, used[i]);
        for (int k = 0; k < i; k++) is_new = is_new && used[k] != used[i];
        arrays += is_new;
    }
    return tier_plan_rank_bytes(p->nodes, arrays);
}

/* Of the rankings that the device will need, where lists keep the parts' order. */
static int64_t rank_bytes(const tier_plan* p)
{
    const tier_options* c = &p->options;
    const bool fills = c->cache == DUAL && !p->file.cached; /* both rankings of its cache are made then */
    const ggnn_node* used[4] = {c->store_graph > 0 ? p->of_parts[TIERS_GRAPH] : NULL,
                                c->store_features > 0 ? p->of_parts[TIERS_FEATURES] : NULL,
                                c->cache != CACHE_NONE && !fills ? p->of_cache[TIERS_FEATURES] : NULL,
                                c->cache == DUAL && !fills ? p->of_cache[TIERS_GRAPH] : NULL};
    return distinct_bytes(p, used, fills ? 2 : 0);
}

static void begin(tier_plan* p, const tier_options* c, ggnn_sizes sizes, int64_t nodes, int32_t parts)
{
    memset(p, 0, sizeof *p);
    p->options = *c;
    p->nodes = nodes;
    p->sizes = sizes;
    p->parts = parts;
    for (int kind = 0; kind < TIERS_KINDS; kind++) p->reach[kind] = p->within[kind] = nodes;
}

static bool make_work(tier_plan* p, error* why)
{
    p->work = memory_new(memory_product((size_t)p->nodes, sizeof *p->work, 2), "orders of nodes", why);
    return p->work != NULL;
}

bool tier_plan_open(tier_plan* p, const tier_options* c, const tier_data* t, comm* with, comm* over, device* d, error* why)
{
    begin(p, c, ggnn_sizes_of(&t->graph, &t->features), t->graph.num_nodes, over ? over->locals : 1);
    p->data = *t;
    p->comm = with;
    p->peaks = device_room(d) != INT64_MAX;
    if (!make_work(p, why) || !place(p, why) || !tier_plan_meet(p, with, d, why)) return false;
    p->total = tier_plan_total(p, c->device_memory, d);
    return true;
}

bool tier_plan_order(tier_plan* p, const ggnn_sampling* how, const tiers_view* there, error* why)
{
    const bool good = make_order(p, how, there, why) && rank_reach(p, why) && keep_to_closure(p, why);
    p->kept = rank_bytes(p);
    while (p->memory[p->opened]) p->opened++;
    return good;
}

/* Those that tier_plan_fill made. */
static void forget_notes(tier_plan* p)
{
    for (int i = p->notes; i < TIER_NOTES_MAX; i++) p->note[i][0] = 0;
}

/* Those that tier_plan_fill made, and that nothing is ordered by any more. */
static void forget_ranks(tier_plan* p)
{
    for (int i = p->opened; i < TIER_RANKS_MAX; i++) {
        bool used = false;
        for (int kind = 0; kind < TIERS_KINDS; kind++) {
            const tiers_share* s = &p->plan.share[kind];
            const ggnn_node* by[] = {p->of_parts[kind], p->of_cache[kind], p->hot[kind], s->rank, s->cache_rank};
            for (size_t k = 0; k < sizeof by / sizeof *by; k++) used = used || by[k] == p->memory[i];
        }
        if (used) continue;
        memory_free(p->memory[i]);
        p->memory[i] = NULL;
    }
}

bool tier_plan_take_roles(tier_plan* p, int32_t samplers, error* why)
{
    memcpy(p->of_parts, p->hot, sizeof p->of_parts);
    memset(p->plan.share, 0, sizeof p->plan.share);
    forget_notes(p);
    forget_ranks(p);
    p->options.samplers = samplers;
    p->kept = rank_bytes(p);
    return rank_reach(p, why);
}

bool tier_plan_suppose(tier_plan* p, const tier_options* c, const tier_known* from, error* why)
{
    begin(p, c, from->sizes, from->nodes, from->parts);
    p->peaks = from->peaks;
    p->total = from->total;
    if (from->placement) {
        p->placement = *from->placement;
        p->plan.placement = &p->placement;
    }
    for (int kind = 0; kind < TIERS_KINDS; kind++) {
        p->of_parts[kind] = from->rank[kind];
        p->of_cache[kind] = kind == TIERS_FEATURES ? from->cached : NULL;
        p->count[kind] = from->count[kind];
    }
    p->kept = rank_bytes(p);
    return make_work(p, why) && tier_plan_fill(p, 0, why);
}

bool tier_plan_asks_peak(const tier_plan* p) { return p->peaks; }

void tier_plan_close(tier_plan* p)
{
    for (int kind = 0; p->comm && kind < TIERS_KINDS; kind++) memory_free(p->count[kind]); /* of a supposed plan they are the caller's */
    for (int i = 0; i < TIER_RANKS_MAX; i++) memory_free(p->memory[i]);
    memory_free(p->work);
    ranking_close(&p->file);
    if (p->comm) comm_unshare(p->comm, &p->shared);
    memset(p, 0, sizeof *p);
}

/* ==== filling =================================================================================================== */

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* Bytes of the entries of a cache of both kinds that has the ranks below these. */
static int64_t dual_bytes(const tier_plan* p, const ggnn_sizes* of, const int64_t cached[TIERS_KINDS])
{
    int64_t bytes = cached[TIERS_FEATURES] * of->row;
    for (int64_t v = 0; v < p->nodes; v++)
        if (p->of_cache[TIERS_GRAPH][v] < cached[TIERS_GRAPH]) bytes += ggnn_list_bytes(of, v);
    return bytes;
}

/* The first entries of a dual file that this rank may read: of each kind `part` / FILE_PARTS of them. */
enum { FILE_PARTS = 1 << 20 };
static void take_from_file(tier_plan* p, int64_t part)
{
    const int64_t *rows = &p->file.cached[0], *lists = &p->file.cached[1];
    for (int kind = 0; kind < TIERS_KINDS; kind++)
        p->from_file[kind] = smaller(kind == TIERS_GRAPH ? *lists : *rows, p->reach[kind]) * part / FILE_PARTS;
}

/* What a dual file says is cached, or as much of it as fits its budget: a file of 0.2 counted 8 bytes per list too few, and
   rows that were preprocessed later may be longer. What no longer fits is left out from the end, of both kinds alike. */
static void fit_file(tier_plan* p)
{
    ggnn_sizes then = p->sizes;
    if (!p->file.cached || p->options.cache != DUAL) return;
    take_from_file(p, FILE_PARTS);
    then.list = 8;
    const int64_t budget = p->file.budget ? *p->file.budget : dual_bytes(p, &then, p->from_file);
    int64_t most = FILE_PARTS, least = 0, all[TIERS_KINDS] = {p->from_file[0], p->from_file[1]};
    if (dual_bytes(p, &p->sizes, p->from_file) <= budget) return;
    while (most - least > 1) { /* `least` fits, `most` does not */
        const int64_t middle = least + (most - least) / 2;
        take_from_file(p, middle);
        *(dual_bytes(p, &p->sizes, p->from_file) <= budget ? &least : &most) = middle;
    }
    take_from_file(p, least);
    tier_plan_note(p, "--ranking %s: %" PRId64 " of its %" PRId64 " rows and %" PRId64 " of its %" PRId64 " lists are cached: all would take more "
                   "than the %" PRId64 " bytes that it was made for", p->options.ranking, p->from_file[TIERS_FEATURES], all[TIERS_FEATURES],
                   p->from_file[TIERS_GRAPH], all[TIERS_GRAPH], budget);
}

/* Bytes of a cache whose size is given; 0 of auto. */
static int64_t cache_bytes(const tier_plan* p)
{
    const tier_options* c = &p->options;
    const int64_t N = p->nodes;
    const int64_t rows = N * p->sizes.row, lists = (p->sizes.indptr[N] - p->sizes.indptr[0]) * p->sizes.edge + N * p->sizes.list;
    if (c->cache == CACHE_NONE || c->cache_auto) return 0;
    if (c->cache_bytes >= 0) return c->cache_bytes;
    if (p->file.cached && c->cache == DUAL) return dual_bytes(p, &p->sizes, p->from_file);
    return c->cache == DUAL ? ggnn_fill_ratio(c->cache_ratio, rows + lists) : ggnn_fill_ratio(c->cache_ratio, N) * p->sizes.row;
}

/* The least of these ranks; of a supposed plan they are alike. */
static bool least(tier_plan* p, int64_t* value, tiers_devices of, error* why)
{
    comm* c = p->comm;
    if (!c) return true;
    int64_t* all = memory_new((size_t)c->ranks * sizeof *all, "memory of devices", why);
    if (!all) return false;
    all[c->rank] = *value;
    bool good = comm_gather_each(c, all, sizeof *all, why);
    for (int32_t r = of.first; good && r < of.first + of.count; r++)
        if (r == of.first || all[r] < *value) *value = all[r];
    memory_free(all);
    return good;
}

/* Does it hold on every rank? */
static bool agree(tier_plan* p, bool* holds, error* why)
{
    int64_t value = *holds;
    const bool good = least(p, &value, (tiers_devices){0, p->comm ? p->comm->ranks : 1}, why);
    *holds = value != 0;
    return good;
}

/* --parallel split: rows of a part are its device's own, as no other one reads them. (Lists are dealt by their bytes.) */
static bool by_owner(const tier_plan* p, tiers_kind kind) { return kind == TIERS_FEATURES && in_parts(p) && p->parts > 1; }

/* So many lists and rows in parts, in so many bytes of each device that stores them. */
static bool fill_kinds(tier_plan* p, ggnn_parts_fill* fill, int64_t lists, int64_t rows, int64_t bytes, error* why)
{
    const bool limited = p->total != INT64_MAX; /* else all fit, in turn */
    const tiers_devices by = tiers_readers(lists ? TIERS_GRAPH : TIERS_FEATURES, p->parts, parts_by_role(p) ? p->options.samplers : 0);
    int64_t left[COMM_RANKS_MAX];
    ggnn_node* taken = limited && lists ? new_rank(p, why) : NULL;
    if (limited && lists && !taken) return false;
    for (int64_t v = 0; lists && v < p->nodes; v++) p->work[p->of_parts[TIERS_GRAPH][v]] = (ggnn_node)v;
    const ggnn_parts from = {&p->sizes, p->of_parts[TIERS_GRAPH], p->work, p->of_parts[TIERS_FEATURES], lists, rows,
                             limited ? bytes : INT64_MAX, by.count, p->plan.placement ? p->plan.placement->most : 1,
                             p->options.features_first};
    *fill = ggnn_fill_parts(taken, left, &from, p->nodes);
    return true;
}

/* What parts store. bytes: what a device that stores parts of a kind has for them. used: what they take of it. */
static bool fill_parts(tier_plan* p, const int64_t bytes[TIERS_KINDS], int64_t used[TIERS_KINDS], error* why)
{
    const tier_options* c = &p->options;
    const int64_t N = p->nodes;
    const bool alone = alone_by_role(p), apart = parts_by_role(p);
    const int64_t lists = alone && !reads(p, TIERS_GRAPH) ? 0 : smaller(ggnn_fill_ratio(c->store_graph, N), p->within[TIERS_GRAPH]);
    const int64_t rows = alone && !reads(p, TIERS_FEATURES) ? 0 : smaller(ggnn_fill_ratio(c->store_features, N), p->within[TIERS_FEATURES]);
    ggnn_parts_fill fill, others = {0};
    if (!fill_kinds(p, &fill, lists, apart ? 0 : rows, bytes[TIERS_GRAPH], why)) return false;
    if (apart && !fill_kinds(p, &others, 0, rows, bytes[TIERS_FEATURES], why)) return false;
    if (apart) {
        fill.row_rank = others.row_rank;
        fill.rows = others.rows;
        fill.row_bytes = others.row_bytes;
    }
    p->plan.share[TIERS_GRAPH] = (tiers_share){fill.list_rank, fill.lists, NULL, 0};
    p->plan.share[TIERS_FEATURES] = (tiers_share){fill.row_rank, fill.rows, NULL, 0};
    if (fill.rows == N && by_owner(p, TIERS_FEATURES)) p->plan.share[TIERS_FEATURES].rank = p->of_parts[TIERS_FEATURES];
    used[TIERS_GRAPH] = fill.list_bytes;
    used[TIERS_FEATURES] = fill.row_bytes;
    if (fill.lists < lists || fill.rows < rows)
        tier_plan_note(p, "--store-graph %g, --store-features %g: %" PRId64 " of %" PRId64 " lists and %" PRId64 " of %" PRId64
                       " rows are stored, as the device has no room for more (--reserve-bytes %" PRId64 " stay free)",
                       c->store_graph, c->store_features, fill.lists, lists, fill.rows, rows, c->reserve_bytes);
    return true;
}

/* DUCATI's: lists and rows share the budget. A cache has no entry that its rank may not read. */
static bool fill_dual(tier_plan* p, int64_t budget, error* why)
{
    tiers_share *graph = &p->plan.share[TIERS_GRAPH], *features = &p->plan.share[TIERS_FEATURES];
    ggnn_node *rows = new_rank(p, why), *lists = rows ? new_rank(p, why) : NULL;
    if (!lists) return false;
    for (int kind = 0; kind < TIERS_KINDS; kind++)
        for (int64_t v = 0; v < p->nodes && p->reach[kind] < p->nodes; v++)
            if (p->of_cache[kind][v] >= p->reach[kind]) p->count[kind][v] = -1;
    const ggnn_dual from = {p->count[TIERS_FEATURES], p->count[TIERS_GRAPH], p->options.slopes[1], p->options.slopes[0], &p->sizes, budget};
    const ggnn_dual_fill fill = ggnn_fill_dual(rows, lists, &from, p->nodes, p->work);
    graph->cache_rank = lists;
    graph->cached = fill.lists;
    features->cache_rank = rows;
    features->cached = fill.rows;
    if (!p->options.slopes[0] && !p->options.slopes[1]) tier_plan_note(p, "--cache dual: both slopes are 0, so that frequency a byte decides");
    return true;
}

static bool fill_cache(tier_plan* p, int64_t budget, error* why)
{
    const tier_options* c = &p->options;
    tiers_share *graph = &p->plan.share[TIERS_GRAPH], *features = &p->plan.share[TIERS_FEATURES];
    if (c->cache == CACHE_NONE) return true;
    if (c->cache == DUAL && !p->file.cached) return fill_dual(p, budget, why);
    features->cache_rank = p->of_cache[TIERS_FEATURES];
    features->cached = ggnn_fill_rows(budget, p->sizes.row, p->reach[TIERS_FEATURES]);
    if (c->cache != DUAL) return true;
    features->cached = p->from_file[TIERS_FEATURES];
    graph->cache_rank = p->of_cache[TIERS_GRAPH];
    graph->cached = p->from_file[TIERS_GRAPH];
    return true;
}

int64_t tier_plan_rankings(const tier_plan* p)
{
    const tiers_share *graph = &p->plan.share[TIERS_GRAPH], *features = &p->plan.share[TIERS_FEATURES];
    const ggnn_node* used[4] = {graph->rank, features->rank, graph->cache_rank, features->cache_rank};
    return p->parts ? distinct_bytes(p, used, 0) : 0;
}

/* A device's rows of edges. */
static int64_t edge_bytes(const tier_plan* p)
{
    const int32_t parts = row_parts(p), most = p->plan.placement ? p->plan.placement->most : 1;
    const int64_t stored = p->plan.edges_stored;
    if (!parts || !stores(p, TIERS_FEATURES)) return 0; /* there is no plan, or who samples has none */
    return (p->plan.edges_cached + (stored / parts + (stored % parts > 0)) * most) * p->data.edges.pitch;
}

/* A CPU's limit is for lists, rows, those of edges, and rankings alone. */
int64_t tier_plan_beside(const tier_plan* p)
{
    return edge_bytes(p) + (p->peaks ? tiers_overhead(p->parts, p->plan.placement ? p->plan.placement->most : 1) : 0);
}

static int64_t room_of(const tier_plan* p, int64_t peak)
{
    return ggnn_fill_auto(p->total, peak + p->kept + tier_plan_beside(p), p->options.reserve_bytes);
}

int64_t tier_plan_room(const tier_plan* p, int64_t peak) { return p->total != INT64_MAX ? room_of(p, peak) : (int64_t)1 << 30; }

/* What the filled caches hold. */
static int64_t cached_bytes(const tier_plan* p)
{
    const tiers_share *graph = &p->plan.share[TIERS_GRAPH], *features = &p->plan.share[TIERS_FEATURES];
    int64_t bytes = features->cached * p->sizes.row;
    for (int64_t v = 0; graph->cached && v < p->nodes; v++)
        if (graph->cache_rank[v] < graph->cached) bytes += ggnn_list_bytes(&p->sizes, v);
    return bytes;
}

static bool fill_tiers(tier_plan* p, int64_t room, int64_t* left, error* why)
{
    const int64_t given = cache_bytes(p);
    int64_t bytes[TIERS_KINDS], used[TIERS_KINDS];
    for (int kind = 0; kind < TIERS_KINDS; kind++) {
        const tiers_devices all = {0, p->comm ? p->comm->ranks : 1};
        bytes[kind] = room > given ? room - given : 0;
        if (!least(p, &bytes[kind], parts_by_role(p) ? readers_of(p, (tiers_kind)kind) : all, why)) return false;
    }
    if (!fill_parts(p, bytes, used, why)) return false;
    *left = room;
    for (int kind = 0; kind < TIERS_KINDS; kind++) *left -= stores(p, (tiers_kind)kind) ? used[kind] : 0;
    if (!p->options.cache_auto) return fill_cache(p, given, why);
    char text[16];
    tier_plan_note(p, "--cache-bytes auto: %sB", progress_amount(text, (double)*left));
    return fill_cache(p, *left, why);
}

/* Rows of edges have what they ask for where the reader with least memory has it; lists and rows of nodes have the rest. */
static bool fill_edges(tier_plan* p, int64_t peak, error* why)
{
    const tier_options* c = &p->options;
    const int64_t E = p->data.edges.rows ? p->data.graph.num_edges : 0, pitch = p->data.edges.pitch;
    const int64_t cached = ggnn_fill_ratio(c->cache_edges, E), stored = smaller(ggnn_fill_ratio(c->store_edges, E), E - cached);
    const int32_t parts = row_parts(p), most = p->plan.placement ? p->plan.placement->most : 1;
    p->plan.edges_cached = p->plan.edges_stored = 0;
    int64_t room = room_of(p, peak);
    if (E == 0 || !least(p, &room, readers_of(p, TIERS_FEATURES), why)) return E == 0;
    const int64_t keeps = smaller(cached, room / pitch), each = (room / pitch - keeps) / most; /* rows of a cache, of a part */
    const int64_t shares = each < stored / parts + (stored % parts > 0) ? each * parts : stored;
    if (keeps < cached || shares < stored)
        tier_plan_note(p, "--store-edges %g, --cache-edges %g: %" PRId64 " of %" PRId64 " rows of edges are stored and %" PRId64 " of %" PRId64
                       " cached, as the device has no room for more", c->store_edges, c->cache_edges, shares, stored, keeps, cached);
    if (alone_by_role(p) && !reads(p, TIERS_FEATURES)) return true; /* who samples has none */
    p->plan.edges_cached = keeps;
    p->plan.edges_stored = shares;
    return true;
}

static bool fill_once(tier_plan* p, int64_t peak, error* why)
{
    if (!fill_edges(p, peak, why) || !fill_tiers(p, room_of(p, peak), &p->left, why)) return false;
    p->left -= cached_bytes(p);
    return true;
}

static void forget_identities(tier_plan* p)
{
    for (int kind = 0; kind < TIERS_KINDS; kind++) {
        const ggnn_node** const rank[2] = {&p->plan.share[kind].rank, &p->plan.share[kind].cache_rank};
        for (int i = 0; i < 2; i++)
            if (*rank[i] && is_identity(p, *rank[i])) *rank[i] = NULL;
    }
}

void tier_plan_take_slopes(tier_plan* p)
{
    const slopes_fit* fit = p->slopes.fit;
    const int64_t both[] = {slopes_of(&p->slopes, TIERS_GRAPH), slopes_of(&p->slopes, TIERS_FEATURES)};
    memcpy(p->options.slopes, both, sizeof p->options.slopes);
    p->measured = true;
    tier_plan_note(p, "--slopes %lld,%lld (measured on device 0: nanoseconds an epoch that all lists, and all rows, being cached "
                   "would save)", (long long)both[0], (long long)both[1]);
    if (fit[TIERS_GRAPH].clear && fit[TIERS_FEATURES].clear) return;
    const bool none = !fit[TIERS_GRAPH].clear && !fit[TIERS_FEATURES].clear;
    tier_plan_note(p, "--slopes measure: what %s cannot be told from noise (not above twice its standard error): %s",
                   none ? "lists and rows save" : fit[TIERS_GRAPH].clear ? "rows save" : "lists save",
                   none ? "0,0 in its place, as without --slopes" : "0 in its place, so that none is cached");
}

/* Does a rank alone read its part? */
static bool reads_alone(const tier_plan* p) { return !p->comm || alone_by_role(p) || p->options.closure; }

/* held (N): of how many ranks each node is cached, of those whose parts this one reads. */
static bool count_cached(tier_plan* p, tiers_kind kind, int64_t* held, error* why)
{
    const tiers_share* s = &p->plan.share[kind];
    const bool one = reads_alone(p);
    int64_t* own = one ? held : memory_new(memory_product((size_t)p->nodes, sizeof *own, 1), "cached nodes", why);
    for (int64_t v = 0; own && v < p->nodes; v++) own[v] = (s->cache_rank ? s->cache_rank[v] : v) < s->cached;
    const bool good = own && (one || sum_counts(p, held, own, why));
    if (own != held) memory_free(own);
    return good;
}

/* order (N) nodes, to (N) their ranks: rank r is of part r % parts, which gets its owner's nodes in their order; where these are
   fewer, those of the owner that has most left. Overwrites work's second half. */
static void deal_by_owner(tier_plan* p, const ggnn_node* order, ggnn_node* to)
{
    ggnn_node* queue = p->work + p->nodes;
    int64_t next[COMM_RANKS_MAX + 1] = {0}, end[COMM_RANKS_MAX], r = 0;
    for (int64_t i = 0; i < p->nodes; i++) next[tiers_owner(&p->data.owners, p->comm, order[i], p->parts) + 1]++;
    for (int32_t q = 0; q < p->parts; q++) next[q + 1] += next[q];
    for (int32_t q = 0; q < p->parts; q++) end[q] = next[q];
    for (int64_t i = 0; i < p->nodes; i++) queue[end[tiers_owner(&p->data.owners, p->comm, order[i], p->parts)]++] = order[i];
    for (; r < p->nodes; r++) {
        int32_t from = (int32_t)(r % p->parts);
        const bool none = next[from] == end[from];
        for (int32_t q = 0; none && q < p->parts; q++)
            if (end[q] - next[q] > end[from] - next[from]) from = q;
        to[queue[next[from]++]] = (ggnn_node)r;
    }
}

/* The parts' order, from what is hot: what is marked comes last. */
static void order_kind(tier_plan* p, tiers_kind kind, const int64_t* held, int64_t all, ggnn_node* to)
{
    ggnn_node *order = p->work + p->nodes, *by_rank = p->work;
    int64_t n = 0;
    for (int64_t v = 0; v < p->nodes; v++) order[p->hot[kind][v]] = (ggnn_node)v;
    for (int last = 0; last < 2; last++)
        for (int64_t i = 0; i < p->nodes; i++)
            if ((held && held[order[i]] == all) == last) by_rank[n++] = order[i];
    if (by_owner(p, kind)) deal_by_owner(p, by_rank, to);
    else for (int64_t i = 0; i < p->nodes; i++) to[by_rank[i]] = (ggnn_node)i;
}

/* Of how many ranks a node is to be cached that no part is read for: of all, or of its owner. */
static int64_t caches_of(const tier_plan* p, tiers_kind kind)
{
    if (alone_by_role(p)) return 1;
    return in_parts(p) && !(kind == TIERS_GRAPH && p->options.whole_batches) ? 1 : readers_of(p, kind).count;
}

/* What every cache has, of those that would read it, is read from no part: in the parts' order such nodes come last (CliqueOpt of XGNN,
   Legion). Sets *moved where that is another order than the one by which parts were filled. */
static bool order_behind_caches(tier_plan* p, tiers_kind kind, bool* moved, error* why)
{
    const tiers_share* s = &p->plan.share[kind];
    if (s->stored == 0 || s->stored == p->nodes) return true;
    int64_t* held = memory_new(memory_product((size_t)p->nodes, sizeof *held, 1), "cached nodes", why);
    ggnn_node* to = held ? new_rank(p, why) : NULL;
    const bool good = to && count_cached(p, kind, held, why);
    if (good) order_kind(p, kind, held, caches_of(p, kind), to);
    if (good && memcmp(to, p->of_parts[kind], (size_t)p->nodes * sizeof *to)) {
        p->of_parts[kind] = to;
        *moved = true;
    }
    memory_free(held);
    return good;
}

static bool order_parts(tier_plan* p, bool* moved, error* why)
{
    *moved = false;
    if (p->options.cache == CACHE_NONE) return true;
    return order_behind_caches(p, TIERS_FEATURES, moved, why) &&
           (p->options.cache != DUAL || order_behind_caches(p, TIERS_GRAPH, moved, why));
}

/* Once more, with less room, where rankings take more than was kept for them: lists that parts hold in another order than the file's,
   or than rows', have one of their own. And once more where caches have what parts were to hold: their size depends on the parts'
   where it is what is left (--cache-bytes auto), so that the last turn may leave a few nodes in both, or in neither. */
enum { FILL_TURNS = 5 };
bool tier_plan_fill(tier_plan* p, int64_t peak, error* why)
{
    bool fits = false, moved = true;
    fit_file(p);
    memcpy(p->hot, p->of_parts, sizeof p->hot);
    if (by_owner(p, TIERS_FEATURES)) {
        ggnn_node* dealt = new_rank(p, why);
        if (!dealt) return false;
        order_kind(p, TIERS_FEATURES, NULL, 0, dealt);
        p->of_parts[TIERS_FEATURES] = dealt;
        p->kept = rank_bytes(p);
    }
    for (p->notes = 0; p->notes < TIER_NOTES_MAX && p->note[p->notes][0];) p->notes++;
    for (int turn = 0; turn < FILL_TURNS && (!fits || moved); turn++) {
        forget_notes(p); /* of the turn before */
        memset(p->plan.share, 0, sizeof p->plan.share);
        if (!fill_once(p, peak, why)) return false;
        forget_identities(p);
        const int64_t needed = tier_plan_rankings(p);
        fits = p->total == INT64_MAX || needed <= p->kept;
        if (!fits) p->kept = needed;
        if (!agree(p, &fits, why)) return false;
        moved = false;
        if (turn < FILL_TURNS - 1 && !order_parts(p, &moved, why)) return false;
        bool still = !moved;
        if (!agree(p, &still, why)) return false;
        moved = !still;
        forget_ranks(p);
    }
    return true;
}
