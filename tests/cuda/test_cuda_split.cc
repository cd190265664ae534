// --parallel split on CUDA devices (or the emulator's): P ranks compute one mini-batch, beside one device that computes it
// alone; rows between ranks; the kernel that adds them up. The CPU's ranks are in test_split_train.c, the programs in
// test_cuda_train.cc.
//
// Logits have one device's bits: of a row all is computed at one place, from the same rows in the same order. The
// emulator's product is so too: it adds up a row's terms in their order, whatever the number of rows. cuBLAS chooses its
// kernel by the number of rows, and with it the order: there a logit is off by 4 sqrt(K) 2^-24 a layer of the largest
// (test_cuda_train.cc), K = the most terms of a product.
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include "tests/cuda_memory.h"

extern "C" {
#include "tests/split_crew.h"
#include "trainer/device/ops.h"
}

namespace {

// Under sanitizers a run takes seconds. (With that of addresses it is the emulator's guards around memory that cost.)
#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
const bool few = true;
#else
const bool few = false;
#endif

error   why;
device* opened;     // the CUDA device
device* cpu_device;

int32_t devices()
{
    int count = 0;
    cudaGetDeviceCount(&count);
    return count;
}

device* open_own(int32_t rank, error* e) { return device_open_cuda(rank % devices(), false, e); }

#ifdef __CUDACC__
float logits_may_differ(const outcome* one)
{
    float most = 0;
    for (const auto& step : one->logits)
        for (const auto& row : step)
            for (float x : row) most = std::fmax(most, std::fabs(x));
    return most * 2 * 3 * 4 * std::sqrt(128.0f) / 16777216.0f;
}
#else
float logits_may_differ(const outcome*) { return 0; }
#endif

// ==== runs =====================================================================================================

struct setting {
    std::string options;
    int32_t     ranks;
    comm_carrier by = COMM_OWN;
    bool (*also)(crew*, worker*, const mini_batch*, error*) = nullptr;
    bool cpu = false; // on devices of the CPU
};

bool run(outcome* to, fixture* f, const setting& s)
{
    char   words[400];
    error  failed = {""};
    config c = config_of(words, (s.options + (s.options.find("--batch") == std::string::npos ? " --batch 58" : "")).c_str());
    c.comm = s.by;
    crew k = {};
    k.c = &c;
    k.t = &f->task;
    k.ranks = s.ranks;
    k.open = s.cpu ? nullptr : open_own;
    k.also = s.also;
    k.to = to;
    const bool good = crew_run(&k, &failed);
    CHECK_STR(failed.text, "");
    return good;
}

struct results {
    outcome* at = static_cast<outcome*>(calloc(3, sizeof(outcome)));
    ~results() { free(at); }
};

const char* const models[] = {
    "--model gcn --fanout 5,4 --dropout .4",
    "--model sage --fanout 4,3,2 --layers 3 --dropout .4 --norm layer --residual",
    "--model sage --aggregator pool --fanout 5,4 --dropout .4 --input-dropout .2",
    "--model gat --fanout 5,4 --dropout .4 --attention-dropout .3 --residual",
};
const char* const forms[] = {" --parallel split --split-sampling single", " --parallel split --split-sampling cooperative"};

// Of three parts by unequal ranges one is empty, of those by map each of odd number.
const owned_kind kinds[] = {BY_HASH, BY_UNEQUAL_RANGE, BY_MAP, BY_MODULO};

TEST(parts_of_a_batch_give_the_logits_of_one_device)
{
    fixture* f = fixture_new();
    results  r;
    outcome *one = r.at, *parts = r.at + 1;
    for (int m = 0; m < 4; m += few ? 3 : 1) {
        run(one, f, {models[m], 1});
        for (int i = 0; i < 8; i++) { // 1, 2, 4 and 8 of them
            const int32_t P = 1 << i / 2;
            const int     before = test_errors;
            if (few && P != 2) continue;
            owned* by = crew_owners(f, kinds[(m + i + i / 2) % 4], P);
            if (run(parts, f, {std::string(models[m]) + forms[i % 2], P})) crew_compare(one, parts, logits_may_differ(one));
            if (test_errors > before) printf("  %s%s, %d parts\n", models[m], forms[i % 2], P);
            owned_free(by);
        }
    }
    fixture_free(f);
}

// Blocks and lists, entry by entry and in their order: what a device samples by itself, what it takes of a whole batch.
TEST(parts_of_a_batch_are_those_of_the_cpu)
{
    static const char* const options[] = {
        "--model gcn --fanout 5,4", "--fanout 4,3,2 --layers 3 --sampler weighted", "--fanout -1,-1", "--aggregator importance",
        "--fanout 3,5 --sampler replacement", "--fanout 5,0",
        "--fanout 1,3 --batch 1"}; // of one seed: lists are empty that were not in the batch before
    fixture* f = fixture_new();
    results  r;
    outcome *host = r.at, *there = r.at + 1;
    for (int m = 0; m < (few ? 1 : 7); m++)
        for (int i = 0; i < 2; i++) {
            const std::string all = std::string(options[m]) + forms[i];
            const int32_t     P = 2 + (m + i) % 3;
            owned*            by = crew_owners(f, kinds[(m + 2 * i) % 4], P);
            run(host, f, {all, P, COMM_OWN, nullptr, true});
            run(there, f, {all, P});
            if (!CHECK(!memcmp(host->lists, there->lists, sizeof host->lists) && host->lists[0][0] != 0)) printf("  %s\n", all.c_str());
            CHECK(host->edges == there->edges && host->own == there->own && host->peer == there->peer);
            owned_free(by);
        }
    fixture_free(f);
}

// Two runs, runs whose rows of features lie elsewhere, runs whose rows of layers are sent, by threads or by NCCL, and not read
// where they lie. As many rows move.
TEST(parts_give_the_same_bits_again_from_any_store_and_over_nccl)
{
    static const char* const also[] = {"", " --store replica", " --gather exchange --owners hash",
                                       " --gather exchange --owners partition --cache degree --cache-ratio .3"};
    fixture* f = fixture_new();
    results  r;
    outcome *first = r.at, *again = r.at + 1;
    const bool nccl = comm_nccl_name() && devices() >= 2;
    for (int m = 0; m < (few ? 1 : 4); m++) {
        const int32_t     P = m % 2 && !few && devices() >= 4 ? 4 : 2;
        const std::string options = std::string(models[m]) + forms[m % 2];
        owned*            by = crew_owners(f, BY_UNEQUAL_RANGE, P);
        run(first, f, {options, P});
        for (int i = 0; i < 4 + nccl; i++) {
            run(again, f, {options + (i < 4 ? also[i] : ""), P, i < 4 ? COMM_OWN : COMM_NCCL});
            CHECK_EQ(first->peers, P);
            CHECK_EQ(again->peers, i < 2 ? P : 0);
            again->peers = P;
            if (!CHECK(!memcmp(first, again, sizeof *first))) printf("  %s%s\n", options.c_str(), i < 4 ? also[i] : ", NCCL");
        }
        owned_free(by);
    }
    fixture_free(f);
}

// Owners send sums over their own neighbours of a node: another order, so that results differ by rounding.
TEST(sums_in_parts_differ_by_rounding_alone)
{
    fixture* f = fixture_new();
    results  r;
    outcome *one = r.at, *parts = r.at + 1, *again = r.at + 2;
    float most = 0;
    run(one, f, {models[1], 1});
    for (const auto& step : one->logits)
        for (const auto& row : step)
            for (float x : row) most = std::fmax(most, std::fabs(x));
    for (int i = 0; i < 2; i++) {
        const int32_t     P = few ? 2 : 2 << i;
        const setting     now = {std::string(models[1]) + forms[i] + " --split-partial", P};
        owned*            by = crew_owners(f, kinds[i], P);
        if (run(parts, f, now) && run(again, f, now)) {
            crew_compare(one, parts, logits_may_differ(one) + most * 32 / 16777216.0f);
            CHECK(!memcmp(parts->grad, again->grad, sizeof parts->grad));
        }
        owned_free(by);
    }
    fixture_free(f);
}

// ==== rows between ranks =======================================================================================

// Small whole numbers, so that sums are exact in any order.
float number_of(uint64_t key, int64_t v, int32_t j)
{
    const uint64_t z = (key * 0x9E3779B97F4A7C15u ^ static_cast<uint64_t>(v) * 0xC2B2AE3D27D4EB4Fu ^ static_cast<uint64_t>(j)) *
                       0x94D049BB133111EBu;
    return static_cast<float>(static_cast<int>((z ^ (z >> 31)) >> 3 & 15) - 8);
}

// A matrix of a device with a row for each node of `id`, rows a few floats apart.
struct rows_of {
    device*            d;
    std::vector<float> v;
    mat                there = {};
    rows_of(device* on, const std::vector<ggnn_node>& id, int32_t cols, uint64_t key) : d(on), v(id.size() * (cols + 3))
    {
        for (size_t i = 0; i < id.size(); i++)
            for (int32_t j = 0; j < cols; j++) v[i * (cols + 3) + j] = key ? number_of(key, id[i], j) : 77;
        there.v = static_cast<float*>(device_new(d, v.size() * sizeof(float) + 4, "rows", &why));
        there.ld = cols + 3;
        there.cols = cols;
        there.rows.max = static_cast<int64_t>(id.size());
        if (!v.empty()) device_upload(d, there.v, v.data(), v.size() * sizeof(float));
    }
    void fetch()
    {
        if (!v.empty()) device_download(d, v.data(), there.v, v.size() * sizeof(float));
    }
    ~rows_of() { device_free(d, there.v); }
};

double product(const rows_of& a, const rows_of& b)
{
    double sum = 0;
    for (size_t i = 0; i < a.v.size() / a.there.ld; i++)
        for (int32_t j = 0; j < a.there.cols; j++) sum += double(a.v[i * a.there.ld + j]) * b.v[i * a.there.ld + j];
    return sum;
}

std::vector<ggnn_node> ids_of(device* d, const ggnn_node* id, int64_t n)
{
    std::vector<ggnn_node> v(static_cast<size_t>(n));
    if (n) device_download(d, v.data(), id, v.size() * sizeof(ggnn_node));
    return v;
}

double products[2][RANKS_MAX]; // of each rank: <Sx, y>, <x, S'y>

// S brings rows x of all ranks to all sources; S' brings y of all sources back.
bool pull_and_push(crew*, worker* w, const mini_batch* b, error*)
{
    static const int32_t widths[] = {1, 5, 32};
    device*              d = w->device;
    const uint64_t       rank = static_cast<uint64_t>(w->comm->rank);
    for (int32_t h = 0; h < b->blocks.num_hops; h++) {
        const shuffle_hop& hop = b->shuffle->hop[h];
        const ggnn_block&  block = b->blocks.hop[h];
        const auto         own = ids_of(d, hop.id, hop.rows), sources = ids_of(d, block.id, device_size(d, block.num_src));
        for (int32_t cols : widths) {
            rows_of x(d, own, cols, 7), y(d, sources, cols, 100 + rank), pulled(d, sources, cols, 0), pushed(d, own, cols, 0);
            shuffle_pull(b->shuffle, h, pulled.there, x.there);
            shuffle_push(b->shuffle, h, pushed.there, y.there);
            pulled.fetch();
            pushed.fetch();
            for (size_t i = 0; i < sources.size(); i++)
                for (int32_t j = 0; j < cols + 3; j++)
                    if (pulled.v[i * (cols + 3) + j] != (j < cols ? number_of(7, sources[i], j) : 0)) test_errors++;
            products[0][rank] += product(pulled, y);
            products[1][rank] += product(x, pushed);
        }
    }
    return true;
}

// Rows are pulled from where they lie, and sent.
const std::string ways[] = {forms[0], forms[1], std::string(forms[1]) + " --gather exchange"};

TEST(pushing_is_the_adjoint_of_pulling)
{
    fixture* f = fixture_new();
    results  r;
    for (int32_t P = few ? 2 : 1; P <= (few ? 2 : 4); P *= 2)
        for (const std::string& way : ways) {
            owned* by = crew_owners(f, P == 4 ? BY_MAP : BY_UNEQUAL_RANGE, P);
            memset(products, 0, sizeof products);
            run(r.at, f, {models[0] + way, P, COMM_OWN, pull_and_push});
            double sum[2] = {};
            for (int k = 0; k < 2; k++)
                for (double p : products[k]) sum[k] += p;
            CHECK(sum[0] == sum[1] && sum[0] != 0);
            owned_free(by);
        }
    fixture_free(f);
}

// ==== the kernel ===============================================================================================

// Of each part some rows, none twice.
void check_sum(int64_t rows, int32_t width, int64_t ld, int32_t parts)
{
    std::vector<int32_t> index, all(static_cast<size_t>(rows));
    std::vector<int64_t> bound(1, 0);
    for (int64_t i = 0; i < rows; i++) all[i] = static_cast<int32_t>(i);
    for (int32_t p = 0; p < parts; p++) {
        const int64_t n = rows && p % 3 != 1 ? test_below(rows + 1) : 0;
        for (int64_t i = 0; i < n; i++) {
            std::swap(all[i], all[i + test_below(rows - i)]);
            index.push_back(all[i]);
        }
        bound.push_back(static_cast<int64_t>(index.size()));
    }
    std::vector<float> inp(index.size() * width), expected(rows * ld, 77.0f), got(rows * ld, 77.0f);
    for (float& x : inp) x = test_uniform() * (test_below(8) ? 1.0f : 1e6f); // sums that depend on their order
    cpu_device->ops->rows->sum_rows(cpu_device, expected.data(), ld, rows, width, inp.data(), index.data(), bound.data(), parts);
    device_array<float>   out(got), there(inp);
    device_array<int32_t> at(index);
    opened->ops->rows->sum_rows(opened, out.at(), ld, rows, width, there.at(), at.at(), bound.data(), parts);
    device_settle(opened);
    CHECK_STR(opened->failed.text, "");
    got = out.values();
    if (!CHECK(got.size() == expected.size() && (got.empty() || !memcmp(got.data(), expected.data(), got.size() * sizeof(float)))))
        printf("  %d rows of %d, %d parts\n", static_cast<int>(rows), width, parts);
}

TEST(a_sum_of_rows_has_the_cpus_bits)
{
    static const int32_t widths[] = {1, 3, 32, 100};
    for (int i = 0; i < trials(6); i++)
        for (int32_t width : widths)
            for (int32_t parts : {1, 2, 4, 8}) check_sum(i ? test_below(300) : 0, width, width + test_below(2) * 5, parts);
}

} // namespace

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : nullptr;
    test_seed(61);
    setenv("SIMT_DEVICES", "4", 0);
    if (!device_present()) return finish_without_device();
    if (!device_open_cuda) return finish_without_backend();
    cpu_device = device_open_cpu(0, &why);
    opened = device_open_cuda(0, false, &why);
    if (!opened) printf("  %s\n", why.text);
    if (!opened) return 1;
    RUN(a_sum_of_rows_has_the_cpus_bits);
    RUN(pushing_is_the_adjoint_of_pulling);
    RUN(parts_of_a_batch_are_those_of_the_cpu);
    RUN_SLOW(parts_of_a_batch_give_the_logits_of_one_device);
    RUN(parts_give_the_same_bits_again_from_any_store_and_over_nccl);
    RUN(sums_in_parts_differ_by_rounding_alone);
    device_close(opened);
    device_close(cpu_device);
    return test_finish();
}
