#include "datasets/edge_sort.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/memory.h"
#include "common/parallel.h"
#include "common/progress.h"
#include "datasets/writer.h"

enum {
    SMALL = 32,         /* records that are sorted by insertion */
    RESTART = 4096,     /* records of a run from one place to begin at to the next */
    BLOCK = 256,        /* records that a reader decodes at once, and a merge hands out */
    CODED_MAX = 10 + 10 + 10, /* bytes of an edge in a run, whatever its ids and its number */
    SAMPLES = 1 << 14,  /* targets looked at, of all runs, to cut pieces of even size; 16 of each at least */
    MAX_PIECES = 256
};
static const int64_t PACKED_IDS = (int64_t)1 << 31; /* larger ids do not fit two to a word */

#if defined(__GNUC__)
#define FOR_EACH_WIDTH static inline __attribute__((always_inline)) /* compiled for each number of words */
#else
#define FOR_EACH_WIDTH static inline
#endif

/* ---- sorting in memory ---------------------------------------------------------------------------------------- */

FOR_EACH_WIDTH bool record_less(const uint64_t* a, const uint64_t* b, int words)
{
    for (int w = 0; w < words - 1; w++)
        if (a[w] != b[w]) return a[w] < b[w];
    return a[words - 1] < b[words - 1];
}

FOR_EACH_WIDTH void record_copy(uint64_t* to, const uint64_t* from, int words)
{
    for (int w = 0; w < words; w++) to[w] = from[w];
}

FOR_EACH_WIDTH void sort_few(uint64_t* a, int64_t n, int words)
{
    for (int64_t i = 1; i < n; i++) {
        uint64_t r[3] = {0, 0, 0};
        int64_t j = i;
        record_copy(r, a + i * words, words);
        for (; j > 0 && record_less(r, a + (j - 1) * words, words); j--)
            record_copy(a + j * words, a + (j - 1) * words, words);
        record_copy(a + j * words, r, words);
    }
}

/* Moves every record to its place among 256 by cycles: the record that is taken out goes to the next free place of its
   digit, and the one that lay there is taken out next. next, end: (256) places of each digit. */
FOR_EACH_WIDTH void deal(uint64_t* a, int64_t* next, const int64_t* end, int words, int word, int shift)
{
    for (int digit = 0; digit < 256; digit++)
        while (next[digit] < end[digit]) {
            uint64_t held[3] = {0, 0, 0}, other[3] = {0, 0, 0};
            record_copy(held, a + next[digit] * words, words);
            for (int d = held[word] >> shift & 255; d != digit; d = held[word] >> shift & 255) {
                uint64_t* place = a + next[d]++ * words;
                record_copy(other, place, words);
                record_copy(place, held, words);
                record_copy(held, other, words);
            }
            record_copy(a + next[digit]++ * words, held, words);
        }
}

/* Radix sort from the highest bits in which records differ, eight at a time (American flag sort; McIlroy, Bostic and
   McIlroy 1993). Returns the shift of the digit that records were dealt by; -1: they are sorted. */
FOR_EACH_WIDTH int sort_digit(uint64_t* a, int64_t begin[257], int64_t n, int words, int word)
{
    uint64_t differ = 0;
    int64_t next[256];
    for (int64_t i = 1; i < n; i++) differ |= a[i * words + word] ^ a[word];
    if (!differ) return -1;
    int shift = 56 - __builtin_clzll(differ);
    if (shift < 0) shift = 0;
    memset(begin, 0, 257 * sizeof *begin);
    for (int64_t i = 0; i < n; i++) begin[(a[i * words + word] >> shift & 255) + 1]++;
    for (int d = 0; d < 256; d++) begin[d + 1] += begin[d];
    memcpy(next, begin, sizeof next);
    deal(a, next, begin + 1, words, word, shift);
    return shift;
}

static void sort_1(uint64_t* a, int64_t n, int word);
static void sort_2(uint64_t* a, int64_t n, int word);
static void sort_3(uint64_t* a, int64_t n, int word);

