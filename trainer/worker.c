#include "trainer/worker.h"

#include <string.h>

#include "common/memory.h"
#include "common/progress.h"

/* The one place where options become a network's. extracted: its batches come with their rows. */
static net_config network_of(const config* c, const task* t, device* d, bool extracted)
{
    return (net_config){
        .device = d,
        .model = (net_model)c->model,
        .aggregator = (net_aggregator)c->aggregator,
        .layers = (int32_t)c->layers,
        .hidden = (int32_t)c->hidden,
        .outputs = t->outputs,
        .heads = (int32_t)c->heads,
        .out_heads = (int32_t)c->out_heads,
        .residual = c->residual,
        .norm = c->norm != 0,
        .dropout = (float)c->dropout,
        .input_dropout = (float)c->input_dropout,
        .attention_dropout = (float)c->attention_dropout,
        .optimizer = (net_optimizer)c->optimizer,
        .weight_decay = (float)c->weight_decay,
        .blas = c->gemm != 0,
        .full_batch = c->full_batch,
        .dense = c->dense_features,
        .extracted = extracted,
        .preprocessed = c->preprocess,
        .split = c->parallel == PARALLEL_SPLIT,
        .in_parts = c->split_partial,
        .seed = (uint64_t)c->seed,
        .degrees = t->degrees.whole.indptr ? &t->degrees : NULL,
    };
}

typedef struct { /* what a rank needs of its device at least, and what that has */
    int64_t machine, number, needs, evaluation, by_parts, has;
} memory_need;

/* A direct map of ids takes a quarter at most of what the device has left for each of its ranks: batches and the net come, too. */
static int64_t left_for_map(const memory_need* all, int32_t ranks, const memory_need* mine)
{
    int64_t left = mine->has, sharers = 0;
    for (int32_t k = 0; k < ranks; k++) {
        if (all[k].machine != mine->machine || all[k].number != mine->number) continue;
        left -= all[k].needs;
        sharers++;
    }
    return left > 0 ? left / 4 / sharers : 0;
}

/* Has every device what its ranks need? The answer is the same on all ranks. */
static bool check_needs(const memory_need* all, int32_t ranks, error* why)
{
    for (int32_t r = 0; r < ranks; r++) {
        const memory_need* first = &all[r];
        memory_need sum = {0};
        for (int32_t k = 0; k < ranks; k++) {
            if (all[k].machine != first->machine || all[k].number != first->number) continue;
            sum.needs += all[k].needs;
            sum.evaluation += all[k].evaluation;
            sum.by_parts += all[k].by_parts;
        }
        if (sum.needs <= first->has) continue;
        char needs[16], has[16];
        const char* try = sum.needs - sum.evaluation <= first->has ? "--eval sampled"
                        : sum.by_parts <= first->has               ? "--store parts"
                                                                   : "more devices with --store parts, and --eval sampled";
        return error_set(why, "device %d needs %sB at least, has %sB: try %s", (int)first->number,
                         progress_amount(needs, (double)sum.needs), progress_amount(has, (double)first->has), try);
    }
    return true;
}

/* Before anything large is taken. beside: bytes that the stages are known to need. */
static bool check_memory(const worker* w, const config* c, const task* t, const tiers_source* from, int64_t beside, error* why)
{
    comm* with = w->comm;
    const net_config network = network_of(c, t, w->device, false);
    const int32_t number = from->machines ? with->rank : with->local, parts = from->machines ? with->ranks : with->locals;
    tiers_source replica = *from;
    replica.exchange = false;
    const int64_t whole = tiers_bytes(&replica, 0, 1), part = tiers_bytes(from, number, parts);
    memory_need* all = memory_new((size_t)with->ranks * sizeof *all, "what devices need", why);
    if (!all) return false;
    memory_need* mine = &all[with->rank];
    bool good = comm_barrier(with, why); /* all have opened their devices */
    *mine = (memory_need){with->machine, w->device->number, 0, evaluation_bytes(c, t, &network), 0, device_room(w->device)};
    const int64_t stages = beside > mine->evaluation ? beside : mine->evaluation;
    mine->needs = (from->over ? part : whole) + stages;
    mine->by_parts = parts > 1 ? part + stages : mine->needs;
    good = good && comm_gather_each(with, all, sizeof *all, why) && check_needs(all, with->ranks, why);
    w->device->unique.room = good ? left_for_map(all, with->ranks, mine) : 0;
    memory_free(all);
    return good;
}

