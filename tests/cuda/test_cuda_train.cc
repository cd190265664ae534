// The networks of ggnn-train on a CUDA device (or its emulator) beside the same ones on the CPU: losses, gradients,
// parameters, layer by layer; then both programs from end to end.
//
// What may differ: products of matrices, which cuBLAS adds up in an order of its own; all else has the CPU's bits for
// the same input. A product of K terms in fp32 has an error of about 4 sqrt(K) 2^-24 of its norm in either place
// (Higham & Mary 2019: rounding errors as independent; 4 is exceeded once in 10,000), and a gradient is behind at most
// 4 products a layer. Twice that (two places), of the largest entry of each gradient:
//     tolerance = 2 * 4 * layers * 4 sqrt(K) 2^-24,  K = rows or columns, the more
#include <sys/wait.h>

#include "tests/cuda_net.h"

#include "trainer/net/layers.h"

extern "C" {
#include "tests/edge_rows.h"
#include "tests/folder.h"
}

namespace {

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

// Both nets, `steps` steps side by side.
void compare(device* d, const lesson* l, const net_config& c, int64_t batch, int steps, const char* name)
{
    ggnn_sampling how = sampling_of(c);
    run           cpu, gpu;
    open_run(&cpu, cpu_device, l, c, batch ? &how : nullptr, batch);
    open_run(&gpu, d, l, c, batch ? &how : nullptr, batch);
    bool   good = cpu.n && gpu.n;
    double longest = static_cast<double>(l->f->graph->num_nodes);
    double tolerance = 2 * 4 * c.layers * 4 * std::sqrt(longest) / 16777216;
    net_state s = net_state_of(cpu.n), t = net_state_of(gpu.n);
    good = good && CHECK(values(&cpu, s.value) == values(&gpu, t.value));
    for (int i = 0; good && i < steps; i++) {
        double expected = take_step(&cpu, l, i), loss = take_step(&gpu, l, i);
        good = CHECK(std::fabs(loss - expected) <= 1e-5 * std::fabs(expected));
        if (!good) printf("  step %d: loss %.9g, the CPU's %.9g\n", i, loss, expected);
        if (i == 0) good = near_each(&cpu, &gpu, s.grad, t.grad, tolerance) && good;
        for (int back = 0; i == 0 && !batch && back < 2; back++) // by bounds, which are the whole graph's sizes
            good = CHECK_EQ(net_profile_of(gpu.n)->flops[back], net_profile_of(cpu.n)->flops[back]) && good;
    }
    good = CHECK_STR(d->failed.text, "") && good;
    if (!good)
        printf("  %s, %s of %lld\n", name, batch ? "batches" : "full batch",
               static_cast<long long>(l->f->graph->num_nodes));
    close_run(&cpu);
    close_run(&gpu);
}

TEST(every_model_takes_the_cpus_steps_in_full_batch)
{
    lesson l(70, 5, 9, 4);
    for (const kind& k : kinds) compare(opened, &l, config_of(k, 2, 4, true), 0, 20, k.name);
    compare(opened, &l, config_of(kinds[0], 3, 1, true), 0, 20, "binary");
    compare(opened, &l, config_of(with_extras(kinds[1]), 1, 4, true), 0, 3, "one layer");
    l.labelled = true;
    for (int v = 0; v < 70; v++) l.f->label[v] = v % 5 == 0 ? -1 : v % 3 == 1;
    compare(opened, &l, config_of(kinds[1], 2, 1, true), 0, 3, "binary labels");
}

TEST(every_model_takes_the_cpus_steps_in_mini_batches)
{
    lesson l(70, 5, 9, 4);
    for (const kind& k : kinds) compare(opened, &l, config_of(k, 2, 4, false), 16, 20, k.name);
    for (const kind& k : importance_kinds) compare(opened, &l, config_of(k, 2, 4, false), 16, 20, k.name);
    compare(opened, &l, config_of(kinds[1], 3, 1, false), 16, 20, "binary");
}

// More rows than a segment of a sum has, widths that float4 divides.
TEST(a_larger_graph_takes_the_cpus_steps)
{
    lesson l(700, 8, 16, 5);
    for (const kind& k : kinds) {
        if (k.extras && k.model != NET_GCN) continue;
        net_config c = config_of(k, 2, 5, true);
        c.hidden = k.model == NET_GAT ? 24 : 16;
        compare(opened, &l, c, 0, 3, k.name);
        c.full_batch = false;
        compare(opened, &l, c, 300, 5, k.name);
    }
}

// Rows longer than the 16 lanes that sum them, of widths that float4 does not divide; more heads than two.
TEST(wide_rows_and_many_heads_take_the_cpus_steps)
{
    lesson l(70, 5, 41, 21);
    for (const kind& k : kinds) {
        if (!k.extras) continue;
        net_config c = config_of(k, 2, 21, false);
        c.hidden = 35;
        if (k.model == NET_GAT) c.heads = c.out_heads = 5;
        compare(opened, &l, c, 16, 3, k.name);
        c.residual = false; // the norm reads what attention left
        if (k.model == NET_GAT) compare(opened, &l, c, 16, 3, "gat, no residual");
    }
}

TEST(steps_without_labels_teach_nothing)
{
    lesson l(40, 3, 5, 3);
    for (int v = 0; v < 40; v++) l.f->label[v] = -1;
    run gpu;
    open_run(&gpu, opened, &l, config_of(kinds[1], 2, 3, true), nullptr, 0);
    CHECK_NEAR(take_step(&gpu, &l, 0), 0, 0);
    for (float g : values(&gpu, net_state_of(gpu.n).grad)) CHECK_NEAR(g, 0, 0);
    close_run(&gpu);
}

// Logits of all sizes, equal ones and no numbers; classes by ones, tens and more than are read at once; some nodes without a label.
TEST(a_loss_has_the_gradient_of_the_cpus_bit_by_bit)
{
    for (int32_t classes : {1, 2, 15, 16, 17, 47, 64, 65, 130}) {
        lesson l(70, 5, 9, classes);
        for (int v = 0; v < 70; v += 7) {
            l.f->label[v] = -1;
            l.f->target[v] = NAN;
        }
        std::vector<float> logits(static_cast<size_t>(70 * mat_padded(classes))), d[2] = {logits, logits};
        for (size_t i = 0; i < logits.size(); i++) logits[i] = std::ldexp(std::sin(static_cast<float>(i)), static_cast<int>(i % 9) - 2);
        for (size_t i = 3; i < logits.size(); i += 50) logits[i] = logits[i - 1];
        logits[static_cast<size_t>(mat_padded(classes) * 5)] = NAN;
        std::vector<double> loss[2] = {std::vector<double>(70), std::vector<double>(70)};
        for (int on = 0; on < 2; on++) {
            run r;
            open_run(&r, on ? opened : cpu_device, &l, config_of(kinds[0], 1, classes, true), nullptr, 0);
            const mat h = r.n->layer[0].h;
            CHECK_EQ(h.ld, mat_padded(classes));
            device_upload(r.where, h.v, logits.data(), logits.size() * sizeof(float));
            r.n->ops->loss(r.n, r.n->dlogits, h, net_whole(r.n));
            device_download(r.where, d[on].data(), r.n->dlogits.v, d[on].size() * sizeof(float));
            device_download(r.where, loss[on].data(), r.n->row_loss, 70 * sizeof(double));
            CHECK_STR(r.where->failed.text, "");
            close_run(&r);
        }
        int differ = 0;
        for (size_t i = 0; i < d[0].size(); i++) differ += !(d[0][i] == d[1][i] || (d[0][i] != d[0][i] && d[1][i] != d[1][i]));
        for (size_t v = 0; v < 70; v++) // logarithms of two libraries
            differ += !(std::fabs(loss[1][v] - loss[0][v]) <= 1e-13 * (1 + std::fabs(loss[0][v])) || (v == 5 && loss[1][v] != loss[1][v]));
        if (!CHECK_EQ(differ, 0)) printf("  %d classes\n", classes);
    }
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

// What a run read from where.
std::string reads_of(const char* name)
{
    char        line[8192], path[600];
    std::string found;
    FILE*       log = fopen(folder_path(path, name), "r");
    while (log && fgets(line, sizeof line, log))
        if (strstr(line, "\"event\":\"ranks\"")) found = line;
    if (log) fclose(log);
    return found.substr(0, found.find(",\"sent_bytes\""));
}

// Of rows of edges alone.
std::string edge_reads_of(const char* name)
{
    const std::string all = reads_of(name);
    const size_t      begin = all.find("\"edge_rows\""), end = all.find("\"evaluation_rows\"");
    return begin == std::string::npos ? "" : all.substr(begin, end - begin);
}

// The losses that an example printed.
std::vector<double> printed(const char* name)
{
    std::vector<double> found;
    char                path[600], line[4096];
    FILE*               out = fopen(folder_path(path, name), "r");
    while (out && fgets(line, sizeof line, out))
        if (const char* at = strstr(line, "loss ")) found.push_back(strtod(at + 5, nullptr));
    if (out) fclose(out);
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

bool built(const char* suffix)
{
    return access((build + "/ggnn-train").c_str(), X_OK) == 0 && access((build + "/ggnn-train" + suffix).c_str(), X_OK) == 0;
}

void write_the_cpus_log(const char* backend)
{
    static const char* const options[] = {
        "--model gcn --fanout full", "--model gat --fanout full --residual", "--model sage --fanout 4,3 --batch 9",
        "--model gcn --fanout 4,3 --norm layer", "--model gat --fanout 4,3 --attention-dropout .2",
        "--aggregator pool --fanout 4,3 --eval sampled", "--aggregator pool --fanout 4,3", "--model mlp --fanout 2,2",
        "--aggregator importance",
        "--model sage --sampler weighted --fanout 3,3 --lr-schedule cosine", "--layers 1 --fanout 5"};
    CHECK_EQ(shell(build + "/ggnn-data generate karate g >out 2>&1"), 0);
    for (const char* o : options) {
        std::string all = std::string("--layers 2 --hidden 16 --epochs 10 --eval-every 5 ") + o;
        if (strstr(o, "--layers")) all = std::string("--hidden 16 --epochs 10 ") + o;
        CHECK_EQ(train(all + " --log cpu"), 0);
        CHECK_EQ(train(all + " --log gpu --backend " + backend), 0);
        same_logs("cpu", "gpu", o);
    }
    CHECK_EQ(shell(std::string("grep -q '\"backend\":\"") + backend + "\",\"device\":\"' gpu"), 0);
}

TEST(the_program_writes_the_cpus_log) { write_the_cpus_log("cuda-emulated"); }

// examples/train.cu, built as `suffix` says, beside examples/train.c. GraphSAGE has two mini-batches an epoch.
void train_as_train_c(const char* suffix)
{
    for (const char* model : {"gcn", "sage", "gat"}) {
        const char* size = *model == 's' ? "--nodes 1200 --train .9" : "--nodes 300";
        CHECK_EQ(shell(build + "/ggnn-data generate planted g --edges 3000 --classes 5 --features 18 " + size + " >out 2>&1"), 0);
        CHECK_EQ(shell(build + "/train g " + model + " 2 >cpu"), 0);
        CHECK_EQ(shell(build + "/train" + suffix + " g " + model + " 2 >gpu"), 0);
        std::vector<double> cpu = printed("cpu"), gpu = printed("gpu");
        CHECK_EQ(cpu.size(), 2);
        CHECK_EQ(gpu.size(), 2);
        for (size_t i = 0; i < cpu.size() && i < gpu.size(); i++)
            if (!CHECK_NEAR(gpu[i], cpu[i], 1e-5 * cpu[i])) printf("  %s, epoch %d\n", model, static_cast<int>(i) + 1);
    }
    CHECK_EQ(shell(build + "/train" + suffix + " none gcn >out 2>&1"), 1);
    CHECK_EQ(shell("grep -q 'train: none: cannot open: No such file or directory' out"), 0);
}

TEST(train_cu_takes_the_steps_of_train_c) { train_as_train_c("-emulated"); }

TEST(train_cu_on_a_gpu_takes_the_steps_of_train_c)
{
    if (access((build + "/train-cuda").c_str(), X_OK)) SKIP("make gpu-tests builds train-cuda");
    CHECK_EQ(shell(build + "/ggnn-data generate karate g >out 2>&1"), 0);
    shell(build + "/train-cuda g gcn 1 >out 2>&1");
    if (shell("grep -q 'driver version is insufficient\\|no CUDA-capable device' out") == 0) SKIP("no GPU");
    train_as_train_c("-cuda");
}

// By ggnn-train-cuda: also where this test itself runs on the emulator.
TEST(the_program_on_a_gpu_writes_the_cpus_log)
{
    if (!built("-cuda")) SKIP("make gpu builds ggnn-train-cuda");
    CHECK_EQ(shell(build + "/ggnn-data generate karate g >out 2>&1"), 0);
    shell(build + "/ggnn-train --data g --fanout 4,3 --epochs 1 --backend cuda >out 2>&1");
    if (shell("grep -q 'driver version is insufficient\\|no CUDA-capable device' out") == 0) SKIP("no GPU");
    write_the_cpus_log("cuda");
}

// In one chunk, and in the smaller ones that little memory allows.
TEST(evaluation_by_layers_sees_what_the_cpu_sees_in_any_memory)
{
    static const char* const options[] = {"--model gcn", "--model gat --heads 2 --hidden 8", "--aggregator pool"};
    CHECK_EQ(shell(build + "/ggnn-data generate planted g --nodes 1500 --edges 30000 --features 6 >out 2>&1"), 0);
    for (const char* o : options) {
        std::string all = std::string("--hidden 8 --layers 2 --fanout 2,2 --epochs 1 --lr .01 ") + o;
        CHECK_EQ(train(all + " --log cpu"), 0);
        CHECK_EQ(train(all + " --log gpu --backend cuda-emulated"), 0);
        same_logs("cpu", "gpu", o);
        CHECK_EQ(train(all + " --log small --backend cuda-emulated --eval-memory 150000"), 0);
        same_logs("cpu", "small", o);
        CHECK_EQ(train(all + " --log host --backend cuda-emulated --eval-memory 100"), 0); // rows in the host's memory
        for (const char* key : {"val_loss", "val_accuracy"}) same_numbers("gpu", "host", "epoch", key, 0);
        CHECK(logged("small", "final", "device_memory_bytes")[0] <
              logged("gpu", "final", "device_memory_bytes")[0] - 200000);
    }
}

// Stages are those of a step on the CPU; nothing is captured, so that each can be timed.
TEST(the_profile_times_every_stage)
{
    CHECK_EQ(shell(build + "/ggnn-data generate karate g >out 2>&1"), 0);
    CHECK_EQ(train("--model gat --fanout 4,3 --hidden 16 --epochs 3 --profile --log timed --backend cuda-emulated"), 0);
    for (const char* stage : {"sample", "gather", "forward: aggregate", "forward: gemm", "forward: elementwise",
                              "forward: loss", "backward: aggregate", "backward: gemm", "backward: elementwise",
                              "optimizer", "evaluation", "total"})
        CHECK_EQ(shell(std::string("grep -q '^  ") + stage + " .* [0-9]' out"), 0);
    CHECK_EQ(train("--model gat --fanout 4,3 --hidden 16 --epochs 3 --log untimed --backend cuda-emulated"), 0);
    same_numbers("timed", "untimed", "epoch", "loss", 0);
}

TEST(a_loss_that_is_not_finite_is_found_at_its_step)
{
    static const char* const backend[] = {"--backend cpu", "--backend cuda-emulated"};
    CHECK_EQ(shell(build + "/ggnn-data generate planted g --nodes 400 --edges 1500 --features 6 >out 2>&1"), 0);
    for (const char* b : backend) {
        CHECK_EQ(train(std::string("--model gcn --fanout 2,2,2,2,2,2,2,2 --hidden 8 --batch 10 --lr 1e6 ") + b), 1);
        CHECK_EQ(shell("sed -n 's/the loss is .*//p' out >" + std::string(b + 10)), 0); // "epoch 1, step 2: "
    }
    CHECK_EQ(shell("test -s cpu && cmp cpu cuda-emulated"), 0);
}

TEST(a_checkpoint_goes_on_with_either_backend)
{
    static const char* const backend[] = {"--backend cpu", "--backend cuda-emulated"};
    const std::string        options = "--model gat --layers 2 --hidden 8 --fanout 4,3 --batch 9 --patience 50";
    CHECK_EQ(shell(build + "/ggnn-data generate karate g >out 2>&1"), 0);
    CHECK_EQ(train(options + " --epochs 8 --log whole"), 0);
    CHECK_EQ(train(options + " --epochs 8 --log device " + backend[1]), 0);
    CHECK_EQ(train(options + " --epochs 3 --save c --log same " + backend[1]), 0);
    CHECK_EQ(train(std::string("--resume c --epochs 8 --log same ") + backend[1]), 0);
    same_numbers("device", "same", "epoch", "loss", 0);
    same_numbers("device", "same", "epoch", "val_loss", 0);
    for (int first = 0; first < 2; first++) {
        CHECK_EQ(train(options + " --epochs 4 --save c --log part " + backend[first]), 0);
        CHECK_EQ(train(std::string("--resume c --epochs 8 --log part ") + backend[1 - first]), 0);
        same_numbers("whole", "part", "epoch", "loss", 1e-5);
        same_numbers("whole", "part", "epoch", "val_loss", 1e-5);
        CHECK_NEAR(logged("part", "final", "test_loss")[1], logged("whole", "final", "test_loss")[0], 1e-5);
    }
}

// A batch an epoch: the losses of 20 steps by 2, 4 and 8 devices are those of one. After three epochs of several batches so
// is the accuracy, over three seeds. Replicas on two alone: where devices are not linked the emulator takes ten times as long.
TEST(any_number_of_devices_takes_the_steps_and_has_the_accuracy_of_one)
{
    static const char* const model[] = {"--model sage ", "--model gcn ", "--model gat --heads 2 "};
    static const int         counts[] = {2, 4, 8};
    const std::string        emulated = "--layers 2 --hidden 8 --fanout 4,3 --backend cuda-emulated ";
    setenv("SIMT_DEVICES", "8", 1);
    CHECK_EQ(shell(build + "/ggnn-data generate planted g --nodes 200 --edges 1500 --classes 5 --features 6 >out 2>&1"), 0);
    for (int m = 0; m < 3; m++)
        for (int i = -1; i < 3; i++) {
            const std::string steps = emulated + model[m] + "--batch 1024 --epochs 20 --eval-every 0 --log " + (i < 0 ? "one" : "several");
            CHECK_EQ(shell(i < 0 ? "rm -f one" : "rm -f several"), 0);
            CHECK_EQ(train(steps + (i < 0 ? "" : " --devices " + std::to_string(counts[i]) + (i == 0 ? " --store replica" : ""))), 0);
            if (i < 0) continue;
            const int before = test_errors;
            CHECK_EQ(logged("several", "epoch", "loss").size(), 20);
            same_numbers("one", "several", "epoch", "loss", 1e-6);
            if (test_errors != before) printf("  %s, %d devices\n", model[m], counts[i]);
        }
    CHECK_EQ(shell(build + "/ggnn-data generate planted g --nodes 600 --edges 9000 --classes 5 --features 16 >out 2>&1"), 0);
    for (int m = 0; m < 3; m++)
        for (int seed = 1; seed <= 3; seed++) {
            const std::string seeds = emulated + model[m] + "--batch 64 --lr .02 --epochs 3 --eval-every 3 --seed " + std::to_string(seed);
            const int         devices = counts[(m + seed) % 3];
            CHECK_EQ(train(seeds + " --log one" + std::to_string(seed)), 0);
            CHECK_EQ(train(seeds + " --log several" + std::to_string(seed) + " --devices " + std::to_string(devices)), 0);
            const double one = logged(("one" + std::to_string(seed)).c_str(), "epoch", "val_accuracy").back();
            if (!CHECK_NEAR(logged(("several" + std::to_string(seed)).c_str(), "epoch", "val_accuracy").back(), one, .01))
                printf("  %s, %d devices, seed %d\n", model[m], devices, seed);
        }
    unsetenv("SIMT_DEVICES");
}

// Four devices, two of each number: what as many devices of a CPU write. Parts, replicas and processes give the same
// bits. Parts are read over links.
TEST(several_devices_write_the_log_of_as_many_of_the_cpu)
{
    static const char* const options[] = {"--model sage", "--model gat --norm layer",
                                          "--model gcn --eval sampled --sampler weighted"};
    CHECK_EQ(shell(build + "/ggnn-data generate planted g --nodes 200 --edges 1500 --classes 5 --features 6 >out 2>&1"), 0);
    for (const char* o : options) {
        std::string all = std::string("--hidden 8 --layers 2 --fanout 4,3 --batch 40 --epochs 2 --devices 4 ") + o;
        CHECK_EQ(train(all + " --log cpu"), 0);
        CHECK_EQ(train(all + " --backend cuda-emulated --log gpu"), 0);
        same_logs("cpu", "gpu", o);
        CHECK_EQ(train(all + " --backend cuda-emulated --store replica --log again"), 0);
        for (const char* key : {"loss", "val_loss", "val_accuracy"}) same_numbers("gpu", "again", "epoch", key, 0);
        if (o != options[0]) continue;
        setenv("SIMT_LINKS", "none", 1); // rows that are sent need no link
        CHECK_EQ(train(all + " --backend cuda-emulated --gather exchange --owners hash --log sent"), 0);
        CHECK_EQ(train(all + " --backend cuda-emulated --gather exchange --owners hash --cache presc --cache-ratio .3 --log cached"), 0);
        CHECK_EQ(shell("grep '\"event\":\"ranks\"' cached | grep -q '\"rows\":{\"cache\":\\[[1-9]'"), 0);
        unsetenv("SIMT_LINKS");
        for (const char* key : {"loss", "val_loss", "val_accuracy"}) same_numbers("gpu", "cached", "epoch", key, 0);
        for (const char* key : {"loss", "val_loss", "val_accuracy"}) same_numbers("gpu", "sent", "epoch", key, 0);
    }
    CHECK_EQ(shell("grep -q '\"peer\":\\[[1-9]' gpu && grep -q '\"peer\":\\[0,0,0,0\\]' again"), 0);
    CHECK_EQ(train("--hidden 8 --layers 2 --fanout 4,3 --epochs 1 --backend cuda-emulated --device-list 1,0,1"), 0);
    CHECK_EQ(shell("grep -q '3 devices' out"), 0);
    CHECK_EQ(train("--fanout 4,3,3 --epochs 1 --backend cuda-emulated --device-list 2"), 1);
    CHECK_EQ(shell("grep -q 'device 2: invalid device ordinal' out"), 0);
    CHECK_EQ(train("--fanout 2,2,2 --epochs 1 --backend cuda-emulated --devices 65 --gather exchange"), 1);
    CHECK_EQ(shell("grep -q 'GPUs split ids over at most 64 devices, here are 65' out"), 0);
    setenv("SIMT_LINKS", "none", 1);
    CHECK_EQ(train("--fanout 4,3,3 --epochs 1 --backend cuda-emulated --devices 2 --topology dgx-a100"), 1); // says what is not so
    CHECK_EQ(shell("grep -q 'device [01] cannot read memory of device [01]: .*; --gather exchange needs no link' out"), 0);
    CHECK_EQ(train("--hidden 8 --fanout 4,3,3 --epochs 1 --backend cuda-emulated --devices 2 --store replica"), 0);
    unsetenv("SIMT_LINKS");
}

// With all neighbours a device's losses are those of the layer that it does not compute: to the bit. With few they are
// the CPU's.
TEST(preprocessed_rows_stand_for_the_first_layer)
{
    for (const char* model : {"gcn", "sage"}) {
        const std::string all = std::string("--hidden 16 --layers 3 --epochs 2 --batch 30 --model ") + model;
        CHECK_EQ(shell(build + "/ggnn-data generate planted g --nodes 200 --edges 1500 --classes 5 --features 6 >out 2>&1"), 0);
        CHECK_EQ(shell(build + "/ggnn-data preprocess g --model " + model + " >out 2>&1"), 0);
        CHECK_EQ(train(all + " --backend cuda-emulated --fanout -1,-1,-1 --log whole"), 0);
        CHECK_EQ(train(all + " --backend cuda-emulated --fanout -1,-1 --preprocess --log pre"), 0);
        for (const char* key : {"loss", "val_loss"}) same_numbers("whole", "pre", "epoch", key, 0);
        CHECK_EQ(train(all + " --fanout 4,3 --preprocess --log cpu"), 0);
        CHECK_EQ(train(all + " --backend cuda-emulated --fanout 4,3 --preprocess --log gpu"), 0);
        same_logs("cpu", "gpu", model);
    }
}

// Rows of edges in the device's memory, in parts, caches and the host's: the CPU's losses, and each other's bits.
TEST(rows_of_edges_are_read_wherever_they_lie)
{
    static const char* const one[] = {"--store-graph 0 --store-features .4", "--cache presc --cache-ratio .3", "--pipeline serial",
                                      "--pipeline factored --devices 2", "--unique hash", "--store-edges .4 --cache-edges .3"};
    char              from[600], to[600];
    CHECK_EQ(shell(build + "/ggnn-data generate planted plain --nodes 300 --edges 3000 --classes 5 --features 6 >out 2>&1"), 0);
    for (ggnn_file_type type : {GGNN_FILE_F32, GGNN_FILE_F16}) {
        const std::string all = std::string("--edge-features --hidden 8 --layers 2 --fanout 4,3 --batch 60 --epochs 2 ") +
                                (type == GGNN_FILE_F32 ? "--model sage " : "--model gat --heads 2 --attention-dropout .2 ");
        add_edges(folder_path(from, "plain"), folder_path(to, "g"), type, type == GGNN_FILE_F32 ? 5 : 16, 1);
        CHECK_EQ(train(all + "--log cpu"), 0);
        CHECK_EQ(train(all + "--log gpu --backend cuda-emulated"), 0);
        same_logs("cpu", "gpu", "rows of edges");
        for (const char* how : one) {
            CHECK_EQ(train(all + how + " --log other --backend cuda-emulated"), 0);
            for (const char* key : {"loss", "val_loss"}) same_numbers("gpu", "other", "epoch", key, 0);
            if (test_errors) printf("  %s\n", how);
        }
        // Of a limit rows of edges have what batches and the network leave, once; lists and rows of nodes have the rest.
        const std::string tiers = "--backend cuda-emulated --reserve-bytes 0 --log other ";
        CHECK_EQ(train(all + tiers + "--store-graph 0 --store-features 0 --store-edges 0"), 0);
        const double least = logged("other", "final", "device_memory_bytes")[0];
        const double rows = 3000 * (type == GGNN_FILE_F32 ? 20 : 32);
        for (double limit : {least + rows / 2, least + rows + 12000}) {
            const bool all_fit = limit > least + rows;
            CHECK_EQ(train(all + tiers + "--store-edges 1 --device-memory " + std::to_string(static_cast<int64_t>(limit))), 0);
            for (const char* key : {"loss", "val_loss"}) same_numbers("gpu", "other", "epoch", key, 0);
            const double most = logged("other", "final", "device_memory_bytes")[0];
            CHECK(most <= limit && most > limit - 10000);
            CHECK_EQ(shell("grep -q ' of 3000 rows of edges are stored' out") == 0, !all_fit);
            CHECK_EQ(shell("grep -q '^rows of edges: own part 3.00 k' out") == 0, all_fit);
            if (test_errors) printf("  %.0f of %.0f, %.0f without\n", most, limit, least);
        }
        CHECK_EQ(train(all + "--devices 2 --store replica --log gpu --backend cuda-emulated"), 0);
        for (const char* how : {"", "--store-edges .5 --cache-edges .2"}) {
            CHECK_EQ(train(all + "--devices 2 --log other --backend cuda-emulated " + how), 0);
            for (const char* key : {"loss", "val_loss"}) same_numbers("gpu", "other", "epoch", key, 0);
            CHECK_EQ(train(all + "--devices 2 --store parts --log cpu " + how), 0);
            const std::string cpu = edge_reads_of("cpu");
            CHECK(cpu.size() > 0);
            CHECK_STR(edge_reads_of("other").c_str(), cpu.c_str());
        }
    }
}

// Each sampler in each way, on the CPU and on devices: the losses of one device of the CPU, to rounding. With --partition pagraph
// and its own batches of each rank (shuffle local) they are those of the CPU in that way; walks have none there, and no edges.
TEST(every_sampler_has_the_losses_of_one_device_in_every_way)
{
    static const char* const samplers[] = {"fisher-yates", "path-doubling", "rejection", "reservoir", "weighted", "replacement", "walk"};
    static const char* const ways[] = {
        "--pipeline overlap", "--devices 3 --store parts", "--devices 3 --gather exchange",
        "--devices 3 --gather exchange --cache degree --cache-ratio .3", "--devices 3 --parallel split --partition mincut",
        "--devices 3 --parallel split --partition mincut --pipeline overlap",
        "--devices 3 --parallel split --partition mincut --split-sampling single",
        "--devices 3 --parallel split --partition mincut --split-sampling single --pipeline overlap", "--devices 4 --pipeline factored --samplers 1",
        "--devices 4 --pipeline factored --samplers 1 --store parts --cache presc --cache-ratio .2",
        "--devices 4 --pipeline factored --samplers 0 --store-graph .5 --store-features .5",
        "--devices 3 --store-graph .5 --store-features .3 --cache presc --cache-ratio .2", "--devices 3 --cache dual --cache-ratio .3",
        "--devices 3 --store-features .4 --cache presc --cache-ratio .2 --topology dgx-1v", "--unique hash",
        "--unique cooperative"};
    static const char* const local[] = {"--devices 3 --partition pagraph", "--devices 3 --partition pagraph --store replica",
                                        "--devices 2 --edge-features --store parts", "--devices 2 --edge-features --store-edges .5 --cache-edges .2"};
    char plain[600], from[600], to[600];
    CHECK_EQ(shell(build + "/ggnn-data generate planted plain --nodes 300 --edges 3000 --classes 5 --features 6 >out 2>&1"), 0);
    std::vector<float> weight(6000); // 3,000 edges, both ways
    for (size_t e = 0; e < weight.size(); e++) weight[e] = static_cast<float>(e * 29 % 8);
    add_weights_to(folder_path(plain, "plain"), folder_path(from, "weighted"), weight.data());
    add_edges(from, folder_path(to, "g"), GGNN_FILE_F32, 3, 1);
    for (const char* sampler : samplers) {
        const std::string all = std::string("--hidden 8 --layers 2 --fanout 4,3 --batch 60 --epochs 2 --eval sampled --sampler ") + sampler + " ";
        CHECK_EQ(train(all + "--log one"), 0);
        for (const char* way : ways)
            for (const char* backend : {"cpu", "cuda-emulated"}) {
                if (strstr(way, "--unique") && backend[1] == 'p') continue; // a device's own choice
                CHECK_EQ(train(all + way + " --log other --backend " + backend), 0);
                same_logs("one", "other", (std::string(sampler) + " " + way + " " + backend).c_str());
            }
        for (const char* way : local) {
            if (!strcmp(sampler, "walk")) continue;
            CHECK_EQ(train(all + way + " --log cpu"), 0);
            CHECK_EQ(train(all + way + " --log gpu --backend cuda-emulated"), 0);
            same_logs("cpu", "gpu", (std::string(sampler) + " " + way).c_str());
        }
    }
}

// What a device reads from where, as it was foreseen: its own count is within a point of it.
TEST(explain_foresees_what_a_device_reads)
{
    CHECK_EQ(shell(build + "/ggnn-data generate planted g --nodes 3000 --edges 36000 --classes 4 --features 8 >out 2>&1"), 0);
    for (const char* o : {"--cache presc --cache-ratio .1", "--devices 2 --cache degree --cache-ratio .3 --store-features .4"}) {
        CHECK_EQ(train(std::string("--explain --epochs 3 --hidden 8 --fanout 5,4 --backend cuda-emulated --reserve-bytes 0 --log log ") + o), 0);
        for (const char* stage : {"sample", "mark", "extract", "train"})
            CHECK_EQ(shell(std::string("grep explain log | grep -o '\"seconds\":{.*' | grep -o '\"") + stage + "\":[^,}]*' | grep -qv ':0$'"), 0);
        for (const char* key : {"cache", "own", "peer", "host"}) { // of lists, then of rows: each predicted, then counted; of settings behind them
            CHECK_EQ(shell(std::string("grep explain log | grep -o '\"") + key + "\":[0-9.e+-]*' | cut -d: -f2 | head -n 4 >n"), 0);
            CHECK_EQ(shell("awk '{n[NR] = $1} END {exit !(NR == 4 && (n[1] - n[2]) ^ 2 <= 1 && (n[3] - n[4]) ^ 2 <= 1)}' n"), 0);
        }
    }
}

// What a device has for data is what it has beside training: whatever the run itself keeps there, rankings too.
TEST(explain_gives_every_setting_the_room_that_training_leaves)
{
    static const char* const kept[] = {"--store-graph 0 --store-features 0", "--cache degree --cache-bytes 20000", "--cache dual --cache-bytes 40000",
                                       "--store-graph .3 --store-features .2 --cache presc --cache-bytes 20000"};
    const std::string all = "--epochs 1 --eval-every 0 --hidden 8 --fanout 5,4 --batch 100 --backend cuda-emulated --reserve-bytes 0 --log log ";
    CHECK_EQ(shell(build + "/ggnn-data generate planted g --nodes 3000 --edges 36000 --classes 4 --features 8 >out 2>&1"), 0);
    CHECK_EQ(train(all + kept[0]), 0);
    char memory[80];
    snprintf(memory, sizeof memory, "--explain --device-memory %.0f ", logged("log", "final", "device_memory_bytes")[0] + 150000);
    for (const char* k : kept) {
        CHECK_EQ(train(all + memory + k), 0);
        const std::string first = "grep explain log | grep -o -e '--prefer graph\":{[^}]*' | grep -o '_bytes\":[0-9]*' | cut -d: -f2";
        CHECK_EQ(shell(first + " | awk '{n += $1} END {exit !(n > 132000 && n <= 138000)}'"), 0); // less one ranking, 12,000 bytes, and tables
        if (test_errors) printf("  %s\n", k), shell(first);
    }
}

// Batches go from device to device, in parts whose rows the trainer extracts and in replicas, and outgrow their room.
TEST(devices_that_sample_for_others_give_the_bits_of_one_fewer)
{
    static const char* const options[] = {"--model sage --samplers 1", "--model gat --store replica",
                                          "--model gcn --eval sampled --sampler weighted"};
    CHECK_EQ(shell(build + "/ggnn-data generate planted g --nodes 120 --edges 800 --classes 5 --features 6 >out 2>&1"), 0);
    for (int i = 0; i < 3; i++) {
        const std::string all = std::string("--hidden 8 --layers 2 --fanout 4,3 --batch 40 --epochs 2 --eval-every 2 --backend cuda-emulated ");
        const std::string of = options[i], model = of.substr(0, of.find(" --samplers"));
        const int         devices = 2 + i % 2;
        CHECK_EQ(train(all + model + " --log fewer --devices " + std::to_string(devices - 1)), 0);
        CHECK_EQ(train(all + of + " --log shared --pipeline factored --devices " + std::to_string(devices)), 0);
        for (const char* key : {"loss", "val_loss", "val_accuracy"}) same_numbers("fewer", "shared", "epoch", key, 0);
        CHECK_EQ(shell("grep -q '\"slices\":{\"sampled\":\\[0,' shared"), 0);
        if (i == 1) continue; // a replica has no parts; else the trainer, of two devices, has all rows, and no list
        CHECK_EQ(shell("grep '\"event\":\"tiers\"' shared | tail -1 | grep -q '\"samplers\":1.*"
                       "\"rows\":{\"cache\":\\[0,0\\],\"own\":\\[120,0\\].*\"lists\":{\"cache\":\\[0,0\\],\"own\":\\[0,120\\]'"), 0);
    }
}

// Each device draws its own training nodes, and caches what these reach.
TEST(devices_with_their_own_training_nodes_write_the_cpus_log)
{
    CHECK_EQ(shell(build + "/ggnn-data generate planted g --nodes 300 --edges 2400 --classes 4 --features 6 >out 2>&1"), 0);
    const std::string all = "--hidden 8 --fanout 4,3 --batch 50 --epochs 2 --devices 3 --partition pagraph --cache degree --cache-ratio .2 ";
    CHECK_EQ(train(all + "--log cpu --backend cpu --save c"), 0);
    CHECK_EQ(train(all + "--log cuda --backend cuda-emulated --reserve-bytes 0"), 0);
    for (const char* key : {"loss", "val_loss"}) same_numbers("cpu", "cuda", "epoch", key, 1e-4);
    CHECK_EQ(shell("for log in cpu cuda; do grep '\"event\":\"partition\"' $log >part.$log; "
                   "grep '\"event\":\"ranks\"' $log | grep -o '\"rows\":{[^}]*}' >rows.$log; done; "
                   "test -s rows.cpu && cmp part.cpu part.cuda && cmp rows.cpu rows.cuda"), 0);
    CHECK_EQ(train("--resume c --epochs 3 --devices 3 --backend cuda-emulated"), 0);
    CHECK_EQ(train("--resume c --epochs 3 --devices 2 --backend cuda-emulated"), 1);
}

// Parameters to the bit, with all rows of a part in its device, and with a cache of some.
TEST(devices_train_on_parts_of_a_graph_as_on_the_whole)
{
    CHECK_EQ(shell(build + "/ggnn-data generate planted g --nodes 300 --edges 1200 --classes 4 --features 6 >out 2>&1"), 0);
    CHECK_EQ(shell(build + "/ggnn-data partition g --method pagraph --parts 2 --extract >out 2>&1"), 0);
    for (const char* model : {"--model gcn ", "--model sage "}) {
        const std::string all = std::string("--hidden 8 --fanout 4,3 --batch 50 --epochs 2 --devices 2 --eval-every 0 --backend cuda-emulated ") + model;
        CHECK_EQ(train(all + "--partition pagraph --partition-file g.part --save whole"), 0);
        CHECK_EQ(train(all + "--partition pagraph --partition-file g.part --store replica --reserve-bytes 0 --save closures"), 0);
        CHECK_EQ(shell("cmp whole closures"), 0);
        CHECK_EQ(shell("mv g hidden"), 0);
        CHECK_EQ(train(all + "--data g.part.{r} --save parts"), 0);
        CHECK_EQ(train(all + "--data g.part.{r} --save cached --cache degree --cache-ratio .1 --reserve-bytes 0"), 0);
        CHECK_EQ(shell("mv hidden g && cmp whole parts && cmp whole cached"), 0);
    }
}

// Before anything is loaded. A device of the emulator has what SIMT_MEMORY says, of which the program takes some 4 MB.
TEST(what_a_device_needs_and_has_not_is_said_before_loading)
{
    static const char* const run[][3] = {
        {"6000000", "--devices 2 --store replica --eval sampled", "try --store parts"},
        {"7500000", "--devices 2 --store replica --hidden 64", "try --eval sampled"},
        {"5000000", "--devices 1", "try more devices"},
        {"10000000", "--device-list 0,0 --eval sampled", "try more devices"}};
    CHECK_EQ(shell(build + "/ggnn-data generate planted g --nodes 10000 --edges 100000 --features 32 >out 2>&1"), 0);
    for (const auto& r : run) {
        setenv("SIMT_MEMORY", r[0], 1);
        CHECK_EQ(train(std::string("--hidden 8 --fanout 2,2 --epochs 1 --backend cuda-emulated ") + r[1]), 1);
        if (!CHECK_EQ(shell(std::string("grep -q 'device 0 needs [0-9.]* [MG]B at least, has [0-9.]* [kMG]B: ") + r[2] + "' out"), 0))
            shell("cat out");
    }
    setenv("SIMT_MEMORY", "7500000", 1); // evaluation's rows in the host's memory need nothing of the device
    CHECK_EQ(train("--hidden 64 --fanout 2,2 --batch 100 --epochs 1 --backend cuda-emulated --device-list 0 --eval-memory 0"), 0);
    unsetenv("SIMT_MEMORY");
}

// By role a trainer has a third of the rows at least, in place of a quarter. Batches and the net need what is left.
TEST(memory_follows_the_role_where_a_device_has_it)
{
    const std::string run = "--hidden 8 --fanout 2,2 --batch 40 --epochs 2 --backend cuda-emulated --device-list 0,1,2,3 --pipeline factored "
                            "--store parts --eval-every 0 --save ";
    CHECK_EQ(shell(build + "/ggnn-data generate planted g --nodes 10000 --edges 100000 --features 128 --train .01 >out 2>&1"), 0);
    setenv("SIMT_DEVICES", "4", 1);
    CHECK_EQ(train(run + "all"), 0);
    CHECK_EQ(shell("grep -q 'rows of device 0, which trains' out"), 0);
    CHECK_EQ(train(run + "more --samplers 1 --log l --cache presc --cache-ratio .1 --store-features .5"), 0);
    CHECK_EQ(shell("grep '\"event\":\"ranks\"' l | grep -q '\"marked\":.[1-9][0-9]*,[1-9][0-9]*,[1-9][0-9]*,0.' && cmp all more"), 0);
    setenv("SIMT_MEMORY", "7000000", 1);
    CHECK_EQ(train(run + "few"), 0);
    unsetenv("SIMT_MEMORY");
    unsetenv("SIMT_DEVICES");
    CHECK_EQ(shell("grep -q 'memory does not follow the role: by it device 0 needs more than it has' out && cmp all few"), 0);
}

// The bytes that it names are those of the arrays: labels and splits of all nodes, rows and lists of its own, places of all nodes where
// they are hashed, the rows between layers; of each rank that the device has. A path has two neighbours per node, but at its ends.
TEST(what_a_device_needs_is_the_sum_of_its_arrays)
{
    enum { N = 10000, F = 32 };
    static const struct {
        const char* options;
        int         parts, outputs; // columns of the rows between layers
        ggnn_owner  owners;
        bool        whole;          // each has all lists
        int         ranks;          // of device 0: of three on two devices, the first and the third
    } run[] = {{"--devices 2 --store replica", 1, 8, GGNN_OWNER_RANGE, true, 1},
               {"--devices 2 --store replica --eval sampled", 1, 0, GGNN_OWNER_RANGE, true, 1},
               {"--device-list 0,0 --store replica --eval-every 0", 1, 0, GGNN_OWNER_RANGE, true, 2},
               {"--devices 1 --layers 3 --fanout 2,2,2 --hidden 16", 1, 32, GGNN_OWNER_RANGE, true, 1},
               {"--devices 3 --store parts --owners range", 3, 8, GGNN_OWNER_RANGE, false, 2},
               {"--devices 3 --store parts --owners modulo", 3, 8, GGNN_OWNER_MODULO, false, 2},
               {"--device-list 0,1,0 --store parts --owners hash --eval sampled", 3, 0, GGNN_OWNER_HASH, false, 2},
               {"--devices 3 --gather exchange --owners hash", 3, 8, GGNN_OWNER_HASH, true, 2},
               {"--devices 3 --store shards --cache random --cache-ratio .5", 3, 8, GGNN_OWNER_RANGE, true, 2}};
    CHECK_EQ(shell(build + "/ggnn-data generate path g --nodes 10000 --features 32 --classes 3 >out 2>&1"), 0);
    for (const auto& r : run) {
        double needs = 0;
        int    before = test_errors, ranks = 0;
        for (int32_t part = 0; ranks < r.ranks; part += 2, ranks++) {
            int64_t nodes = 0, edges = 0;
            for (int64_t v = 0; v < N; v++) {
                if (r.parts > 1 && ggnn_owner_of(v, r.owners, nullptr, N, r.parts) != part) continue;
                nodes++;
                edges += v == 0 || v == N - 1 ? 1 : 2;
            }
            needs += N * (4 + 4) + nodes * F * 4.0 + (r.whole ? N * 16 + 8 + (2 * N - 2) * 4 : nodes * 16 + 8 + edges * 4);
            if (strstr(r.options, "--cache")) needs += N / 2 * F * 4.0 + N * 4; // its rows, and their ranks
            needs += N * r.outputs * 4.0 + (r.parts > 1 && r.owners == GGNN_OWNER_HASH ? N * 4 : 0);
        }
        setenv("SIMT_MEMORY", r.ranks == 1 ? "4300000" : "8600000", 1); // the program takes 4.2 MB per rank
        CHECK_EQ(train(std::string("--hidden 8 --layers 2 --fanout 2,2 --epochs 1 --backend cuda-emulated ") + r.options), 1);
        CHECK_EQ(shell("sed -n 's/.*device 0 needs \\([0-9.]*\\) MB at least.*/\\1/p' out >needs && test -s needs"), 0);
        char  path[600];
        float said = 0;
        FILE* f = fopen(folder_path(path, "needs"), "r");
        CHECK(f && fscanf(f, "%f", &said) == 1);
        if (f) fclose(f);
        CHECK_NEAR(said, needs / 1e6, 0.006); // three digits
        if (test_errors > before) shell(std::string("echo '") + r.options + "'; cat out");
    }
    unsetenv("SIMT_MEMORY");
}

// Losses are those of a device that has everything, reads those of the CPU, which tests/store/test_tiers.c predicts.
void in_tiers(const std::string& options, const std::string& tiers, bool counted)
{
    int before = test_errors;
    CHECK_EQ(train(options + tiers + " --backend cuda-emulated --log gpu"), 0);
    for (const char* key : {"loss", "val_loss"}) same_numbers("resident", "gpu", "epoch", key, 0);
    same_numbers("resident", "gpu", "final", "test_loss", 0);
    if (counted) CHECK_EQ(train(options + tiers + " --log cpu"), 0);
    if (counted) CHECK_STR(reads_of("gpu").c_str(), reads_of("cpu").c_str());
    if (test_errors > before) printf("  %s%s\n", options.c_str(), tiers.c_str());
}

void make_skewed()
{
    CHECK_EQ(shell(build + "/ggnn-data generate rmat g --nodes 200 --edges 1500 --classes 5 --features 6 --directed >out 2>&1"), 0);
}

TEST(what_lies_in_tiers_trains_as_what_is_resident)
{
    static const char* const models[] = {"--model sage", "--model gat --heads 2", "--model gcn --sampler weighted --eval sampled"};
    static const char* const tiers[] = {
        " --store-graph 0 --store-features 0", " --store-graph .3 --store-features .6", " --cache degree --cache-ratio .3",
        " --cache presc --cache-ratio .3 --store-graph 0", " --cache dual --cache-ratio .3 --eval-memory 0",
        " --cache random --cache-ratio .3 --store-features .5", " --cache optimal --cache-ratio 1 --store-graph .5",
        " --cache aligraph --cache-bytes 100", " --cache dual --cache-ratio 1 --slopes 5,9"};
    make_skewed();
    for (size_t m = 0; m < 3; m++) {
        const std::string options = std::string("--hidden 8 --layers 2 --fanout 4,3 --batch 40 --epochs 2 ") + models[m];
        CHECK_EQ(train(options + " --backend cuda-emulated --log resident"), 0);
        for (size_t i = m; i < 9; i += 3) in_tiers(options, tiers[i], true);
        in_tiers(options, " --cache dual --cache-ratio .3 --slopes measure", false); // by clocks that differ
    }
}

// A device's part comes by way of the host, 16,384 nodes at a time: here are two pieces and more.
TEST(parts_that_come_in_several_pieces_train_as_replicas)
{
    static const char* const tiers[] = {" --store parts", " --gather exchange", " --cache dual --cache-ratio 1"};
    CHECK_EQ(shell(build + "/ggnn-data generate planted g --nodes 40000 --edges 60000 --classes 3 --features 2 --train .01 >out 2>&1"), 0);
    const std::string options = "--hidden 4 --layers 2 --fanout 2,2 --batch 200 --epochs 1 --eval-every 0 --devices 2 --backend cuda-emulated ";
    CHECK_EQ(train(options + "--store replica --log resident"), 0);
    for (const char* how : tiers) {
        CHECK_EQ(train(options + how + " --log gpu"), 0);
        same_numbers("resident", "gpu", "epoch", "loss", 0);
        if (test_errors) printf("  %s\n", how);
    }
}

// Two devices of which one samples for the other have the bits of one.
TEST(every_policy_has_the_same_losses_in_every_pipeline_of_a_device)
{
    const std::string options = "--hidden 8 --layers 2 --fanout 4,3 --batch 40 --epochs 2 --eval sampled ";
    make_skewed();
    CHECK_EQ(train(options + "--backend cuda-emulated --log resident"), 0);
    static const char* const policies[] = {"", "degree", "aligraph", "presc", "optimal", "dual", "random"};
    static const char* const pipelines[] = {"serial", "overlap", "factored --devices 2"}, *const ratios[] = {"0", ".3", "1"};
    for (int p = 0; p < 7; p++)
        for (int i = 0; i < 3; i++)
            for (int r = 0; r < 3; r++) {
                if (few_trials() && r != (p + i) % 3) continue;
                const std::string cache = p ? std::string(".4 --cache ") + policies[p] + " --cache-ratio " : "";
                in_tiers(options, "--store-graph .5 --store-features " + cache + ratios[r] + " --pipeline " + pipelines[i], false);
            }
}

// A hub whose list is larger than the budget, no edge at all, rows of 1 and 602 columns, halves.
TEST(hubs_isolated_nodes_and_rows_of_any_width_lie_in_a_devices_tiers)
{
    static const char* const graphs[] = {"generate star g --nodes 300 --features 3 --classes 3", "generate planted g --nodes 100 --edges 0 --features 1",
                                         "generate path g --nodes 120 --features 602 --classes 3", "convert halves g --fp16"};
    const std::string options = "--hidden 8 --layers 2 --fanout 4,3 --batch 40 --epochs 2 ";
    CHECK_EQ(shell(build + "/ggnn-data generate rmat h --nodes 200 --edges 900 --features 100 >out 2>&1 && rm -rf halves && " + build +
                   "/ggnn-data export h halves >out 2>&1"), 0);
    for (const char* g : graphs) {
        CHECK_EQ(shell("rm -f g && " + build + "/ggnn-data " + g + " >out 2>&1"), 0);
        CHECK_EQ(train(options + "--backend cuda-emulated --log resident"), 0);
        in_tiers(options, "--cache dual --cache-bytes 1000 --store-features .4", true);
        in_tiers(options, "--cache degree --cache-bytes 3000 --store-graph .3 --devices 1", true);
    }
}

// Each list and each row, from wherever it lies.
TEST(parts_of_a_batch_read_what_the_cpu_reads)
{
    static const char* const stores[] = {" --store parts", " --cache degree --cache-ratio .3 --store-graph .5 --store-features .6"};
    make_skewed();
    for (const char* store : stores)
        for (const char* form : {"single", "cooperative"}) {
            const std::string all = std::string("--hidden 8 --layers 2 --fanout 4,3 --batch 40 --epochs 2 --devices 3 --parallel split --split-sampling ") + form + store;
            CHECK_EQ(train(all + " --log cpu"), 0);
            CHECK_EQ(train(all + " --backend cuda-emulated --log gpu"), 0);
            if (!CHECK_STR(reads_of("gpu").c_str(), reads_of("cpu").c_str())) printf("  %s\n", all.c_str());
            same_logs("cpu", "gpu", form);
            CHECK_EQ(train(all + " --backend cuda-emulated --pipeline overlap --log ahead"), 0);
            CHECK_STR(reads_of("ahead").c_str(), reads_of("gpu").c_str());
            for (const char* key : {"loss", "val_loss"}) same_numbers("gpu", "ahead", "epoch", key, 0);
        }
}

TEST(memory_that_cannot_be_pinned_is_copied_and_that_is_said)
{
    const std::string options = "--hidden 8 --layers 2 --fanout 4,3 --batch 40 --epochs 1";
    make_skewed();
    CHECK_EQ(train(options + " --backend cuda-emulated --log resident"), 0);
    in_tiers(options, " --store-graph .4 --store-features .2", false);
    CHECK_EQ(shell("grep -q 'pinned copy' out"), 1);
    setenv("SIMT_PIN", "0", 1);
    in_tiers(options, " --store-graph .4 --store-features .2", false);
    unsetenv("SIMT_PIN");
    CHECK_EQ(shell("grep -q 'cannot be pinned where it is: a pinned copy is read' out && grep -q 'a pinned copy is read' gpu"), 0);
}

// 1,024 rows of 32 bytes are 8 pages: labels, which are no tier's, begin where they end.
TEST(sections_that_fill_their_pages_are_pinned_apart)
{
    const std::string options = "--hidden 8 --layers 2 --fanout 4,3 --batch 40 --epochs 1";
    CHECK_EQ(shell(build + "/ggnn-data generate planted g --nodes 1024 --edges 3000 --classes 5 --features 8 >out 2>&1"), 0);
    CHECK_EQ(train(options + " --backend cuda-emulated --log resident"), 0);
    in_tiers(options, " --cache degree --cache-ratio .2 --store-graph .5 --store-features .3", true);
    CHECK_EQ(shell("grep -q 'pinned copy' gpu"), 1);
}

// The peak of a first mini-batch is taken from what the device has.
TEST(a_cache_takes_what_the_device_has_left)
{
    const std::string options = "--hidden 8 --layers 2 --fanout 4,3 --batch 40 --epochs 1 --cache degree --cache-bytes auto ";
    make_skewed();
    CHECK_EQ(train(options + "--backend cuda-emulated --log most"), 0);
    const double most = logged("most", "final", "device_memory_bytes")[0];
    CHECK_EQ(shell("grep -q '\"rows\":{\"cache\":.200.' most"), 0);
    char memory[80];
    snprintf(memory, sizeof memory, "--device-memory %.0f --reserve-bytes 0 --store-graph 0 ", most - 8000);
    CHECK_EQ(train(options + memory + "--backend cuda-emulated --log some"), 0);
    CHECK_EQ(shell("grep '\"event\":\"tiers\"' some | grep -q '\"rows\":{\"cache\":.[1-9][0-9]*.,\"own\":.0.'"), 0);
    CHECK(logged("some", "final", "device_memory_bytes")[0] <= most - 8000);
    CHECK_EQ(train(options + "--device-memory 1000 --backend cuda-emulated --log none"), 0);
    CHECK_EQ(shell("grep -q -- '--cache-bytes auto: 0B' out"), 0);
}

// A cache, by a ranking or of its own, and parts beside it: all within the limit, as the device counts it.
TEST(parts_and_caches_stay_within_the_devices_memory)
{
    static const char* const kept[] = {"--cache dual --ranking r", "--cache dual --cache-bytes 60000", "--cache presc --cache-bytes 60000", ""};
    const std::string all = "--epochs 1 --eval-every 0 --hidden 8 --fanout 5,4 --batch 100 --backend cuda-emulated --reserve-bytes 0 --log log ";
    CHECK_EQ(shell(build + "/ggnn-data generate planted g --nodes 3000 --edges 36000 --classes 4 --features 8 >out 2>&1"), 0);
    CHECK_EQ(shell(build + "/ggnn-data rank g --by dual --cache-bytes 60000 --fanout 5,4 --batch 100 --slopes 1000,1000 --out r >out 2>&1"), 0);
    CHECK_EQ(train(all + "--store-graph 0 --store-features 0"), 0);
    const double memory = logged("log", "final", "device_memory_bytes")[0] + 170000;
    for (const char* k : kept) {
        char limit[80];
        snprintf(limit, sizeof limit, "--store-graph 1 --store-features 1 --device-memory %.0f ", memory);
        CHECK_EQ(train(all + limit + k), 0);
        const double most = logged("log", "final", "device_memory_bytes")[0];
        CHECK(most <= memory && most > memory - 24000); // up to two rankings that were not needed in the end
        if (test_errors) printf("  %s: %.0f of %.0f\n", k, most, memory);
    }
}

// The plan and the losses are those of the host's counts. Where 16 bytes per node have no room the host counts, which is said.
TEST(reads_are_counted_on_the_device_where_it_has_room)
{
    static const char* const runs[] = {"--cache presc --cache-ratio .1 --presample-epochs 2", "--cache dual --cache-ratio .2 --devices 3 --store-features .4",
                                       "--cache optimal --cache-ratio .1 --devices 2 --shuffle local --partition pagraph",
                                       "--cache presc --cache-ratio .1 --devices 2 --parallel split"};
    const std::string all = "--epochs 1 --eval-every 0 --hidden 4 --layers 2 --fanout 3,2 --batch 50 --store-graph 0 ";
    CHECK_EQ(shell(build + "/ggnn-data generate planted g --nodes 3000 --edges 9000 --classes 4 --features 8 --train .1 >out 2>&1"), 0);
    for (const char* r : runs) {
        CHECK_EQ(train(all + r + " --log cpu"), 0);
        CHECK_EQ(train(all + r + " --backend cuda-emulated --log gpu"), 0);
        CHECK_EQ(shell("grep -q '\"counted\":\"host\"' cpu && grep -q '\"counted\":\"device\"' gpu"), 0);
        CHECK_EQ(shell("grep -q 'counted on the host' out"), 1);
        if (!CHECK_STR(reads_of("gpu").c_str(), reads_of("cpu").c_str())) printf("  %s\n", r);
        shell("cp gpu there");
        CHECK_EQ(train(all + r + " --backend cuda-emulated --device-memory 40000 --log gpu"), 0);
        CHECK_EQ(shell("grep -q '\"counted\":\"host\"' gpu && grep -q -- ': reads are counted on the host: the device has no room for them' out"), 0);
        same_numbers("there", "gpu", "epoch", "loss", 0);
    }
    CHECK_EQ(train(all + "--cache degree --cache-ratio .1 --backend cuda-emulated --log gpu"), 0);
    CHECK_EQ(shell("grep -q '\"counted\":null' gpu"), 0);
}

// 3,000 nodes: a direct map takes 24,000 bytes, a hash table of 8 seeds' batches 2,048, and both 256 for their state.
TEST(ids_are_found_by_a_map_where_the_device_has_room_for_it)
{
    const std::string all = "--epochs 1 --eval-every 0 --hidden 4 --layers 2 --fanout 2,2 --batch 8 --backend cuda-emulated --reserve-bytes ";
    CHECK_EQ(shell(build + "/ggnn-data generate planted g --nodes 3000 --edges 9000 --classes 4 --features 8 --train .02 >out 2>&1"), 0);
    const double state = 256, direct = state + 94 * 256, hash = state + 256 * static_cast<double>(sizeof(ggnn_node) == 8 ? 16 : 8);
    double least = 0;
    for (const char* which : {"hash", "cooperative", "direct", "auto"}) {
        const bool map = which[0] == 'd' || which[0] == 'a';
        CHECK_EQ(train(all + "0 --store-graph 0 --store-features 0 --log log --unique " + which), 0);
        CHECK_EQ(logged("log", "start", "direct")[0], map ? direct : 0);
        CHECK_EQ(logged("log", "start", "hash")[0], map ? 0 : hash);
        CHECK_EQ(shell(std::string("grep -q '^the ids of mini-batches take ") + (map ? "24.[0-9]* kB of it in direct maps, 0" : "0 *B of it in direct maps, [24].[0-9]* k") + "' out"), 0);
        if (!least) least = logged("log", "final", "device_memory_bytes")[0], shell("cp log hash");
        CHECK_EQ(logged("log", "final", "device_memory_bytes")[0], map ? least + direct - hash : least);
        same_numbers("hash", "log", "epoch", "loss", 0);
    }
    const struct { // beside what the hash table's run takes at most; what of it stays free; is that room for the map?
        double      more;
        const char *reserve, *tiers;
        bool        map;
    } limit[] = {{60000, "0", "--store-features 0", true}, {10000, "0", "--store-features 0", false},
                 {60000, "50000", "--store-features 0", false}, {60000, "0", "--cache random --cache-bytes auto", false},
                 {60000, "0", "--cache random --cache-bytes 1000", true}, {60000, "0", "--cache random --cache-bytes 30000", false},
                 {60000, "0", "--store-features .45", false}};
    for (const auto& r : limit) {
        char memory[80];
        snprintf(memory, sizeof memory, " --store-graph 0 --log log --device-memory %.0f ", least + r.more);
        CHECK_EQ(train(all + r.reserve + memory + r.tiers), 0);
        CHECK_EQ(logged("log", "start", "direct")[0], r.map ? direct : 0);
        if (!CHECK(logged("log", "final", "device_memory_bytes")[0] <= least + r.more)) printf("  %s%s\n", memory, r.tiers);
        same_numbers("hash", "log", "epoch", "loss", 0);
    }
    CHECK_EQ(shell(build + "/ggnn-data generate planted g --nodes 30000 --edges 90000 --classes 4 --features 8 --train .002 >out 2>&1"), 0);
    shell("rm hash");
    const bool wide = sizeof(ggnn_node) == 8;
    for (const bool map : {false, true}) { // all of the data is the device's own: 240,000 bytes are a quarter of what is left, or more
        const char* memory = wide ? map ? "7800000" : "7500000" : map ? "7400000" : "7000000";
        setenv("SIMT_MEMORY", memory, 1);
        CHECK_EQ(train(all.substr(0, all.find("--reserve")) + "--log " + (map ? "log" : "hash")), 0);
        CHECK_EQ(logged(map ? "log" : "hash", "start", "direct")[0], map ? state + 938 * 256 : 0);
    }
    same_numbers("hash", "log", "epoch", "loss", 0);
    unsetenv("SIMT_MEMORY");
}

// After `reorder` a ranking by degree is the order of ids. Beside another order of as many rows it saves its table, to the byte.
TEST(a_ranking_that_is_the_order_of_ids_takes_no_memory_of_the_device)
{
    enum { NODES = 3000 };
    const std::string all = "--data h --store-features .5 --epochs 1 --eval-every 0 --hidden 8 --fanout 5,4 --batch 100 --backend cuda-emulated --log log --ranking ";
    CHECK_EQ(shell(build + "/ggnn-data generate planted g --nodes 3000 --edges 36000 --classes 4 --features 8 >out 2>&1"), 0);
    CHECK_EQ(shell(build + "/ggnn-data rank g --by degree >out 2>&1 && " + build + "/ggnn-data reorder g h >out 2>&1"), 0);
    CHECK_EQ(shell(build + "/ggnn-data rank h --by degree --out ids >out 2>&1 && " + build + "/ggnn-data rank h --by random --out others >out 2>&1"), 0);
    CHECK_EQ(train(all + "ids"), 0);
    const double least = logged("log", "final", "device_memory_bytes")[0];
    CHECK_EQ(train(all + "others"), 0);
    CHECK_EQ(logged("log", "final", "device_memory_bytes")[0] - least, (double)(NODES * sizeof(ggnn_node)));
}

int lines_of_out(const std::string& pattern)
{
    shell("grep -c -e '" + pattern + "' out >count");
    int   count = -1;
    char  path[600];
    FILE* f = fopen(folder_path(path, "count"), "r");
    if (f && fscanf(f, "%d", &count) != 1) count = -1;
    if (f) fclose(f);
    return count;
}

// Eight devices with the links of a DGX-1V: a read over one that is not there traps.
TEST(parts_on_a_dgx_are_read_over_its_links)
{
    static const char* const rules[] = {"best", "pruned", "exact", "clique"};
    const std::string options = "--hidden 4 --layers 1 --fanout 4 --batch 64 --epochs 1 --eval sampled --devices 8 ";
    CHECK_EQ(shell(build + "/ggnn-data generate planted g --nodes 64 --edges 500 --classes 3 --features 3 >out 2>&1"), 0);
    setenv("SIMT_DEVICES", "8", 1);
    CHECK_EQ(train(options + "--backend cuda-emulated --store replica --log resident"), 0);
    setenv("SIMT_LINKS", "0-3,0-4,1-2,1-5,2-3,4-7,5-6,6-7,0-1,0-2,1-3,2-6,3-7,4-5,4-6,5-7", 1);
    for (const char* rule : rules)
        in_tiers(options, std::string("--store-graph .9 --store-features .8 --cache presc --cache-ratio .1 --topology dgx-1v --placement ") + rule, true);
    CHECK_EQ(train(options + "--backend cuda-emulated --store-graph .9 --topology dgx-a100"), 1);
    CHECK_EQ(shell("grep -q 'cannot read memory of device' out"), 0);
    unsetenv("SIMT_LINKS");
    unsetenv("SIMT_DEVICES");
}

// Machines with missing links: the driver is asked, parts are placed, and losses are those of whole copies. A read over a link that
// is not there would trap.
TEST(parts_are_placed_for_the_links_that_the_driver_has)
{
    static const char* const links[] = {"0-3,0-4:1,1-2,1-5:1,2-3,4-5:2", "0-1,2-3,4-5", "none", "1-2,2-3,3-4,4-5"};
    static const char* const ways[] = {"--store parts", "--store parts --owners hash", "--store-graph .6 --store-features .5 --cache presc --cache-ratio .2",
                                       "--pipeline factored --samplers 2", "--parallel split"};
    const std::string options = "--hidden 4 --layers 2 --fanout 3,2 --batch 64 --epochs 1 --eval sampled --backend cuda-emulated --device-list ";
    CHECK_EQ(shell(build + "/ggnn-data generate planted g --nodes 96 --edges 800 --classes 3 --features 3 >out 2>&1"), 0);
    setenv("SIMT_DEVICES", "6", 1);
    for (size_t w = 0; w < 5; w++) {
        unsetenv("SIMT_LINKS");
        const std::string way = std::string("5,1,0,4,3,2 ") + ways[w];
        CHECK_EQ(train(options + way + " --log resident"), 0);
        CHECK_EQ(lines_of_out("cannot read each other"), 0);
        for (size_t i = w % 4; i < 4; i += 4) {
            setenv("SIMT_LINKS", links[i], 1);
            if (!CHECK_EQ(train(options + way + " --log gpu"), 0)) shell("tail -n 3 out");
            CHECK_EQ(lines_of_out("devices that cannot read each other, by their driver: .* pairs, the first device 0 of device"), 1);
            for (const char* key : {"loss", "val_loss"}) same_numbers("resident", "gpu", "epoch", key, 0);
            if (test_errors) printf("  %s, %s\n", ways[w], links[i]);
        }
    }
    // links of 3 parts and more: a device's memory has room for less
    setenv("SIMT_LINKS", "none", 1);
    setenv("SIMT_MEMORY", "40000000", 1);
    CHECK_EQ(shell(build + "/ggnn-data generate planted g --nodes 4000 --edges 8000 --classes 3 --features 3000 --train .02 >out 2>&1"), 0);
    CHECK_EQ(train(options + "0,1,2,3 --store parts --eval-every 0 --eval-memory 0"), 1);
    CHECK_EQ(lines_of_out("needs .*; a device stores up to 4 of 4 parts, as device 0 has no link to device 1 (--gather exchange needs no link)"), 1);
    unsetenv("SIMT_LINKS");
    CHECK_EQ(train(options + "0,1,2,3 --store parts --eval-every 0 --eval-memory 0"), 0);
    unsetenv("SIMT_MEMORY");
    unsetenv("SIMT_DEVICES");
}

// Why there are no processes; null: there are.
const char* no_mpi()
{
    if (!comm_mpi_name()) return "built without MPI";
    return shell("mpirun --version 2>&1 | grep -q 'Open MPI'") ? "mpirun of Open MPI is not installed" : nullptr;
}

// ggnn-train on emulated devices, as `processes` processes or, where that is 0, as one; what it prints goes to out.
int emulated(int processes, const std::string& options)
{
    std::string with = "OMPI_MCA_mpi_yield_when_idle=1 ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 timeout -k 5 120 mpirun "
                       "--allow-run-as-root --oversubscribe -n " + std::to_string(processes) + " ";
    return shell((processes ? with : "timeout -k 5 120 ") + build + "/ggnn-train-emulated --backend cuda-emulated --data g " +
                 options + " >out 2>&1 </dev/null");
}

// P devices as threads and, where processes is P, as processes, with NCCL and without: all records but for the times and
// how it was run, and all bytes of the checkpoints. The logs are l.own0 and so on.
void however_ranks_meet(const std::string& model, int P, int processes)
{
    const std::string all = "--hidden 8 --layers 2 --fanout 4,3 --batch 20 --epochs 2 --threads 1 " + model;
    const char*       memory = strstr(model.c_str(), "split") ? "s/,\"device_memory_bytes\":[0-9]*//; " : ""; // what is sent is packed first
    for (const char* by : {"own", "nccl"})
        for (int n = 0; n <= processes; n += P) {
            const std::string name = std::string(by) + std::to_string(n);
            const std::string line = all + (n ? "" : " --devices " + std::to_string(P)) + " --comm " +
                                     (n && *by == 'n' ? "auto" : by) + " --log l." + name + " --save c." + name;
            if (!CHECK_EQ(emulated(n, line), 0)) shell("tail -n 3 out");
            CHECK_EQ(lines_of_out("between devices NCCL .*, emulated"), *by == 'n');
            shell("sed '" + std::string(memory) + "s/\"[a-z_]*seconds\":[^,}]*//g; s/\"peak_memory_bytes\":[0-9]*//; s/\"run\":{[^}]*}//' l." + name + " >e." + name);
            if (!CHECK_EQ(shell("cmp c.own0 c." + name + " && grep -v sent_bytes e.own0 >a && grep -v sent_bytes e." + name + " >b && cmp a b"), 0))
                printf("  %s, %s\n", model.c_str(), name.c_str());
        }
}

void make_for_ranks()
{
    setenv("SIMT_DEVICES", "4", 1);
    CHECK_EQ(shell("rm -f l.* c.* e.*; " + build + "/ggnn-data generate planted g --nodes 100 --edges 700 --classes 5 --features 6 >out 2>&1"), 0);
}

TEST(nccl_gives_the_bits_of_threads_and_processes_without)
{
    make_for_ranks();
    however_ranks_meet("--model sage --store replica", 4, no_mpi() ? 0 : 4);
    however_ranks_meet("--model gat --heads 2", 2, no_mpi() ? 0 : 2);
    however_ranks_meet("--model gcn --eval sampled", 2, 0);
    unsetenv("SIMT_DEVICES");
}

// They are those of as many devices of the CPU, too, but for products.
TEST(parts_of_a_batch_give_the_bits_of_threads_and_processes_with_nccl_and_without)
{
    static const struct {
        const char* model;
        int         ranks;
        bool        processes;
    } run[] = {{"--model sage --parallel split --split-sampling single --partition hash", 3, true},
               {"--model gat --heads 2 --attention-dropout .3 --parallel split", 2, true},
               {"--aggregator pool --parallel split --gather exchange", 4, false}};
    make_for_ranks();
    for (const auto& r : run) {
        however_ranks_meet(r.model, r.ranks, r.processes && !no_mpi() ? r.ranks : 0);
        CHECK_EQ(train(std::string("--hidden 8 --layers 2 --fanout 4,3 --batch 20 --epochs 2 --log cpu --devices ") +
                       std::to_string(r.ranks) + " " + r.model), 0);
        same_logs("cpu", "l.own0", r.model);
    }
    setenv("SIMT_LINKS", "none", 1); // rows of layers that no link leads to are sent
    however_ranks_meet("--aggregator pool --parallel split --store replica", 4, 0);
    for (const char* key : {"loss", "val_loss"}) same_numbers("cpu", "l.own0", "epoch", key, 1e-5);
    unsetenv("SIMT_LINKS");
    unsetenv("SIMT_DEVICES");
}

// A call that fails while ranks join, at once or later, and one in the midst of an epoch.
TEST(a_call_of_nccl_that_fails_ends_all_ranks_of_the_program)
{
    static const char* const call[][3] = {{"1:0", "joining: internal error", ""}, {"0:7", "rows: internal error", ""},
                                          {"1:9", "rows: internal error", " --parallel split"},
                                          {"2:9:later", "rows: remote process exited or there was a network error", ""}};
    const std::string        all = "--hidden 8 --layers 2 --fanout 4,3 --batch 40 --epochs 9 --comm nccl";
    setenv("SIMT_DEVICES", "3", 1);
    CHECK_EQ(shell(build + "/ggnn-data generate planted g --nodes 200 --edges 1500 --classes 5 --features 6 >out 2>&1"), 0);
    for (const auto& c : call)
        for (int processes = 0; processes <= (no_mpi() || c[0][0] == '2' ? 0 : 3); processes += 3) {
            const std::string options = all + c[2];
            setenv("SIMT_FAIL_NCCL", c[0], 1);
            CHECK_EQ(emulated(processes, options + (processes ? "" : " --devices 3")), 1);
            if (!CHECK_EQ(lines_of_out(std::string("^ggnn-train: .*NCCL: ") + c[1]), processes ? 3 : 1)) shell("cat out");
            if (processes) CHECK_EQ(lines_of_out(std::string("^ggnn-train: rank ") + c[0][0] + " (host .*): NCCL: " + c[1]), 2);
        }
    unsetenv("SIMT_FAIL_NCCL");
    unsetenv("SIMT_DEVICES");
}

TEST(a_process_that_is_killed_is_named_by_those_that_wait_for_it_in_nccl)
{
    if (no_mpi()) SKIP(no_mpi());
    setenv("SIMT_DEVICES", "3", 1);
    CHECK_EQ(shell(build + "/ggnn-data generate planted g --nodes 200 --edges 1500 --classes 5 --features 6 >out 2>&1"), 0);
    // each process says which it is: the second one kills itself when the first log line is there
    CHECK_EQ(shell("rm -f log; cat >kills <<'END'\n"
                   "if [ \"$OMPI_COMM_WORLD_RANK\" = 1 ]; then me=$$; (until grep -q '\"epoch\":2' log 2>/dev/null; do sleep .1; done; kill -9 $me) & fi\n"
                   "exec \"$@\"\nEND"), 0);
    const double begin = test_seconds();
    CHECK(shell("OMPI_MCA_mpi_yield_when_idle=1 ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 timeout -k 5 60 mpirun --allow-run-as-root "
                "--oversubscribe -n 3 sh kills " + build + "/ggnn-train-emulated --backend cuda-emulated --data g --hidden 8 --layers 2 "
                "--fanout 4,3 --batch 40 --epochs 100000 --comm nccl --log log >out 2>&1 </dev/null") % 124 != 0);
    CHECK(test_seconds() - begin < 30);
    if (!CHECK_EQ(lines_of_out("^ggnn-train-em[a-z]*: rank 1 (host .*, process [0-9]*): lost: connection closed"), 2)) shell("cat out");
    unsetenv("SIMT_DEVICES");
}

TEST(nccl_where_it_cannot_be_is_an_error_that_says_why)
{
    CHECK_EQ(shell(build + "/ggnn-data generate karate g >out 2>&1"), 0);
    CHECK_EQ(emulated(0, "--fanout 4,3 --epochs 1 --devices 3 --comm nccl"), 1);
    CHECK_EQ(lines_of_out("--comm nccl: rank 0 and rank 2 have one device, 0000:01:00.0; NCCL wants a CUDA device for each rank"), 1);
    CHECK_EQ(train("--fanout 4,3 --epochs 1 --devices 2 --comm nccl"), 2);
    CHECK_EQ(lines_of_out("--comm nccl: needs --backend cuda"), 1);
    if (no_mpi()) return;
    CHECK_EQ(emulated(3, "--fanout 4,3 --epochs 1"), 0);
    CHECK_EQ(lines_of_out("between devices"), 0);
}

TEST(processes_with_a_device_each_give_the_bits_of_threads)
{
    if (no_mpi()) SKIP(no_mpi());
    const std::string options = " --data g --model gat --hidden 8 --layers 2 --fanout 4,3 --batch 40 --epochs 2";
    CHECK_EQ(shell(build + "/ggnn-data generate planted g --nodes 200 --edges 1500 --classes 5 --features 6 >out 2>&1"), 0);
    CHECK_EQ(shell(build + "/ggnn-train-emulated --backend cuda-emulated --devices 2 --log threads" + options + " >out 2>&1"), 0);
    CHECK_EQ(shell("OMPI_MCA_mpi_yield_when_idle=1 ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 timeout -k 5 300 "
                   "mpirun --allow-run-as-root --oversubscribe -n 2 " + build +
                   "/ggnn-train-emulated --backend cuda-emulated --log processes" + options + " >out 2>&1 </dev/null"), 0);
    for (const char* key : {"loss", "val_loss", "val_accuracy"}) same_numbers("threads", "processes", "epoch", key, 0);
    // each asks for its own device's links
    setenv("SIMT_LINKS", "none", 1);
    CHECK_EQ(shell("OMPI_MCA_mpi_yield_when_idle=1 ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 timeout -k 5 300 "
                   "mpirun --allow-run-as-root --oversubscribe -n 2 " + build +
                   "/ggnn-train-emulated --backend cuda-emulated --log apart" + options + " >out 2>&1 </dev/null"), 0);
    unsetenv("SIMT_LINKS");
    CHECK_EQ(lines_of_out("by their driver: 2 of 2 pairs"), 1);
    for (const char* key : {"loss", "val_loss", "val_accuracy"}) same_numbers("threads", "apart", "epoch", key, 0);
    // each reads the other's part
    CHECK_EQ(shell("grep -o '\"rows\":{[^}]*}' threads >a && grep -o '\"rows\":{[^}]*}' processes >b && grep -q "
                   "'\"peer\":\\[[1-9]' a && cmp a b"), 0);
}

} // namespace

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : nullptr;
    test_seed(11);
    if (!device_present()) return finish_without_device();
    if (!device_open_cuda) return finish_without_backend();
    cpu_device = device_open_cpu(0, &why);
    opened = device_open_cuda(0, false, &why);
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
    RUN(wide_rows_and_many_heads_take_the_cpus_steps);
    RUN(a_loss_has_the_gradient_of_the_cpus_bit_by_bit);
    RUN(steps_without_labels_teach_nothing);
    RUN(the_program_on_a_gpu_writes_the_cpus_log);
    RUN(train_cu_on_a_gpu_takes_the_steps_of_train_c);
#ifdef __CUDACC__
    const bool emulated_too = false; // make cuda-tests does that
#else
    const bool emulated_too = true;
#endif
    if (emulated_too && built("-emulated")) {
        RUN(the_program_writes_the_cpus_log);
        RUN(train_cu_takes_the_steps_of_train_c);
        RUN(evaluation_by_layers_sees_what_the_cpu_sees_in_any_memory);
        RUN(the_profile_times_every_stage);
        RUN(a_loss_that_is_not_finite_is_found_at_its_step);
        RUN(a_checkpoint_goes_on_with_either_backend);
        RUN_SLOW(any_number_of_devices_takes_the_steps_and_has_the_accuracy_of_one);
        RUN_SLOW(several_devices_write_the_log_of_as_many_of_the_cpu);
        RUN(preprocessed_rows_stand_for_the_first_layer);
        RUN_SLOW(rows_of_edges_are_read_wherever_they_lie);
        RUN_SLOW(every_sampler_has_the_losses_of_one_device_in_every_way);
        RUN_SLOW(explain_foresees_what_a_device_reads);
        RUN_SLOW(explain_gives_every_setting_the_room_that_training_leaves);
        RUN(devices_that_sample_for_others_give_the_bits_of_one_fewer);
        RUN(devices_with_their_own_training_nodes_write_the_cpus_log);
        RUN(devices_train_on_parts_of_a_graph_as_on_the_whole);
        RUN(what_a_device_needs_and_has_not_is_said_before_loading);
        RUN(memory_follows_the_role_where_a_device_has_it);
        RUN(what_a_device_needs_is_the_sum_of_its_arrays);
        RUN(what_lies_in_tiers_trains_as_what_is_resident);
        RUN_SLOW(parts_that_come_in_several_pieces_train_as_replicas);
        RUN_SLOW(every_policy_has_the_same_losses_in_every_pipeline_of_a_device);
        RUN(hubs_isolated_nodes_and_rows_of_any_width_lie_in_a_devices_tiers);
        RUN(parts_of_a_batch_read_what_the_cpu_reads);
        RUN(memory_that_cannot_be_pinned_is_copied_and_that_is_said);
        RUN(sections_that_fill_their_pages_are_pinned_apart);
        RUN(a_cache_takes_what_the_device_has_left);
        RUN(parts_and_caches_stay_within_the_devices_memory);
        RUN_SLOW(reads_are_counted_on_the_device_where_it_has_room);
        RUN(ids_are_found_by_a_map_where_the_device_has_room_for_it);
        RUN(a_ranking_that_is_the_order_of_ids_takes_no_memory_of_the_device);
        RUN_SLOW(parts_on_a_dgx_are_read_over_its_links);
        RUN_SLOW(parts_are_placed_for_the_links_that_the_driver_has);
        RUN(processes_with_a_device_each_give_the_bits_of_threads);
        RUN_SLOW(nccl_gives_the_bits_of_threads_and_processes_without);
        RUN_SLOW(parts_of_a_batch_give_the_bits_of_threads_and_processes_with_nccl_and_without);
        RUN(a_call_of_nccl_that_fails_ends_all_ranks_of_the_program);
        RUN(a_process_that_is_killed_is_named_by_those_that_wait_for_it_in_nccl);
        RUN(nccl_where_it_cannot_be_is_an_error_that_says_why);
    } else if (emulated_too) {
        printf("  skipped: ggnn-train and ggnn-train-emulated are not in %s\n", build.c_str());
        test_skipped++;
    }
    folder_remove();
    device_close(opened);
    device_close(cpu_device);
    return test_finish();
}
