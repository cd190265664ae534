// How ggnn-train takes its steps on a CUDA device (or its emulator): captured, with the next batch sampled beside,
// in room for usual batches, waiting for as little as possible. Whatever is changed in that, the bits stay; what the
// steps compute is test_cuda_train's to say.
#include <fstream>
#include <set>
#include <sstream>

#include "tests/cuda_net.h"
#include "trainer/store/device_reads.h"

namespace {

// Losses of `steps` steps, or their sum where the host waits for none of them; then the parameters.
std::vector<float> trained(run* r, const lesson* l, int steps, bool wait = true)
{
    std::vector<float> losses, last;
    for (int i = 0; i < steps; i++) losses.push_back(static_cast<float>(take_step(r, l, i, wait)));
    losses.push_back(static_cast<float>(net_losses_of(r->n, true).sum));
    last = values(r, net_state_of(r->n).value);
    losses.insert(losses.end(), last.begin(), last.end());
    return losses;
}

std::vector<float> trained(const lesson* l, const net_config& c, int64_t batch, int steps, bool wait = true)
{
    ggnn_sampling how = sampling_of(c);
    run           r;
    open_run(&r, opened, l, c, batch ? &how : nullptr, batch);
    std::vector<float> result = trained(&r, l, steps, wait);
    CHECK_STR(opened->failed.text, "");
    close_run(&r);
    return result;
}

// Those, or GAT alone where trials are few: captured_steps_have_the_bits_of_launched_ones runs all kernels.
std::vector<kind> some(const std::vector<kind>& all)
{
    return few_trials() ? std::vector<kind>{kinds[4]} : all;
}

// ==== graphs ===============================================================================================

TEST(captured_steps_have_the_bits_of_launched_ones)
{
    lesson l(70, 5, 9, 4);
    const int steps = few_trials() ? 8 : 12;
    for (const kind& k : kinds)
        for (int64_t batch = few_trials() ? 16 : 0; batch < 20; batch += 16) {
            net_config c = config_of(k, 2, 4, batch == 0);
            int64_t    before = opened->replayed;
            auto       captured = trained(&l, c, batch, steps);
            CHECK(opened->replayed >= before + steps - 7);
            before = opened->replayed;
            opened->plain = true;
            auto plain = trained(&l, c, batch, steps);
            opened->plain = false;
            CHECK_EQ(opened->replayed, before);
            if (!CHECK(captured == plain)) printf("  %s\n", k.name);
        }
}

TEST(a_capture_that_fails_is_launched)
{
#ifdef __CUDACC__
    SKIP("the emulator alone can be told to fail an allocation");
#else
    lesson l(70, 5, 9, 4);
    net_config c = config_of(kinds[4], 2, 4, true);
    auto       captured = trained(&l, c, 0, 6);
    run        r;
    open_run(&r, opened, &l, c, nullptr, 0);
    simt_fail_allocation(1); // the graph's instance: nothing else is allocated from here on
    int64_t before = opened->replayed;
    CHECK(trained(&r, &l, 6) == captured);
    CHECK_EQ(opened->replayed, before); // there is no other graph
    CHECK_STR(opened->failed.text, "");
    simt_fail_allocation(0);
    close_run(&r);
#endif
}

// A graph of a step is that of a batch's memory and bounds. 70 bounds, one after the other, twice: more than graphs are kept.
TEST(more_kinds_of_batches_than_graphs_are_kept_train_as_one_kind)
{
    lesson l(10, 3, 5, 3);
    const net_config    c = config_of(kinds[1], 1, 3, false);
    const ggnn_sampling how = sampling_of(c);
    std::vector<float>  after[2];
    for (int several = 0; several < 2; several++) {
        run r;
        open_run(&r, opened, &l, c, &how, 10);
        for (int i = 0; i < 140; i++) { // an epoch is a batch
            const loader_pass pass = pass_of(&r, &l, i);
            loader_begin(r.batches, &pass, 0);
            const mini_batch* taken = batch_take(r.batches, &why);
            mini_batch        b = *taken;
            b.known.max += several * (i % 70);
            train_step(r.n, &b, static_cast<uint32_t>(i), 0.01f);
            batch_give(r.batches, taken);
        }
        after[several] = values(&r, net_state_of(r.n).value);
        close_run(&r);
    }
    CHECK(after[0] == after[1]);
    CHECK_STR(opened->failed.text, "");
}

// A batch's rows may lie elsewhere the next time.
TEST(a_step_reads_the_rows_that_it_is_given)
{
    lesson l(20, 3, 5, 3);
    net_config          c = config_of(kinds[1], 2, 3, false);
    const ggnn_sampling how = sampling_of(c);
    std::vector<float>  after[2];
    for (int plain = 0; plain < 2; plain++) {
        run r;
        open_run(&r, opened, &l, c, &how, 20, true);
        opened->plain = plain;
        const loader_pass pass = pass_of(&r, &l, 0);
        loader_begin(r.batches, &pass, 0);
        const mini_batch* taken = batch_take(r.batches, &why);
        const int64_t     floats = taken->blocks.hop[1].num_src.max * taken->ld_rows;
        std::vector<float> numbers(static_cast<size_t>(floats), 0.5f);
        device_array<float> other(numbers);
        for (int i = 0; i < 8; i++) {
            mini_batch b = *taken;
            if (i % 2) b.rows = other.at();
            train_step(r.n, &b, static_cast<uint32_t>(i), 0.01f);
        }
        after[plain] = values(&r, net_state_of(r.n).value);
        batch_give(r.batches, taken);
        opened->plain = false;
        close_run(&r);
    }
    CHECK(after[0] == after[1]);
}

// Rows of edges, of one column and of more than the layers have, with and without room that grows: the CPU's losses.
TEST(rows_of_edges_train_as_on_the_cpu)
{
    lesson l(70, 5, 9, 4);
    const int64_t edges = l.f->graph->num_edges;
    for (const int32_t width : {1, 17})
        for (const kind& k : kinds) {
            if (!net_has(k.model, k.aggregator, NET_EDGES)) continue;
            std::vector<float> rows(static_cast<size_t>(edges * width));
            for (float& x : rows) x = test_uniform() - .5f;
            l.f->task.edges = ggnn_store_plain(rows.data(), edges, width, GGNN_F32);
            net_config    c = config_of(k, 2, 4, false);
            ggnn_sampling how = kind_sampling(&c, false);
            run           cpu, gpu;
            open_run(&cpu, cpu_device, &l, c, &how, 16);
            open_run(&gpu, opened, &l, c, &how, 16);
            for (int i = 0; i < 12; i++) {
                const double expected = take_step(&cpu, &l, i), loss = take_step(&gpu, &l, i);
                if (!CHECK_NEAR(loss, expected, 1e-5 * std::fabs(expected))) printf("  %s, step %d\n", k.name, i);
            }
            close_run(&cpu);
            close_run(&gpu);
        }
    CHECK_STR(opened->failed.text, "");
}

// ==== overlap ==============================================================================================

TEST(sampling_beside_a_step_changes_nothing)
{
    lesson l(70, 5, 9, 4);
    for (const kind& k : some({kinds[1], kinds[4], with_extras(kinds[0])})) {
        net_config c = config_of(k, 2, 4, false);
        auto       beside = trained(&l, c, 16, 12, false);
        opened->serial = true;
        auto after = trained(&l, c, 16, 12, false);
        opened->serial = false;
        if (!CHECK(beside == after)) printf("  %s\n", k.name);
    }
}

// Rows that the ring extracts, in buffers that alternate, are those that the net would read.
TEST(extracted_rows_change_nothing)
{
    lesson l(70, 5, 9, 4);
    for (const kind& k : some(kinds)) {
        net_config         c = config_of(k, 2, 4, false);
        ggnn_sampling      how = sampling_of(c);
        std::vector<float> trace[3];
        device* const      where[] = {opened, opened, cpu_device};
        for (int i = 0; i < 3; i++) {
            run r;
            open_run(&r, where[i], &l, c, &how, 16, i > 0);
            trace[i] = trained(&r, &l, 12, false);
            close_run(&r);
        }
        if (!CHECK(trace[0] == trace[1])) printf("  %s\n", k.name);
        CHECK_NEAR(trace[2][12], trace[0][12], 1e-5 * std::fabs(trace[0][12])); // the sum of losses
    }
}

// The order in which the host gives a pass to the device: 'x' an extraction, 's' a step. Each has a stream of its own, and samples
// have another one.
std::string order_of_a_pass(const lesson* l, const kind& k)
{
    std::string order;
#ifndef __CUDACC__
    net_config    c = config_of(k, 2, 4, false);
    ggnn_sampling how = sampling_of(c);
    run           r;
    open_run(&r, opened, l, c, &how, 16, true);
    const loader_pass pass = pass_of(&r, l, 0);
    const int         batches = static_cast<int>(loader_batches(r.batches, &pass));
    for (int i = 0; i < batches; i++) take_step(&r, l, i, false);
    simt_trace_begin();
    for (int i = batches; i < 2 * batches; i++) take_step(&r, l, i, false);
    const std::vector<std::string> names = simt_trace_end();
    const std::vector<const void*> streams = simt_trace_streams();
    std::set<const void*>          used[3]; // by extractions, steps, samples
    for (size_t i = 0; i < names.size(); i++) {
        const bool extracts = names[i].find("stored_rows") != names[i].npos, steps = names[i].find("advance") != names[i].npos;
        if (extracts) order += 'x';
        if (steps) order += 's';
        if (extracts || steps || names[i].find("begin_sample") != names[i].npos) used[extracts ? 0 : steps ? 1 : 2].insert(streams[i]);
    }
    for (int i = 0; i < 3; i++) CHECK(used[i].size() == 1 && *used[i].begin() != *used[(i + 1) % 3].begin());
    size_t fetched = 0;
    CHECK_CUDA(cudaDeviceGetLimit(&fetched, cudaLimitMaxL2FetchGranularity));
    CHECK_EQ(fetched, 64u);
    int least = 0, greatest = 0, first = 0;
    CHECK_CUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    for (int i = 0; i < 3; i++) {
        CHECK_CUDA(cudaStreamGetPriority(static_cast<cudaStream_t>(const_cast<void*>(*used[i].begin())), &first));
        CHECK_EQ(first, i == 2 ? greatest : least);
    }
    close_run(&r);
#endif
    return order;
}

// 70 seeds, 16 a batch: five batches.
TEST(two_batches_are_on_their_way_before_this_one_trains)
{
#ifdef __CUDACC__
    SKIP("the emulator sees the order of launches");
#endif
    lesson l(70, 5, 9, 4);
    for (const kind& k : {kinds[1], kinds[4]}) {
        CHECK_STR(order_of_a_pass(&l, k).c_str(), "xxxsxsxsss");
        opened->serial = true;
        CHECK_STR(order_of_a_pass(&l, k).c_str(), "xsxsxsxsxs");
        opened->serial = false;
    }
}

// What reads the rows of a batch: 'r' rows as they come, all or the device's; 'l' the host's in lines.
std::string readers_of_a_batch(const lesson* l, const kind& k, double share, std::vector<float>* losses)
{
    std::string readers;
#ifndef __CUDACC__
    net_config    c = config_of(k, 2, 4, false);
    ggnn_sampling how = sampling_of(c);
    run           r;
    opened->host_share = share;
    open_run(&r, opened, l, c, &how, 16, true);
    simt_trace_begin();
    losses->assign(1, static_cast<float>(take_step(&r, l, 0)));
    for (const std::string& name : simt_trace_end())
        if (name.find("copy_rows<") != name.npos && name.find("stored_rows") != name.npos)
            readers += name.find("true") != name.npos ? 'l' : 'r';
    for (int i = 1; i < 8; i++) losses->push_back(static_cast<float>(take_step(&r, l, i)));
    close_run(&r);
    opened->host_share = 0;
    CHECK_STR(opened->failed.text, "");
#endif
    return readers;
}

// 120 columns: rows of 480 bytes, of which test_cuda_store counts the lines. A batch and the two after it are extracted.
TEST(rows_of_the_host_are_read_in_lines_by_a_share_of_the_processors)
{
#ifdef __CUDACC__
    SKIP("the emulator sees which kernels run");
#endif
    std::vector<ggnn_node> rank(70);
    std::vector<float>     resident, as_they_come, lines;
    lesson                 l(70, 5, 120, 4);
    for (size_t v = 0; v < 70; v++) rank[v] = static_cast<ggnn_node>((v * 31 + 7) % 70);
    const int64_t stored[] = {0, 20, 70, 0}, cached[] = {0, 10, 0, 70};
    const char* const readers[] = {"lll", "rlrlrl", "rrr", "rrr"};
    for (const kind& k : {kinds[1], kinds[4]}) {
        l.tiered = nullptr;
        CHECK_STR(readers_of_a_batch(&l, k, .2, &resident).c_str(), "rrr");
        for (int i = 0; i < 4; i++) {
            tiers_plan plan = {};
            plan.share[TIERS_GRAPH] = {nullptr, 70, nullptr, 0};
            plan.share[TIERS_FEATURES] = {rank.data(), stored[i], rank.data(), cached[i]};
            l.tiered = &plan;
            CHECK_STR(readers_of_a_batch(&l, k, 0, &as_they_come).c_str(), "rrr");
            CHECK_STR(readers_of_a_batch(&l, k, .2, &lines).c_str(), readers[i]);
            CHECK(as_they_come == resident && lines == resident);
        }
    }
    device of;
    for (const double share : {0., .001, .2, .25, 1.}) {
        of.host_share = share;
        CHECK_EQ(device_host_processors(&of, 132), share == 0. ? 0 : share < .01 ? 1 : share < .21 ? 27 : share < .3 ? 33 : 132);
    }
}

// ==== room =================================================================================================

// The first batches are small, later ones several times as large.
TEST(batches_that_outgrow_their_room_get_more)
{
    lesson l(120, 4, 9, 4, true);
    for (const kind& k : some({kinds[1], kinds[3], kinds[4], with_extras(kinds[0])})) {
        net_config    c = config_of(k, 2, 4, false);
        ggnn_sampling how = sampling_of(c);
        run           cpu, gpu;
        how.fanout[0] = how.fanout[1] = -1;
        open_run(&cpu, cpu_device, &l, c, &how, 10);
        open_run(&gpu, opened, &l, c, &how, 10);
        int64_t edges = loader_shape(gpu.batches)->hop[0].num_edges.max;
        CHECK(edges < l.f->graph->num_edges / 4);
        for (int i = 0; i < 24; i++) {
            double expected = take_step(&cpu, &l, i), loss = take_step(&gpu, &l, i);
            if (!CHECK_NEAR(loss, expected, 1e-5 * std::fabs(expected))) printf("  %s, step %d\n", k.name, i);
        }
        CHECK(loader_cost_of(gpu.batches).grown > 0);
        CHECK(loader_cost_of(gpu.batches).grown < 6);
        CHECK(loader_shape(gpu.batches)->hop[0].num_edges.max > edges);
        CHECK_EQ(loader_cost_of(cpu.batches).edges, loader_cost_of(gpu.batches).edges);
        close_run(&cpu);
        close_run(&gpu);
    }
}

// Does an array of the device hold the host's? NULL: there is none.
template <class T> bool same(const T* there, const T* here, int64_t n)
{
    std::vector<T> got(static_cast<size_t>(n));
    if (!there || !here) return !there && !here;
    device_download(opened, got.data(), there, got.size() * sizeof(T));
    return !n || !memcmp(got.data(), here, got.size() * sizeof(T));
}

// A batch of the device has all that the host's has: every array, and every stride-th row.
void check_same(const mini_batch* b, const mini_batch* want, int64_t stride)
{
    const int32_t hops = want->blocks.num_hops;
    const int64_t seeds = *want->blocks.num_seeds.n;
    CHECK_EQ(device_size(opened, b->known), device_size(cpu_device, want->known));
    CHECK_EQ(device_size(opened, b->blocks.num_seeds), seeds);
    CHECK(same(b->blocks.seed_local, want->blocks.seed_local, seeds));
    if (!CHECK_EQ(b->blocks.num_hops, hops)) return;
    for (int32_t h = 0; h < hops; h++) {
        const ggnn_block &there = b->blocks.hop[h], &here = want->blocks.hop[h];
        const int64_t     dst = *here.num_dst.n, src = *here.num_src.n, edges = *here.num_edges.n;
        CHECK_EQ(device_size(opened, there.num_dst), dst);
        CHECK_EQ(device_size(opened, there.num_src), src);
        CHECK_EQ(device_size(opened, there.num_edges), edges);
        CHECK(there.num_dst.max >= dst && there.num_src.max >= src && there.num_edges.max >= edges);
        CHECK(same(there.indptr, here.indptr, dst + 1));
        CHECK(same(there.indices, here.indices, edges));
        CHECK(same(there.id, here.id, src));
        CHECK(same(there.neighbor, here.neighbor, edges));
        CHECK(same(there.position, here.position, edges));
        CHECK(same(there.weight, here.weight, edges));
        CHECK(same(there.repeats, here.repeats, src));
    }
    for (int64_t v = 0; v < *want->blocks.hop[hops - 1].num_src.n; v += stride)
        CHECK(same(b->rows + v * b->ld_rows, want->rows + v * want->ld_rows, 3));
}

// What a loader hands out on the device: of 8 hops; of more seeds than threads run at once.
void check_batches(int64_t nodes, int32_t hops, int64_t batch)
{
    lesson l(nodes, 2, 3, 3);
    const kind    sage = kinds[1];
    net_config    c = config_of(sage, hops, 3, false);
    ggnn_sampling how = sampling_of(c);
    run           cpu, gpu;
    for (int32_t& fanout : how.fanout) fanout = 2;
    open_run(&cpu, cpu_device, &l, c, &how, batch, true);
    open_run(&gpu, opened, &l, c, &how, batch, true);
    const loader_pass passes[] = {pass_of(&cpu, &l, 0), pass_of(&gpu, &l, 0)};
    loader_begin(cpu.batches, &passes[0], 0);
    loader_begin(gpu.batches, &passes[1], 0);
    int64_t taken = 0;
    for (const mini_batch* b; (b = batch_take(gpu.batches, &why)); taken++) {
        const mini_batch* want = batch_take(cpu.batches, &why);
        if (!CHECK(want != nullptr)) return;
        check_same(b, want, 1 + nodes / 200);
        batch_give(cpu.batches, want);
        batch_give(gpu.batches, b);
    }
    CHECK(!batch_take(cpu.batches, &why));
    CHECK_EQ(taken, (nodes + batch - 1) / batch);
    CHECK_EQ(loader_cost_of(cpu.batches).edges, loader_cost_of(gpu.batches).edges);
    CHECK_EQ(loader_cost_of(cpu.batches).bytes, loader_cost_of(gpu.batches).bytes);
    CHECK_STR(why.text, "");
    CHECK_STR(opened->failed.text, "");
    close_run(&cpu);
    close_run(&gpu);
}

TEST(batches_of_any_depth_and_size_are_those_of_the_cpu)
{
    check_batches(120, GGNN_HOPS_MAX, 11);
    check_batches(6000, 1, 5000);
}

// A source of one packed batch at a time.
struct packed_source {
    packed_batch  batch;
    int64_t       next; // its number; -1: it was ordered
    loader_source from = {order, this};