/* Do the devices of a machine have graph and features once? */
static bool in_parts(const worker* w, const config* c)
{
    const bool whole = c->store == STORE_REPLICA || (c->store == STORE_AUTO && !c->tiers && w->device->host_memory);
    return w->comm->ranks > 1 && (!whole || c->gather == GATHER_EXCHANGE);
}

static tiers_source source_of(const worker* w, const config* c, const task* t)
{
    tiers_source from = {.graph = t->graph, .features = t->features, .edges = t->edges, .labels = t->trained};
    for (int part = SPLIT_TRAIN; part <= SPLIT_TEST; part++) {
        from.ids[part] = t->ids[part];
        from.count[part] = t->count[part];
    }
    if (t->division.ids && c->shuffle == SHUFFLE_LOCAL) from.ids[SPLIT_TRAIN] = t->division.ids;
    const bool owned = c->owners == GGNN_OWNER_MAP;
    from.owners = owned ? GGNN_OWNER_RANGE : (ggnn_owner)c->owners;
    from.machines = c->store == STORE_SHARDS;
    from.exchange = from.machines || c->gather == GATHER_EXCHANGE;
    if (t->owners.at.parts && (owned || (c->parallel == PARALLEL_SPLIT && !from.exchange))) from.owned = &t->owners.at;
    if (in_parts(w, c) && !t->set.part.parts) from.over = w->comm;
    from.marks = c->pipeline == PIPELINE_FACTORED && !from.exchange;
    if (w->links.missing) from.placement = &w->links.placement;
    if (from.over && !c->topology && !from.placement) from.samplers = w->samplers;
    if (task_plans_tiers(t, c)) from.plan = &w->planned.plan;
    return from;
}

static bool samples_whole(const config* c) { return c->parallel == PARALLEL_SPLIT && c->split_sampling == SPLIT_SINGLE; }

/* The plan: rows come straight from the store where the input layer can read it and no row crosses a link; where rows
   cross one they are extracted, each once. */
static loader_plan plan_of(const worker* w, const config* c, const net_config* network)
{
    const tiers_view* view = tiers_view_of(w->tiers);
    loader_plan plan = {.graph = view->graph, .features = view->features, .labels = view->labels, .edges_read = view->edges_read,
                        .how = config_sampling(c), .batch = c->batch, .rank = w->comm->rank, .ranks = w->comm->ranks};
    if (plan.batch > w->pass.num_ids) plan.batch = w->pass.num_ids;
    plan.extract = network->extracted;
    plan.exchange = view->exchange;
    /* a trace shows each source's row; an SpMM of edges' rows wants local indices */
    plan.how.last_hop_global = net_reads_store(network) && !plan.extract && !c->trace_step && !c->edge_features;
    if (!w->device->host_memory) plan.how.keep |= GGNN_KEEP_REPEATS; /* a device counts them as it samples: its transposes need not */
    plan.overlap = c->pipeline == PIPELINE_OVERLAP;
    if (c->pipeline == PIPELINE_FACTORED) plan.slices = factored_slices(w->comm->ranks);
    if (plan.extract) {
        plan.marks = view->marks;
        plan.reads_marks = view->reads_marks;
    }
    if (samples_whole(c)) {
        plan.slices = 1;
        plan.how.last_hop_global = false;
    }
    return plan;
}

