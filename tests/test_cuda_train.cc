// The networks of ggnn-train on a CUDA device (or its emulator) beside the same ones on the CPU: losses, gradients,
// parameters, layer by layer; then both programs from end to end.
//
// What may differ: products of matrices, which cuBLAS adds up in an order of its own; all else has the CPU's bits for
// the same input. A product of K terms in fp32 has an error of about 4 sqrt(K) 2^-24 of its norm in either place
// (Higham & Mary 2019: rounding errors as independent; 4 is exceeded once in 10,000), and a gradient is behind at most
// 4 products a layer. Twice that (two places), of the largest entry of each gradient:
//     tolerance = 2 * 4 * layers * 4 sqrt(K) 2^-24,  K = rows or columns, the more
#include <cmath>
#include <cstring>
#include <string>
#include <sys/wait.h>
#include <vector>

#include "tests/cuda_memory.h"

extern "C" {
#include "tests/folder.h"
#include "trainer/loader.h"
#include "trainer/net.h"
}

namespace {

error why;

// ==== graphs ===============================================================================================

struct fixture {
    std::vector<int64_t>   indptr;
    std::vector<ggnn_node> indices;
    std::vector<float>     features, target;
    std::vector<int32_t>   label;
    const void*            base[3];
    ggnn_csc               csc[3];
    ggnn_graph             graph;
    ggnn_store             store;
};

// `classes` communities, which half of a node's neighbours are in; features: the class, in noise. Every seventh node
// has no label, every eleventh no neighbour.
void make_fixture(fixture* f, int64_t nodes, int64_t degree, int32_t width, int32_t classes)
{
    f->indptr.assign(1, 0);
    for (int64_t v = 0; v < nodes; v++) {
        for (int64_t k = v % 11 == 5 ? 0 : test_below(2 * degree); k > 0; k--) {
            int64_t u = test_below(nodes);
            if (k % 2) u = u / classes * classes + v % classes;
            f->indices.push_back(static_cast<ggnn_node>(u < nodes ? u : v));
        }
        f->indptr.push_back(static_cast<int64_t>(f->indices.size()));
        f->label.push_back(v % 7 == 3 ? -1 : static_cast<int32_t>(v % classes));
        f->target.push_back(v % 7 == 3 ? NAN : static_cast<float>(v % 3) / 2);
        for (int32_t j = 0; j < width; j++)
            f->features.push_back(test_uniform() - 0.5f + (j == v % classes ? 1.0f : 0.0f));
    }
    int64_t edges = static_cast<int64_t>(f->indices.size());
    f->csc[0] = {f->indptr.data(), nullptr, f->indices.data(), nullptr, edges};
    f->csc[1] = f->csc[2] = {};
    f->graph = ggnn_graph_plain(f->csc, nodes, edges);
    f->base[0] = f->features.data();
    f->base[1] = f->base[2] = nullptr;
    f->store = ggnn_store_plain(f->base, nodes, width, GGNN_F32);
}

// ==== a net on one device ==================================================================================

struct run {
    device*    where;
    placement  data;
    loader*    batches;
    net*       n;
    net_labels labels;
};

void open_run(run* r, device* d, const fixture* f, net_config c, const ggnn_sampling* how, int64_t batch)
{
    net_labels labels = {c.outputs > 1 ? f->label.data() : nullptr, c.outputs > 1 ? nullptr : f->target.data()};
    *r = {};
    r->where = d;
    CHECK(placement_open(&r->data, d, &f->graph, &f->store, &labels, &why));
    if (how) r->batches = loader_create(d, &r->data.graph, how, batch, 2, nullptr, &why);
    net_data data = {&r->data.graph, &r->data.features};
    c.device = d;
    r->n = net_create(&c, &data, how ? loader_shape(r->batches) : nullptr, nullptr, &why);
    if (!CHECK(r->n != nullptr)) printf("  %s\n", why.text);
}

void close_run(run* r)
{
    net_free(r->n);
    loader_free(r->batches);
    placement_close(&r->data);
}

// Step number i; an epoch begins where the batches end.
double take_step(run* r, const fixture* f, int i)
{
    const ggnn_batch* b = net_whole(r->n);
    if (r->batches) {
        loader_pass pass = {};
        pass.num_ids = f->graph.num_nodes;
        pass.shuffled = pass.keyed = true;
        pass.rng = {7, 0, GGNN_PURPOSE_SAMPLE};
        int64_t many = loader_batches(r->batches, &pass);
        pass.epoch = static_cast<uint32_t>(i / many);
        pass.rng.step = static_cast<uint32_t>(i / many * many);
        if (i % many == 0) loader_begin(r->batches, &pass, 0);
        b = loader_next(r->batches, &why);
    }
    net_step(r->n, b, &r->data.labels, static_cast<uint32_t>(i), 0.01f / static_cast<float>(i + 1));
    return net_losses_of(r->n, true).last;
}

std::vector<float> values(run* r, const float* from)
{
    std::vector<float> v(static_cast<size_t>(net_state_of(r->n).count));
    device_download(r->where, v.data(), from, v.size() * sizeof(float));
    return v;
}

// Each parameter's part of two arrays, within `tolerance` of its largest entry.
bool near_each(run* a, run* b, const float* from_a, const float* from_b, double tolerance)
{
    std::vector<float> x = values(a, from_a), y = values(b, from_b);
    bool               good = true;
    for (int32_t p = 0; p < net_num_params(a->n); p++) {
        net_param at = net_param_at(a->n, p);
        double    most = 0, off = 0;
        for (int64_t i = at.offset; i < at.offset + static_cast<int64_t>(at.rows) * at.cols; i++) {
            size_t k = static_cast<size_t>(i);
            most = std::fmax(most, std::fabs(x[k]));
            off = std::fmax(off, std::fabs(static_cast<double>(x[k]) - y[k]));
            if (x[k] != x[k] || y[k] != y[k]) off = INFINITY;
        }
        if (!CHECK(off <= tolerance * most)) {
            printf("  %s: off by %g of %g, tolerance %g\n", at.name, off, most, tolerance * most);
            good = false;
        }
    }
    return good;
}

// ==== cases ================================================================================================

struct kind {
    const char*    name;
    net_model      model;
    net_aggregator aggregator;
    bool           extras; // residual, norm, dropout on features and attention
};
const kind kinds[] = {
    {"gcn", NET_GCN, NET_MEAN, false},
    {"sage", NET_SAGE, NET_MEAN, false},
    {"sage gcn", NET_SAGE, NET_SAGE_GCN, false},
    {"sage pool", NET_SAGE, NET_POOL, false},
    {"gat", NET_GAT, NET_MEAN, false},
    {"mlp", NET_MLP, NET_MEAN, false},
    {"gcn, extras", NET_GCN, NET_MEAN, true},
    {"sage, extras", NET_SAGE, NET_MEAN, true},
    {"sage pool, extras", NET_SAGE, NET_POOL, true},
    {"gat, extras", NET_GAT, NET_MEAN, true},
};

net_config config_of(const kind& k, int32_t layers, int32_t outputs, bool full)
{
    net_config c = {};
    c.model = k.model;
    c.aggregator = k.aggregator;
    c.layers = layers;
    c.hidden = 12;
    c.outputs = outputs;
    c.heads = k.model == NET_GAT ? 3 : 1;
    c.out_heads = k.model == NET_GAT ? 2 : 1;
    c.residual = c.norm = k.extras;
    c.dropout = 0.4f;
    c.input_dropout = k.extras ? 0.2f : 0;
    c.attention_dropout = k.extras ? 0.3f : 0;
    c.weight_decay = 0.01f;
    c.optimizer = k.extras ? NET_ADAMW : NET_ADAM;
    c.full_batch = full;
    c.seed = 5;
    return c;
}

ggnn_sampling sampling_of(const net_config& c)
{
    ggnn_sampling how = {};
    how.method = GGNN_FISHER_YATES;
    how.num_hops = c.layers;
    how.last_hop_global = net_reads_store(&c);
    for (int32_t h = 0; h < c.layers; h++) how.fanout[h] = c.model == NET_MLP ? 0 : 3 + h;
    return how;
}

// Both nets, `steps` steps side by side.
void compare(device* d, const fixture* f, const net_config& c, int64_t batch, int steps, const char* name)
{
    ggnn_sampling how = sampling_of(c);
    run           cpu, gpu;
    open_run(&cpu, device_cpu(), f, c, batch ? &how : nullptr, batch);
    open_run(&gpu, d, f, c, batch ? &how : nullptr, batch);
    bool   good = cpu.n && gpu.n;
    double longest = static_cast<double>(f->graph.num_nodes);
    double tolerance = 2 * 4 * c.layers * 4 * std::sqrt(longest) / 16777216;
    net_state s = net_state_of(cpu.n), t = net_state_of(gpu.n);
    good = good && CHECK(values(&cpu, s.value) == values(&gpu, t.value));
    for (int i = 0; good && i < steps; i++) {
        double expected = take_step(&cpu, f, i), loss = take_step(&gpu, f, i);
        good = CHECK(std::fabs(loss - expected) <= 1e-5 * std::fabs(expected));
        if (!good) printf("  step %d: loss %.9g, the CPU's %.9g\n", i, loss, expected);
        if (i == 0) good = near_each(&cpu, &gpu, s.grad, t.grad, tolerance) && good;
    }
    good = CHECK_STR(d->failed.text, "") && good;
    if (!good)
        printf("  %s, %s of %lld\n", name, batch ? "batches" : "full batch",
               static_cast<long long>(f->graph.num_nodes));
    close_run(&cpu);
    close_run(&gpu);
}

device* opened; // the CUDA device

TEST(every_model_takes_the_cpus_steps_in_full_batch)
{
    fixture f;
    make_fixture(&f, 70, 5, 9, 4);
    for (const kind& k : kinds) compare(opened, &f, config_of(k, 2, 4, true), 0, 20, k.name);
    compare(opened, &f, config_of(kinds[0], 3, 1, true), 0, 20, "binary");
    compare(opened, &f, config_of(kinds[7], 1, 4, true), 0, 3, "one layer");
}

TEST(every_model_takes_the_cpus_steps_in_mini_batches)
{
    fixture f;
    make_fixture(&f, 70, 5, 9, 4);
    for (const kind& k : kinds) compare(opened, &f, config_of(k, 2, 4, false), 16, 20, k.name);
    compare(opened, &f, config_of(kinds[1], 3, 1, false), 16, 20, "binary");
}

// More rows than a segment of a sum has, widths that float4 divides.
TEST(a_larger_graph_takes_the_cpus_steps)
{
    fixture f;
    make_fixture(&f, 2000, 8, 16, 5);
    for (const kind& k : kinds) {
        if (k.extras && k.model != NET_GCN) continue;
        net_config c = config_of(k, 2, 5, true);
        c.hidden = k.model == NET_GAT ? 24 : 16;
        compare(opened, &f, c, 0, 3, k.name);
        c.full_batch = false;
        compare(opened, &f, c, 512, 5, k.name);
    }
}

// Losses of `steps` steps, then the parameters.
std::vector<float> trained(const fixture* f, const net_config& c, int64_t batch, int steps)
{
    ggnn_sampling      how = sampling_of(c);
    run                r;
    std::vector<float> losses, last;
    open_run(&r, opened, f, c, batch ? &how : nullptr, batch);
    for (int i = 0; i < steps; i++) losses.push_back(static_cast<float>(take_step(&r, f, i)));
    last = values(&r, net_state_of(r.n).value);
    losses.insert(losses.end(), last.begin(), last.end());
    close_run(&r);
    return losses;
}

TEST(captured_steps_have_the_bits_of_launched_ones)
{
    fixture f;
    make_fixture(&f, 70, 5, 9, 4);
    for (const kind& k : kinds)
        for (int64_t batch = 0; batch < 20; batch += 16) {
            net_config c = config_of(k, 2, 4, batch == 0);
            int64_t    before = opened->replayed;
            auto       captured = trained(&f, c, batch, 12);
            CHECK(opened->replayed >= before + 5);
            before = opened->replayed;
            opened->plain = true;
            auto plain = trained(&f, c, batch, 12);
            opened->plain = false;
            CHECK_EQ(opened->replayed, before);
            if (!CHECK(captured == plain)) printf("  %s\n", k.name);
        }
}

TEST(steps_without_labels_teach_nothing)
{
    fixture f;
    make_fixture(&f, 40, 3, 5, 3);
    f.label.assign(40, -1);
    run gpu;
    open_run(&gpu, opened, &f, config_of(kinds[1], 2, 3, true), nullptr, 0);
    CHECK_NEAR(take_step(&gpu, &f, 0), 0, 0);
    for (float g : values(&gpu, net_state_of(gpu.n).grad)) CHECK_NEAR(g, 0, 0);
    close_run(&gpu);
}

TEST(a_step_allocates_nothing)
{
#ifndef __CUDACC__
    fixture f;
    make_fixture(&f, 70, 5, 9, 4);
    for (const kind& k : kinds) {
        net_config    c = config_of(k, 2, 4, false);
        ggnn_sampling how = sampling_of(c);
        run           gpu;
        open_run(&gpu, opened, &f, c, &how, 16);
        uint64_t before = simt_get_statistics().allocations;
        for (int i = 0; i < 6; i++) take_step(&gpu, &f, i);
        CHECK_EQ(simt_get_statistics().allocations, before);
        close_run(&gpu);
    }
#endif
}

TEST(an_allocation_that_fails_on_the_device_is_an_error)
{
#ifndef __CUDACC__
    fixture f;
    make_fixture(&f, 40, 3, 5, 3);
    net_config    c = config_of(kinds[4], 2, 3, false);
    ggnn_sampling how = sampling_of(c);
    size_t        before = simt_live_allocations();
    int           failures = 0;
    for (bool failed = true; failed; failures += failed) {
        run        r = {};
        net_labels labels = {f.label.data(), nullptr};
        error      said = {""};
        simt_fail_allocation(failures + 1);
        bool good = placement_open(&r.data, opened, &f.graph, &f.store, &labels, &said);
        if (good) r.batches = loader_create(opened, &r.data.graph, &how, 8, 1, nullptr, &said);
        net_data data = {&r.data.graph, &r.data.features};
        c.device = opened;
        if (r.batches) r.n = net_create(&c, &data, loader_shape(r.batches), nullptr, &said);
        failed = !r.n;
        CHECK_EQ(failed, said.text[0] != 0);
        close_run(&r);
        CHECK_EQ(simt_live_allocations(), before);
        CHECK(failures < 100);
    }
    simt_fail_allocation(0);
    CHECK(failures > 10);
#endif
}

// ==== the programs =========================================================================================

std::string build; // where they are

int shell(const std::string& line)
{
    int status = system(("cd " + std::string(folder) + " && " + line).c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int train(const std::string& options)
{
    int status = shell(build + "/ggnn-train --data g " + options + " >out 2>&1");
    if (status) shell("tail -n 3 out");
    return status;
}

// "key":number of a log's records of one event, in order.
std::vector<double> logged(const char* name, const char* event, const char* key)
{
    std::vector<double> found;
    char                path[600], line[4096];
    std::string         pattern = std::string("\"") + key + "\":", kind = std::string("\"event\":\"") + event + "\"";
    FILE*               log = fopen(folder_path(path, name), "r");
    while (log && fgets(line, sizeof line, log)) {
        const char* at = strstr(line, kind.c_str()) ? strstr(line, pattern.c_str()) : nullptr;
        if (at) found.push_back(strtod(at + pattern.size(), nullptr));
    }
    if (log) fclose(log);
    return found;
}

void same_numbers(const char* a, const char* b, const char* event, const char* key, double tolerance)
{
    std::vector<double> x = logged(a, event, key), y = logged(b, event, key);
    CHECK(!x.empty());
    CHECK_EQ(x.size(), y.size());
    for (size_t i = 0; i < x.size() && i < y.size(); i++) CHECK_NEAR(y[i], x[i], tolerance * std::fabs(x[i]));
}

void same_logs(const char* a, const char* b, const char* what)
{
    int before = test_errors;
    same_numbers(a, b, "epoch", "loss", 1e-5);
    same_numbers(a, b, "epoch", "val_loss", 1e-5);
    same_numbers(a, b, "final", "test_loss", 1e-5);
    if (test_errors != before) printf("  %s\n", what);
}

bool programs_built()
{
    return access((build + "/ggnn-train").c_str(), X_OK) == 0 &&
           access((build + "/ggnn-train-emulated").c_str(), X_OK) == 0;
}

TEST(the_program_writes_the_cpus_log)
{
    static const char* const options[] = {
        "--model gcn --fanout full", "--model gat --fanout full --residual", "--model sage --fanout 4,3 --batch 9",
        "--model gcn --fanout 4,3 --norm layer", "--model gat --fanout 4,3 --attention-dropout .2",
        "--aggregator pool --fanout 4,3 --eval sampled", "--aggregator pool --fanout 4,3", "--model mlp --fanout 2,2",
        "--model sage --sampler weighted --fanout 3,3 --lr-schedule cosine", "--layers 1 --fanout 5"};
    CHECK_EQ(shell(build + "/ggnn-data generate karate g >out 2>&1"), 0);
    for (const char* o : options) {
        std::string all = std::string("--layers 2 --hidden 16 --epochs 20 --eval-every 5 ") + o;
        if (strstr(o, "--layers")) all = std::string("--hidden 16 --epochs 20 ") + o;
        CHECK_EQ(train(all + " --log cpu"), 0);
        CHECK_EQ(train(all + " --log gpu --backend cuda-emulated"), 0);
        same_logs("cpu", "gpu", o);
    }
    CHECK_EQ(shell("grep -q '\"backend\":\"cuda-emulated\",\"device\":\"' gpu"), 0);
}

// More targets than a chunk of evaluation has.
TEST(evaluation_by_layers_sees_what_the_cpu_sees)
{
    static const char* const options[] = {"--model gcn", "--model gat --heads 2 --hidden 8", "--aggregator pool"};
    CHECK_EQ(shell(build + "/ggnn-data generate planted g --nodes 5000 --edges 30000 --features 6 >out 2>&1"), 0);
    for (const char* o : options) {
        std::string all = std::string("--hidden 8 --layers 2 --fanout 2,2 --epochs 1 --lr .01 ") + o;
        CHECK_EQ(train(all + " --log cpu"), 0);
        CHECK_EQ(train(all + " --log gpu --backend cuda-emulated"), 0);
        same_logs("cpu", "gpu", o);
    }
}

TEST(a_checkpoint_goes_on_with_either_backend)
{
    static const char* const backend[] = {"--backend cpu", "--backend cuda-emulated"};
    const std::string        options = "--model gat --layers 2 --hidden 8 --fanout 4,3 --batch 9 --patience 50";
    CHECK_EQ(shell(build + "/ggnn-data generate karate g >out 2>&1"), 0);
    CHECK_EQ(train(options + " --epochs 8 --log whole"), 0);
    for (int first = 0; first < 2; first++) {
        CHECK_EQ(train(options + " --epochs 4 --save c --log part " + backend[first]), 0);
        CHECK_EQ(train(std::string("--resume c --epochs 8 --log part ") + backend[1 - first]), 0);
        same_numbers("whole", "part", "epoch", "loss", 1e-5);
        same_numbers("whole", "part", "epoch", "val_loss", 1e-5);
        CHECK_NEAR(logged("part", "final", "test_loss")[1], logged("whole", "final", "test_loss")[0], 1e-5);
    }
}

} // namespace

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : nullptr;
    test_seed(11);
    if (!device_present() || !device_open_cuda) return finish_without_device();
    opened = device_open_cuda(false, &why);
    if (!opened) printf("  %s\n", why.text);
    if (!opened) return 1;
    std::string own = argv[0];
    size_t      slash = own.rfind('/');
    char*       path = realpath(((slash == own.npos ? "." : own.substr(0, slash)) + "/..").c_str(), nullptr);
    build = path ? path : ".";
    free(path);
    folder_make();
    RUN(every_model_takes_the_cpus_steps_in_full_batch);
    RUN(every_model_takes_the_cpus_steps_in_mini_batches);
    RUN(a_larger_graph_takes_the_cpus_steps);
    RUN(captured_steps_have_the_bits_of_launched_ones);
    RUN(steps_without_labels_teach_nothing);
    RUN(a_step_allocates_nothing);
    RUN(an_allocation_that_fails_on_the_device_is_an_error);
    if (programs_built()) {
        RUN(the_program_writes_the_cpus_log);
        RUN(evaluation_by_layers_sees_what_the_cpu_sees);
        RUN(a_checkpoint_goes_on_with_either_backend);
    } else printf("skipped: ggnn-train and ggnn-train-emulated are not in %s\n", build.c_str());
    folder_remove();
    device_close(opened);
    return test_finish();
}
