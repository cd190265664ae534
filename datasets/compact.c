#include "datasets/compact.h"

#include <string.h>

/* ---- by bits -------------------------------------------------------------------------------------------------- */

typedef struct {
    uint64_t bits;
    int64_t before;
} word; /* before: ids in the words in front of this one */

static int64_t ones(uint64_t bits) { return __builtin_popcountll(bits); }

static bool make_bits(compact_map* m, const int64_t* a, const int64_t* b, int64_t count, const char* beside,
                      error* why)
{
    int64_t words = m->largest / 64 + 1;
    if (!ggnn_file_scratch_open(&m->table, beside, words * (int64_t)sizeof(word)))
        return error_set(why, "%s", m->table.error);
    word* w = m->table.data;
    for (int64_t i = 0; i < count; i++) w[a[i] / 64].bits |= (uint64_t)1 << a[i] % 64;
    for (int64_t i = 0; i < count; i++) w[b[i] / 64].bits |= (uint64_t)1 << b[i] % 64;
    for (int64_t i = 0; i < words; i++) {
        w[i].before = m->num_ids;
        m->num_ids += ones(w[i].bits);
    }
    return true;
}

/* ---- by sorting ----------------------------------------------------------------------------------------------- */

/* One pass of a radix sort, by the byte at shift: stable. */
static void sort_by_byte(int64_t* out, const int64_t* in, int64_t count, int shift)
{
    int64_t begin[257] = {0};
    for (int64_t i = 0; i < count; i++) begin[(in[i] >> shift & 255) + 1]++;
    for (int k = 0; k < 256; k++) begin[k + 1] += begin[k];
    for (int64_t i = 0; i < count; i++) out[begin[in[i] >> shift & 255]++] = in[i];
}

static bool make_sorted(compact_map* m, const int64_t* a, const int64_t* b, int64_t count, const char* beside,
                        error* why)
{
    int64_t total = 2 * count, bytes = total * (int64_t)sizeof(int64_t);
    if (!ggnn_file_scratch_open(&m->table, beside, 2 * bytes)) return error_set(why, "%s", m->table.error);
    int64_t *ids = m->table.data, *other = ids + total;
    memcpy(ids, a, (size_t)(bytes / 2));
    memcpy(ids + count, b, (size_t)(bytes / 2));
    for (int shift = 0; shift < 64 && m->largest >> shift; shift += 8) {
        int64_t* swap = ids;
        sort_by_byte(other, ids, total, shift);
        ids = other;
        other = swap;
    }
    int64_t* kept = m->table.data;
    for (int64_t i = 0; i < total; i++)
        if (i == 0 || ids[i] != ids[i - 1]) kept[m->num_ids++] = ids[i]; /* never ahead of the reading */
    if (ggnn_file_scratch_resize(&m->table, m->num_ids * (int64_t)sizeof(int64_t))) return true;
    return error_set(why, "%s", m->table.error);
}

/* ---- the interface -------------------------------------------------------------------------------------------- */

bool compact_make(compact_map* m, const int64_t* a, const int64_t* b, int64_t count, bool force_sort,
                  const char* beside, error* why)
{
    memset(m, 0, sizeof *m);
    m->table.fd = -1;
    m->least = count ? a[0] : 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t low = a[i] < b[i] ? a[i] : b[i], high = a[i] < b[i] ? b[i] : a[i];
        if (low < m->least) m->least = low;
        if (high > m->largest) m->largest = high;
    }
    m->by_bits = !force_sort && m->largest / 64 <= count;
    bool ok = m->by_bits ? make_bits(m, a, b, count, beside, why) : make_sorted(m, a, b, count, beside, why);
    if (!ok) compact_close(m);
    return ok;
}

int64_t compact_rank(const compact_map* m, int64_t id)
{
    if (m->by_bits) {
        const word* w = (const word*)m->table.data + id / 64;
        return w->before + ones(w->bits & (((uint64_t)1 << id % 64) - 1));
    }
    const int64_t* ids = m->table.data;
    int64_t low = 0, high = m->num_ids - 1; /* ids[low] <= id <= ids[high] */
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (ids[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void compact_ids(const compact_map* m, int64_t* external)
{
    if (!m->by_bits) {
        memcpy(external, m->table.data, (size_t)m->num_ids * sizeof *external);
        return;
    }
    const word* w = m->table.data;
    for (int64_t i = 0, n = 0; n < m->num_ids; i++)
        for (uint64_t bits = w[i].bits; bits; bits &= bits - 1) external[n++] = i * 64 + __builtin_ctzll(bits);
}

void compact_close(compact_map* m)
{
    if (m->table.fd >= 0) ggnn_file_scratch_close(&m->table);
    m->table.fd = -1;
}