/* Sorts by the words from `word` on; those before are equal. */
FOR_EACH_WIDTH void sort_from(uint64_t* a, int64_t n, int words, int word)
{
    int64_t begin[257];
    if (n <= SMALL) {
        sort_few(a, n, words);
        return;
    }
    int shift = sort_digit(a, begin, n, words, word);
    if (shift < 0 && word + 1 == words) return;
    if (shift < 0) {
        begin[0] = 0;
        begin[1] = n;
        word++;
    }
    for (int d = 0; d < (shift < 0 ? 1 : 256); d++) {
        uint64_t* some = a + begin[d] * words;
        int64_t count = begin[d + 1] - begin[d];
        if (count < 2) continue;
        if (words == 1) sort_1(some, count, word);
        if (words == 2) sort_2(some, count, word);
        if (words == 3) sort_3(some, count, word);
    }
}

static void sort_1(uint64_t* a, int64_t n, int word) { sort_from(a, n, 1, word); }
static void sort_2(uint64_t* a, int64_t n, int word) { sort_from(a, n, 2, word); }
static void sort_3(uint64_t* a, int64_t n, int word) { sort_from(a, n, 3, word); }

void edge_sort_records(uint64_t* record, int64_t count, int words)
{
    if (words == 1) sort_1(record, count, 0);
    if (words == 2) sort_2(record, count, 0);
    if (words == 3) sort_3(record, count, 0);
}

/* ---- coding --------------------------------------------------------------------------------------------------- */

/* A number in 7 bits a byte, the lowest first; the top bit: more follow. */
static unsigned char* put_number(unsigned char* p, uint64_t n)
{
    for (; n > 127; n >>= 7) *p++ = (unsigned char)(n | 128);
    *p++ = (unsigned char)n;
    return p;
}

static const unsigned char* get_number(const unsigned char* p, uint64_t* n)
{
    int shift = 7;
    *n = *p & 127;
    for (; *p++ & 128; shift += 7) *n |= (uint64_t)(*p & 127) << shift;
    return p;
}

typedef struct { /* the edge before */
    uint64_t dst, from;
} coder;

/* Source and direction, as the difference within a list; the lowest bit of the first byte tells that another list
   begins, how far on is told behind. */
static unsigned char* put_edge(unsigned char* p, coder* c, uint64_t dst, uint64_t from)
{
    bool begins = dst != c->dst;
    uint64_t n = begins ? from : from - c->from;
    *p++ = (unsigned char)((n > 63 ? 128 : 0) | (n & 63) << 1 | begins);
    if (n > 63) p = put_number(p, n >> 6);
    if (begins) p = put_number(p, dst - c->dst);
    c->dst = dst;
    c->from = from;
    return p;
}

static const unsigned char* get_edge(const unsigned char* p, coder* c)
{
    unsigned first = *p++;
    uint64_t n = first >> 1 & 63, more = 0, on = 0;
    if (first & 128) p = get_number(p, &more);
    n |= more << 6;
    if (first & 1) p = get_number(p, &on);
    c->from = first & 1 ? n : c->from + n;
    c->dst += on;
    return p;
}

/* Behind an edge: its number or its weight. */
static unsigned char* put_tail(unsigned char* p, const edge_sorter* s, uint64_t tail)
{
    uint32_t weight = (uint32_t)tail;
    if (s->how.numbered) return put_number(p, tail);
    if (!s->how.weighted) return p;
    memcpy(p, &weight, sizeof weight);
    return p + sizeof weight;
}

static const unsigned char* get_tail(const unsigned char* p, const edge_sorter* s, uint64_t* tail)
{
    uint32_t weight;
    if (s->how.numbered) return get_number(p, tail);
    if (!s->how.weighted) return p;
    memcpy(&weight, p, sizeof weight);
    *tail = weight;
    return p + sizeof weight;
}

/* ---- open, add ------------------------------------------------------------------------------------------------ */

static int words_of(const edge_sorter_options* how, int64_t largest)
{
    return largest >= PACKED_IDS ? 3 : how->weighted || how->numbered ? 2 : 1;
}

static int64_t room_of(const edge_sorter_options* how, int words)
{
    int64_t room = how->memory / (8 * words), most = UINT32_MAX;
    if (how->expected > 0 && how->expected < room)
        room = how->expected + 3 * EDGE_SORT_BATCH; /* thrice: records may become wider */
    return room > most && words > 1 ? most : room;
}