static bool open_split(worker* w, const config* c, const task* t, const net_config* network, error* why)
{
    const tiers_view* view = tiers_view_of(w->tiers);
    const split_plan plan = {.over = w->comm, .graph = *tiers_host_graph(w->tiers, &t->graph), .there = tiers_device_graph(w->tiers),
                             .at = t->owners.at, .how = config_sampling(c), .labels = t->trained, .features = view->features,
                             .exchange = view->exchange, .edges_read = view->edges_read,
                             .batch = loader_batch(w->loader), .pointers = c->gather == GATHER_POINTER, .partial = c->split_partial,
                             .whole = samples_whole(c) ? w->loader : NULL,
                             .path = t->set.file.path};
    w->host_ids = t->ids[SPLIT_TRAIN];
    const bool ahead = c->pipeline == PIPELINE_OVERLAP && !w->device->serial;
    loader_plan whole = plan_of(w, c, network);
    whole.overlap = false; /* a thread's, which is ahead itself */
    return split_ring_open(&w->split, w->device, &plan, &whole, ahead, why);
}

/* Over the training nodes, but for the place of their ids. */
static loader_pass pass_of(const config* c, const task* t)
{
    return (loader_pass){.num_ids = t->count[SPLIT_TRAIN], .shuffled = true, .keyed = true,
                         .parts = c->shuffle == SHUFFLE_LOCAL ? t->division.parts : 0, .rng = {(uint64_t)c->seed, 0, GGNN_PURPOSE_SAMPLE}};
}

/* The room that batches usually need, of those that the loader will be asked for. */
static bool measure(const worker* w, const config* c, error* why)
{
    loader_turns whole = {0, 1, loader_batches(w->loader, &w->pass), true};
    const loader_source from = {loader_next_whole, &whole};
    loader_pass pass = w->pass;
    if (samples_whole(c)) pass.source = &from;
    return loader_measure(w->loader, &pass, why);
}

/* Loader, evaluation and net over the tiers as they are. */
static bool open_stages(worker* w, const config* c, const task* t, error* why)
{
    device* d = w->device;
    const tiers_view* view = tiers_view_of(w->tiers);
    const net_config network = network_of(c, t, d, !c->full_batch && !view->local);
    net_data data = {&view->graph, &view->features, view->labels, view->edges.width ? &view->edges : NULL};
    w->pass = pass_of(c, t);
    w->pass.ids = view->ids[SPLIT_TRAIN];
    w->batches = 1;
    if (!c->full_batch) {
        loader_plan plan = plan_of(w, c, &network);
        w->loader = loader_create(d, &plan, NULL, why);
        if (!w->loader || !measure(w, c, why)) return false;
        w->batches = loader_batches(w->loader, &w->pass);
    }
    if (c->parallel == PARALLEL_SPLIT && !open_split(w, c, t, &network, why)) return false;
    if (c->eval_every) {
        w->evaluation = evaluation_create(c, t, view, &network, w->loader, w->comm, why);
        if (!w->evaluation) return false;
    }
    w->net = net_create(&network, &data, w->split ? split_ring_shape(w->split) : w->loader ? loader_shape(w->loader) : NULL,
                        w->evaluation ? evaluation_chunk(w->evaluation) : NULL, why);
    if (!w->net) return false;
    w->scratch = device_new(d, comm_reduce_bytes(w->comm, net_partial_of(w->net).count), "gradients of other devices", why);
    return w->scratch != NULL;
}

static void close_stages(worker* w)
{
    factored_close(&w->role);
    if (w->scratch) device_free(w->device, w->scratch);
    net_free(w->net);
    evaluation_free(w->evaluation);
    split_ring_free(w->split);
    loader_free(w->loader);
    w->scratch = NULL;
    w->net = NULL;
    w->evaluation = NULL;
    w->split = NULL;
    w->loader = NULL;
}

static bool begin_pass(worker* w, int64_t epoch, int64_t first, error* why)
{
    w->pass.epoch = (uint32_t)epoch;
    w->pass.rng.step = (uint32_t)(epoch * w->batches);
    if (w->split) {
        loader_pass pass = w->pass;
        pass.ids = w->host_ids;
        return split_ring_begin(w->split, &pass, w->pass.ids, first, why);
    }
    if (w->loader) loader_begin(w->loader, &w->pass, first);
    return true;
}

/* What a first mini-batch takes of the device, with all data in the host tier: the stages are opened for it, and closed.
   The tiers stay open, so that the host's memory stays pinned. */
