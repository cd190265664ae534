/* test_bench_peer.c - what ggnn-bench peer counts of gathers from several parts, beside counts by hand. */
#include "bench/bench.h"
#include "tests/bench_tool.h"

/* Each rank sends to each other one: a count, ids, rows. */
TEST(rows_over_parts_are_counted_alike_in_three_ways)
{
    enum { OWN, PEER, HOST, BYTES, MESSAGES, COLUMNS };
    static const char *const way[] = {"pointer", "exchange", "uva"}, *const column[] = {"own rows", "peer rows", "host rows", "bytes", "messages"};
    if (!generate_graph("rmat --nodes 4096 --edges 20000")) return;
    char* text = bench_json("peer --once --threads 2");
    for (int parts = 2; parts <= 4; parts *= 2) {
        double value[3][COLUMNS];
        char what[64];
        snprintf(what, sizeof what, "%d parts, 4096 rows, F 8", parts);
        for (int i = 0; i < 3 * COLUMNS; i++) value[i / COLUMNS][i % COLUMNS] = bench_figure(text, "counted", what, way[i / COLUMNS], column[i % COLUMNS]);
        const double *pointer = value[0], *exchange = value[1], *uva = value[2], pairs = parts * (parts - 1), row = 32, id = sizeof(ggnn_node);
        CHECK(pointer[PEER] > 0 && pointer[OWN] + pointer[PEER] == 4096 && pointer[BYTES] == row * pointer[PEER]);
        CHECK(exchange[OWN] == pointer[OWN] && exchange[PEER] == pointer[PEER]);
        CHECK(exchange[BYTES] == 8 * pairs + (id + row) * exchange[PEER] && exchange[MESSAGES] == 3 * pairs);
        CHECK(uva[HOST] == 4096 && uva[BYTES] == row * uva[HOST]);
        CHECK(pointer[HOST] + exchange[HOST] + uva[OWN] + uva[PEER] + pointer[MESSAGES] + uva[MESSAGES] == 0);
    }
    CHECK(prints("out", "no row for NCCL: it is for CUDA devices") && !prints("out", "nccl, "));
    CHECK(!strstr(text, "\"nccl\""));
    free(text);
}

static double median_of(const char* text, const char* what)
{
    for (const char* r = json_begin(json_member(json_first(text), "results")); r; r = json_next(r))
        if (json_is_text(json_member(r, "case"), what)) return json_number(json_member(r, "median"));
    return NAN;
}

/* Each of P devices 1,024 rows of a table of P times 512 KiB, whose row v lies in part v % P. NCCL-tests' bandwidths of an all-to-all: bytes
   that one receives over time, and of them the (P - 1) / P that others send. */
TEST(random_reads_of_all_devices_are_counted_and_give_nccl_tests_bandwidths)
{
    if (!generate_graph("rmat --nodes 4096 --edges 20000")) return;
    char* text = bench_json("peer --threads 2 --min-time 0 --reps 3");
    for (int parts = 2; parts <= 4; parts *= 2)
        for (int bytes = 4; bytes <= 4096; bytes *= 2) {
            char counted[64], measured[64], what[64], row[16];
            const int64_t rows = (int64_t)parts * (1 << 19) / bytes;
            uint64_t state = 23;
            int own = 0;
            for (int i = 0; i < parts * 1024; i++) own += (int64_t)(bench_random(&state) % (uint64_t)rows) % parts == i / 1024;
            snprintf(counted, sizeof counted, "random reads, %d parts", parts);
            snprintf(measured, sizeof measured, "bandwidth of random reads, %d parts", parts);
            snprintf(what, sizeof what, "random reads of %d bytes, %d parts, measured", bytes, parts);
            snprintf(row, sizeof row, "%d B", bytes);
            CHECK(bench_figure(text, "counted", counted, row, "reads") == 1024);
            CHECK(bench_figure(text, "counted", counted, row, "S") == 1024. * bytes);
            CHECK(bench_figure(text, "counted", counted, row, "rows") == (double)rows);
            CHECK(bench_figure(text, "counted", counted, row, "own rows") == own);
            CHECK(bench_figure(text, "counted", counted, row, "peer rows") == parts * 1024 - own);
            const double algorithm = 1024. * bytes / median_of(text, what) * 1e-9;
            CHECK_NEAR(bench_figure(text, "measured", measured, row, "algorithm") / algorithm, 1, 1e-9);
            CHECK_NEAR(bench_figure(text, "measured", measured, row, "bus") / algorithm, (parts - 1.) / parts, 1e-9);
        }
    CHECK(prints("out", "Bandwidth, algorithm: S / time, bus: that x (P - 1) / P"));
    free(text);
}

int main(int argc, char** argv)
{
    if (argc > 1) test_only = argv[1];
    folder_make();
    bench_tool_find();
    RUN(rows_over_parts_are_counted_alike_in_three_ways);
    RUN(random_reads_of_all_devices_are_counted_and_give_nccl_tests_bandwidths);
    folder_remove();
    return test_finish();
}
