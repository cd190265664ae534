#include "trainer/explain.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "common/memory.h"
#include "datasets/hotness.h"

/* ==== counting ================================================================================================== */

typedef struct {
    const training* t;
    int64_t *hot[TIERS_KINDS];    /* (N) what rankings are made of: all devices' reads before training */
    int64_t *seen[TIERS_KINDS];   /* (N) what device 0 read in `epochs` other epochs */
    int64_t *others[TIERS_KINDS]; /* (N) what all other devices read in the same epochs as device 0 */
    int64_t epochs;               /* epochs of `seen` and `others` */
    ggnn_node* visited;           /* (steps of a node's walks) of --sampler walk */
} counts;

/* The lists that a batch's walks read: one a step, of the node that the step begins at. */
static ggnn_status count_walks(const counts* k, int64_t* lists, ggnn_batch* b, const ggnn_rng* rng)
{
    const ggnn_walks walks = ggnn_walks_or_default(b->how.walk);
    const uint64_t restart = (uint64_t)((double)walks.restart * 4294967296.);
    ggnn_rng own = *rng;
    own.purpose = ggnn_walk_purpose(rng->purpose);
    for (int32_t h = 0; h < b->num_hops; h++)
        for (int64_t i = 0; i < *b->hop[h].num_dst.n; i++) {
            const ggnn_node start = b->hop[h].id[i];
            ggnn_node bad;
            const ggnn_status status = ggnn_random_walk(k->visited, &k->t->task->graph, &walks, rng, h, start, &bad);
            if (status != GGNN_OK) {
                b->fault.node = bad;
                return status;
            }
            ggnn_node at = start;
            for (int32_t s = 0; s < walks.walks * walks.length; s++) {
                if (s % walks.length == 0) at = start;
                lists[at]++;
                at = k->visited[s] < 0 || ggnn_random(&own, h, start, (uint32_t)s).word[2] < restart ? start : k->visited[s];
            }
        }
    return GGNN_OK;
}

static bool list_fails(int64_t node, const char* what, error* why)
{
    return error_set(why, "the neighbours of node %lld: %s (ggnn-data verify checks the whole file)", (long long)node, what);
}

typedef struct { /* of a pass, slice after slice of each batch, as the devices' loaders take them */
    const counts* k;
    loader_pass pass;
    bool read; /* every list that is read counts; else those of targets alone, as in rankings */
    int64_t *const *mine, *const *others; /* device 0's go to `mine` */
} slices;

static ggnn_status sample(void* context, ggnn_batch* b, ggnn_node* seeds, int64_t i)
{
    const slices* s = context;
    const training* t = s->k->t;
    const int32_t ranks = t->comm->ranks;
    return loader_sample_slice(b, seeds, &t->task->graph, &s->pass, t->config->batch, i / ranks, (int32_t)(i % ranks), ranks);
}

static ggnn_status add_reads(void* context, ggnn_batch* b, int64_t i)
{
    const slices* s = context;
    const comm* c = s->k->t->comm;
    int64_t* const* to = i % c->ranks == c->rank ? s->mine : s->others;
    const bool walks = s->read && s->k->visited;
    ggnn_rng rng = s->pass.rng;
    rng.step += (uint32_t)(i / c->ranks);
    const ggnn_status status = walks ? count_walks(s->k, to[TIERS_GRAPH], b, &rng) : GGNN_OK;
    return status == GGNN_OK ? ggnn_count_batch(to[TIERS_FEATURES], walks ? NULL : to[TIERS_GRAPH], b) : status;
}

static bool count_slices(counts* k, loader_pass pass, int64_t epochs, bool read, int64_t* const* mine, int64_t* const* others,
                         error* why)
{
    const training* t = k->t;
    const ggnn_sampling how = config_sampling(t->config);
    const int64_t batch = t->config->batch, most = batch < pass.num_ids ? batch : pass.num_ids, ranks = t->comm->ranks;
    slices s = {k, pass, read, mine, others};
    const hotness_batches all = {.graph = &t->task->graph, .how = &how, .seeds = (most + ranks - 1) / ranks,
                                 .batches = epochs * ((pass.num_ids + batch - 1) / batch) * ranks, .sample = sample, .look = add_reads,
                                 .context = &s};
    hotness_failure failed;
    if (hotness_look(&all, &failed, why)) return true;
    return failed.status == GGNN_OK ? false : list_fails(failed.node, ggnn_status_string(failed.status), why);
}