static bool find_peak(worker* w, const config* c, const task* t, error* why)
{
    bool good = open_stages(w, c, t, why) && begin_pass(w, 0, 0, why) && comm_barrier(w->comm, why) && worker_compute(w, 0, why);
    if (!good || !comm_barrier(w->comm, why)) return false; /* worker_close closes them */
    device_settle(w->device);
    split_ring_rest(w->split);
    w->peak = w->device->most_bytes + (w->split ? split_ring_bytes(w->split) : 0);
    close_stages(w);
    return !w->device->failed.text[0] || error_set(why, "%s", w->device->failed.text);
}

slopes_plan worker_slopes_plan(const worker* w, const config* c, const task* t, const tiers_source* from, int64_t peak)
{
    const int64_t n = t->count[SPLIT_TRAIN];
    return (slopes_plan){.from = from, .how = config_sampling(c), .pass = pass_of(c, t), .list = SPLIT_TRAIN,
                         .rank = w->comm->rank, .ranks = w->comm->ranks, .batch = c->batch < n ? c->batch : n,
                         .room = tier_plan_room(&w->planned, peak)};
}

/* --slopes measure: by the device of rank 0, for all, so that their plans are those of one run of --slopes A,F. */
static bool measure_slopes(worker* w, const config* c, const task* t, const tiers_source* from, int64_t peak, error* why)
{
    int64_t bound[COMM_RANKS_MAX + 1] = {0};
    slopes_times* s = &w->planned.slopes;
    for (int32_t r = 1; r <= w->comm->ranks; r++) bound[r] = 1;
    if (w->comm->rank == 0) {
        const slopes_plan plan = worker_slopes_plan(w, c, t, from, peak);
        if (!slopes_measure(s, w->device, &plan, why)) return false;
        device_forget_peak(w->device, peak); /* training's own stays */
    }
    if (!comm_all_gather(w->comm, NULL, s, bound, sizeof *s, why)) return false;
    tier_plan_take_slopes(&w->planned);
    return true;
}

/* Where a link is missing. */
static void note_links(worker* w)
{
    const links_found* l = &w->links;
    const ggnn_placement* p = &l->placement;
    if (!l->missing) return;
    tier_plan_note(&w->planned, "devices that cannot read each other, by their driver: %d of %d pairs, the first device %d of device %d; parts are placed "
                   "so that none has to: up to %d of %d on a device (--topology says other links)", (int)l->missing,
                   (int)(p->devices * (p->devices - 1)), (int)l->from, (int)l->to, (int)p->most, (int)p->devices);
}

/* A device stores more than its own part where links are missing. */
static bool blame_links(const worker* w, error* why)
{
    const links_found* l = &w->links;
    error had = *why;
    if (!l->missing || !had.text[0]) return false;
    why->text[0] = 0;
    return error_set(why, "%s; a device stores up to %d of %d parts, as device %d has no link to device %d (--gather exchange needs no link)",
                     had.text, (int)l->placement.most, (int)l->placement.devices, (int)l->from, (int)l->to);
}

/* Links are asked of the driver where parts are read over them and no --topology says them. */
static bool ask_links(worker* w, const config* c, const task* t, error* why)
{
    const tiers_source from = source_of(w, c, t);
    if (!from.over || from.exchange || c->topology) return true;
    return links_place(&w->links, (ggnn_place_rule)c->placement, from.over, w->device, why);
}

/* Rows by exchange: a cache of this device before it. */
static bool open_cached_exchange(worker* w, const config* c, const task* t, const tiers_source* from, error* why)
{
    const ggnn_sampling how = config_sampling(c);
    const tier_data data = task_tiers(t);
    tier_options options = config_tiers(c);
    options.store_graph = options.store_features = 0; /* a part is the exchange's, the graph whole */
    return tier_plan_open(&w->planned, &options, &data, w->comm, NULL, w->device, why) &&
           tier_plan_order(&w->planned, &how, NULL, why) && tier_plan_fill(&w->planned, 0, why) &&
           (device_room(w->device) == INT64_MAX || check_memory(w, c, t, from, 0, why)) &&
           tiers_open(&w->tiers, w->device, from, why);
}