static int64_t number_bytes(uint64_t n)
{
    int64_t bytes = 1;
    while (n >>= 7) bytes++;
    return bytes;
}

/* Of a source, with weight or number, as put_edge and put_tail write it; edges: those that numbers are below. */
static int64_t source_bytes(const edge_sorter_options* how, int64_t largest, int64_t edges)
{
    int64_t tail = how->numbered ? number_bytes((uint64_t)edges) : how->weighted ? 4 : 0;
    return 1 + number_bytes((uint64_t)largest >> (how->both ? 5 : 6)) + tail;
}

int64_t edge_sorter_scratch_bytes(const edge_sorter_options* how, int64_t edges)
{
    int64_t largest = how->num_nodes > 0 ? how->num_nodes - 1 : INT32_MAX;
    if (edges <= room_of(how, words_of(how, largest))) return 0;
    return edges * (source_bytes(how, largest, edges) + 1); /* a new target is mostly less than 128 further on */
}

bool edge_sorter_open(edge_sorter* s, const edge_sorter_options* how, error* why)
{
    memset(s, 0, sizeof *s);
    s->how = *how;
    s->fd = -1;
    s->largest = -1;
    if (s->how.memory < EDGE_SORT_LEAST) s->how.memory = EDGE_SORT_LEAST;
    s->words = words_of(&s->how, how->num_nodes - 1);
    s->room = room_of(&s->how, s->words);
    s->buffer = memory_new((size_t)s->room * (size_t)s->words * 8, "edges to be sorted", why);
    return s->buffer != NULL;
}

static void unmap(edge_sorter* s)
{
    if (s->mapped) munmap(s->mapped, (size_t)s->end);
    s->mapped = NULL;
}

void edge_sorter_close(edge_sorter* s)
{
    unmap(s);
    for (int64_t i = 0; i < s->num_runs; i++) memory_free(s->run[i].restart);
    memory_free(s->run);
    memory_free(s->buffer);
    memory_free(s->bound);
    memory_free(s->reading);
    if (s->fd >= 0) close(s->fd);
    memset(s, 0, sizeof *s);
    s->fd = -1;
}

/* ---- runs ----------------------------------------------------------------------------------------------------- */

static bool room_for_runs(edge_sorter* s, int64_t more, error* why)
{
    int64_t wanted = 2 * (s->num_runs + more);
    if (s->num_runs + more <= s->max_runs) return true;
    edge_run* grown = memory_resize(s->run, (size_t)s->max_runs * sizeof *grown, (size_t)wanted * sizeof *grown,
                                    "sorted runs", why);
    if (!grown) return false;
    s->run = grown;
    s->max_runs = wanted;
    return true;
}

static int64_t runs_in_memory(const edge_sorter* s)
{
    int64_t some = 0;
    while (some < s->num_runs && s->run[s->num_runs - 1 - some].record) some++;
    return some;
}

typedef struct {
    edge_sorter* s;
    edge_run* run;
} sort_job;

static void sort_run(void* context, int64_t i)
{
    const sort_job* job = context;
    /* the runs point into the buffer, which is the sorter's to change */
    uint64_t* record = job->s->buffer + (job->run[i].record - job->s->buffer);
    edge_sort_records(record, job->run[i].count, job->s->words);
}

/* What came into the buffer since the last call becomes runs in memory, a stripe a thread. */
static bool sort_buffer(edge_sorter* s, error* why)
{
    int64_t kept = runs_in_memory(s), begin = 0;
    for (int64_t i = 0; i < kept; i++) begin += s->run[s->num_runs - 1 - i].count;
    int64_t count = s->count - begin, stripes = count < BLOCK * BLOCK ? 1 : parallel_lanes();
    if (count == 0) return true;
    if (!room_for_runs(s, stripes, why)) return false;
    sort_job job = {s, s->run + s->num_runs};
    for (int64_t i = 0; i < stripes; i++) {
        int64_t at = parallel_begin(count, i, stripes);
        job.run[i] = (edge_run){.record = s->buffer + (begin + at) * s->words,
                                .count = parallel_begin(count, i + 1, stripes) - at};
    }
    ggnn_parallel_for(stripes, sort_run, &job);
    s->num_runs += stripes;
    return true;
}

