// What ranks do together when NCCL carries the rows of their devices: the calls that test_comm's threads make, with the
// same bits; and what happens when a call of NCCL fails. On the emulator of its own NCCL (simt/simt_nccl.cc); on
// GPUs where there are two. The programs are test_cuda_train's.
#ifndef __CUDACC__
#include <nccl.h>
#endif
#include <cuda_runtime.h>

#include "tests/comm_script.h"
#include "tests/cuda_memory.h"

namespace {

const volatile sig_atomic_t never = 0;

device* open_own(int32_t rank, error* why) { return device_open_cuda(rank, false, why); }
device* open_first(int32_t, error* why) { return device_open_cuda(0, false, why); }
device* open_pairs(int32_t rank, error* why) { return device_open_cuda(rank / 2, false, why); }

script script_of(device* (*open)(int32_t, error*), comm_carrier by)
{
    script s = {};
    s.seed = test_random();
    s.open = open;
    s.fail_rank = -1;
    s.by = by;
    return s;
}

int32_t most_ranks()
{
    int count = 0;
    cudaGetDeviceCount(&count);
    return count < RANKS_MAX ? count : RANKS_MAX;
}

const char* missing()
{
    if (!comm_nccl_name()) return "built without NCCL";
    return most_ranks() < 2 ? "NCCL wants a device for each rank, here is one" : nullptr;
}

TEST(every_call_gives_the_bits_of_threads_of_the_cpu)
{
    if (missing()) SKIP(missing());
    for (int32_t P = 2; P <= (few_trials() ? 4 : most_ranks()); P += 3) {
        outcome plain[RANKS_MAX], own[RANKS_MAX], nccl[RANKS_MAX];
        script  s = script_of(nullptr, COMM_OWN);
        follow_as_threads(P, &s, plain, &never);
        s.open = open_own;
        follow_as_threads(P, &s, own, &never);
        s.by = COMM_NCCL;
        follow_as_threads(P, &s, nccl, &never);
        for (int32_t r = 0; r < P; r++) {
            CHECK_STR(nccl[r].why.text, "");
            CHECK_EQ(nccl[r].steps, STEPS);
            CHECK_EQ(nccl[r].wrong + own[r].wrong, 0);
            CHECK(nccl[r].digest == plain[r].digest && own[r].digest == plain[r].digest);
            CHECK_EQ(nccl[r].sent, nccl[r].bytes);
        }
    }
}

TEST(a_rank_that_fails_between_calls_ends_all_with_its_message)
{
    if (missing()) SKIP(missing());
    const int32_t P = most_ranks() < 4 ? most_ranks() : 4;
    for (int times = 0; times < 3; times++) {
        outcome o[RANKS_MAX];
        char    expected[100];
        script  s = script_of(open_own, COMM_NCCL);
        s.fail_rank = static_cast<int32_t>(test_below(P));
        s.fail_step = static_cast<int32_t>(test_below(STEPS));
        snprintf(expected, sizeof expected, "rank %d: cannot go on", s.fail_rank);
        follow_as_threads(P, &s, o, &never);
        for (int32_t r = 0; r < P; r++) {
            CHECK_STR(o[r].why.text, r == s.fail_rank ? "cannot go on" : expected);
            CHECK_EQ(o[r].steps, s.fail_step);
        }
    }
}

TEST(nccl_is_named_with_its_version)
{
    if (!comm_nccl_name()) SKIP("built without NCCL");
#ifdef __CUDACC__
    CHECK(strncmp(comm_nccl_name(), "NCCL 2.", 7) == 0 && !strstr(comm_nccl_name(), "emulated"));
#else
    CHECK_EQ(NCCL_VERSION_CODE, 21400);
    CHECK_STR(comm_nccl_name(), "NCCL 2.14.0, emulated");
#endif
}

TEST(ranks_that_share_a_device_cannot_have_nccl)
{
    if (missing()) SKIP(missing());
    outcome o[RANKS_MAX];
    script  s = script_of(open_first, COMM_NCCL);
    follow_as_threads(2, &s, o, &never);
    for (int r = 0; r < 2; r++) CHECK(strstr(o[r].why.text, "--comm nccl: rank 0 and rank 1 have one device, ") != nullptr);
    s.open = open_pairs;
    follow_as_threads(4, &s, o, &never);
    for (int r = 0; r < 4; r++) CHECK(strstr(o[r].why.text, "--comm nccl: rank 0 and rank 1 have one device, ") != nullptr);
    s.open = open_one_thread;
    follow_as_threads(2, &s, o, &never);
    for (int r = 0; r < 2; r++) CHECK(strstr(o[r].why.text, "--comm nccl: rank 0 has no CUDA device") != nullptr);
}

#ifdef __CUDACC__
TEST(a_call_of_nccl_that_fails_ends_all_with_its_message) { SKIP("only the emulator's NCCL can be told to fail"); }
#else
// While ranks join, and in any later call; an error that is told at once, and one that comes later. Which ranks wait for
// the one that fails, have all of their rows, or are a call ahead, depends on the threads.
TEST(a_call_of_nccl_that_fails_ends_all_with_its_message)
{
    for (int i = 0; i < (few_trials() ? 8 : 20); i++) {
        outcome       o[RANKS_MAX];
        char          mine[200], theirs[240];
        const int32_t P = 2 + i % 3;
        const int32_t which = static_cast<int32_t>(test_below(P));
        const long    call = i < 6 ? i / 2 : test_below(20);
        script        s = script_of(open_own, COMM_NCCL);
        simt_fail_nccl(which, call, i % 2);
        follow_as_threads(P, &s, o, &never);
        snprintf(mine, sizeof mine, "NCCL: %s: %s%s", call ? "rows" : "joining",
                 i % 2 ? "remote process exited or there was a network error" : "internal error",
                 call || i % 2 ? ": told to fail" : "");
        snprintf(theirs, sizeof theirs, "rank %d: %s", which, mine);
        for (int32_t r = 0; r < P; r++)
            if (!CHECK_STR(o[r].why.text, r == which ? mine : theirs)) printf("  call %ld of rank %d, %d ranks\n", call, which, P);
    }
    simt_fail_nccl(-1, 0, false);
}
#endif

} // namespace

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : nullptr;
    test_seed(17);
    setenv("SIMT_DEVICES", "8", 0);
    if (!device_present()) return finish_without_device();
    if (!device_open_cuda) return finish_without_backend();
    RUN(every_call_gives_the_bits_of_threads_of_the_cpu);
    RUN(a_rank_that_fails_between_calls_ends_all_with_its_message);
    RUN(nccl_is_named_with_its_version);
    RUN(ranks_that_share_a_device_cannot_have_nccl);
    RUN(a_call_of_nccl_that_fails_ends_all_with_its_message);
    return test_finish();
}