/* The plan, and the tiers that it says. */
static bool open_planned(worker* w, const config* c, const task* t, error* why)
{
    const ggnn_sampling how = config_sampling(c);
    tiers_source from = source_of(w, c, t);
    tier_options options = config_tiers(c);
    tier_data data = task_tiers(t);
    data.placement = from.placement;
    tiers* first = NULL;
    options.closure = task_keeps_closures(t, c);
    w->device->unique.room = 0; /* before it is known what is left */
    if (from.over && from.exchange) return open_cached_exchange(w, c, t, &from, why);
    if (!tier_plan_open(&w->planned, &options, &data, w->comm, from.over, w->device, why)) return false;
    const bool apart = tier_plan_asks_peak(&w->planned); /* the device has memory of its own */
    if (apart && !tiers_open(&w->tiers, w->device, &from, why)) return false;
    if (!tier_plan_order(&w->planned, &how, apart ? tiers_view_of(w->tiers) : NULL, why)) return false;
    if (apart && !find_peak(w, c, t, why)) return false;
    first = w->tiers;
    w->tiers = NULL;
    if (c->slopes_measured && !measure_slopes(w, c, t, &from, w->peak, why)) return false;
    bool good = tier_plan_fill(&w->planned, w->peak, why) && tiers_open(&w->tiers, w->device, &from, why);
    tiers_close(first);
    if (good) w->device->unique.room = w->planned.left;
    if (good) note_links(w);
    if (good && tiers_view_of(w->tiers)->copied) tier_plan_note(&w->planned, "the host's memory cannot be pinned where it is: a pinned copy is read");
    return good;
}

static bool open_tiers(worker* w, const config* c, const task* t, error* why)
{
    if (task_plans_tiers(t, c)) return open_planned(w, c, t, why);
    if (c->explain && !tier_plan_meet(&w->planned, w->comm, w->device, why)) return false;
    const tiers_source from = source_of(w, c, t);
    w->planned.plan.placement = from.placement;
    note_links(w);
    if (device_room(w->device) != INT64_MAX && !check_memory(w, c, t, &from, 0, why)) return blame_links(w, why);
    return tiers_open(&w->tiers, w->device, &from, why) || blame_links(w, why);
}

bool worker_open(worker* w, const config* c, const task* t, device* d, comm* with, error* why)
{
    memset(w, 0, sizeof *w);
    w->device = d;
    w->comm = with;
    w->samplers = config_tiers(c).samplers;
    device_enter(d);
    if (c->pipeline == PIPELINE_SERIAL) d->serial = true;
    if (!comm_carry(with, d, (comm_carrier)c->comm, why)) return false; /* before memory is counted: NCCL takes some */
    if (!ask_links(w, c, t, why) || !open_tiers(w, c, t, why) || !open_stages(w, c, t, why)) return false;
    tiers_start_counting(w->tiers);
    return true;
}

void worker_settle(worker* w)
{
    split_ring_rest(w->split);
    if (w->device) device_settle(w->device);
}

void worker_close(worker* w)
{
    if (w->device) device_enter(w->device); /* another thread may have opened it */
    close_stages(w);
    tiers_close(w->tiers);
    tier_plan_close(&w->planned);
    device_close(w->device);
    memset(w, 0, sizeof *w);
}

bool worker_share(worker* w, factored* f, error* why)
{
    return factored_open(&w->role, f, w->comm, w->net, w->loader, why);
}

bool worker_begin(worker* w, int64_t epoch, int64_t* first, error* why)
{
    if (!begin_pass(w, epoch, *first, why)) return false;
    return !w->role.of || (factored_begin(&w->role, &w->pass, *first, w->batches, why) && factored_sample(&w->role, first, why));
}

void worker_end(worker* w)
{
    if (w->role.of) factored_end(&w->role);
    if (w->split) split_ring_end(w->split);
}

int64_t worker_batches(const worker* w) { return w->batches; }

bool worker_steps_with_all(const worker* w) { return !w->role.of; }