/* ---- runs on the disk ----------------------------------------------------------------------------------------- */

typedef struct {
    edge_sorter* s;
    edge_run* run;
    unsigned char* buffer; /* (lanes, bytes) */
    int64_t bytes, *begin; /* (runs) begin: in the file; afterwards how much was written, or minus the errno */
} spill_job;

static void spill_run(void* context, int64_t i)
{
    spill_job* job = context;
    const edge_sorter* s = job->s;
    const edge_run* run = &job->run[i];
    unsigned char *first = job->buffer + parallel_lane() * job->bytes, *p = first;
    int64_t at = job->begin[i];
    int failure = 0;
    coder c = {0, 0};
    for (int64_t k = 0; k < run->count; k++) {
        const uint64_t* r = run->record + k * s->words;
        sorted_edge e = edge_sorter_edge(s, r);
        uint64_t from = (uint64_t)e.src << s->how.both | e.reverse;
        if (p - first > job->bytes - CODED_MAX) {
            if (!failure) failure = writer_put(s->fd, first, p - first, at);
            at += p - first;
            p = first;
        }
        if (k % RESTART == 0) {
            run->restart[k / RESTART] = (edge_restart){e.dst, at + (p - first)};
            c = (coder){(uint64_t)e.dst, 0};
        }
        p = put_tail(put_edge(p, &c, (uint64_t)e.dst, from), s, r[s->words - 1]);
    }
    if (!failure) failure = writer_put(s->fd, first, p - first, at);
    job->begin[i] = failure ? -failure : at + (p - first) - job->begin[i];
}

static bool open_scratch(edge_sorter* s, error* why)
{
    if (s->fd < 0) s->fd = writer_scratch_file(s->how.path, why);
    return s->fd >= 0;
}

/* Every run has room for the most that its edges can take: the file has holes where they took less. */
static bool spill_runs(edge_sorter* s, spill_job* job, int64_t runs, error* why)
{
    for (int64_t i = 0; i < runs; i++) {
        job->run[i].restart = memory_new((size_t)((job->run[i].count + RESTART - 1) / RESTART) * sizeof(edge_restart),
                                         "an index of a run", why);
        if (!job->run[i].restart) return false;
        job->begin[i] = s->end;
        s->end += job->run[i].count * (source_bytes(&s->how, s->largest, s->added) + number_bytes((uint64_t)s->largest));
    }
    ggnn_parallel_for(runs, spill_run, job);
    for (int64_t i = 0; i < runs; i++) {
        if (job->begin[i] < 0)
            return error_set(why, "%s: cannot write scratch beside it, %lld edges so far: %s", s->how.path,
                             (long long)s->added, strerror((int)-job->begin[i]));
        s->written += job->begin[i];
        job->run[i].record = NULL;
    }
    s->count = 0;
    return true;
}

/* Empties the buffer into the scratch file. */
static bool spill(edge_sorter* s, error* why)
{
    if (s->count == 0) return true;
    if (!sort_buffer(s, why) || !open_scratch(s, why)) return false;
    unmap(s); /* the file grows */
    int64_t runs = runs_in_memory(s), lanes = parallel_lanes(), most = s->how.memory / 8 / lanes;
    spill_job job = {.s = s, .run = s->run + s->num_runs - runs, .bytes = most < 1 << 20 ? most : 1 << 20};
    if (job.bytes < 1 << 12) job.bytes = 1 << 12;
    job.buffer = memory_new((size_t)(lanes * job.bytes), "writing runs", why);
    job.begin = job.buffer ? memory_new((size_t)runs * sizeof *job.begin, "places of runs", why) : NULL;
    bool good = job.begin && spill_runs(s, &job, runs, why);
    memory_free(job.begin);
    memory_free(job.buffer);
    return good;
}

int64_t edge_sorter_begin(edge_sorter* s, int64_t most, int64_t largest, error* why)
{
    int words = words_of(&s->how, largest > s->largest ? largest : s->largest);
    if (words < s->words) words = s->words;
    if ((words > s->words || s->count + most > s->room) && !spill(s, why)) return -1;
    if (words > s->words) s->room = s->room * s->words / words;
    s->words = words;
    if (largest > s->largest) s->largest = largest;
    return s->count;
}

