// ggnn_reference.h - v0.3.0 - what each operation of ggnn.h computes, in the loops of its formula
// Read it after examples/train.c and before ggnn.h, whose fast functions give the same bits (a NaN equals any
// NaN): tests compare them. So the loops have the order of every sum's terms and the place of every rounding.
// ggnn_ref_spmm_scatter alone is no function of ggnn.h. All are static, use ggnn.h's implementation, run on
// one thread, allocate nothing and check nothing. MIT license, as ggnn.h.
// Block b has D = *b->num_dst.n targets v (a pointer, as on a GPU sizes lie with the data) and S sources u,
// the first D of which are the targets: v's own row is inp[v]. List v is the edges e in
// [indptr[v], indptr[v + 1]): e = (u, v), u = b->indices[e]. In a transpose edge[i] is the edge's index in
// the block. position: an edge's place in the whole graph. K heads share a row's columns evenly.
#ifndef GGNN_REFERENCE_H
#define GGNN_REFERENCE_H
#include "ggnn.h"
#include <math.h>
#define GGNN_REF static inline
#if defined(__cplusplus) && defined(__GNUC__) // C's casts and its null pointers: as in ggnn.h
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wzero-as-null-pointer-constant"
#endif
#if defined(__clang__) // a product is rounded before it is added, whatever the compiler's flags: as in ggnn.h
#pragma float_control(precise, on, push)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC push_options
#pragma GCC optimize("no-unsafe-math-optimizations", "no-associative-math", "no-reciprocal-math")
#pragma GCC optimize("no-finite-math-only", "signed-zeros", "fp-contract=off")
#endif
// ==== [4] SAMPLE: offsets of m = fanout of the n edges of a list ==========================================
// Any method that does not walk; how many. Draw j is 64 random bits by (rng, hop, node, j) alone, and each
// method brings it into its own range. Path doubling has Fisher-Yates' result. Above GGNN_FANOUT_MAX both and
// rejection are the reservoir: a GPU's shared memory cannot hold their sets. work: 8 bytes per edge.
GGNN_REF int64_t ggnn_ref_sample_list(int64_t* offset, const ggnn_list* list, ggnn_method method,
    int64_t fanout, const ggnn_rng* rng, int32_t hop, ggnn_node node, void* work)
{
    const int64_t n = list->degree, m = fanout, weighs = ggnn_method_has(method, GGNN_METHOD_WEIGHS);
    int64_t       taken = 0, *slot = (int64_t*)work;
    double*       key = (double*)work;
    if (n <= 0 || m == 0) return 0;
    if (m > GGNN_FANOUT_MAX && ggnn_method_has(method, GGNN_METHOD_HOLDS_SET)) method = GGNN_RESERVOIR;
    if (m < 0 || (n <= m && !ggnn_method_has(method, GGNN_METHOD_REPEATS))) { // the whole list, in order
        for (int64_t i = 0; i < n; i++)
            if (!weighs || !list->weight || list->weight[i] > 0) offset[taken++] = i;
    } else if (method == GGNN_REPLACEMENT) { // m independent draws
        for (; taken < m; taken++) offset[taken] = ggnn_draw_below(rng, hop, node, taken, n);
    } else if (method == GGNN_REJECTION) { // the first m distinct draws: XGNN
        for (int64_t j = 0, i; taken < m; j++) {
            offset[taken] = ggnn_draw_below(rng, hop, node, j, n);
            for (i = 0; offset[i] != offset[taken]; i++) {}
            if (i == taken) taken++;
        }
    } else if (method == GGNN_RESERVOIR) { // slot s < m holds s; edge i >= m draws r in [0, i]; slot r gets i
        for (; taken < m; taken++) offset[taken] = taken;
        for (int64_t i = m; i < n; i++) {
            const int64_t r = ggnn_draw_below(rng, hop, node, i - m, i + 1);
            if (r < m) offset[r] = i;
        }
    } else if (method == GGNN_WEIGHTED) { // A-Res: the m least keys -log2(draw) / weight, the least first
        for (int64_t i = 0; i < n; i++) {
            const double w = list->weight ? (double)list->weight[i] : 1.0; // 0: never taken
            key[i] = (double)ggnn_neg_log2(ggnn_draw(ggnn_random(rng, hop, node, (uint32_t)(i / 2)), i)) / w;
            if (!(w > 0)) key[i] = INFINITY;
        }
        for (int64_t best = 0; taken < m; taken++, key[best] = INFINITY) {
            for (int64_t i = best = 0; i < n; i++)
                if (key[i] < key[best]) best = i;
            if (!(key[best] < INFINITY)) break;
            offset[taken] = best;
        }
    } else if (method == GGNN_FISHER_YATES || method == GGNN_PATH_DOUBLING) { // slot s holds s at first
        for (int64_t s = 0; s < n; s++) slot[s] = s;
        for (; taken < m; taken++) { // take the content of slot r; that of the last slot moves there
            const int64_t r = ggnn_draw_below(rng, hop, node, taken, n - taken);
            offset[taken] = slot[r];
            slot[r] = slot[n - 1 - taken];
        }
    }
    return taken;
}
typedef struct ggnn_ref_path { // the arrays of path doubling
    int32_t q[GGNN_FANOUT_MAX]; // the place of draw i among all draws, sorted by value, then by i
    int64_t s[GGNN_FANOUT_MAX]; // the draws in that order,
    int32_t p[GGNN_FANOUT_MAX]; // and which draw each is
    int32_t chain[GGNN_FANOUT_MAX]; // the last draw that overwrote slot n-1-i, which draw i gives up; or i
} ggnn_ref_path;
// Path doubling: Fisher-Yates in steps of m threads. WholeGraph (Yang et al. 2022), Algorithm 1. r[i] in
// [0, n-1-i] is draw i; m <= n, m <= GGNN_FANOUT_MAX. watch(context, round, work, m), unless NULL, is called
// after the sort (round 0) and after each doubling. Why it is Fisher-Yates: slot n-1-j, given up by draw j,
// holds its own number, or the content of slot n-1-p, moved there by the last draw p with r_p = n-1-j. So
// links j -> p lead to the slot whose number it is. p < j, or p = j: then no later draw takes that slot. A
// chain has fewer than m links: ceil(log2 m) doublings reach its end. n = 5, r = 3, 1, 1: draw 0 moves 4 to
// slot 3; draw 1 gives slot 3 up, moves 4 to slot 1; draw 2 takes 4. Chains: 0, 0, 2. Offsets: 3, 1, 4.
GGNN_REF void ggnn_ref_path_doubling(int64_t* offset, ggnn_ref_path* work, const int64_t* r, int64_t n,
    int32_t m, void (*watch)(void*, int32_t, const ggnn_ref_path*, int32_t), void* context)
{
    int32_t next[GGNN_FANOUT_MAX], round = 0;
    for (int32_t i = 0; i < m; i++) { // sort: the place of a draw is the number of draws before it
        work->q[i] = 0;
        for (int32_t j = 0; j < m; j++) work->q[i] += r[j] < r[i] || (r[j] == r[i] && j < i);
        work->s[work->q[i]] = r[i];
        work->p[work->q[i]] = work->chain[i] = i;
    }
    for (int32_t j = 0; j < m; j++) // link: the last of equal draws, where its slot is one that is given up
        if (work->s[j] >= n - m && (j + 1 == m || work->s[j + 1] != work->s[j]))
            work->chain[n - 1 - work->s[j]] = work->p[j];
    if (watch) watch(context, round, work, m);
    for (int32_t reach = 1; reach < m; reach *= 2) { // double
        for (int32_t i = 0; i < m; i++) next[i] = work->chain[work->chain[i]];
        for (int32_t i = 0; i < m; i++) work->chain[i] = next[i];
        if (watch) watch(context, ++round, work, m);
    }
    for (int32_t i = 0, at; i < m; i++) { // take: a slot drawn before holds the number moved there
        offset[i] = r[i];
        if ((at = work->q[i]) && work->s[at - 1] == r[i]) offset[i] = n - 1 - work->chain[work->p[at - 1]];
    }
}
// Random walks from `node` along in-edges: visited (walks, length). A step moves to a uniform neighbour, then
// with chance `restart` back to the start. Without neighbours it notes -1 and goes back.
GGNN_REF void ggnn_ref_random_walk(ggnn_node* visited, const ggnn_graph* g, const ggnn_walks* how,
    const ggnn_rng* rng, int32_t hop, ggnn_node node)
{
    const ggnn_walks walks = ggnn_walks_or_default(*how);
    const uint64_t   restart = (uint64_t)((double)walks.restart * 4294967296.0);
    const ggnn_rng   own = {rng->seed, rng->step, ggnn_walk_purpose(rng->purpose)};
    ggnn_node        at = node;
    for (int32_t i = 0; i < walks.walks * walks.length; i++) {
        const ggnn_words words = ggnn_random(&own, hop, node, (uint32_t)i);
        if (i % walks.length == 0) at = node; // the next walk
        const ggnn_list list = ggnn_neighbors(g, at);
        visited[i] = list.degree ? list.id[ggnn_bounded(ggnn_draw(words, 0), list.degree)] : -1;
        at = list.degree && words.word[2] >= restart ? visited[i] : node;
    }
}
// PinSAGE's neighbours (Ying et al. 2018): the `top` most visited nodes (top < 0: all), most visits first; of
// equals the smaller id first. -1 and `node` itself do not count. Returns their number.
GGNN_REF int64_t ggnn_ref_walk_neighbors(ggnn_node* id, float* visits, const ggnn_node* visited,
    int64_t count, int64_t top, ggnn_node node)
{
    int64_t taken = 0;
    for (int64_t most = 1; most && taken != top; taken += most > 0) {
        most = 0;
        for (int64_t i = 0; i < count; i++) {
            int64_t times = 0, done = visited[i] < 0 || visited[i] == node;
            for (int64_t j = 0; j < taken; j++) done |= id[j] == visited[i];
            for (int64_t j = 0; j < count; j++) times += visited[j] == visited[i];
            if (done || times < most || (times == most && visited[i] >= id[taken])) continue;
            id[taken] = visited[i];
            visits[taken] = (float)(most = times);
        }
    }
    return taken;
}
// ==== [5] UNIQUE, [6] BLOCK: ids numbered by first occurrence; one hop; the transpose ======================
// local[i] is the place of id[i] in list (*count ids so far); a new id is appended to it.
GGNN_REF void ggnn_ref_unique_append(ggnn_node* list, int64_t* count, int32_t* local, const ggnn_node* id,
    int64_t n)
{
    for (int64_t i = 0, at; i < n; i++) {
        for (at = 0; at < *count && list[at] != id[i]; at++) {}
        if (at == *count) list[(*count)++] = id[i];
        local[i] = (int32_t)at;
    }
}
// Hop h of a batch by a method that does not walk. hop->id begins with the *num_dst.n targets; new ones are
// appended. Arrays per edge are filled where they are not NULL; indices NULL: a last hop with global ids.
// offset: room for the longest sample. work: 8 bytes per edge of the longest list.
GGNN_REF void ggnn_ref_sample_hop(ggnn_block* hop, const ggnn_graph* g, const ggnn_sampling* how,
    const ggnn_rng* rng, int32_t h, int64_t* offset, void* work)
{
    int64_t count = *hop->num_dst.n, edges = 0;
    for (int64_t v = 0; v < *hop->num_dst.n; v++) {
        const ggnn_list list = ggnn_neighbors(g, hop->id[v]);
        const int64_t   m = ggnn_ref_sample_list(offset, &list, how->method, how->fanout[h], rng,
                                                 how->first_hop + h, hop->id[v], work);
        hop->indptr[v] = edges;
        for (int64_t j = 0; j < m; j++, edges++) {
            const ggnn_node* u = &list.id[offset[j]];
            if (hop->indices) ggnn_ref_unique_append(hop->id, &count, &hop->indices[edges], u, 1);
            if (hop->neighbor) hop->neighbor[edges] = *u;
            if (hop->weight) hop->weight[edges] = list.weight ? list.weight[offset[j]] : 1.0f;
            if (hop->position) hop->position[edges] = list.position + offset[j];
        }
    }
    hop->indptr[*hop->num_dst.n] = *hop->num_edges.n = edges;
    *hop->num_src.n = count;
}
// The transpose of b: list u holds the targets v of the edges e = (u, v), in the order of edges.
GGNN_REF void ggnn_ref_block_transpose(ggnn_block* t, const ggnn_block* b)
{
    int64_t at = 0;
    for (int64_t u = 0; u < *b->num_src.n; u++) {
        t->indptr[u] = at;
        for (int64_t v = 0; v < *b->num_dst.n; v++) for (int64_t e = b->indptr[v]; e < b->indptr[v + 1]; e++)
            if (b->indices[e] == u) t->indices[at] = (int32_t)v, t->edge[at++] = (int32_t)e;
    }
    t->indptr[*b->num_src.n] = *t->num_edges.n = at;
    *t->num_dst.n = *b->num_src.n, *t->num_src.n = *b->num_dst.n;
}
// ==== [7] STORE: gather. out[i,j] = row id[i] or position[i], column j, converted to `as` ==================
GGNN_REF void ggnn_ref_row(void* out, int64_t at, ggnn_type as, const void* r, const ggnn_store* from)
{
    for (int64_t j = 0; j < from->width; j++, at++) {
        float x = from->type == GGNN_F32 ? ((const float*)r)[j] : ggnn_half_to_float(((const uint16_t*)r)[j]);
        if (as == GGNN_F32) ((float*)out)[at] = x;
        else ((uint16_t*)out)[at] = ggnn_float_to_half(x);
    }
}
GGNN_REF void ggnn_ref_gather(void* out, int64_t ld_out, ggnn_type as, const ggnn_store* from,
    const ggnn_node* id, int64_t n)
{ for (int64_t i = 0; i < n; i++) ggnn_ref_row(out, i * ld_out, as, ggnn_row(from, id[i]), from); }
GGNN_REF void ggnn_ref_gather_edges(void* out, int64_t ld_out, ggnn_type as, const ggnn_store* from,
    const int64_t* position, int64_t n)
{ for (int64_t i = 0; i < n; i++) ggnn_ref_row(out, i * ld_out, as, ggnn_row(from, position[i]), from); }
// mark[i]: where the row of id[i] is; out[i,:] = the row that is there
GGNN_REF void ggnn_ref_mark(int64_t* mark, const ggnn_layout* at, const ggnn_node* id, int64_t n)
{ for (int64_t i = 0; i < n; i++) mark[i] = ggnn_mark_of(ggnn_locate(at, id[i])); }
GGNN_REF void ggnn_ref_gather_marked(void* out, int64_t ld_out, ggnn_type as, const ggnn_store* from,
    const int64_t* mark, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const ggnn_place at = ggnn_marked(mark[i]);
        const void*      rows = from->base ? from->base[at.slot] : from->rows;
        ggnn_ref_row(out, i * ld_out, as, (const char*)rows + at.row * from->pitch, from);
    }
}
// ==== [8] SPARSE: sums over lists, products per edge, softmax per list =====================================
typedef struct ggnn_ref_sum { float total, part; int64_t terms; } ggnn_ref_sum; // parts of 256 terms
GGNN_REF void ggnn_ref_add(ggnn_ref_sum* s, float term)
{
    if (s->terms++ % 256 == 0) s->total += s->part, s->part = 0;
    s->part += term;
}
GGNN_REF float ggnn_ref_total(const ggnn_ref_sum* s) { return s->total + s->part; }
// x . y: 16 partial sums, of every 16th product each, folded to 8, 4, 2, 1
GGNN_REF float ggnn_ref_dot(const float* x, const float* y, int64_t n)
{
    float part[16] = {0};
    for (int64_t j = 0; j < n; j++) part[j % 16] += x[j] * y[j];
    for (int half = 8; half; half /= 2) for (int j = 0; j < half; j++) part[j] += part[j + half];
    return part[0];
}
// The place of entry e of b's lists in arrays per edge, which a transpose shares with its block; its weight
GGNN_REF int64_t ggnn_ref_edge(const ggnn_block* b, int64_t e) { return b->edge ? b->edge[e] : e; }
GGNN_REF float ggnn_ref_weight(const float* weight, const ggnn_block* b, int64_t e, int64_t heads, int64_t k)
{ return weight ? weight[ggnn_ref_edge(b, e) * heads + k] : 1.0f; }
// SUM, MEAN: out[v,j] = dst[v] * sum over e = (u, v) of (weight[e, head of j] * src[u]) * inp[u,j]
//            + self[v] * inp[v,j];   MEAN without dst: dst[v] = 1 / |N(v)|. Any factor may be NULL
// MAX, MIN:  out[v,j] = the greatest, least weight[e, head of j] * inp[u,j], arg[v,j] (or NULL) its offset
//            in list v: the first of equals, NaN only among NaNs. An empty list gives 0 and -1
// With rows of edges the message of e stands in the place of inp[u,j].
GGNN_REF float ggnn_ref_message(ggnn_message message, const float* x, const float* edge)
{ return message == GGNN_EDGE_COPY ? *edge : message == GGNN_EDGE_TIMES ? *x * *edge : *x + *edge; }
GGNN_REF void ggnn_ref_spmm_edges(float* out, int64_t ld_out, int32_t* arg, ggnn_reduce how,
    ggnn_message message, const ggnn_block* b, const ggnn_scale* s, const float* weight, int32_t heads,
    const float* inp, int64_t ld_inp, const float* edge, int64_t ld_edge, int32_t width)
{
    const ggnn_scale none = {0, 0, 0}, f = s ? *s : none;
    for (int64_t v = 0; v < *b->num_dst.n; v++) for (int64_t j = 0; j < width; j++) {
        int64_t      n = b->indptr[v + 1] - b->indptr[v], chosen = -1;
        ggnn_ref_sum sum = {0, 0, 0};
        float        best = 0, x;
        for (int64_t e = b->indptr[v]; e < b->indptr[v + 1]; e++) {
            const int64_t u = b->indices[e], at = ggnn_ref_edge(b, e);
            x = ggnn_ref_weight(weight, b, e, heads, j / (width / heads)) * (f.src ? f.src[u] : 1.0f);
            x *= edge ? ggnn_ref_message(message, inp + u * ld_inp + j, edge + at * ld_edge + j)
                      : inp[u * ld_inp + j];
            ggnn_ref_add(&sum, x);
            const int better = how == GGNN_MAX ? !(x <= best) : !(x >= best), is_number = x >= x;
            if (chosen < 0 || (better && is_number)) best = x, chosen = e - b->indptr[v];
        }
        x = how >= GGNN_MAX ? best : ggnn_ref_total(&sum);
        if (n) x *= f.dst ? f.dst[v] : how == GGNN_MEAN ? 1.0f / (float)n : 1.0f;
        if (f.self && v < *b->num_src.n) x += f.self[v] * inp[v * ld_inp + j];
        out[v * ld_out + j] = x;
        if (arg) arg[v * width + j] = (int32_t)chosen;
    }
}
GGNN_REF void ggnn_ref_spmm(float* out, int64_t ld_out, int32_t* arg, ggnn_reduce how, const ggnn_block* b,
    const ggnn_scale* s, const float* weight, int32_t heads, const float* inp, int64_t ld_inp, int32_t width)
{ ggnn_ref_spmm_edges(out, ld_out, arg, how, GGNN_EDGE_COPY, b, s, weight, heads, inp, ld_inp, 0, 0, width); }
// Backward of messages: dedge[e,j] = (weight[e, head of j] * (src[u] * dst[v])) * g, g = dout[v,j], with
// TIMES inp[u,j] * dout[v,j]; of MAX, MIN 0 where e was not chosen
GGNN_REF void ggnn_ref_spmm_edges_back(float* dedge, int64_t ld_dedge, ggnn_message message,
    const ggnn_block* b, const ggnn_scale* s, const float* weight, int32_t heads, const float* inp,
    int64_t ld_inp, const float* dout, int64_t ld_dout, const int32_t* arg, int32_t width)
{
    const ggnn_scale none = {0, 0, 0}, f = s ? *s : none;
    for (int64_t v = 0; v < *b->num_dst.n; v++) for (int64_t j = 0; j < width; j++)
        for (int64_t e = b->indptr[v]; e < b->indptr[v + 1]; e++) {
            const int64_t u = b->indices[e];
            const float   factor = (f.src ? f.src[u] : 1.0f) * (f.dst ? f.dst[v] : 1.0f);
            const float   w = ggnn_ref_weight(weight, b, e, heads, j / (width / heads));
            const float   x = message == GGNN_EDGE_TIMES ? inp[u * ld_inp + j] : 1.0f;
            if (arg && arg[v * width + j] != e - b->indptr[v]) dedge[ggnn_ref_edge(b, e) * ld_dedge + j] = 0;
            else dedge[ggnn_ref_edge(b, e) * ld_dedge + j] = w * factor * (x * dout[v * ld_dout + j]);
        }
}
// Backward of SUM, edge after edge: dinp[u,j] += (weight[e, head of j] * (src[u] * dst[v])) * dout[v,j], then
// dinp[v,j] += self[v] * dout[v,j]. ggnn_cuda.cuh has it, by atomics. ggnn.h's backward is ggnn_spmm on the
// transpose, src and dst swapped: the same sum in other bits, as src[u] multiplies the total there.
GGNN_REF void ggnn_ref_spmm_scatter(float* dinp, int64_t ld_dinp, const ggnn_block* b, const ggnn_scale* s,
    const float* weight, int32_t heads, const float* dout, int64_t ld_dout, int32_t width)
{
    const ggnn_scale none = {0, 0, 0}, f = s ? *s : none;
    for (int64_t u = 0; u < *b->num_src.n; u++) memset(dinp + u * ld_dinp, 0, (size_t)width * sizeof *dinp);
    for (int64_t v = 0; v < *b->num_dst.n; v++) for (int64_t j = 0; j < width; j++) {
        for (int64_t e = b->indptr[v]; e < b->indptr[v + 1]; e++) {
            const float w = ggnn_ref_weight(weight, b, e, heads, j / (width / heads));
            const float factor = (f.src ? f.src[b->indices[e]] : 1.0f) * (f.dst ? f.dst[v] : 1.0f);
            dinp[b->indices[e] * ld_dinp + j] += w * factor * dout[v * ld_dout + j];
        }
        if (f.self && v < *b->num_src.n) dinp[v * ld_dinp + j] += f.self[v] * dout[v * ld_dout + j];
    }
}
// Backward of MAX, MIN by the transpose t of b: dinp[u,j] = sum over e = (u, v) of weight[e, head of j] *
// dout[v,j] where e was chosen (arg[v,j] is its offset in list v), of 0 where it was not
GGNN_REF void ggnn_ref_spmm_back_arg(float* dinp, int64_t ld_dinp, const ggnn_block* t, const ggnn_block* b,
    const float* weight, int32_t heads, const float* dout, int64_t ld_dout, const int32_t* arg, int32_t width)
{
    for (int64_t u = 0; u < *t->num_dst.n; u++) for (int64_t j = 0; j < width; j++) {
        ggnn_ref_sum sum = {0, 0, 0};
        for (int64_t i = t->indptr[u]; i < t->indptr[u + 1]; i++) {
            const int64_t v = t->indices[i], e = t->edge[i];
            const float   w = ggnn_ref_weight(weight, b, e, heads, j / (width / heads));
            ggnn_ref_add(&sum, arg[v * width + j] == e - b->indptr[v] ? w * dout[v * ld_dout + j] : 0.0f);
        }
        dinp[u * ld_dinp + j] = ggnn_ref_total(&sum);
    }
}
// DOT: out[e,k] = src[u, head k] . dst[v, head k].   ADD: out[e,k] = src[u,k] + dst[v,k]. ADD's backward is
// ggnn_edge_sum (SUM of ones, weight dout): ddst[v,k] over list v, dsrc[u,k] over list u of the transpose
GGNN_REF void ggnn_ref_sddmm(float* out, ggnn_edge_op how, const ggnn_block* b, const float* src,
    int64_t ld_src, const float* dst, int64_t ld_dst, int32_t heads, int32_t width)
{
    for (int64_t v = 0, d = width / heads; v < *b->num_dst.n; v++) for (int64_t k = 0; k < heads; k++)
        for (int64_t e = b->indptr[v]; e < b->indptr[v + 1]; e++) {
            const float *x = src + b->indices[e] * ld_src + k * d, *y = dst + v * ld_dst + k * d;
            out[ggnn_ref_edge(b, e) * heads + k] = how == GGNN_DOT ? ggnn_ref_dot(x, y, d) : *x + *y;
        }
}
static const float ggnn_ref_log2_e = 1.44269504f;
// out[e,k] = p[e] * (1 / sum over list v of p),  p[e] = 2^((logit[e,k] - max over list v) * log2 e)
GGNN_REF void ggnn_ref_edge_softmax(float* out, const ggnn_block* b, const float* logit, int32_t heads)
{
    for (int64_t v = 0; v < *b->num_dst.n; v++) for (int64_t k = 0, e, at; k < heads; k++) {
        ggnn_ref_sum sum = {0, 0, 0};
        float        most = -INFINITY;
        for (e = b->indptr[v]; e < b->indptr[v + 1]; e++)
            if (logit[at = ggnn_ref_edge(b, e) * heads + k] > most) most = logit[at];
        for (e = b->indptr[v]; e < b->indptr[v + 1]; e++)
            at = ggnn_ref_edge(b, e) * heads + k,
            ggnn_ref_add(&sum, out[at] = ggnn_exp2((logit[at] - most) * ggnn_ref_log2_e));
        for (e = b->indptr[v]; e < b->indptr[v + 1]; e++)
            out[ggnn_ref_edge(b, e) * heads + k] *= 1.0f / ggnn_ref_total(&sum);
    }
}
// dlogit[e,k] = out[e,k] * (dout[e,k] - sum over list v of out * dout)
GGNN_REF void ggnn_ref_edge_softmax_back(float* dlogit, const ggnn_block* b, const float* out,
    const float* dout, int32_t heads)
{
    for (int64_t v = 0; v < *b->num_dst.n; v++) for (int64_t k = 0, e, at; k < heads; k++) {
        ggnn_ref_sum sum = {0, 0, 0};
        for (e = b->indptr[v]; e < b->indptr[v + 1]; e++)
            at = ggnn_ref_edge(b, e) * heads + k, ggnn_ref_add(&sum, out[at] * dout[at]);
        for (e = b->indptr[v]; e < b->indptr[v + 1]; e++)
            at = ggnn_ref_edge(b, e) * heads + k, dlogit[at] = out[at] * (dout[at] - ggnn_ref_total(&sum));
    }
}
// ==== [9] ATTENTION: Velickovic et al. 2018 ================================================================
// A target attends to itself and to its list: entry 0 of row v is v itself, entry 1 + i the i-th of list v.
// el[u,k] = z[u, head k] . att[k]
GGNN_REF void ggnn_ref_scores(float* el, const float* z, int64_t ld_z, const float* att, int64_t n,
    int32_t heads, int32_t width)
{ for (int64_t u = 0, d = width / heads; u < n; u++) for (int64_t k = 0; k < heads; k++)
      el[u * heads + k] = ggnn_ref_dot(z + u * ld_z + k * d, att + k * d, d); }