    static bool order(void* context, loader_order* o)
    {
        packed_source* s = static_cast<packed_source*>(context);
        if (s->next < 0) return false;
        *o = {s->next, 0, 1, &s->batch, false};
        s->next = -1;
        return true;
    }
};

// One loader samples and packs the batches that another one unpacks and extracts, in room that later ones outgrow where
// they have all neighbours. placed: where rows lie, of which the second one has no tables: the first one marks them.
void check_unpacked(const ggnn_sampling& how, const tiers_plan* placed)
{
    lesson l(120, 4, 3, 3, true);
    l.tiered = placed;
    run           cpu = {}, gpu = {};
    packed_source source = {};
    cpu.where = cpu_device;
    gpu.where = opened;
    CHECK(open_data(&cpu, cpu_device, &l, true) && open_data(&gpu, opened, &l, true));
    loader_plan plan = plan_of(&gpu, how, 10), plain = plan_of(&cpu, how, 10);
    plan.extract = plain.extract = true;
    if (placed) plan.marks = plan.features.at;
    loader* packs = loader_create(opened, &plan, nullptr, &why);
    if (placed) plan.features.at.rank = plan.features.at.cache_row = nullptr;
    plan.reads_marks = placed != nullptr;
    gpu.batches = loader_create(opened, &plan, nullptr, &why);
    cpu.batches = loader_create(cpu_device, &plain, nullptr, &why);
    loader_pass pass = pass_of(&cpu, &l, 0);
    CHECK(loader_measure(gpu.batches, &pass, &why));
    loader_begin(cpu.batches, &pass, 0);
    loader_begin(packs, &pass, 0);
    pass.source = &source.from;
    loader_begin(gpu.batches, &pass, 0);
    int64_t rows = 0;
    for (const mini_batch *want, *b; (want = batch_take(cpu.batches, &why));) {
        rows += *want->blocks.hop[how.num_hops - 1].num_src.n;
        if (!CHECK((b = batch_take(packs, &why)) != nullptr)) break;
        source.next = batch_order(b).batch;
        source.batch.memory = device_new_host(opened, batch_packed_bytes(packs, b), "a packed batch", &why);
        batch_pack(packs, b, &source.batch);
        batch_give(packs, b);
        if (!CHECK((b = batch_take(gpu.batches, &why)) != nullptr)) break;
        check_same(b, want, 1);
        batch_give(gpu.batches, b);
        batch_give(cpu.batches, want);
        device_free_host(opened, source.batch.memory);
    }
    const loader_cost cost = loader_cost_of(gpu.batches);
    CHECK(placed || (cost.grown > 0) == (how.fanout[0] < 0));
    CHECK(cost.copy > 0 && cost.extract > 0);
    CHECK(placed ? cost.marked >= rows : cost.marked == 0); // of a batch that outgrew its room only once it had more
    CHECK(cost.edges == 0 && cost.bytes == 0 && cost.sample == 0);
    CHECK(!batch_take(packs, &why));
    CHECK(!batch_take(gpu.batches, &why));
    CHECK_STR(why.text, "");
    CHECK_STR(opened->failed.text, "");
    loader_free(packs);
    close_run(&cpu);
    close_run(&gpu);
}

TEST(an_unpacked_batch_has_all_that_was_packed)
{
    ggnn_sampling walks = {}, lists = {};
    walks.method = GGNN_WALK;
    walks.num_hops = 2;
    walks.fanout[0] = walks.fanout[1] = 4;
    walks.keep = GGNN_KEEP_WEIGHTS;
    check_unpacked(walks, nullptr);
    lists.method = GGNN_FISHER_YATES;
    lists.num_hops = 2;
    lists.fanout[0] = lists.fanout[1] = -1;
    lists.keep = GGNN_KEEP_NEIGHBORS | GGNN_KEEP_POSITIONS | GGNN_KEEP_REPEATS;
    check_unpacked(lists, nullptr);
}

// Some rows in the cache, the parts and the host tier, which the host's share of processors reads in lines; or all with the host.
TEST(marked_rows_of_a_packed_batch_are_not_looked_up)
{
    ggnn_sampling          lists = {};
    std::vector<ggnn_node> rank(120);
    for (size_t v = 0; v < 120; v++) rank[v] = static_cast<ggnn_node>((v * 31 + 7) % 120);
    lists.method = GGNN_FISHER_YATES;
    lists.num_hops = 2;
    lists.fanout[0] = lists.fanout[1] = 3;
    const struct {
        int64_t stored, cached;
        double  share;
    } cases[] = {{40, 20, 0}, {40, 20, .2}, {0, 0, .2}};
    for (const auto& of : cases) {
        tiers_plan placed = {};
        placed.share[TIERS_GRAPH] = {nullptr, 120, nullptr, 0};
        placed.share[TIERS_FEATURES] = {rank.data(), of.stored, rank.data(), of.cached};
        opened->host_share = of.share;
        check_unpacked(lists, &placed);
        opened->host_share = 0;
    }
}

// Each batch is held while the next one is taken, which may need more room: it stays what it was.
TEST(a_batch_that_is_held_stays_while_the_next_one_gets_more_room)
{
    if (opened->serial) SKIP("one batch at a time");
    lesson l(120, 4, 9, 4, true);
    net_config    c = config_of(kinds[1], 2, 4, false);
    ggnn_sampling how = sampling_of(c);
    run           cpu, gpu;
    how.fanout[0] = how.fanout[1] = -1;
    open_run(&cpu, cpu_device, &l, c, &how, 10, true);
    open_run(&gpu, opened, &l, c, &how, 10, true);
    const loader_pass passes[] = {pass_of(&cpu, &l, 0), pass_of(&gpu, &l, 0)};
    const auto        check_equal = [&](const mini_batch* b) {
        const mini_batch* expected = batch_take(cpu.batches, &why);
        if (!CHECK(expected != nullptr)) return;
        const int64_t          n = *expected->blocks.hop[1].num_src.n;
        std::vector<ggnn_node> id(static_cast<size_t>(n));
        std::vector<float>     row(static_cast<size_t>(tiers_view_of(gpu.data)->features.width));
        device_download(opened, id.data(), b->blocks.id, id.size() * sizeof id[0]);
        CHECK(!memcmp(id.data(), expected->blocks.id, id.size() * sizeof id[0]));
        for (int64_t v = 0; v < n; v++) {
            device_download(opened, row.data(), b->rows + v * b->ld_rows, row.size() * sizeof row[0]);
            CHECK(!memcmp(row.data(), expected->rows + v * expected->ld_rows, row.size() * sizeof row[0]));
        }
        batch_give(cpu.batches, expected);
    };
    loader_begin(cpu.batches, &passes[0], 0);
    loader_begin(gpu.batches, &passes[1], 0);
    for (const mini_batch *held = batch_take(gpu.batches, &why), *next; held; held = next) {
        next = batch_take(gpu.batches, &why);
        check_equal(held);
        batch_give(gpu.batches, held);
    }
    CHECK_STR(why.text, "");
    CHECK(loader_cost_of(gpu.batches).grown > 0);
    close_run(&cpu);
    close_run(&gpu);
}

// The graphs of its steps hold addresses of the memory that it had.
TEST(a_net_that_is_given_more_room_goes_on)
{
    lesson l(70, 5, 9, 4);
    for (const kind& k : some(kinds)) {
        net_config c = config_of(k, 2, 4, true);
        auto       expected = trained(&l, c, 0, 12);
        run        r;
        open_run(&r, opened, &l, c, nullptr, 0);
        ggnn_batch larger = net_whole(r.n)->blocks;
        for (ggnn_block& hop : larger.hop) hop.num_src.max += 500;
        std::vector<float> losses;
        for (int i = 0; i < 12; i++) {
            if (i == 6) CHECK(net_fit(r.n, &larger, &why));
            losses.push_back(static_cast<float>(take_step(&r, &l, i)));
        }
        expected.resize(losses.size()); // without sum and parameters
        if (!CHECK(losses == expected)) printf("  %s\n", k.name);
        close_run(&r);
    }
}

TEST(a_batch_is_seen_at_the_least_bucket_that_holds_it)
{
    lesson l(300, 4, 9, 4);
    net_config    c = config_of(kinds[4], 2, 4, false);
    ggnn_sampling how = sampling_of(c);
    run           r;
    open_run(&r, opened, &l, c, &how, 32);
    loader_pass pass = pass_of(&r, &l, 0);
    loader_begin(r.batches, &pass, 0);
    int64_t last = 0;
    while (const mini_batch* given = batch_take(r.batches, &why)) {
        const ggnn_batch* b = &given->blocks;
        int64_t sources = device_size(opened, b->hop[1].num_src), most = b->hop[1].num_src.max;
        int64_t edges = device_size(opened, b->hop[1].num_edges), most_edges = b->hop[1].num_edges.max;
        CHECK(sources <= most && edges <= most_edges && most <= loader_shape(r.batches)->hop[1].num_src.max);
        CHECK(b->hop[0].num_src.max == b->hop[1].num_dst.max);
        CHECK(sources > most / 2 || edges > most_edges / 2);
        last = most;
        batch_give(r.batches, given);
    }
    CHECK(last < loader_shape(r.batches)->hop[1].num_src.max); // 300 % 32 seeds
    CHECK_STR(why.text, "");
    close_run(&r);
}

// ==== what a step is made of ===============================================================================

// A kernel as tests/sass_budget.txt has it: no blanks, arguments, result and namespaces.
std::string name_in_budget(std::string name)
{
    const char* const pairs[][2] = {{"void ", ""},      {"unsigned long long", "u64"}, {"unsigned int", "u32"}, {"unsigned short", "u16"},
                                    {"ggnni::", ""},    {"train::", ""},               {" ", ""}};
    for (auto& pair : pairs)
        for (size_t at; (at = name.find(pair[0])) != name.npos;) name.replace(at, strlen(pair[0]), pair[1]);
    int depth = 0;
    for (size_t at = 0; at < name.size(); at++) {
        depth += (name[at] == '<') - (name[at] == '>');
        if (name[at] == '(' && depth == 0) return name.substr(0, at);
    }
    return name;
}

std::set<std::string> kernels_with_budgets()
{
    std::set<std::string> kernels;
    std::ifstream         file("tests/sass_budget.txt");
    for (std::string line, arch, kernel, scope; std::getline(file, line);) {
        std::istringstream words(line);
        if (words >> arch >> kernel >> scope && arch != "#" && scope != "untrained") kernels.insert(kernel);
    }
    return kernels;
}

// GCN, GraphSAGE and GAT with ggnn-train's usual options, on rows of a multiple of four columns.
TEST(every_kernel_that_training_launches_has_a_budget_of_machine_code)
{
#ifdef __CUDACC__
    SKIP("the emulator sees the order of launches");
#else
    const std::set<std::string> budgets = kernels_with_budgets();
    std::set<std::string>       launched;
    lesson                      l(70, 12, 8, 5);
    opened->plain = true;
    for (const kind& k : {kinds[0], kinds[1], kinds[4]}) {
        net_config    c = config_of(k, 3, 5, false);
        ggnn_sampling how = sampling_of(c);
        run           r;
        c.hidden = 16;
        c.heads = 4;
        c.out_heads = 1;
        for (int h = 0; h < 3; h++) how.fanout[h] = 15 - 5 * h;
        simt_trace_begin();
        open_run(&r, opened, &l, c, &how, 16);
        for (int i = 0; i < 3; i++) take_step(&r, &l, i);
        for (const std::string& name : simt_trace_end()) launched.insert(name_in_budget(name));
        close_run(&r);
    }
    opened->plain = false;
    CHECK_STR(opened->failed.text, "");
    CHECK(launched.size() >= 40);
    for (const std::string& name : launched)
        if (!CHECK(budgets.count(name) == 1)) printf("  %s: no line in tests/sass_budget.txt\n", name.c_str());
#endif
}

// ==== what a step does not do ==============================================================================

TEST(a_step_allocates_nothing_and_waits_for_nothing_but_its_sample)
{
#ifdef __CUDACC__
    SKIP("the emulator counts allocations and waits");
#else
    lesson l(64, 5, 9, 4);
    l.shuffled = false; // four batches, the same in every epoch: after two of them there is a graph of each step
    for (const kind& k : some(kinds)) {
        net_config    c = config_of(k, 2, 4, false);
        ggnn_sampling how = sampling_of(c);
        run           gpu;
        how.fanout[0] = how.fanout[1] = k.model == NET_MLP ? 0 : -1;
        open_run(&gpu, opened, &l, c, &how, 16);
        for (int i = 0; i < 8; i++) take_step(&gpu, &l, i, false);
        simt_statistics before = simt_get_statistics();
        int64_t         launched = opened->launched, replayed = opened->replayed;
        for (int i = 8; i < 12; i++) take_step(&gpu, &l, i, false);
        CHECK_EQ(simt_get_statistics().allocations, before.allocations);
        CHECK_EQ(simt_get_statistics().synchronizations - before.synchronizations, 4);
        CHECK_EQ(opened->replayed - replayed, 8); // sample; forward and backward
        CHECK_EQ(opened->launched, launched);
        close_run(&gpu);
    }
#endif
}

TEST(losses_are_added_up_without_waiting)
{
    run     r;
    double  sum = 100;
    int64_t rows = 7, known = 0;
    lesson l(70, 5, 9, 4);
    for (int v = 0; v < 70; v++) known += l.f->label[v] >= 0;
    open_run(&r, opened, &l, config_of(kinds[1], 2, 4, true), nullptr, 0);
    net_start_losses(r.n, sum, rows);
    for (int i = 0; i < 20; i++) { // before any step, waited for or not
        const net_losses at_first = net_losses_of(r.n, i == 19);
        CHECK(at_first.sum == sum && at_first.rows == rows);
    }
    for (int i = 0; i < 5; i++) {
        double loss = take_step(&r, &l, i);
        sum += loss * static_cast<double>(known);
        rows += known;
    }
    take_step(&r, &l, 5, false);
    net_losses now = net_losses_of(r.n, false);
    while (now.rows < rows + known) now = net_losses_of(r.n, false);
    CHECK_NEAR(now.sum - now.last * static_cast<double>(known), sum, 1e-9 * sum);
    CHECK_EQ(now.known, known);
    CHECK_EQ(now.bad, -1);
    close_run(&r);
}

TEST(the_first_loss_that_is_not_finite_is_kept)
{
    run     r;
    lesson l(70, 5, 9, 4);
    open_run(&r, opened, &l, config_of(kinds[1], 2, 4, true), nullptr, 0);
    for (int i = 0; i < 3; i++) take_step(&r, &l, i, false);
    std::vector<float> v = values(&r, net_state_of(r.n).value);
    v[3] = NAN;
    device_upload(opened, net_state_of(r.n).value, v.data(), v.size() * sizeof(float));
    for (int i = 3; i < 6; i++) take_step(&r, &l, i, false);
    net_losses all = net_losses_of(r.n, true);
    CHECK_EQ(all.bad, 3);
    CHECK(all.bad_loss != all.bad_loss && all.last != all.last);
    close_run(&r);
}

// ==== allocations that fail ================================================================================

// Creation and, where batches outgrow their room, growth.
TEST(an_allocation_that_fails_on_the_device_is_an_error)
{
#ifdef __CUDACC__
    SKIP("the emulator alone can be told to fail an allocation");
#else
    lesson l(120, 4, 5, 3, true);
    net_config    c = config_of(kinds[4], 2, 3, false);
    ggnn_sampling how = sampling_of(c);
    size_t        before = simt_live_allocations();
    const int     step = few_trials() ? 9 : 1;
    int           failures = 0, grown = 0;
    how.fanout[0] = how.fanout[1] = -1;
    opened->plain = true; // a graph's instance may fail
    for (bool bad = true; bad; failures += bad ? step : 0) {
        run        r = {};
        why.text[0] = 0;
        simt_fail_allocation(failures + 1);
        bool        good = open_data(&r, opened, &l, true);
        loader_plan plan = plan_of(&r, how, 10);
        if (good) r.batches = loader_create(opened, &plan, nullptr, &why);
        loader_pass pass = {};
        if (r.batches) pass = pass_of(&r, &l, 0);
        good = r.batches && loader_measure(r.batches, &pass, &why);
        const tiers_view* view = tiers_view_of(r.data);
        net_data data = {&view->graph, &view->features, view->labels, nullptr};
        c.device = opened;
        if (good) r.n = net_create(&c, &data, loader_shape(r.batches), nullptr, &why);
        for (int i = 0; r.n && i < 8 && !why.text[0]; i++) take_step(&r, &l, i, false);
        bad = why.text[0] != 0;
        grown += bad && r.n;
        CHECK_EQ(good && r.n && !bad, !bad);
        close_run(&r);
        CHECK_EQ(simt_live_allocations(), before);
        CHECK(failures < 200);
    }
    simt_fail_allocation(0);
    opened->plain = false;
    CHECK(failures > 20);
    CHECK(grown > 5 / step);
    CHECK_STR(opened->failed.text, "");
#endif
}

// ==== counts before training ===============================================================================

// What the batches of a rank read, by the host.
std::vector<int64_t> host_reads(const lesson* l, const device_reads& of, const ggnn_node* ids)
{
    const int64_t          N = l->f->graph->num_nodes, batches = (of.pass.num_ids + of.batch - 1) / of.batch * of.epochs;
    std::vector<int64_t>   reads(static_cast<size_t>(2 * N), 3);
    std::vector<ggnn_node> seeds(static_cast<size_t>(of.batch));
    ggnn_batch             b;
    loader_pass            pass = of.pass;
    pass.ids = ids;
    CHECK_EQ(ggnn_batch_new(&b, &l->f->task.graph, &of.how, of.batch), GGNN_OK);
    for (int64_t i = of.whole ? of.rank : 0; i < batches; i += of.whole ? of.ranks : 1) {
        const int32_t rank = of.whole ? 0 : of.rank, ranks = of.whole ? 1 : of.ranks;
        CHECK_EQ(loader_sample_slice(&b, seeds.data(), &l->f->task.graph, &pass, of.batch, i, rank, ranks), GGNN_OK);
        CHECK_EQ(ggnn_count_batch(reads.data(), reads.data() + N, &b), GGNN_OK);
    }
    ggnn_batch_free(&b);
    return reads;
}

// 3 of 4 ids train: 225, of batches of 40, so that the last one is short, and 3 ranks take other batches in turn in each epoch.
TEST(a_device_counts_what_the_host_counts_and_leaves_nothing)
{
    enum { N = 300, TRAIN = 225 };
    lesson                 l(N, 5, 9, 4);
    std::vector<ggnn_node> ids;
    for (ggnn_node v = 0; v < N; v++)
        if (v % 4) ids.push_back(N - 1 - v);
    ggnn_node* there = static_cast<ggnn_node*>(device_new(opened, TRAIN * sizeof(ggnn_node), "ids", &why));
    device_upload(opened, there, ids.data(), TRAIN * sizeof(ggnn_node));
    run r = {};
    CHECK(open_data(&r, opened, &l, true));
    const int64_t taken = opened->bytes, most = opened->most_bytes;
    for (int i = 0; i < 12; i++) {
        device_reads of = {};
        of.graph = tiers_view_of(r.data)->graph;
        of.ranks = i % 2 ? 3 : 1;
        of.rank = i % 2 ? i / 2 % 3 : 0;
        of.whole = i % 4 == 3;
        of.pass.ids = there;
        of.pass.num_ids = TRAIN;
        of.pass.shuffled = true;
        of.pass.epoch = 70;
        of.pass.parts = i % 4 == 1 ? 3 : 0;
        of.pass.rng = {5, 1000, GGNN_PURPOSE_PRESAMPLE};
        of.how.method = i > 5 ? GGNN_WALK : GGNN_FISHER_YATES;
        of.how.num_hops = 2;
        of.how.fanout[0] = 3, of.how.fanout[1] = i > 7 ? 2 : -1;
        if (i > 5) of.how.fanout[1] = 2, of.how.walk = {4, 3, .5f};
        of.batch = 40;
        of.epochs = 1 + i % 3;
        of.total = opened->bytes + 2000000;
        std::vector<int64_t> reads(2 * N, 3);
        why.text[0] = 0;
        CHECK(device_reads_count(reads.data(), reads.data() + N, opened, &of, &why));
        CHECK_STR(why.text, "");
        if (!CHECK(reads == host_reads(&l, of, ids.data()))) printf("  %d\n", i);
        CHECK(opened->bytes == taken && opened->most_bytes == most);
        of.total = opened->bytes + 2 * N * 8; // the counts alone
        CHECK(!device_reads_count(reads.data(), reads.data() + N, opened, &of, &why));
        CHECK_STR(why.text, "the device has no room for them");
        CHECK(opened->bytes == taken && reads == host_reads(&l, of, ids.data()));
        why.text[0] = 0;
    }
    close_run(&r);
    device_free(opened, there);
    CHECK_STR(opened->failed.text, "");
}

// Own memory before all links; a link's rank makes it slower; what is no device of this process counts as linked.
TEST(links_of_a_device_are_those_of_the_driver)
{
#ifdef __CUDACC__
    SKIP("links are taken away on the emulator");
#else
    error   e = {""};
    device* other = device_open_cuda(1, false, &e);
    if (!CHECK(other != nullptr)) return;
    CHECK(opened->bus[0] && other->bus[0] && strcmp(opened->bus, other->bus) != 0 && !cpu_device->bus[0]);
    const double best = device_link(opened, other->bus);
    CHECK(best > 0 && device_link(other, opened->bus) == best);
    CHECK(device_link(opened, opened->bus) > best && device_link(other, other->bus) > best);
    CHECK(device_link(opened, "0000:7f:00.0") == best);
    for (int rank = 1; rank < 4; rank++) {
        simt_link(0, 1, true, rank);
        CHECK_NEAR(device_link(opened, other->bus), best / (1 + rank), 1e-12);
        CHECK_NEAR(device_link(other, opened->bus), best / (1 + rank), 1e-12);
    }
    simt_link(0, 1, false);
    CHECK(device_link(opened, other->bus) == 0 && device_link(other, opened->bus) == 0);
    simt_link(0, 1, true);
    CHECK(device_link(cpu_device, cpu_device->bus) > 0);
    CHECK_STR(opened->failed.text, "");
    CHECK_STR(other->failed.text, "");
    CHECK_EQ(cudaGetLastError(), cudaSuccess);
    device_close(other);
    CHECK_EQ(cudaSetDevice(0), cudaSuccess);
#endif
}

// By their order: streams, pinned memory, cuBLAS's.
TEST(a_device_that_cannot_open_says_why_and_leaves_nothing)
{
    error e = {""};
    CHECK(!device_open_cuda(99, false, &e));
    CHECK(strstr(e.text, "device 99: ") != nullptr);
    CHECK_EQ(cudaSetDevice(0), cudaSuccess);
#ifndef __CUDACC__
    const size_t before = simt_live_allocations();
    device*      d = nullptr;
    int          failures = 0;
    for (; !d && failures < 50; failures += !d) {
        e.text[0] = 0;
        simt_fail_allocation(failures + 1);
        d = device_open_cuda(0, false, &e);
        if (d) break;
        CHECK_STR(e.text, "--backend cuda-emulated: device 0: out of memory");
        CHECK_EQ(simt_live_allocations(), before);
    }
    simt_fail_allocation(0);
    cudaGetLastError();
    CHECK(failures >= 3); // numbers of a step, losses, cuBLAS's workspace
    if (!CHECK(d != nullptr)) return;
    CHECK(!strcmp(d->backend, "cuda-emulated") && !strcmp(d->gemm[0], "cublas") && d->number == 0 && d->tight && !d->plain && !d->serial);
    CHECK(simt_live_allocations() > before);
    device_close(d);
    CHECK_EQ(simt_live_allocations(), before);
#endif
}

TEST(memory_of_a_device_is_zero_at_first_and_counted_while_it_is_taken)
{
    const int64_t     before = opened->bytes;
    std::vector<char> got(5000, 1), sent(5000);
    char* const       some = static_cast<char*>(device_new(opened, 5000, "some", &why));
    void* const       none = device_new(opened, 0, "none", &why);
    CHECK(some && none);
    CHECK_EQ(opened->bytes, before + 5000 + 64);
    CHECK(opened->most_bytes >= opened->bytes);
    const int64_t most = opened->most_bytes;
    device_download(opened, got.data(), some, got.size());
    CHECK(got == sent);
    for (size_t i = 0; i < sent.size(); i++) sent[i] = static_cast<char>(i % 100);
    char* const other = static_cast<char*>(device_new(opened, 5000, "other", &why));
    device_upload(opened, other, sent.data(), sent.size());
    device_fetch(opened, some + 10, other + 20, 1000);
    device_download(opened, got.data(), some, got.size());
    for (size_t i = 0; i < got.size(); i++)
        if (got[i] != (i >= 10 && i < 1010 ? sent[i + 10] : 0)) test_errors++;
    device_free(opened, other);
    device_free(opened, some);
    CHECK_EQ(opened->bytes, before + 64);
    device_free(opened, none);
    CHECK_EQ(opened->bytes, before);
    device_free(opened, device_new(opened, 1, "little", &why)); // the most was more
    CHECK(opened->most_bytes >= most && opened->most_bytes < most + 6000);
    void* const pinned = device_new_host(opened, 0, "none", &why);
    CHECK(pinned != nullptr);
    device_free_host(opened, pinned);
    CHECK_STR(opened->failed.text, "");
}

// Of the device's clock: no more than passed, nor a thousandth of it.
TEST(times_are_seconds)
{
    lesson l(300, 5, 9, 4);
    for (bool profile : {false, true})
        for (bool extract : {false, true}) {
            const net_config    c = config_of(kinds[4], 2, 4, false);
            const ggnn_sampling how = sampling_of(c);
            run                 r;
            device* const       own = device_open_cuda(0, false, &why); // whose clock has nothing of other nets
            own->profile = own->plain = own->serial = profile;
            open_run(&r, own, &l, c, &how, 150, extract);
            const double begin = test_seconds();
            for (int i = 0; i < 4; i++) take_step(&r, &l, i);
            const double       passed = test_seconds() - begin, least = passed / 500;
            const net_profile& p = *net_profile_of(r.n);
            const loader_cost  cost = loader_cost_of(r.batches);
            double             stages = 0;
            for (int back = 0; back < 2; back++)
                for (double s : p.seconds[back]) stages += s;
            if (!CHECK(p.train > least && p.train <= passed)) printf("  %g of %g s\n", p.train, passed);
            if (profile) CHECK(stages > least && stages <= p.train);
            else CHECK(stages == 0);
            for (int s = 0; profile && s < NET_SHUFFLE; s++) // an attending net reads, multiplies and so on
                CHECK((p.seconds[0][s] + p.seconds[1][s] > 0) == (s != NET_GATHER || !extract));
            CHECK(cost.sample > least / 50 && cost.sample <= passed + 1);
            CHECK(cost.copy == 0 && cost.mark == 0);
            CHECK((cost.extract > 0) == extract);
            CHECK_STR(own->failed.text, "");
            close_run(&r);
            device_close(own);
        }
}

// In place and as a copy. What another one has pinned stays.
TEST(memory_that_a_device_cannot_address_is_not_kept_pinned)
{
#ifdef __CUDACC__
    SKIP("the emulator alone has memory that a device cannot address");
#else
    const size_t      before = simt_live_allocations();
    std::vector<char> host(3 * 4096);
    bool              copied = false;
    for (bool copy : {false, true})
        for (bool shared : {false, true}) {
            simt_refuse_pinning(copy);
            why.text[0] = 0;
            if (shared) CHECK(device_pin(opened, host.data(), host.size(), "rows", &copied, &why));
            simt_refuse_mapping(true);
            CHECK(!device_pin(opened, host.data(), host.size(), "rows", &copied, &why));
            CHECK_STR(why.text, "rows: pinned memory: invalid argument");
            CHECK_EQ(cudaGetLastError(), cudaSuccess); // it is told once
            simt_refuse_mapping(false);
            CHECK_EQ(simt_live_allocations(), before + shared);
            if (shared) device_unpin(opened, host.data());
            CHECK_EQ(simt_live_allocations(), before);
        }
    simt_refuse_pinning(false);
    why.text[0] = 0;
    for (bool earlier : {false, true}) { // whether something was copied before
        copied = earlier;
        CHECK(device_pin(opened, host.data(), host.size(), "rows", &copied, &why));
        CHECK_EQ(copied, earlier);
        device_unpin(opened, host.data());
        simt_refuse_pinning(true);
        CHECK(device_pin(opened, host.data(), host.size(), "rows", &copied, &why));
        CHECK(copied);
        device_unpin(opened, host.data());
        simt_refuse_pinning(false);
    }
    for (int users = 0; users < 2; users++) CHECK(device_pin(opened, host.data(), host.size(), "rows", &copied, &why));
    device_unpin(opened, host.data());
    CHECK_EQ(simt_live_allocations(), before + 1); // the other one reads it
    device_unpin(opened, host.data());
    CHECK_EQ(simt_live_allocations(), before);
#endif
}

} // namespace

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : nullptr;
    test_seed(17);
    if (!device_present()) return finish_without_device();
    if (!device_open_cuda) return finish_without_backend();
    cpu_device = device_open_cpu(0, &why);
    opened = device_open_cuda(0, false, &why);
    if (!opened) printf("  %s\n", why.text);
    if (!opened) return 1;
    RUN_SLOW(captured_steps_have_the_bits_of_launched_ones);
    RUN(a_capture_that_fails_is_launched);
    RUN(more_kinds_of_batches_than_graphs_are_kept_train_as_one_kind);
    RUN(a_step_reads_the_rows_that_it_is_given);
    RUN(rows_of_edges_train_as_on_the_cpu);
    RUN(sampling_beside_a_step_changes_nothing);
    RUN(extracted_rows_change_nothing);
    RUN(two_batches_are_on_their_way_before_this_one_trains);
    RUN(rows_of_the_host_are_read_in_lines_by_a_share_of_the_processors);
    RUN(batches_that_outgrow_their_room_get_more);
    RUN(batches_of_any_depth_and_size_are_those_of_the_cpu);
    RUN(an_unpacked_batch_has_all_that_was_packed);
    RUN(marked_rows_of_a_packed_batch_are_not_looked_up);
    RUN(a_batch_that_is_held_stays_while_the_next_one_gets_more_room);
    RUN(a_net_that_is_given_more_room_goes_on);
    RUN(a_batch_is_seen_at_the_least_bucket_that_holds_it);
    RUN(every_kernel_that_training_launches_has_a_budget_of_machine_code);
    RUN(a_step_allocates_nothing_and_waits_for_nothing_but_its_sample);
    RUN(losses_are_added_up_without_waiting);
    RUN(the_first_loss_that_is_not_finite_is_kept);
    RUN_SLOW(an_allocation_that_fails_on_the_device_is_an_error);
    RUN(a_device_counts_what_the_host_counts_and_leaves_nothing);
    RUN(links_of_a_device_are_those_of_the_driver);
    RUN(a_device_that_cannot_open_says_why_and_leaves_nothing);
    RUN(memory_of_a_device_is_zero_at_first_and_counted_while_it_is_taken);
    RUN(times_are_seconds);
    RUN(memory_that_a_device_cannot_address_is_not_kept_pinned);
    device_close(opened);
    device_close(cpu_device);
    return test_finish();
}