static bool count_epochs(counts* k, error* why)
{
    const training* t = k->t;
    const config* c = t->config;
    const int64_t n = t->task->count[SPLIT_TRAIN], K = c->presample_epochs;
    loader_pass before = {.ids = t->task->ids[SPLIT_TRAIN], .num_ids = n, .shuffled = true, .epoch = GGNN_PRESAMPLE_EPOCH,
                          .rng = {(uint64_t)c->seed, 0, GGNN_PURPOSE_PRESAMPLE}};
    loader_pass seen = before;
    k->epochs = 1;
    seen.epoch += (uint32_t)K;
    seen.rng.step = (uint32_t)(K * ((n + c->batch - 1) / c->batch));
    if (c->cache == HOTNESS_OPTIMAL + 1) { /* the run itself */
        k->epochs = t->at.epoch > 0 ? t->at.epoch : 1;
        seen.epoch = seen.rng.step = 0;
        seen.rng.purpose = GGNN_PURPOSE_SAMPLE;
    }
    return count_slices(k, before, K, false, k->hot, k->hot, why) &&
           count_slices(k, seen, k->epochs, true, k->seen, k->others, why);
}

static bool count_all(counts* k, error* why)
{
    const ggnn_sampling how = config_sampling(k->t->config);
    const ggnn_walks walks = ggnn_walks_or_default(how.walk);
    if (!ggnn_method_has(how.method, GGNN_METHOD_WALKS)) return count_epochs(k, why);
    k->visited = memory_new(memory_product((size_t)walks.walks, (size_t)walks.length, sizeof *k->visited), "walks", why);
    const bool good = k->visited && count_epochs(k, why);
    memory_free(k->visited);
    return good;
}

static explain_shares shares_of(tiers_reads r, int64_t epochs)
{
    const int64_t all = r.cache + r.own + r.peer + r.host;
    const double share = all ? 100. / (double)all : 0;
    return (explain_shares){share * (double)r.cache, share * (double)r.own, share * (double)r.peer, share * (double)r.host,
                            (double)all / (double)epochs};
}

static void predict(explanation* e, const training* t, const counts* k)
{
    const int64_t n = t->task->graph.num_nodes;
    const tier_plan* plan = worker_plan(&t->worker);
    for (int kind = 0; kind < TIERS_KINDS; kind++) {
        const int64_t* seen = k->seen[kind];
        tiers_reads reads = {0, 0, 0, 0};
        const int32_t parts = tiers_parts(worker_tiers(&t->worker), (tiers_kind)kind);
        if (t->config->tiers) reads = tiers_plan_reads(&plan->plan, (tiers_kind)kind, seen, n, t->comm->local, plan->parts, NULL);
        for (int64_t v = 0; !t->config->tiers && v < n; v++)
            *(ggnn_owner_of(v, (ggnn_owner)t->config->owners, NULL, n, parts) ? &reads.peer : &reads.own) += seen[v];
        e->predicted[kind] = shares_of(reads, k->epochs);
    }
}

static void see(explanation* e, const training* t)
{
    const rank_cost* mine = &t->all[t->comm->rank];
    const int64_t trained = t->at.epoch > 0 ? t->at.epoch : 1;
    const double epochs = (double)trained;
    e->counted[TIERS_GRAPH] = shares_of(mine->lists.read, trained);
    e->counted[TIERS_FEATURES] = shares_of(mine->rows.read, trained);
    e->sample = mine->sample / epochs;
    e->mark = mine->mark / epochs;
    e->copy = mine->copy / epochs;
    e->extract = mine->extract / epochs;
    e->train = mine->train / epochs;
    e->waiting = (mine->batch + mine->waited) / epochs;
}

/* ==== the case ================================================================================================== */

/* Bytes that a device has for graph, features and rankings: of a device of its own, what all else took at most is left out. */
static int64_t memory_for_data(const training* t)
{
    const config* c = t->config;
    device* d = net_device(worker_net(&t->worker));
    const tier_plan* plan = worker_plan(&t->worker);
    const rank_cost* mine = &t->all[t->comm->rank];
    const int64_t total = tier_plan_total(plan, c->device_memory, d);
    if (total == INT64_MAX) return INT64_MAX;
    if (device_room(d) == INT64_MAX) return ggnn_fill_auto(total, 0, c->reserve_bytes); /* a CPU */
    const tiers_count* count[] = {&mine->rows, &mine->lists};
    int64_t data = tier_plan_rankings(plan) + tier_plan_beside(plan) + d->unique.spare; /* each setting counts its own */
    for (int i = 0; i < 2; i++) data += count[i]->placed_bytes.cache + count[i]->placed_bytes.own;
    return ggnn_fill_auto(total, d->most_bytes > data ? d->most_bytes - data : 0, c->reserve_bytes);
}