void worker_fail(worker* w)
{
    if (w->role.of) factored_fail(w->role.of);
    split_ring_fail(w->split);
}

static bool compute_split(worker* w, uint32_t step, error* why)
{
    const mini_batch* b = split_ring_take(w->split, why);
    if (!b || !net_fit(w->net, split_ring_shape(w->split), why)) return false;
    net_compute(w->net, b, step);
    return !b->shuffle->failed.text[0] || error_set(why, "%s", b->shuffle->failed.text);
}

bool worker_compute(worker* w, int64_t step, error* why)
{
    if (w->role.of) return factored_compute(&w->role, (uint32_t)step, why);
    if (w->split) return compute_split(w, (uint32_t)step, why);
    const mini_batch* b = w->loader ? batch_take(w->loader, why) : net_whole(w->net);
    if (!b) return false;
    bool fits = !w->loader || net_fit(w->net, loader_shape(w->loader), why);
    if (fits) net_compute(w->net, b, (uint32_t)step);
    if (w->loader) batch_give(w->loader, b);
    return fits;
}

bool worker_reduce(worker* w, error* why)
{
    if (w->role.of) return factored_reduce(&w->role, why);
    net_partial mine = net_partial_of(w->net);
    return comm_reduce(w->comm, w->device, mine.grad, mine.count, &mine.sums->loss, w->scratch, why);
}

void worker_update(worker* w, float rate)
{
    net_update(w->net, rate);
    if (w->role.of) factored_updated(&w->role);
}

bool worker_losses(worker* w, bool wait, net_losses* losses, error* why)
{
    *losses = net_losses_of(w->net, wait);
    return !w->device->failed.text[0] || error_set(why, "%s", w->device->failed.text);
}

net* worker_net(const worker* w) { return w->net; }

const tier_plan* worker_plan(const worker* w) { return &w->planned; }
const tiers* worker_tiers(const worker* w) { return w->tiers; }

bool worker_evaluates(const worker* w) { return w->evaluation != NULL; }

/* ==== costs ===================================================================================================== */

/* sign 1: adds what was read until now; -1: takes it away. */
static void add_reads(const tiers* t, counted_cost* cost, int sign)
{
    const tiers_reads rows = tiers_counted(t, TIERS_FEATURES).read, lists = tiers_counted(t, TIERS_GRAPH).read,
                      bytes = tiers_counted(t, TIERS_GRAPH).read_bytes, edges = tiers_counted(t, TIERS_EDGES).read;
    int64_t from[GGNN_DEVICES_MAX];
    tiers_rows_from(t, from);
    if (sign < 0) {
        cost->rows = tiers_reads_since(cost->rows, rows);
        cost->lists = tiers_reads_since(cost->lists, lists);
        cost->list_bytes = tiers_reads_since(cost->list_bytes, bytes);
        cost->edge_rows = tiers_reads_since(cost->edge_rows, edges);
    } else {
        cost->rows = tiers_reads_sum(cost->rows, rows);
        cost->lists = tiers_reads_sum(cost->lists, lists);
        cost->list_bytes = tiers_reads_sum(cost->list_bytes, bytes);
        cost->edge_rows = tiers_reads_sum(cost->edge_rows, edges);
    }
    for (int i = 0; i < GGNN_DEVICES_MAX; i++) cost->from[i] += sign * from[i];
}

static void add_profile(net_profile* sum, const net_profile* after, const net_profile* before)
{
    for (int s = 0; s < NET_NUM_STAGES; s++) {
        sum->seconds[0][s] += after->seconds[0][s] - before->seconds[0][s];
        sum->bytes[0][s] += after->bytes[0][s] - before->bytes[0][s];
    }
    sum->flops[0] += after->flops[0] - before->flops[0];
}

static void add_batches(loader_cost* sum, const loader_cost* more, int sign)
{
    sum->seconds += sign * more->seconds;
    sum->sample += sign * more->sample;
    sum->mark += sign * more->mark;
    sum->copy += sign * more->copy;
    sum->extract += sign * more->extract;
    sum->bytes += sign * more->bytes;
    sum->edges += sign * more->edges;
    sum->grown += sign * more->grown;
    sum->marked += sign * more->marked;
}

