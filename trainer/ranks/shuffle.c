#include "trainer/ranks/shuffle.h"

#include "common/memory.h"
#include "trainer/device/ops.h"

static const char what[] = "rows of other devices (--parallel split)";

/* Does this rank's device read the memory of all others? A link leads to a device, not to a piece of its memory. */
static bool reaches_all(shuffle* s)
{
    error none = {""};
    bool good = true;
    for (int32_t r = 0; r < s->comm->ranks; r++)
        good = good && device_reach(s->device, s->seat[r].rows, &none);
    return good;
}

bool shuffle_open(shuffle* s, device* d, comm* over, bool pointers, error* why)
{
    const size_t ranks = (size_t)over->ranks;
    s->device = d;
    s->comm = over;
    if (!pointers || over->nccl || !over->one_process) return true;
    s->seat = memory_new(ranks * sizeof *s->seat, what, why);
    s->base = s->seat ? device_new(d, (ranks + 2) * sizeof(void*), what, why) : NULL;
    if (!s->base) return false;
    s->seat[over->rank].rows = s->base;
    if (!comm_gather_each(over, s->seat, sizeof *s->seat, why)) return false;
    s->seat[over->rank].reaches = reaches_all(s);
    if (!comm_gather_each(over, s->seat, sizeof *s->seat, why)) return false;
    s->peers = true;
    for (int32_t r = 0; r < over->ranks; r++) s->peers = s->peers && s->seat[r].reaches;
    if (s->peers) return true;
    device_free(d, s->base);
    s->base = NULL;
    return true;
}

void shuffle_close(shuffle* s)
{
    if (!s->device) return;
    device_free_growing(s->device, &s->packed);
    device_free_growing(s->device, &s->got);
    device_free(s->device, s->base);
    memory_free(s->seat);
    *s = (shuffle){0};
}

/* Memory that grows, for `rows` rows of each of packed and got. */
static bool make_room(shuffle* s, int64_t packed, int64_t got, int32_t cols)
{
    const size_t row = (size_t)cols * sizeof(float);
    return device_grow(s->device, &s->packed, memory_product((size_t)packed, row, 1), what, &s->failed) &&
           device_grow(s->device, &s->got, memory_product((size_t)got, row, 1), what, &s->failed);
}

/* from: what it got of each rank, to: what each got of it. */
static void count_rows(shuffle* s, const comm_piece* to, const comm_piece* from, size_t row)
{
    for (int32_t r = 0; r < s->comm->ranks; r++) {
        *(r == s->comm->rank ? &s->cost.own : &s->cost.peer) += from[r].count;
        if (r != s->comm->rank) s->cost.bytes += to[r].count * (int64_t)row;
    }
}

/* Packed rows, one message a pair of ranks. */
static bool send_rows(shuffle* s, const void* packed, const comm_piece* to, const comm_piece* from, int32_t cols)
{
    const size_t row = (size_t)cols * sizeof(float);
    if (!comm_exchange(s->comm, s->device, s->got.memory, from, packed, to, row, &s->failed)) return false;
    count_rows(s, to, from, row);
    return true;
}

static int64_t end_of(const shuffle* s, const comm_piece* piece)
{
    const comm_piece last = piece[s->comm->ranks - 1];
    return last.first + last.count;
}

/* Peers: the rows of all ranks are a store in parts, as it is. Ranks meet before, when all have their rows, and after, when
   these may change. */
static void gather_pulled(shuffle* s, const shuffle_hop* hop, mat out, mat rows)
{
    const int32_t ranks = s->comm->ranks;
    const void* base[COMM_RANKS_MAX + 2] = {NULL};
    const ggnn_store all = {.width = rows.cols, .type = GGNN_F32, .pitch = rows.ld * (int64_t)sizeof(float), .base = s->base,
                            .at = {.bound = hop->first, .stored = hop->all, .parts = ranks}};
    s->seat[s->comm->rank].rows = rows.v;
    device_settle(s->device);
    if (!comm_gather_each(s->comm, s->seat, sizeof *s->seat, &s->failed)) return;
    for (int32_t r = 0; r < ranks; r++) base[r] = s->seat[r].rows;
    device_upload(s->device, s->base, base, (size_t)(ranks + 2) * sizeof *base);
    s->device->ops->rows->gather(s->device, out.v, out.ld, GGNN_F32, &all, hop->row, end_of(s, hop->from));
    device_settle(s->device);
    if (comm_barrier(s->comm, &s->failed)) count_rows(s, hop->to, hop->from, (size_t)rows.cols * sizeof(float));
}

static void send_pulled(shuffle* s, const shuffle_hop* hop, mat out, mat rows)
{
    const row_ops* ops = s->device->ops->rows;
    const int64_t sent = end_of(s, hop->to), received = end_of(s, hop->from);
    const int32_t cols = out.cols;
    if (!make_room(s, sent, received, cols)) return;
    ops->permute(s->device, s->packed.memory, cols, rows.v, rows.ld, GGNN_F32, cols, hop->send, sent);
    if (!send_rows(s, s->packed.memory, hop->to, hop->from, cols)) return;
    ops->permute(s->device, out.v, out.ld, s->got.memory, cols, GGNN_F32, cols, hop->place, received);
}

void shuffle_pull(shuffle* s, int32_t h, mat out, mat rows)
{
    if (s->failed.text[0]) return;
    if (s->peers) gather_pulled(s, &s->hop[h], out, rows);
    else send_pulled(s, &s->hop[h], out, rows);
}

void shuffle_push(shuffle* s, int32_t h, mat sum, mat d)
{
    const shuffle_hop* hop = &s->hop[h];
    const row_ops* ops = s->device->ops->rows;
    const int64_t sent = end_of(s, hop->from), received = end_of(s, hop->to);
    const int32_t cols = sum.cols;
    if (s->failed.text[0] || !make_room(s, sent, received, cols)) return;
    ops->permute(s->device, s->packed.memory, cols, d.v, d.ld, GGNN_F32, cols, hop->receive, sent);
    if (!send_rows(s, s->packed.memory, hop->from, hop->to, cols)) return;
    ops->sum_rows(s->device, sum.v, sum.ld, hop->rows, cols, s->got.memory, hop->send, hop->bound, s->comm->ranks);
}

void shuffle_add(shuffle* s, int32_t h, mat out, mat part)
{
    const shuffle_sums* w = &s->hop[h].sums;
    if (s->failed.text[0] || !make_room(s, 0, end_of(s, w->from), part.cols)) return;
    if (!send_rows(s, part.v, w->to, w->from, part.cols)) return;
    s->device->ops->rows->sum_rows(s->device, out.v, out.ld, w->targets, part.cols, s->got.memory, w->target, w->bound,
                                  s->comm->ranks);
}

mat shuffle_spread(shuffle* s, int32_t h, mat d)
{
    const shuffle_sums* w = &s->hop[h].sums;
    const int64_t sent = end_of(s, w->from), received = end_of(s, w->to);
    mat rows = {.ld = d.cols, .cols = d.cols};
    if (s->failed.text[0] || !make_room(s, sent, received, d.cols)) return rows;
    s->device->ops->rows->permute(s->device, s->packed.memory, d.cols, d.v, d.ld, GGNN_F32, d.cols, w->target, sent);
    if (!send_rows(s, s->packed.memory, w->from, w->to, d.cols)) return rows;
    rows.v = s->got.memory;
    rows.rows = (ggnn_count){NULL, received};
    return rows;
}