/* Edges of a list that a sample looks at: as in the last hop that samples, in which most lists are read. A walk's step: one. */
static double fanout_of(const config* c)
{
    const ggnn_sampling how = config_sampling(c);
    double fanout = 0;
    for (int32_t h = 0; h < how.num_hops; h++)
        if (how.fanout[h]) fanout = ggnn_method_has(how.method, GGNN_METHOD_WALKS) ? 1 : how.fanout[h] > 0 ? how.fanout[h] : 1e9;
    return fanout;
}

/* seen: by all devices, by now. */
static explain_case case_of(const training* t, const counts* k)
{
    const config* c = t->config;
    device* d = net_device(worker_net(&t->worker));
    const tier_plan* plan = worker_plan(&t->worker);
    return (explain_case){.config = c, .nodes = t->task->graph.num_nodes, .sizes = ggnn_sizes_of(&t->task->graph, &t->task->features),
                          .hot_rows = k->hot[TIERS_FEATURES], .hot_lists = k->hot[TIERS_GRAPH], .rows = k->seen[TIERS_FEATURES],
                          .lists = k->seen[TIERS_GRAPH], .epochs = k->epochs, .fanout = fanout_of(c), .memory = memory_for_data(t),
                          .peaks = device_room(d) != INT64_MAX, .devices = t->comm->locals, .placement = plan->plan.placement, .links = plan->links.devices ? &plan->links : NULL,
                          .bandwidth = {1e9 * (double)c->links[0], 1e9 * (double)c->links[1], 1e9 * (double)c->links[2]}};
}

bool explain(explanation* e, const training* t, error* why)
{
    const size_t n = (size_t)t->task->graph.num_nodes;
    int64_t* memory = memory_new(memory_product(n, 3 * TIERS_KINDS + 1, sizeof *memory), "counts of reads", why);
    int64_t* degrees = memory + 3 * TIERS_KINDS * n;
    counts k = {.t = t};
    if (!memory) return false;
    memset(e, 0, sizeof *e);
    for (int kind = 0; kind < TIERS_KINDS; kind++) {
        k.hot[kind] = memory + (size_t)kind * n;
        k.seen[kind] = memory + (size_t)(TIERS_KINDS + kind) * n;
        k.others[kind] = memory + (size_t)(2 * TIERS_KINDS + kind) * n;
    }
    bool good = count_all(&k, why);
    if (good) {
        predict(e, t, &k);
        see(e, t);
        for (size_t i = 0; i < TIERS_KINDS * n; i++) k.seen[0][i] += k.others[0][i];
        e->given = case_of(t, &k);
        e->given.degrees = degrees;
        ggnn_fault fault;
        good = ggnn_count_degrees(degrees, NULL, &t->task->graph, &fault) == GGNN_OK ? explain_outcomes(e->outcome, &e->given, why)
                                                                                     : list_fails(fault.node, fault.what, why);
    }
    if (good) e->choice = explain_choice(e->outcome);
    memory_free(memory);
    return good;
}

/* ==== what is said ============================================================================================== */

/* Shares of the reads, then how many they are in an epoch. */
static void print_shares(explain_shares s)
{
    const double share[] = {s.cache, s.own, s.peer, s.host};
    char reads[16];
    for (int i = 0; i < 4; i++) printf(" %8.2f", share[i]);
    printf("  ");
    for (int i = 0; i < 4; i++) printf(" %8s", progress_amount(reads, floor(share[i] * s.reads / 100 + .5)));
    printf("\n");
}

static void print_kind(const explanation* e, tiers_kind kind, const char* name)
{
    printf("  %-6s predicted  ", name);
    print_shares(e->predicted[kind]);
    printf("  %-6s in the run ", "");
    if (e->counted[kind].reads > 0) print_shares(e->counted[kind]);
    else printf("   not counted: all is the device's own\n");
}

static explain_tiers percent_of(explain_tiers t)
{
    const double all = t.own + t.peer + t.host, percent = all > 0 ? 100 / all : 0;
    return (explain_tiers){percent * t.own, percent * t.peer, percent * t.host};
}