void edge_sorter_end(edge_sorter* s, int64_t count)
{
    s->count += count;
    s->added += count;
}

/* ---- reading runs --------------------------------------------------------------------------------------------- */

typedef struct {
    const uint64_t *at, *end; /* records to come; behind the last one: at `none`, which is larger than all */
    const edge_run* run;
    uint64_t* block; /* (BLOCK, words) */
    const unsigned char* coded;
    int64_t index; /* of the record at coded */
    coder c;
} reader;

struct edge_stream {
    const edge_sorter* s;
    reader* r;        /* (num_runs) */
    int32_t* tree;    /* (num_runs) tree[0]: whose record is next; the others: losers, Knuth 5.4.1 */
    uint64_t* merged; /* (BLOCK, words) */
    int64_t first, last; /* targets of the piece; INT64_MAX is one, too */
};

static const uint64_t none[3] = {UINT64_MAX, UINT64_MAX, UINT64_MAX};

static void set_record(const edge_sorter* s, uint64_t* r, const coder* c, uint64_t tail)
{
    uint64_t from = s->how.both ? c->from : c->from << 1;
    r[0] = s->words < 3 ? c->dst << 32 | from : c->dst;
    if (s->words == 3) r[1] = from;
    if (s->words > 1) r[s->words - 1] = tail;
}

/* Decodes the next records that belong to the piece; none left: `none`. */
static void refill(reader* r, const edge_stream* in)
{
    const edge_sorter* s = in->s;
    uint64_t tail = 0;
    int64_t n = 0, count = r->run->record ? 0 : r->run->count;
    while (n < BLOCK && r->index < count) {
        if (r->index % RESTART == 0) r->c = (coder){(uint64_t)r->run->restart[r->index / RESTART].dst, 0};
        r->coded = get_tail(get_edge(r->coded, &r->c), s, &tail);
        r->index++;
        if ((int64_t)r->c.dst > in->last) r->index = count;
        else if ((int64_t)r->c.dst >= in->first) set_record(s, r->block + n++ * s->words, &r->c, tail);
    }
    r->at = n ? r->block : none;
    r->end = n ? r->block + n * s->words : none;
}

static int64_t dst_of(const edge_sorter* s, const uint64_t* r) { return (int64_t)(s->words < 3 ? r[0] >> 32 : r[0]); }

/* The first record in memory whose target is dst or more. */
static const uint64_t* find_record(const edge_sorter* s, const edge_run* run, int64_t dst)
{
    int64_t low = 0, high = run->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (dst_of(s, run->record + middle * s->words) < dst) low = middle + 1;
        else high = middle;
    }
    return run->record + low * s->words;
}

/* The last place to begin at in front of all edges to dst: they may begin before the first restart at it. */
static int64_t find_restart(const edge_run* run, int64_t dst)
{
    int64_t low = 0, high = (run->count + RESTART - 1) / RESTART - 1;
    while (low < high) {
        int64_t middle = low + (high - low + 1) / 2;
        if (run->restart[middle].dst < dst) low = middle;
        else high = middle - 1;
    }
    return low;
}

static void reader_begin(reader* r, const edge_run* run, const edge_stream* in)
{
    const edge_sorter* s = in->s;
    r->run = run;
    if (run->record) {
        r->at = find_record(s, run, in->first);
        r->end = in->last == INT64_MAX ? run->record + run->count * s->words : find_record(s, run, in->last + 1);
        if (r->at == r->end) r->at = r->end = none;
        return;
    }
    int64_t first = find_restart(run, in->first);
    r->index = first * RESTART;
    r->coded = (const unsigned char*)s->mapped + run->restart[first].offset;
    refill(r, in);
}

/* ---- merging -------------------------------------------------------------------------------------------------- */

/* Of equal edges those of the earlier run first. */
FOR_EACH_WIDTH bool run_before(const reader* r, int32_t a, int32_t b, int words)
{
    const uint64_t *x = r[a].at, *y = r[b].at;
    if (x[0] != y[0]) return x[0] < y[0];
    if (words == 3 && x[1] != y[1]) return x[1] < y[1];
    return a < b;
}

