/* test_comm_nccl.c - trainer/ranks/comm_nccl.c: whether ranks join NCCL, with an NCCL of the test's own, on machines, devices and versions
   that this machine has not. test_cuda_nccl has what it carries. */
#include <pthread.h>
#include <string.h>

#include "tests/test.h"
#include "trainer/device/device.h"
#include "trainer/ranks/comm_engine.h"

enum { RANKS = 4 };

/* ==== NCCL ====================================================================================================== */

typedef struct {
    int32_t version, machine; /* version 0: the program has none */
    const char* device;
    bool joins;
} place;

static place at[RANKS];
static __thread int32_t here;
static int joined[RANKS], left[RANKS];
static int handle; /* what c->nccl points to */

static int32_t fake_version(void) { return at[here].version; }
static const char* fake_name(void) { return "NCCL of a test"; }
static bool fake_describe(const comm* c, const device* d, comm_nccl_member* m, error* why)
{
    (void)d, (void)why;
    snprintf(m->device, sizeof m->device, "%s", at[c->rank].device);
    snprintf(m->id, sizeof m->id, "id of rank %d", (int)c->rank);
    return true;
}
static bool fake_join(comm* c, const char id[COMM_NCCL_ID], error* why)
{
    CHECK_STR(id, "id of rank 0");
    joined[c->rank]++;
    if (!at[c->rank].joins) return error_set(why, "rank %d does not join", (int)c->rank);
    c->nccl = (void*)&handle;
    return true;
}
static bool fake_move(comm* c, const comm_transfer* t, error* why) { return (void)c, (void)t, (void)why, false; }
static void fake_leave(comm* c) { left[c->rank]++; }

static const comm_nccl fake = {fake_version, fake_name, fake_describe, fake_join, fake_move, fake_leave};
const comm_nccl* const comm_nccl_here = &fake;

/* ==== ranks ===================================================================================================== */

typedef struct {
    comm* c;
    comm_carrier by;
    bool good, nccl;
    error why;
} member;

static void* carry(void* context)
{
    member* m = context;
    here = m->c->rank;
    m->good = comm_carry(m->c, NULL, m->by, &m->why);
    m->nccl = m->c->nccl != NULL;
    if (!m->good) comm_fail(m->c, &m->why);
    comm_leave(m->c);
    CHECK(!m->c->nccl);
    return NULL;
}

/* What ranks with these places and this carrier come to: all join, or why not; "": they do without. */
static void check_carried(int32_t ranks, const place* of, comm_carrier by, bool through_host, const char* obstacle)
{
    static const volatile sig_atomic_t never = 0;
    comm c[RANKS];
    member m[RANKS];
    pthread_t thread[RANKS];
    error why = {""};
    comm_engine engine;
    memset(joined, 0, sizeof joined);
    memset(left, 0, sizeof left);
    if (ranks == 1) comm_open_alone(c, &never);
    else CHECK(comm_open_threads(c, ranks, &never, &why));
    if (ranks > 1) engine = *c[0].engine;
    if (ranks > 1) engine.through_host = through_host; /* as between processes */
    for (int32_t r = 0; r < ranks; r++) {
        at[r] = of[r];
        c[r].machine = of[r].machine;
        if (ranks > 1) c[r].engine = &engine;
        m[r] = (member){.c = &c[r], .by = by};
        CHECK_EQ(pthread_create(&thread[r], NULL, carry, &m[r]), 0);
    }
    for (int32_t r = 0; r < ranks; r++) pthread_join(thread[r], NULL);
    for (int32_t r = 0; r < ranks; r++) {
        const bool joins = !obstacle;
        CHECK_EQ(m[r].good, joins || !obstacle[0]);
        CHECK_STR(m[r].why.text, joins ? "" : obstacle);
        CHECK(m[r].nccl == joins && joined[r] == joins && left[r] == joins);
    }
    if (ranks > 1) comm_close_threads(c, ranks);
}

#define WANTS "; NCCL wants a CUDA device for each rank"

/* Which rank is in the way, and whose device is another's, is said by all: two machines may have devices of one name. */
TEST(ranks_join_nccl_where_each_has_a_device_of_its_own)
{
    static const struct {
        place of[RANKS];
        const char* obstacle; /* NULL: none */
    } way[] = {
        {{{21, 0, "0:1", true}, {21, 0, "0:2", true}, {21, 1, "0:1", true}, {21, 1, "0:2", true}}, NULL},
        {{{21, 0, "0:1", true}, {21, 1, "0:1", true}, {21, 2, "0:1", true}, {21, 3, "0:1", true}}, NULL},
        {{{21, 0, "0:1", true}, {21, 0, "0:2", true}, {21, 1, "0:1", true}, {21, 1, "0:1", true}}, "--comm nccl: rank 2 and rank 3 have one device, 0:1" WANTS},
        {{{21, 0, "0:1", true}, {21, 0, "0:2", true}, {21, 0, "0:3", true}, {21, 0, "0:1", true}}, "--comm nccl: rank 0 and rank 3 have one device, 0:1" WANTS},
        {{{21, 0, "0:1", true}, {21, 0, "0:2", true}, {20, 1, "0:1", true}, {21, 1, "0:2", true}}, "--comm nccl: rank 2 has version 20, rank 0 21" WANTS},
        {{{21, 0, "0:1", true}, {22, 0, "0:2", true}, {20, 1, "0:1", true}, {21, 1, "0:2", true}}, "--comm nccl: rank 1 has version 22, rank 0 21" WANTS},
        {{{21, 0, "0:1", true}, {21, 0, "0:2", true}, {0, 1, "0:1", true}, {21, 1, "0:2", true}}, "--comm nccl: the program of rank 2 has no NCCL" WANTS},
        {{{0, 0, "0:1", true}, {0, 0, "0:1", true}, {0, 1, "0:1", true}, {0, 1, "0:2", true}}, "--comm nccl: the program of rank 0 has no NCCL" WANTS},
        {{{21, 0, "0:1", true}, {21, 0, "0:2", true}, {21, 1, "", true}, {21, 1, "0:2", true}}, "--comm nccl: rank 2 has no CUDA device" WANTS},
    };
    for (size_t i = 0; i < sizeof way / sizeof *way; i++) {
        check_carried(RANKS, way[i].of, COMM_NCCL, false, way[i].obstacle);
        check_carried(RANKS, way[i].of, COMM_AUTO, true, way[i].obstacle ? "" : NULL);
        check_carried(RANKS, way[i].of, COMM_AUTO, false, ""); /* threads copy */
        check_carried(RANKS, way[i].of, COMM_OWN, true, "");
        check_carried(1, way[i].of, COMM_NCCL, true, "");
    }
    CHECK_STR(comm_nccl_name(), "NCCL of a test");
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    RUN(ranks_join_nccl_where_each_has_a_device_of_its_own);
    return test_finish();
}