// dz[u, head k] += del[u,k] * att[k];   datt[k] = sum over rows u of del[u,k] * z[u, head k]
GGNN_REF void ggnn_ref_scores_back(float* dz, int64_t ld_dz, float* datt, const float* del, const float* z,
    int64_t ld_z, const float* att, int64_t n, int32_t heads, int32_t width)
{
    for (int64_t j = 0; j < width; j++) {
        ggnn_ref_sum sum = {0, 0, 0};
        for (int64_t u = 0; u < n; u++) {
            const float factor = del[u * heads + j / (width / heads)];
            dz[u * ld_dz + j] += factor * att[j];
            ggnn_ref_add(&sum, factor * z[u * ld_z + j]);
        }
        datt[j] = ggnn_ref_total(&sum);
    }
}
// LeakyReLU(el[u,k] + er[v,k]) * log2 e of entry i of row v: attention is computed in powers of 2. With terms
// of edges, el[u,k] + term[e,k]; v's own term is the mean of its list's
GGNN_REF float ggnn_ref_logit(const ggnn_gat_layer* y, int64_t v, int64_t i, int64_t k)
{
    const int64_t K = y->heads, e = y->block->indptr[v] + i - 1, u = i ? y->block->indices[e] : v;
    float         left = y->el[u * K + k], sum;
    if (y->term) left += i ? y->term[ggnn_ref_edge(y->block, e) * K + k] : y->own_term[v * K + k];
    sum = left + y->er[v * K + k];
    return (sum > 0 ? sum : y->how.slope * sum) * ggnn_ref_log2_e;
}
// Dropout's factor of entry i of row v: 0, or the factor that keeps the mean; 1 without dropout
GGNN_REF float ggnn_ref_kept(const ggnn_gat_layer* y, int64_t v, int64_t i, int64_t k)
{
    const uint32_t   threshold = ggnn_dropout_threshold(y->how.dropout);
    const int64_t    id = y->block->id ? (int64_t)y->block->id[v] : v;
    const ggnn_words words = ggnn_random(&y->how.rng, y->how.layer, id, (uint32_t)(i / 8 * y->heads + k));
    return ggnn_dropout_field(words, i) < threshold ? 0.0f : ggnn_dropout_scale(threshold);
}
// out[v] = sum over the entries u of row v of alpha * q * z[u],  alpha = 2^logit / sum over row v of 2^logit;
// lse[v] = log2 of that sum. One pass, 256 entries at a time: powers are taken below the greatest logit so
// far, and the sums so far are brought down to it. At the end out is multiplied by 1 / sum.
GGNN_REF void ggnn_ref_gat(const ggnn_gat_layer* y)
{
    const ggnn_block* b = y->block;
    const int64_t     d = y->width / y->heads, dst = *b->num_dst.n;
    if (y->att_l) ggnn_ref_scores(y->el, y->z, y->ld_z, y->att_l, *b->num_src.n, y->heads, y->width);
    if (y->att_r) ggnn_ref_scores(y->er, y->z, y->ld_z, y->att_r, dst, y->heads, y->width);
    if (y->term) ggnn_ref_spmm_edges(y->own_term, y->heads, NULL, GGNN_MEAN, GGNN_EDGE_COPY, b, NULL, NULL, 1,
                                     NULL, 0, y->term, y->heads, y->heads);
    for (int64_t v = 0; v < dst; v++) for (int64_t k = 0; k < y->heads; k++) {
        const int32_t* list = b->indices + b->indptr[v];
        const int64_t  n = 1 + b->indptr[v + 1] - b->indptr[v];
        float          most = -INFINITY, sum = 0, *out = y->out + v * y->ld_out + k * d, p[256];
        for (int64_t first = 0, end, i; first < n; first = end) {
            float part = 0, before = most;
            end = first + 256 < n ? first + 256 : n;
            for (i = first; i < end; i++)
                if ((p[i - first] = ggnn_ref_logit(y, v, i, k)) > most) most = p[i - first];
            const float worth = first ? ggnn_exp2(before - most) : 0.0f; // of the sum so far
            for (i = first; i < end; i++)
                part += p[i - first] = ggnn_exp2(p[i - first] - most),
                p[i - first] *= ggnn_ref_kept(y, v, i, k);
            sum = sum * worth + part;
            for (int64_t j = 0; j < d; j++) {
                float column = 0;
                for (i = first; i < end; i++)
                    column += p[i - first] * y->z[(i ? list[i - 1] : v) * y->ld_z + k * d + j];
                out[j] = first ? out[j] * worth + column : column;
            }
        }
        for (int64_t j = 0; j < d; j++) out[j] *= 1.0f / sum;
        y->lse[v * y->heads + k] = most + ggnn_log2(sum);
    }
}
// dz[u] sums coef * dout[v], del[u] sums dl, over the rows v that have u: row u first, then list u of the
// transpose t; der[v] sums dl over row v. Of each entry u of row v, kept with factor q:
//   coef = alpha * q,  dl = alpha * (q * dout[v] . z[u] - dout[v] . out[v]) * LeakyReLU's slope at the logit
// A softmax's gradient is alpha * (g - sum of alpha * g): here g is q * dout[v] . z[u], the sum over row v is
// dout[v] . out[v], which ggnn.h keeps in y->delta. dl is the gradient of el[u] + er[v]: the logit's factor
// log2 e and the ln 2 of 2^x cancel. It goes to y->dlogit; coef is scratch of the same shape. There row v
// begins at v + indptr[v], as each row before it has one entry more than its list; edge e is at v + 1 + e.
// dterm is dl of an edge, and its part of v's own, whose term is a mean.
GGNN_REF void ggnn_ref_gat_back(float* dz, int64_t ld_dz, const ggnn_block* t, const ggnn_gat_layer* y,
    const float* dout, int64_t ld_dout, float* coef)
{
    const ggnn_block* b = y->block;
    const int32_t     K = y->heads, d = y->width / K;
    const int64_t     dst = *b->num_dst.n, src = *t->num_dst.n;
    float*            dl = y->dlogit;
    for (int64_t v = 0; v < dst; v++) for (int64_t k = 0; k < K; k++) {
        const float *  dv = dout + v * ld_dout + k * d, *out = y->out + v * y->ld_out + k * d;
        const int64_t  n = 1 + b->indptr[v + 1] - b->indptr[v];
        ggnn_ref_sum   sum = {0, 0, 0};
        for (int64_t i = 0, at = (v + b->indptr[v]) * K + k; i < n; i++, at += K) {
            const int64_t u = i ? b->indices[b->indptr[v] + i - 1] : v;
            const float   q = ggnn_ref_kept(y, v, i, k), *z = y->z + u * y->ld_z + k * d;
            const float   logit = ggnn_ref_logit(y, v, i, k), alpha = ggnn_exp2(logit - y->lse[v * K + k]);
            coef[at] = alpha * q;
            dl[at] = alpha * (q * ggnn_ref_dot(dv, z, d) - ggnn_ref_dot(dv, out, d));
            if (!(logit > 0)) dl[at] *= y->how.slope;
            if (n == 1) dl[at] = 0; // the softmax over one entry is 1, whatever its logit is
            ggnn_ref_add(&sum, dl[at]);
        }
        y->der[v * K + k] = ggnn_ref_total(&sum);
        for (int64_t i = 1, at = (v + b->indptr[v]) * K + k; y->term && i < n; i++)
            y->dterm[ggnn_ref_edge(b, b->indptr[v] + i - 1) * K + k] =
                dl[at + i * K] + dl[at] * (1.0f / (float)(n - 1));
    }
    for (int64_t u = 0; u < src; u++) for (int64_t k = 0; k < K; k++)
        for (int64_t j = -1; j < d; j++) { // j = -1: del[u]; else column j of dz[u]
            const int64_t begin = t->indptr[u], own = u < dst; // own: there is a row u
            ggnn_ref_sum  sum = {0, 0, 0};
            for (int64_t i = begin - own; i < t->indptr[u + 1]; i++) {
                const int64_t v = i < begin ? u : t->indices[i];
                const int64_t at = (i < begin ? u + b->indptr[u] : v + 1 + t->edge[i]) * K + k;
                ggnn_ref_add(&sum, j < 0 ? dl[at] : coef[at] * dout[v * ld_dout + k * d + j]);
            }
            if (j < 0) y->del[u * K + k] = ggnn_ref_total(&sum);
            else dz[u * ld_dz + k * d + j] = ggnn_ref_total(&sum);
        }
    if (y->att_l) ggnn_ref_scores_back(dz, ld_dz, y->datt_l, y->del, y->z, y->ld_z, y->att_l, src, K, d * K);
    if (y->att_r) ggnn_ref_scores_back(dz, ld_dz, y->datt_r, y->der, y->z, y->ld_z, y->att_r, dst, K, d * K);
}
#if defined(__clang__)
#pragma float_control(pop)
#elif defined(__GNUC__)
#pragma GCC pop_options
#endif
#if defined(__cplusplus) && defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
#endif // GGNN_REFERENCE_H
