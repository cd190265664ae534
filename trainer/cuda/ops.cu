// ops.cu - the CUDA backend: the launch behind each operation of the four tables, all on one stream.
//
// Row counts stay on the device. A product's M (or K, where the first factor is transposed) is the rows' bound: rows
// above the count hold whatever was there, which is finite, as all memory begins with zeros; where such rows would
// be added up, in the gradients of weights, those of one factor are zero: finish_back and attend_back leave the
// gradients that they make so.
#define GGNN_CUDA_IMPLEMENTATION // for all of the program; capture.cuh and those below it use what is inside, too
#include <cstdlib>

#include "trainer/cuda/capture.cuh"
#include "trainer/cuda/batches.cuh"

namespace train {

static dense   dense_of(mat a) { return {a.v, a.ld, a.cols, a.rows}; }
static divider columns(mat a) { return divide_by(a.cols); }

// ==== set-up ===============================================================================================

static void cuda_plan(net* n)
{
    const extent t = n->most_transposed;
    void*        memory = net_take(n, ggnn_cuda_block_transpose_bytes(t.dst, t.src, t.edges), 1);
    if (memory) ggnn_cuda_block_transpose_init(&n->transpose, t.dst, t.src, t.edges, memory);
    n->transpose_workspace = net_take(n, ggnn_cuda_block_transpose_workspace_bytes(t.src), 1);
    n->workspace = net_take(n, 2 * ggnn_cuda_scores_back_workspace_bytes(n->most_rows, n->widest), 1); // of both vectors
}

static void cuda_forget(net* n)
{
    step_graphs* all = static_cast<step_graphs*>(n->steps);
    if (all) forget_steps(all);
    delete all;
    n->steps = nullptr;
}

static ggnn_status cuda_whole(net* n, ggnn_block* b, int64_t counts[3], int32_t* copy)
{
    const ggnn_graph* g = n->data.graph;
    if (g->num_nodes > INT32_MAX || g->num_edges > INT32_MAX) return GGNN_ERROR_CAPACITY;
    check(n, ggnn_cuda_block_whole(b, g, counts, copy, stream_of(n)), "the whole graph");
    return GGNN_OK;
}

static void cuda_gcn_norm(net* n, float* inv_sqrt)
{
    check(n, ggnn_cuda_gcn_norm(inv_sqrt, n->data.graph, stream_of(n)), "degrees");
}

static void cuda_range(device* d, ggnn_node* out, int64_t first, int64_t n)
{
    check(d, launch_items(range, n, own(d).stream, out, first, n), "a range of ids");
}

static void cuda_sum_pieces(device* d, float* out, const float* piece, int32_t pieces, int64_t n)
{
    check(d, launch_items(sum_pieces, n, own(d).stream, out, piece, pieces, n), "a sum of pieces");
}

static size_t cuda_split_bytes(int64_t n, int32_t parts) { return ggnn_cuda_split_workspace_bytes(n, parts); }

static void cuda_split(device* d, int32_t* gather, int32_t* scatter, int64_t* bound, const ggnn_layout* at,
                       const ggnn_node* id, int64_t n, void* workspace)
{
    check(d, ggnn_cuda_split(gather, scatter, bound, at, id, {nullptr, n}, workspace, own(d).stream), "a split of ids");
}

static void cuda_permute(device* d, void* out, int64_t ld_out, const void* inp, int64_t ld_inp, ggnn_type type,
                         int32_t width, const int32_t* index, int64_t n)
{
    check(d, ggnn_cuda_permute(out, ld_out, inp, ld_inp, type, width, index, {nullptr, n}, own(d).stream), "ordering rows");
}

static void cuda_gather(device* d, void* out, int64_t ld_out, ggnn_type as, const ggnn_store* from, const ggnn_node* id,
                        int64_t n)
{
    check(d, ggnn_cuda_gather(out, ld_out, as, from, id, {nullptr, n}, own(d).stream), "gathering rows");
}

static void cuda_number(device* d, ggnn_node* place, const ggnn_node* id, int64_t n)
{
    check(d, launch_items(number, n, own(d).stream, place, id, n), "numbering ids");
}

static void cuda_sum_rows(device* d, float* out, int64_t ld_out, int64_t rows, int32_t width, const float* inp,
                          const int32_t* index, const int64_t* bound, int32_t parts)
{
    const dense  to = {out, ld_out, width, {nullptr, rows}};
    cudaStream_t stream = own(d).stream;
    cudaError_t  e = launch_items(zero_matrix, rows * width, stream, to, divide_by(width));
    for (int32_t p = 0; p < parts; p++) {
        const int64_t n = bound[p + 1] - bound[p];
        e = first_error(e, launch_items(sum_rows, n * width, stream, to, inp + bound[p] * width, index + bound[p], n,
                                        divide_by(width)));
    }
    check(d, e, "a sum of rows");
}

static int64_t cuda_count_known(net* n)
{
    const net_labels labels = n->data.labels;
    const int64_t    nodes = n->data.graph->num_nodes;
    int64_t *        to = &step_of(n)->labelled, known = 0;
    if (!labels.label && !labels.target) return 0;
    cudaError_t e = cudaMemsetAsync(to, 0, sizeof *to, stream_of(n));
    check(n, first_error(e, launch_items(count_known, nodes, stream_of(n), to, labels, nodes)), "labels");
    cuda_download(n->device, &known, to, sizeof known);
    return known;
}

// Features keep their zeros here.
static bool cuda_sparse_open(net*, error*) { return true; }
static void cuda_sparse_close(net*) {}
static mat  cuda_sparse(net*, uint32_t) { return {}; }

// ==== a step ===============================================================================================

static void cuda_begin(net* n)
{
    check(n, launch(advance, 1, WARP, stream_of(n), step_of(n), n->config.seed, n->step), "a step");
}

static step_graphs* graphs_of(net* n)
{
    if (!n->steps) n->steps = new step_graphs();
    return static_cast<step_graphs*>(n->steps);
}

static void cuda_compute(net* n, const mini_batch* b)
{
    if (b->shuffle) { // ranks meet in it
        timed_piece(n, [=] { net_run(n, b); });
        return;
    }
    repeated* r = find_step(graphs_of(n), *b);
    timed_piece(n, [=] { check(n, repeat(n->device, r, stream_of(n), [=] { net_run(n, b); }), "a step"); });
}

static void cuda_update(net* n)
{
    timed_piece(n, [=] {
        stage_timer     timed(n, NET_OPTIMIZER);
        const net_state s = {n->state.count, n->state.value, n->state.grad, n->state.m, n->state.v, nullptr};
        check(n, launch_items(update, s.count, stream_of(n), s, step_of(n), n->sums, n->optimiser), "the optimiser");
    });
}

// ==== products, matrices ===================================================================================

// Row-major c = op(a) op(b) is cuBLAS's column-major c' = op(b)' op(a)'.
static void cuda_gemm(net* n, mat c, mat a, bool at, mat b, bool bt, float beta)
{
    stage_timer timed(n, NET_GEMM);
    const float   one = 1;
    const int64_t rows = c.rows.max, inner = at ? a.rows.max : a.cols;
    if (rows == 0) return;
    cublasStatus_t s = cublasSgemm(own(n->device).blas, bt ? CUBLAS_OP_T : CUBLAS_OP_N, at ? CUBLAS_OP_T : CUBLAS_OP_N,
                                   c.cols, static_cast<int>(rows), static_cast<int>(inner), &one, b.v,
                                   static_cast<int>(b.ld), a.v, static_cast<int>(a.ld), &beta, c.v,
                                   static_cast<int>(c.ld));
    n->profile.flops[n->backward] += 2 * rows * c.cols * inner; // as many as were done, by bounds
    if (s != CUBLAS_STATUS_SUCCESS) error_set(&n->device->failed, "a product by cuBLAS: %s", cublasGetStatusString(s));
}

static void cuda_read_rows(net* n, mat out, mat x)
{
    stage_timer timed(n, x.v ? NET_ELEMENTWISE : NET_GATHER);
    cudaStream_t stream = stream_of(n);
    if (!x.v) check(n, ggnn_cuda_gather(out.v, out.ld, GGNN_F32, x.store, x.id, out.rows, stream), "gathering rows");
    else
        check(n, launch_items(copy_matrix, out.rows.max * out.cols, stream, dense_of(out), dense_of(x), columns(out)),
              "copying rows");
}

static void cuda_read_edges(net* n, mat out, const ggnn_store* from, const ggnn_block* b)
{
    stage_timer timed(n, NET_GATHER);
    check(n, ggnn_cuda_gather_edges(out.v, out.ld, GGNN_F32, from, b->position, b->num_edges, stream_of(n)), "gathering rows of edges");
}

static void cuda_add(net* n, mat out, mat a)
{
    stage_timer timed(n, NET_ELEMENTWISE);
    check(n, launch_items(add_matrix, a.rows.max * a.cols, stream_of(n), dense_of(out), dense_of(a), columns(a)),
          "adding rows");
}

static void cuda_clear(net* n, mat out)
{
    stage_timer timed(n, NET_ELEMENTWISE);
    check(n, launch_items(zero_matrix, out.rows.max * out.cols, stream_of(n), dense_of(out), columns(out)), "zeros");
}

static void cuda_mean_heads(net* n, mat out, mat a, int32_t heads)
{
    stage_timer timed(n, NET_ELEMENTWISE);
    check(n, launch_items(mean_heads, out.rows.max * out.cols, stream_of(n), dense_of(out), dense_of(a), heads, columns(out)),
          "a mean of heads");
}

static void cuda_mean_heads_back(net* n, mat da, mat dout, int32_t heads)
{
    stage_timer timed(n, NET_ELEMENTWISE);
    check(n, launch_items(mean_heads_back, dout.rows.max * dout.cols, stream_of(n), dense_of(da), dense_of(dout), heads,
                          columns(dout)), "a mean of heads, backward");
}

// ==== bias, norm, activation, dropout ======================================================================

static dropout dropout_of(const net* n, const ggnn_node* id, uint32_t threshold, int32_t l)
{
    return {&step_of(n)->dropout, id, l, threshold, ggnn_dropout_scale(threshold), ACTIVATION_NONE};
}

static bool by_four(mat a) { return (grain_of(a.v, a.ld, GGNN_F32) | static_cast<uint64_t>(a.cols)) % 4 == 0; }

static finish_job job_of(const net* n, mat h, const ggnn_node* id, uint32_t threshold, int32_t l)
{
    return {dense_of(h), dense_of(h), nullptr, dropout_of(n, id, threshold, l),
            divide_by(tiles_of(h.cols, FIELDS))};
}

static cudaError_t run(const net* n, void (*kernel)(finish_job), const finish_job& s)
{
    return launch_items(kernel, s.h.rows.max * s.parts.by, stream_of(n), s);
}

static void cuda_drop(net* n, mat x, const ggnn_node* id, uint32_t threshold, int32_t l)
{
    stage_timer timed(n, NET_ELEMENTWISE);
    check(n, run(n, by_four(x) ? drop_rows<4> : drop_rows<1>, job_of(n, x, id, threshold, l)), "dropout");
}

static norm_job norm_of(mat h, mat x, const epilogue* e)
{
    return {dense_of(h), x.v, e->bias.v.v, e->gamma.v.v, e->beta.v.v, e->normed.v, x.ld, e->normed.ld, e->inv_deviation};
}

static cudaError_t run(const net* n, void (*kernel)(norm_job), const norm_job& s)
{
    const int64_t tiles = tiles_of(s.h.rows.max, THREADS / ROW_LANES);
    return launch_tiles(kernel, tiles, THREADS, stream_of(n), s);
}

static void cuda_finish(net* n, mat h, mat x, const epilogue* e)
{
    stage_timer timed(n, NET_ELEMENTWISE);
    finish_job  s = job_of(n, h, e->id, e->threshold, e->layer);
    const bool  norm = e->gamma.v.v != nullptr;
    cudaError_t done = norm ? run(n, normalise, norm_of(h, x, e)) : cudaSuccess;
    s.drop.act = e->act;
    if (!norm) {
        s.x = dense_of(x);
        s.bias = e->bias.v.v;
    }
    check(n, first_error(done, run(n, by_four(h) && by_four(x) ? finish<4> : finish<1>, s)), "bias and activation");
}

static void cuda_multiply_finish(net* n, mat h, mat a, mat w, const epilogue* e)
{
    cuda_gemm(n, h, a, false, w, false, 0);
    cuda_finish(n, h, h, e);
}

// d = the sum over rows of dh; with norm also dgamma's and dbeta's, which read it before.
static cudaError_t sum_columns(const net* n, int which, mat dh, const epilogue* e)
{
    const dense   sums = dense_of(n->column_sums);
    const int64_t segments = tiles_of(dh.rows.max, ROWS);
    const bool    norm = which > 0;
    const float*  normed = norm ? e->normed.v : nullptr;
    const param   to[] = {e->bias, e->gamma, e->beta};
    cudaStream_t  stream = stream_of(n);
    cudaError_t   done = launch_items(column_sums, segments * dh.cols, stream, sums, which, dense_of(dh),
                                        normed, e->normed.ld, columns(dh));
    for (int k = which; k <= (norm ? 2 : 0); k++)
        done = first_error(done, launch(add_column_sums, tiles_of(dh.cols, WARP), THREADS, stream, dense_of(to[k].d), sums, k,
                                        dh.rows));
    return done;
}

static void cuda_finish_back(net* n, mat dh, mat h, const epilogue* e)
{
    stage_timer timed(n, NET_ELEMENTWISE);
    finish_job s = job_of(n, h, e->id, e->threshold, e->layer);
    s.h.rows = dh.rows;
    s.x = dense_of(dh);
    s.drop.act = e->act;
    cudaError_t done = cudaSuccess;
    const bool  changes = h.v && (e->act != ACTIVATION_NONE || e->threshold);
    if (changes) done = run(n, by_four(h) && by_four(dh) ? finish_back<4> : finish_back<1>, s);
    if (e->gamma.v.v) done = first_error(done, sum_columns(n, 1, dh, e));
    if (e->gamma.v.v) done = first_error(done, run(n, normalise_back, norm_of(dh, dh, e)));
    check(n, first_error(done, sum_columns(n, 0, dh, e)), "bias and activation, backward");
}

// ==== the graph ============================================================================================

static void cuda_transpose(net* n, ggnn_block* t, const ggnn_block* b)
{
    stage_timer timed(n, NET_AGGREGATE);
    check(n, ggnn_cuda_block_transpose(t, b, n->transpose_workspace, stream_of(n)), "transposing a block");
}

static void cuda_index_by_id(net* n, int32_t* indices, const ggnn_block* b, int32_t first)
{
    stage_timer timed(n, NET_AGGREGATE);
    check(n, launch_items(index_by_id, b->num_edges.max, stream_of(n), indices, b->neighbor, b->num_edges, first),
          "indices");
}

static void cuda_scale_mean(net* n, float* inv, const ggnn_block* b, bool with_self)
{
    stage_timer timed(n, NET_AGGREGATE);
    check(n, ggnn_cuda_scale_mean(inv, b, with_self, stream_of(n)), "factors of a mean");
}

static void cuda_scale_weights(net* n, float* inv, const ggnn_block* b, const float* weight)
{
    stage_timer timed(n, NET_AGGREGATE);
    check(n, ggnn_cuda_scale_weights(inv, b, weight, stream_of(n)), "factors of a weighted mean");
}

static void cuda_scale_gcn(net* n, float* src, float* dst, float* self, const ggnn_block* b)
{
    stage_timer timed(n, NET_AGGREGATE);
    check(n, ggnn_cuda_scale_gcn(src, dst, self, b, n->inv_sqrt, n->data.graph, stream_of(n)), "factors of GCN");
}

static void cuda_aggregate(net* n, mat out, int32_t* arg, ggnn_reduce how, const ggnn_block* b, const ggnn_scale* s,
                           const float* weight, mat x)
{
    stage_timer timed(n, x.v ? NET_AGGREGATE : NET_GATHER);
    cudaStream_t stream = stream_of(n);
    if (x.v)
        check(n, ggnn_cuda_spmm(out.v, out.ld, arg, how, b, s, weight, 1, x.v, x.ld, x.cols, stream), "aggregation");
    else
        check(n, ggnn_cuda_aggregate(out.v, out.ld, how, b, s, weight, 1, x.store, stream),
              "aggregation of stored rows");
}

static void cuda_own_and_mean(net* n, mat out, float* inv, const ggnn_block* b, mat x)
{
    const mat own = mat_columns(out, 0, x.cols), mean = mat_columns(out, x.cols, x.cols);
    if (!x.v) {
        cuda_read_rows(n, own, mat_head(x, b->num_dst));
        cuda_aggregate(n, mean, nullptr, GGNN_MEAN, b, nullptr, nullptr, x);
        return;
    }
    stage_timer              timed(n, NET_AGGREGATE);
    const ggnni::matrix_rows rows = ggnni::rows_of(x.v, x.ld, b->indices);
    const own_and_mean       op = {{{{}, rows, {nullptr, nullptr, 1, x.cols}, {}, mean.v, mean.ld}, ggnni::targets_of(b), 1}, own.v, inv};
    const uint64_t           grain = grain_of(own.v, own.ld, GGNN_F32) | grain_of(x.v, x.ld, GGNN_F32);
    check(n, ggnni::launch_lists(op, b, x.cols, 1, grain, stream_of(n)), "own rows and means");
}

static bool cuda_aggregate_back(net* n, mat dx, const ggnn_block* t, const ggnn_scale* s, const float* weight, mat d, mat own,
                                const layer* before)
{
    stage_timer timed(n, NET_AGGREGATE);
    const bool           opens = before && before->finish.act == ACTIVATION_RELU;
    const bool           adds = s->self || own.v;
    const mat            h = opens ? before->h : d, rows = own.v ? own : d; // GCN's own rows are d's
    const through_layer  then = {{}, s->dst, s->self, rows.v, h.v, adds ? rows.ld : 0, opens ? h.ld : 0, dx.rows.max,
                                 adds ? rows.rows : ggnn_count{},
                                 opens ? ggnn_dropout_scale(before->finish.threshold) : 1.0f, opens};
    const uint64_t       grain = grain_of(dx.v, dx.ld, GGNN_F32) | grain_of(d.v, d.ld, GGNN_F32) |
                           grain_of(rows.v, rows.ld, GGNN_F32) | grain_of(h.v, h.ld, GGNN_F32);
    check(n, ggnni::launch_back(dx.v, dx.ld, t, s->src, {weight, t->edge, 1, d.cols},
                                ggnni::rows_of(d.v, d.ld, t->indices), d.cols, then, grain, stream_of(n)),
          "aggregation, backward");
    return opens;
}

static void cuda_mean_edges(net* n, mat out, const ggnn_block* b, mat edge)
{
    stage_timer timed(n, NET_AGGREGATE);
    check(n, ggnn_cuda_spmm_edges(out.v, out.ld, nullptr, GGNN_MEAN, GGNN_EDGE_COPY, b, nullptr, nullptr, 1, nullptr, 0, edge.v,
                                  edge.ld, out.cols, stream_of(n)), "a mean of edges' rows");
}

static void cuda_aggregate_arg_back(net* n, mat dx, const ggnn_block* t, const ggnn_block* b, mat dout,
                                    const int32_t* arg)
{
    stage_timer timed(n, NET_AGGREGATE);
    check(n, ggnn_cuda_spmm_back_arg(dx.v, dx.ld, t, b, nullptr, 1, dout.v, dout.ld, arg, dout.cols, stream_of(n)),
          "aggregation, backward");
}

static int32_t heads_of(mat a) { return static_cast<int32_t>(a.rows.max); }

static void cuda_scores(net* n, float* e, mat z, mat a)
{
    stage_timer timed(n, NET_AGGREGATE);
    check(n, ggnn_cuda_scores(e, z.v, z.ld, a.v, z.rows, heads_of(a), z.cols, stream_of(n)), "scores");
}

static void cuda_scores_back(net* n, mat dz, mat da, const float* de, mat z, mat a)
{
    stage_timer timed(n, NET_AGGREGATE);
    check(n, ggnn_cuda_scores_back(dz.v, dz.ld, da.v, de, z.v, z.ld, a.v, z.rows, heads_of(a), z.cols, n->workspace,
                                   stream_of(n)), "scores, backward");
}

static void cuda_attend(net* n, const ggnn_gat_layer* y)
{
    stage_timer timed(n, NET_AGGREGATE);
    check(n, ggnn_cuda_gat(y, &step_of(n)->attention, stream_of(n)), "attention");
}

static cudaError_t clear_tail(net* n, mat a)
{
    return launch_items(zero_tail, a.rows.max * a.cols, stream_of(n), dense_of(a), columns(a));
}

static void cuda_attend_back(net* n, mat dz, const ggnn_block* t, const ggnn_gat_layer* y, mat dout)
{
    stage_timer timed(n, NET_AGGREGATE);
    ggnn_gat_layer with = *y;
    with.partial = static_cast<float*>(n->workspace);
    cudaError_t done = ggnn_cuda_gat_back(dz.v, dz.ld, t, &with, dout.v, dout.ld, &step_of(n)->attention, stream_of(n));
    done = first_error(done, clear_tail(n, dz));
    const mat dterm = {y->dterm, y->heads, y->heads, y->block->num_edges, nullptr, nullptr, nullptr};
    if (y->dterm) done = first_error(done, clear_tail(n, dterm));
    check(n, done, "attention, backward");
}

// ==== loss =========================================================================================

static void cuda_loss(net* n, mat dlogits, mat logits, const mini_batch* b)
{
    stage_timer    timed(n, NET_LOSS);
    const loss_job s = {dense_of(dlogits), dense_of(logits), n->data.labels, b->blocks.id,
                        n->row_loss,       b->known,         n->sums,        columns(logits)};
    const int64_t  tiles = tiles_of(logits.rows.max, THREADS / ROW_LANES);
    cudaError_t    done = launch_tiles(loss_rows, tiles, THREADS, stream_of(n), s);
    check(n, first_error(done, launch(sum_losses, 1, THREADS, stream_of(n), s)), "the loss");
}

static void cuda_set_losses(net* n, const net_losses* losses)
{
    context& c = own(n->device);
    cuda_upload(n->device, &c.step->losses, losses, sizeof *losses);
    c.seen = *losses;
    c.asked = false;
}

// A copy to pinned memory is asked for, and looked at in a later call unless this one waits; every LOOKS-th of those
// that do not.
enum { LOOKS = 16 };
static net_losses cuda_losses(net* n, bool wait)
{
    context& c = own(n->device);
    if (!wait && c.looks++ % LOOKS) return c.seen;
    read_clock(n, wait);
    if (c.asked && !wait && cudaEventQuery(c.arrived) == cudaErrorNotReady) {
        cudaGetLastError(); // no error to be found later
        return c.seen;
    }
    if (c.asked && !wait) c.seen = *c.losses;
    cudaError_t e = cudaMemcpyAsync(c.losses, &c.step->losses, sizeof *c.losses, cudaMemcpyDeviceToHost, c.stream);
    e = first_error(e, cudaEventRecord(c.arrived, c.stream));
    if (wait) e = first_error(e, cudaEventSynchronize(c.arrived));
    check(n, e, "reading the loss");
    c.asked = !wait && e == cudaSuccess;
    if (wait && e == cudaSuccess) c.seen = *c.losses;
    return c.seen;
}

// ==== the tables ===========================================================================================

static void cuda_enter(device* d) { check(d, cudaSetDevice(own(d).number), "entering it"); }

#define CUDA_ENTRY(result, name, parameters) cuda_##name,
static const memory_ops on_memory = {MEMORY_OPS(CUDA_ENTRY)};
static const row_ops    on_rows = {ROW_OPS(CUDA_ENTRY)};
static const batch_ops  on_batches = {BATCH_OPS(CUDA_ENTRY)};
static const math_ops   on_layers = {MATH_OPS(CUDA_ENTRY)};
static const struct ops ops_cuda = {&on_memory, &on_rows, &on_batches, &on_layers};

static int32_t count_devices()
{
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

static device* open_device(int32_t number, bool tf32, error* why)
{
    device* d = new device();
    d->ops = &ops_cuda;
#ifdef __CUDACC__
    d->backend = "cuda";
#else
    d->backend = "cuda-emulated";
#endif
    d->gemm[0] = d->gemm[1] = "cublas";
    d->threads = 1;
    d->tight = d->overlaps = true;
    d->unique.room = INT64_MAX;
    d->most_parts = GGNN_CUDA_PARTS_MAX;
    d->own = new context();
    d->plain = getenv("GGNN_TRAIN_PLAIN") != nullptr;
    cudaError_t e = open_context(d, number, tf32);
    if (e == cudaSuccess) return d;
    error_set(why, "--backend %s: device %d: %s", d->backend, number, cudaGetErrorString(e));
    cuda_close(d);
    return nullptr;
}

} // namespace train

extern "C" {
device_opener* const device_open_cuda = train::open_device;
device_counter* const device_count_cuda = train::count_devices;
}