static const char* why_not(const explanation* e, explain_setting s)
{
    const bool alone = e->given.devices < 2;
    if (alone && (s == EXPLAIN_PARTS || s == EXPLAIN_CLIQUES || s == EXPLAIN_BESIDE)) return "one device has no parts";
    return s == EXPLAIN_CLIQUES && !e->given.links ? "no links are stated (--topology)" : "does not fit";
}

static void print_outcome(const explanation* e, explain_setting s)
{
    const explain_outcome* o = &e->outcome[s];
    char rows[16], lists[16];
    const explain_tiers r = percent_of(o->row_reads), l = percent_of(o->list_reads);
    if (!o->possible) {
        printf("  %-32s %s\n", explain_name[s], why_not(e, s));
        return;
    }
    printf("  %-32s %9s %9s  %6.2f %6.2f  %6.2f %6.2f %9.3g %9.3g %9.3g\n", explain_name[s],
           progress_amount(rows, (double)o->row_bytes), progress_amount(lists, (double)o->list_bytes), r.own, r.host, l.own, l.host,
           o->sample, o->extract, o->seconds);
}

static void print_choice(const explanation* e)
{
    const explain_outcome* best = &e->outcome[e->choice];
    printf("choice: %s (%s", explain_name[e->choice], explain_options[e->choice]);
    if (e->choice == EXPLAIN_DUAL) printf(" --slopes %" PRId64 ",%" PRId64, best->slopes[0], best->slopes[1]);
    if (e->choice == EXPLAIN_BESIDE) printf(" --cache-ratio %g", best->cache_ratio);
    printf("): %.4g s an epoch (modelled)", best->seconds);
    int next = -1; /* the fastest of the others */
    for (int s = 0; s < EXPLAIN_SETTINGS; s++)
        if (s != (int)e->choice && e->outcome[s].possible && (next < 0 || e->outcome[s].seconds < e->outcome[next].seconds)) next = s;
    if (next >= 0)
        printf("; %s: %.4g s, sample %+.4g, extract %+.4g", explain_name[next], e->outcome[next].seconds,
               e->outcome[next].sample - best->sample, e->outcome[next].extract - best->extract);
    printf("\n");
}

/* How the cache beside parts got its size. */
static void print_share(const explanation* e)
{
    const explain_outcome* o = &e->outcome[EXPLAIN_BESIDE];
    if (!o->possible) return;
    printf("  a cache beside parts: of %g to %g of the rows %g take least time on the links (--cache-ratio %g); parts have what memory is left\n",
           explain_ratio[0], explain_ratio[EXPLAIN_RATIOS - 1], o->cache_ratio, o->cache_ratio);
}

/* What the modelled seconds take for granted. */
static void print_links(const explanation* e)
{
    const ggnn_topology* t = e->given.links;
    double least = 0, most = 0;
    for (int32_t i = 0; t && i < t->devices; i++)
        for (int32_t j = 0; j < t->devices; j++) {
            const double link = i == j ? 0 : t->bandwidth[i][j];
            if (link > 0 && (least <= 0 || link < least)) least = link;
            if (link > most) most = link;
        }
    if (t) printf("  peers are read over the links of --topology, %g to %g GB/s, all at once: the slowest that a device uses counts, and the slowest device\n", least, most);
}

static void print_fanout(const explanation* e, const config* c)
{
    const double fanout = e->given.fanout;
    char edges[24] = "all";
    if (fanout < 1e9) snprintf(edges, sizeof edges, "%g", fanout);
    if (fanout > 0)
        printf("  a read of a list: %s edge%s of it %s looked at, as %s\n", edges, fanout == 1 ? "" : "s", fanout == 1 ? "is" : "are",
               ggnn_method_has(config_sampling(c).method, GGNN_METHOD_WALKS) ? "by a walk's step" : "in the last hop");
    else printf("  no edge of a list is looked at\n");
}

static void put_shares(json* j, const char* key, explain_shares s)
{
    json_begin_object(j, key);
    json_real(j, "cache", s.cache);
    json_real(j, "own", s.own);
    json_real(j, "peer", s.peer);
    json_real(j, "host", s.host);
    json_real(j, "reads", s.reads);
    json_end_object(j);
}