/* Lets run `winner` play against the losers on its way up. */
FOR_EACH_WIDTH void replay(edge_stream* in, int32_t winner, int64_t runs, int words)
{
    for (int64_t node = (runs + winner) / 2; node > 0; node /= 2) {
        int32_t loser = in->tree[node];
        if (!run_before(in->r, loser, winner, words)) continue;
        in->tree[node] = winner;
        winner = loser;
    }
    in->tree[0] = winner;
}

/* Builds the tree from the leaves: the winner of each pair goes on. play(node) by recursion of depth log2(runs). */
static int32_t play(edge_stream* in, int64_t node, int64_t runs)
{
    if (node >= runs) return (int32_t)(node - runs);
    int32_t a = play(in, 2 * node, runs), b = play(in, 2 * node + 1, runs);
    bool first = run_before(in->r, a, b, in->s->words);
    in->tree[node] = first ? b : a;
    return first ? a : b;
}

FOR_EACH_WIDTH int64_t merge(edge_stream* in, int words)
{
    int64_t n = 0, runs = in->s->num_runs;
    for (; n < BLOCK; n++) {
        int32_t winner = in->tree[0];
        reader* r = &in->r[winner];
        if (r->at == none) break;
        record_copy(in->merged + n * words, r->at, words);
        r->at += words;
        if (r->at == r->end) refill(r, in);
        replay(in, winner, runs, words);
    }
    return n;
}

int64_t edge_stream_next(edge_stream* in, const uint64_t** record)
{
    int words = in->s->words;
    if (in->s->num_runs == 0) return 0;
    if (in->s->num_runs == 1) { /* nothing to merge: what the reader has */
        reader* r = in->r;
        if (r->at == r->end && r->at != none) refill(r, in);
        int64_t count = r->at == none ? 0 : (r->end - r->at) / words;
        *record = r->at;
        if (count > BLOCK) count = BLOCK;
        r->at += count * words;
        return count;
    }
    *record = in->merged;
    return words == 1 ? merge(in, 1) : words == 2 ? merge(in, 2) : merge(in, 3);
}

/* ---- pieces --------------------------------------------------------------------------------------------------- */

static int64_t samples_a_run(const edge_sorter* s)
{
    return s->num_runs < SAMPLES / 16 ? SAMPLES / (s->num_runs ? s->num_runs : 1) : 16;
}

static int64_t sample_run(const edge_sorter* s, const edge_run* run, uint64_t* sample)
{
    int64_t restarts = (run->count + RESTART - 1) / RESTART, all = run->record ? run->count : restarts;
    int64_t some = samples_a_run(s) < all ? samples_a_run(s) : all;
    for (int64_t i = 0; i < some; i++) {
        int64_t at = parallel_begin(all, i, some);
        sample[2 * i] =
            (uint64_t)(run->record ? dst_of(s, run->record + at * s->words) : run->restart[at].dst);
        sample[2 * i + 1] = (uint64_t)(run->count / some);
    }
    return some;
}

/* Targets that cut the edges into pieces of about even size, from samples of every run: (target, edges it stands
   for). */
static bool cut_pieces(edge_sorter* s, error* why)
{
    int64_t wanted = s->added / ((int64_t)RESTART * 4 * (s->num_runs ? s->num_runs : 1)), count = 0;
    uint64_t* sample =
        memory_new(memory_product((size_t)s->num_runs, (size_t)samples_a_run(s), 16), "samples of runs", why);
    int64_t* bound = sample ? memory_new((MAX_PIECES + 1) * sizeof *bound, "bounds of pieces", why) : NULL;
    memory_free(s->bound);
    s->bound = bound;
    s->num_pieces = 1;
    if (bound) {
        uint64_t weight = 0, so_far = 0;
        if (wanted > MAX_PIECES) wanted = MAX_PIECES;
        for (int64_t i = 0; i < s->num_runs; i++) count += sample_run(s, &s->run[i], sample + 2 * count);
        edge_sort_records(sample, count, 2);
        for (int64_t i = 0; i < count; i++) weight += sample[2 * i + 1];
        for (int64_t i = 0; i < count && s->num_pieces < wanted; so_far += sample[2 * i++ + 1]) {
            bool due = so_far > weight / (uint64_t)wanted * (uint64_t)s->num_pieces;
            if (due && (int64_t)sample[2 * i] > bound[s->num_pieces - 1])
                bound[s->num_pieces++] = (int64_t)sample[2 * i];
        }
        bound[s->num_pieces] = INT64_MAX;
    }
    memory_free(sample);
    return bound != NULL;
}