bool worker_evaluate(worker* w, int part, score* result, error* why)
{
    counted_cost* cost = &w->apart;
    const net_profile before = *net_profile_of(w->net);
    loader_cost sampled = {0};
    if (w->loader) sampled = loader_cost_of(w->loader);
    const double start = progress_seconds();
    add_reads(w->tiers, cost, -1);
    const bool good = evaluation_run(w->evaluation, w->net, part, result, why);
    add_reads(w->tiers, cost, 1);
    cost->seconds += progress_seconds() - start;
    add_profile(&cost->net, net_profile_of(w->net), &before);
    if (!w->loader) return good;
    const loader_cost now = loader_cost_of(w->loader);
    add_batches(&cost->loader, &now, 1);
    add_batches(&cost->loader, &sampled, -1);
    return good;
}

bool worker_write(worker* w, const evaluation_sink* to, error* why)
{
    return evaluation_write(w->evaluation, w->net, to, why) && (!w->device->failed.text[0] || error_set(why, "%s", w->device->failed.text));
}

void worker_start_costs(worker* w)
{
    w->start = progress_seconds();
    w->before = w->comm->cost;
}

static loader_cost trained_batches(const worker* w)
{
    const loader_cost none = {0};
    if (w->split) return split_ring_cost(w->split).batches;
    if (!w->loader) return none;
    loader_cost all = loader_cost_of(w->loader);
    add_batches(&all, &w->past.loader, 1);
    add_batches(&all, &w->apart.loader, -1);
    return all;
}

static void put_parts(const split_ring* r, rank_cost* k)
{
    const split_cost cost = split_ring_cost(r);
    k->split = true;
    k->parts = (rank_parts){cost.targets, cost.batches.edges, cost.rows, cost.moved.own, cost.moved.peer, cost.moved.bytes};
}

static rank_cost rank_of(const worker* w, const loader_cost* batches)
{
    const comm_cost cost = w->comm->cost;
    rank_cost mine = {.rows = tiers_counted(w->tiers, TIERS_FEATURES),
                      .lists = tiers_counted(w->tiers, TIERS_GRAPH), .edge_rows = tiers_counted(w->tiers, TIERS_EDGES), .sent = cost.bytes - w->before.bytes,
                      .seconds = progress_seconds() - w->start, .evaluation = w->apart.seconds,
                      .comm = cost.seconds - w->before.seconds,
                      .waited = cost.waited - w->before.waited + w->role.waited, .copy = batches->copy,
                      .sampled = w->role.sampled, .trained = w->role.trained};
    mine.sample = batches->sample;
    mine.mark = batches->mark;
    mine.extract = batches->extract;
    mine.marked = batches->marked;
    mine.train = net_profile_of(w->net)->train;
    mine.batch = batches->seconds;
    if (w->split) put_parts(w->split, &mine);
    if (w->split) mine.sent += split_ring_sent(w->split);
    mine.evaluated = w->apart.rows;
    mine.rows.read = tiers_reads_since(tiers_reads_sum(mine.rows.read, w->past.rows), mine.evaluated);
    mine.lists.read = tiers_reads_since(tiers_reads_sum(mine.lists.read, w->past.lists), w->apart.lists);
    mine.lists.read_bytes = tiers_reads_since(tiers_reads_sum(mine.lists.read_bytes, w->past.list_bytes), w->apart.list_bytes);
    mine.rows.read_bytes = tiers_row_bytes(w->tiers, TIERS_FEATURES, mine.rows.read);
    mine.edge_rows.read = tiers_reads_since(tiers_reads_sum(mine.edge_rows.read, w->past.edge_rows), w->apart.edge_rows);
    mine.edge_rows.read_bytes = tiers_row_bytes(w->tiers, TIERS_EDGES, mine.edge_rows.read);
    tiers_rows_from(w->tiers, mine.from);
    for (int i = 0; i < GGNN_DEVICES_MAX; i++) mine.from[i] += w->past.from[i] - w->apart.from[i];
    return mine;
}