static void put_tiers(json* j, const char* key, explain_tiers reads)
{
    const explain_tiers t = percent_of(reads);
    json_begin_object(j, key);
    json_real(j, "own", t.own);
    json_real(j, "peer", t.peer);
    json_real(j, "host", t.host);
    json_end_object(j);
}

static void put_slopes(json* j, const explain_outcome* dual)
{
    json_begin_array(j, "slopes");
    for (int i = 0; i < 2; i++) json_int(j, NULL, dual->slopes[i]);
    json_end_array(j);
}

static void put_explanation(json* j, const explanation* e)
{
    static const char* const kind_name[] = {[TIERS_GRAPH] = "lists", [TIERS_FEATURES] = "rows"};
    for (int kind = 0; kind < TIERS_KINDS; kind++) {
        json_begin_object(j, kind_name[kind]);
        put_shares(j, "predicted", e->predicted[kind]);
        put_shares(j, "counted", e->counted[kind]);
        json_end_object(j);
    }
    json_begin_object(j, "settings");
    for (int s = 0; s < EXPLAIN_SETTINGS; s++) {
        json_begin_object(j, explain_options[s]);
        json_bool(j, "possible", e->outcome[s].possible);
        json_int(j, "row_bytes", e->outcome[s].row_bytes);
        json_int(j, "list_bytes", e->outcome[s].list_bytes);
        put_tiers(j, "row_reads", e->outcome[s].row_reads);
        put_tiers(j, "list_reads", e->outcome[s].list_reads);
        json_real(j, "modelled_sample", e->outcome[s].sample);
        json_real(j, "modelled_extract", e->outcome[s].extract);
        if (s == EXPLAIN_DUAL) put_slopes(j, &e->outcome[s]);
        if (s == EXPLAIN_BESIDE) json_real(j, "cache_ratio", e->outcome[s].cache_ratio);
        json_end_object(j);
    }
    json_end_object(j);
    json_string(j, "choice", explain_options[e->choice]);
    json_begin_object(j, "seconds"); /* measured; of a kind that logs may differ in */
    json_real(j, "sample", e->sample);
    json_real(j, "mark", e->mark);
    json_real(j, "copy", e->copy);
    json_real(j, "extract", e->extract);
    json_real(j, "train", e->train);
    json_real(j, "waiting", e->waiting);
    json_end_object(j);
}

void explain_print(const explanation* e, const training* t, report* r)
{
    const config* c = t->config;
    const explain_case* g = &e->given;
    char memory[16], graph[16], rows[16];
    const int64_t lists = t->task->graph.num_edges * g->sizes.edge + g->nodes * g->sizes.list;
    json j;
    printf("\nlists %sB, rows %sB; on each of %d devices ", progress_amount(graph, (double)lists),
           progress_amount(rows, (double)(g->nodes * g->sizes.row)), (int)g->devices);
    if (g->memory == INT64_MAX) printf("no limit (--device-memory N sets one)\n");
    else printf("room for %sB\n", progress_amount(memory, (double)g->memory));
    printf("what device 0 reads (counted)            %% of all reads                    reads an epoch\n  %18s", "");
    for (int i = 0; i < 2; i++) printf(" %8s %8s %8s %8s  ", "cache", "own", "peer", "host");
    printf("\n");
    print_kind(e, TIERS_GRAPH, "lists");
    print_kind(e, TIERS_FEATURES, "rows");
    printf("an epoch of device 0 (measured): sample %.4f s, mark %.4f s, copy %.4f s, extract %.4f s, train %.4f s, waiting %.4f s\n",
           e->sample, e->mark, e->copy, e->extract, e->train, e->waiting);
    printf("what a device would read in an epoch (bytes and shares counted, seconds modelled: --links %s GB/s for own memory, a "
           "peer's, the host's)\n", c->links_text);
    print_links(e);
    print_fanout(e, c);
    printf("  %-32s %19s  %13s  %13s %9s %9s %9s\n", "", "bytes of a device", "rows, %", "lists, %", "", "", "");
    printf("  %-32s %9s %9s  %6s %6s  %6s %6s %9s %9s %9s\n", "", "rows", "lists", "own", "host", "own", "host", "sample s",
           "extract s", "both s");
    for (int s = 0; s < EXPLAIN_SETTINGS; s++) print_outcome(e, (explain_setting)s);
    print_share(e);
    print_choice(e);
    if (!log_begin(&r->log, &j, "explain")) return;
    put_explanation(&j, e);
    log_end(&r->log, &j);
}