static int64_t round_up(int64_t bytes) { return (bytes + 63) / 64 * 64; }

/* What one thread reads with: readers, tree, their blocks and the merged one. */
static int64_t lane_bytes(const edge_sorter* s)
{
    int64_t block = (int64_t)BLOCK * s->words * 8;
    return round_up(s->num_runs * (int64_t)sizeof(reader)) + round_up(s->num_runs * (int64_t)sizeof(int32_t)) +
           block * (s->num_runs - runs_in_memory(s) + 1);
}

bool edge_sorter_finish(edge_sorter* s, error* why)
{
    if (!sort_buffer(s, why)) return false;
    int64_t bytes = lane_bytes(s) * parallel_lanes();
    if (bytes > s->how.memory)
        return error_set(why, "%s: %lld sorted runs take %lld bytes to be merged: more than --memory allows",
                         s->how.path, (long long)s->num_runs, (long long)bytes);
    memory_free(s->reading);
    s->reading = memory_new((size_t)bytes, "merging sorted runs", why);
    if (!s->reading || !cut_pieces(s, why)) return false;
    if (s->mapped || s->fd < 0) return true;
    s->mapped = mmap(NULL, (size_t)s->end, PROT_READ, MAP_SHARED, s->fd, 0);
    if (s->mapped != MAP_FAILED) return true;
    s->mapped = NULL;
    return error_set(why, "%s: cannot map scratch, %lld bytes: %s", s->how.path, (long long)s->end, strerror(errno));
}

static void stream_begin(edge_stream* in, edge_sorter* s, int64_t piece)
{
    char* at = (char*)s->reading + lane_bytes(s) * parallel_lane();
    int64_t block = (int64_t)BLOCK * s->words;
    *in = (edge_stream){.s = s, .first = s->bound[piece],
                        .last = s->bound[piece + 1] - (piece + 1 < s->num_pieces)};
    in->r = (reader*)(void*)at;
    at += round_up(s->num_runs * (int64_t)sizeof(reader));
    in->tree = (int32_t*)(void*)at;
    at += round_up(s->num_runs * (int64_t)sizeof(int32_t));
    in->merged = (uint64_t*)(void*)at;
    uint64_t* blocks = in->merged + block;
    for (int64_t i = 0; i < s->num_runs; i++) {
        in->r[i].block = s->run[i].record ? NULL : blocks;
        if (!s->run[i].record) blocks += block;
        reader_begin(&in->r[i], &s->run[i], in);
    }
    if (s->num_runs > 1) in->tree[0] = play(in, 1, s->num_runs);
}

typedef struct {
    edge_sorter* s;
    edge_body* body;
    void* context;
    progress bar;
    int64_t done; /* pieces */
} scan_job;

static void scan_piece(void* context, int64_t piece)
{
    scan_job* job = context;
    edge_stream in;
    stream_begin(&in, job->s, piece);
    job->body(job->context, piece, &in);
#ifdef _OPENMP
#pragma omp critical(edge_sort_progress)
#endif
    {
        job->done++;
        progress_update(&job->bar, job->s->added / job->s->num_pieces * job->done);
    }
}

static void scan(edge_sorter* s, const char* what, edge_body* body, void* context, bool in_order)
{
    scan_job job = {.s = s, .body = body, .context = context};
    progress_begin(&job.bar, what, "edges", s->added);
    if (!in_order) ggnn_parallel_for(s->num_pieces, scan_piece, &job);
    for (int64_t piece = 0; piece < s->num_pieces && in_order; piece++) scan_piece(&job, piece);
    progress_end(&job.bar, s->added, false);
}

void edge_sorter_scan(edge_sorter* s, const char* what, edge_body* body, void* context)
{
    scan(s, what, body, context, false);
}

void edge_sorter_walk(edge_sorter* s, const char* what, edge_body* body, void* context)
{
    scan(s, what, body, context, true);
}