worker_costs worker_costs_of(const worker* w)
{
    const loader_cost batches = trained_batches(w);
    return (worker_costs){rank_of(w, &batches), batches, &w->apart, net_profile_of(w->net)};
}

/* ==== roles ===================================================================================================== */

int32_t worker_samplers(const worker* w) { return w->samplers; }

bool worker_places(const worker* w, const config* c, const task* t)
{
    return task_plans_tiers(t, c) || w->links.missing || (w->role.of && in_parts(w, c));
}

/* Another net goes on where this one was: its parameters, gradient and moments, in memory of the host's. */
static bool keep_state(worker* w, float** state, error* why)
{
    const net_state s = net_state_of(w->net);
    *state = memory_new(memory_product(4 * (size_t)s.count, sizeof **state, 1), "the net's state", why);
    if (*state) device_download(w->device, *state, s.value, 4 * (size_t)s.count * sizeof **state);
    return *state != NULL;
}

static void put_state(worker* w, const float* state, int64_t updates, const net_profile* profile)
{
    const net_state s = net_state_of(w->net);
    device_upload(w->device, s.value, state, 4 * (size_t)s.count * sizeof *state);
    *s.updates = updates;
    net_add_profile(w->net, profile);
}

static bool plan_again(worker* w, error* why)
{
    if (!tier_plan_take_roles(&w->planned, w->samplers, why) || !tier_plan_fill(&w->planned, w->peak, why)) return false;
    w->device->unique.room = w->planned.left;
    note_links(w);
    return true;
}

/* All lists with few samplers, or all rows with few trainers, may be more than a device has: then each has its part as before. */
static bool check_roles(worker* w, const config* c, const task* t, tiers_source* from, int64_t beside, error* why)
{
    error lacks = {""};
    if (device_room(w->device) == INT64_MAX || check_memory(w, c, t, from, beside, &lacks)) return true;
    if (w->comm->failed.text[0]) return error_set(why, "%s", lacks.text);
    tier_plan_note(&w->planned, "memory does not follow the role: by it device %d needs more than it has", (int)w->device->number);
    w->samplers = 0;
    *from = source_of(w, c, t);
    return check_memory(w, c, t, from, 0, why);
}

/* The tiers with their stages, closed and opened as w->samplers says. */
static bool lay_out_again(worker* w, const config* c, const task* t, error* why)
{
    factored* shared = w->role.of;
    const factored_rank before = w->role;
    tiers_source from = source_of(w, c, t);
    add_reads(w->tiers, &w->past, 1);
    const loader_cost cost = loader_cost_of(w->loader);
    add_batches(&w->past.loader, &cost, 1);
    device_settle(w->device);
    if (!comm_barrier(w->comm, why)) return false; /* no one reads this rank's part any more */
    close_stages(w);
    const int64_t beside = w->device->most_bytes - w->device->bytes;
    tiers_close(w->tiers);
    w->tiers = NULL;
    if (!(task_plans_tiers(t, c) ? plan_again(w, why) : check_roles(w, c, t, &from, beside, why))) return false;
    if (!tiers_open(&w->tiers, w->device, &from, why) || !open_stages(w, c, t, why) || !worker_share(w, shared, why)) return false;
    tiers_start_counting(w->tiers);
    w->role.sampled = before.sampled;
    w->role.trained = before.trained;
    w->role.waited = before.waited;
    return true;
}

bool worker_take_roles(worker* w, const config* c, const task* t, bool* laid_out, error* why)
{
    int32_t samplers;
    float* state = NULL;
    *laid_out = false;
    if (!w->role.of || c->samplers || w->fixed) return true;
    w->fixed = true;
    if (!factored_fix(w->role.of, w->comm, &samplers, why)) return false;
    w->samplers = samplers;
    if (!worker_places(w, c, t)) return true;
    const int64_t updates = *net_state_of(w->net).updates;
    const net_profile profile = *net_profile_of(w->net);
    *laid_out = keep_state(w, &state, why) && lay_out_again(w, c, t, why);
    if (*laid_out) put_state(w, state, updates, &profile);
    memory_free(state);
    return *laid_out;
}
