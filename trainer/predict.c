#include "trainer/predict.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/memory.h"
#include "datasets/arrays.h"
#include "datasets/writer.h"

enum { IDS_AT_ONCE = 1 << 15, CLASSES_AT_ONCE = 1 << 10, TEXT_BYTES = 1 << 20 };

/* ==== whose rows ================================================================================================ */

/* Nodes are asked for, and come, by the numbers that they had before any reorder. (N) */
static ggnn_node* nodes_by_old_id(const task* t, error* why)
{
    ggnn_node* node = memory_new(memory_product((size_t)t->set.num_nodes, sizeof *node, 1), "the nodes asked for", why);
    if (node && dataset_nodes_by_old_id(&t->set, node, why)) return node;
    memory_free(node);
    return NULL;
}

static bool all_nodes(const task* t, ggnn_node** ids, int64_t* count, error* why)
{
    *count = t->set.num_nodes;
    return (*ids = nodes_by_old_id(t, why)) != NULL;
}

static bool nodes_of_split(const task* t, const config* c, ggnn_node** ids, int64_t* count, error* why)
{
    int64_t counts[4];
    if (!t->set.split) return error_set(why, "--nodes %s: %s has no splits (section 'split')", c->nodes, t->set.file.path);
    const uint8_t* part = dataset_split(&t->set, (int32_t)c->split, counts, why);
    ggnn_node* node = part ? nodes_by_old_id(t, why) : NULL;
    *count = 0;
    for (int64_t i = 0; node && i < t->set.num_nodes; i++)
        if (part[node[i]] == c->nodes_of) node[(*count)++] = node[i];
    return (*ids = node) != NULL;
}

/* The next ids of a file, each a node's; node: by old numbers, or NULL. */
static bool read_some(array* a, ggnn_node* to, int64_t first, int64_t count, const task* t, const ggnn_node* node, error* why)
{
    static int64_t id[IDS_AT_ONCE];
    if (!array_ints(a, id, count, why)) return false;
    for (int64_t i = 0; i < count; i++) {
        if (id[i] < 0 || id[i] >= t->set.num_nodes)
            return error_set(why, "%s: element %lld: %lld is no node of %s, which has %lld", source_name(a->in), (long long)(first + i),
                             (long long)id[i], t->set.file.path, (long long)t->set.num_nodes);
        to[i] = node ? node[id[i]] : (ggnn_node)id[i];
    }
    return true;
}

/* Of a gzipped file no length is known: its claim is not believed before its ids are there. */
static bool read_ids(array* a, const task* t, const ggnn_node* node, ggnn_node** ids, int64_t* count, error* why)
{
    int64_t room = 0, some;
    if (a->h.kind == 'b') return error_set(why, "%s: is a mask; ids are needed (numpy.flatnonzero of it)", source_name(a->in));
    if (a->h.num_dims != 1) return array_wrong_shape(a, "(rows)", why);
    for (*count = 0; *count < a->h.count; *count += some) {
        some = a->h.count - *count < IDS_AT_ONCE ? a->h.count - *count : IDS_AT_ONCE;
        if (room < *count + some) {
            int64_t more = source_length(a->in) >= 0 || a->h.count / 2 <= room + IDS_AT_ONCE ? a->h.count : 2 * room + IDS_AT_ONCE;
            ggnn_node* larger = memory_resize(*ids, (size_t)room * sizeof **ids, memory_product((size_t)more, sizeof **ids, 1), "the nodes asked for", why);
            if (!larger) return false;
            *ids = larger;
            room = more;
        }
        if (!read_some(a, *ids + *count, *count, some, t, node, why)) return false;
    }
    return array_end(a, why);
}

static bool nodes_of_file(const task* t, const char* path, ggnn_node** ids, int64_t* count, error* why)
{
    array a;
    if (!array_open_file(&a, path, why)) return false;
    ggnn_node* node = t->set.old_id ? nodes_by_old_id(t, why) : NULL;
    const bool good = (node || !t->set.old_id) && read_ids(&a, t, node, ids, count, why);
    memory_free(node);
    array_close(&a);
    return good;
}

static int by_id(const void* a, const void* b)
{
    const predict_place *x = a, *y = b;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

static bool rise(const ggnn_node* id, int64_t count)
{
    for (int64_t i = 1; i < count; i++)
        if (id[i] <= id[i - 1]) return false;
    return true;
}

/* The task is asked for each node once, in order. */
static bool sort_nodes(task* t, predict_nodes* asked, error* why)
{
    const size_t rows = (size_t)asked->rows;
    int64_t distinct = 0;
    asked->place = memory_new(memory_product(rows, sizeof *asked->place, 1), "the places of nodes", why);
    ggnn_node* ids = asked->place ? memory_new(memory_product(rows, sizeof *ids, 1), "the nodes asked for, in order", why) : NULL;
    if (!ids) return false;
    for (int64_t i = 0; i < asked->rows; i++) asked->place[i] = (predict_place){asked->id[i], i};
    qsort(asked->place, rows, sizeof *asked->place, by_id);
    for (int64_t i = 0; i < asked->rows; i++)
        if (!i || asked->place[i].id != asked->place[i - 1].id) ids[distinct++] = asked->place[i].id;
    task_ask(t, ids, distinct);
    return true;
}

static bool find_nodes(task* t, predict_nodes* asked, const config* c, error* why)
{
    ggnn_node* ids = NULL;
    const bool good = !c->nodes        ? all_nodes(t, &ids, &asked->rows, why)
                      : c->nodes_of    ? nodes_of_split(t, c, &ids, &asked->rows, why)
                                       : nodes_of_file(t, c->nodes, &ids, &asked->rows, why);
    asked->id = asked->own = ids;
    if (!good) return false;
    if (!asked->rows) return error_set(why, "%s%s: there is no node of %s to predict", c->nodes ? "--nodes " : "--data ", c->nodes ? c->nodes : c->data, t->set.file.path);
    if (!rise(ids, asked->rows)) return sort_nodes(t, asked, why);
    task_ask(t, ids, asked->rows);
    asked->own = NULL;
    return true;
}

bool predict_open(task* t, predict_nodes* asked, const config* c, ggnn_file* from, error* why)
{
    checkpoint_widths widths;
    return checkpoint_widths_of(from, c, &widths, why) && task_open_asked(t, c, widths.outputs, why) &&
           checkpoint_fits(from, c, &widths, t, why) && (!c->out_csv || dataset_check_names(&t->set, why)) && find_nodes(t, asked, c, why);
}

void predict_close(predict_nodes* asked)
{
    memory_free(asked->own);
    memory_free(asked->place);
    memset(asked, 0, sizeof *asked);
}

/* ==== where rows go ============================================================================================= */

static bool writes_classes(const prediction* p) { return p->config->write == WRITE_CLASSES; }

static int64_t row_bytes(const prediction* p) { return p->width * (int64_t)sizeof(float); } /* classes: of int32 */

static bool open_output(prediction* p, error* why)
{
    const config* c = p->config;
    if (!output_open(&p->out, c->out, OUTPUT_FILE, why)) return false;
    p->opened = true;
    if (c->out_csv) return (p->rows = writer_scratch_file(c->out, why)) >= 0;
    if (!output_npy(&p->out, NULL, writes_classes(p) ? "<i4" : "<f4", writes_classes(p) ? 1 : 2, p->asked->rows, p->width)) return false;
    if (fflush(p->out.stream) != 0) return output_fail(&p->out, "cannot write");
    p->head = ftell(p->out.stream);
    p->rows = fileno(p->out.stream);
    return true;
}

static bool write_rows(prediction* p, const void* from, int64_t count, int64_t row)
{
    errno = writer_put(p->rows, from, count * row_bytes(p), p->head + row * row_bytes(p));
    return errno == 0 || output_fail(&p->out, "cannot write");
}

/* Rows of the task's nodes [first, first + count), each where it was asked for. */
static bool place_rows(prediction* p, const char* from, int64_t first, int64_t count)
{
    const predict_nodes* asked = p->asked;
    if (!asked->place) return write_rows(p, from, count, first);
    for (int64_t k = 0; k < count; k++)
        for (; p->next < asked->rows && asked->place[p->next].id == p->task->ids[TASK_ASKED][first + k]; p->next++)
            if (!write_rows(p, from + k * row_bytes(p), 1, asked->place[p->next].row)) return false;
    return true;
}

static bool place_classes(prediction* p, net_rows rows, int64_t first)
{
    int32_t class_of[CLASSES_AT_ONCE];
    for (int64_t done = 0, some; done < rows.rows; done += some) {
        some = rows.rows - done < CLASSES_AT_ONCE ? rows.rows - done : CLASSES_AT_ONCE;
        for (int64_t i = 0; i < some; i++) class_of[i] = metrics_class(rows.v + (done + i) * rows.ld, rows.cols);
        if (!place_rows(p, (const char*)class_of, first + done, some)) return false;
    }
    return true;
}

static bool check_row(const prediction* p, const float* row, int32_t cols, int64_t v, error* why)
{
    error feature = {""};
    int32_t j = 0;
    while (j < cols && isfinite(row[j])) j++;
    if (j == cols) return true;
    task_blame_features(p->task, &feature);
    return error_set(why, "the output of node %lld is %g in column %d%s%s",
                     (long long)dataset_old_id(&p->task->set, v), (double)row[j], (int)j, feature.text[0] ? ": " : "",
                     feature.text);
}

/* evaluation_sink's */
static bool put(void* context, int64_t first, net_rows rows, error* why)
{
    prediction* p = context;
    for (int64_t k = 0; k < rows.rows; k++)
        if (!check_row(p, rows.v + k * rows.ld, rows.cols, (int64_t)p->task->ids[TASK_ASKED][first + k], why)) return false;
    return writes_classes(p) ? place_classes(p, rows, first) : place_rows(p, (const char*)rows.v, first, rows.rows);
}

/* ==== text ====================================================================================================== */

static bool read_rows(const prediction* p, char* to, int64_t bytes, int64_t at)
{
    while (bytes > 0) {
        const ssize_t got = pread(p->rows, to, (size_t)bytes, (off_t)at);
        if (got < 0 && errno == EINTR) continue;
        if (got == 0) errno = EIO;
        if (got <= 0) return false;
        to += got;
        at += got;
        bytes -= got;
    }
    return true;
}

static void put_heading(const prediction* p, FILE* out)
{
    fprintf(out, "node%s%s", p->task->set.external_id ? ",external_id" : "", p->task->set.name ? ",name" : "");
    if (writes_classes(p)) fputs(",class", out);
    for (int32_t j = 0; j < p->width && !writes_classes(p); j++) fprintf(out, ",%s%d", p->config->layer ? "output_" : "logit_", (int)j);
    fputc('\n', out);
}

static void put_line(const prediction* p, FILE* out, int64_t i, const char* row)
{
    const dataset* d = &p->task->set;
    const ggnn_node v = p->asked->id[i];
    int32_t class_of;
    float value;
    fprintf(out, "%" PRId64, dataset_old_id(d, v));
    if (d->external_id) fprintf(out, ",%" PRId64, d->external_id[v]);
    if (d->name) fputc(',', out);
    if (d->name) dataset_put_name(d, v, out);
    if (writes_classes(p)) fprintf(out, ",%" PRId32, *(const int32_t*)memcpy(&class_of, row, sizeof class_of));
    for (int32_t j = 0; j < p->width && !writes_classes(p); j++) {
        fputc(',', out);
        output_float(out, *(const float*)memcpy(&value, row + (size_t)j * sizeof value, sizeof value));
    }
    fputc('\n', out);
}

/* All rows as they are asked for. Ends early where this process is to stop. */
static bool write_text(prediction* p, error* why)
{
    const int64_t at_once = row_bytes(p) < TEXT_BYTES ? TEXT_BYTES / row_bytes(p) : 1, rows = p->asked->rows;
    char* some = memory_new((size_t)(at_once * row_bytes(p)), "rows to write as text", why);
    bool good = some && output_begin(&p->out, NULL, rows);
    if (good) put_heading(p, p->out.stream);
    for (int64_t i = 0; good && i < rows && !*p->comm->stop; i++) {
        const int64_t count = rows - i < at_once ? rows - i : at_once;
        if (i % at_once == 0 && !read_rows(p, some, count * row_bytes(p), i * row_bytes(p))) good = output_fail(&p->out, "its rows cannot be read again");
        if (good) put_line(p, p->out.stream, i, some + i % at_once * row_bytes(p));
        if (good && ferror(p->out.stream)) good = output_fail(&p->out, "cannot write");
        progress_update(&p->out.bar, i);
    }
    memory_free(some);
    return good;
}

/* ==== a prediction ============================================================================================== */

bool prediction_open(prediction* p, const config* c, const task* t, const predict_nodes* asked, device* d, comm* with, ggnn_file* from,
                     error* why)
{
    memset(p, 0, sizeof *p);
    p->config = c;
    p->task = t;
    p->asked = asked;
    p->comm = with;
    p->rows = -1;
    if (!worker_open(&p->worker, c, t, d, with, why) || !checkpoint_load(from, worker_net(&p->worker), &p->at, why)) return false;
    p->width = writes_classes(p) ? 1 : net_width(worker_net(&p->worker), (int32_t)(c->layer ? c->layer : c->layers) - 1);
    return with->rank > 0 || open_output(p, why);
}

/* What was opened of the output and has not got its name is removed. */
static bool end_output(prediction* p, bool good)
{
    if (p->config->out_csv && p->rows >= 0) close(p->rows);
    p->rows = -1;
    p->opened = false;
    return output_finish(&p->out, good);
}

void prediction_close(prediction* p)
{
    if (p->opened) end_output(p, false);
    worker_close(&p->worker);
    memset(p, 0, sizeof *p);
}

static void say(const prediction* p)
{
    const config* c = p->config;
    char what[64] = "logits";
    if (writes_classes(p)) snprintf(what, sizeof what, "classes");
    else if (c->layer) snprintf(what, sizeof what, "outputs of layer %d", (int)c->layer);
    printf("%s: %s of %lld nodes, (%lld", c->out, what, (long long)p->asked->rows, (long long)p->asked->rows);
    if (writes_classes(p)) printf(",)");
    else printf(", %d)", (int)p->width);
    printf(", by the weights of epoch %lld of %s", (long long)(p->at.has_best ? p->at.best_epoch : p->at.epoch), c->resume);
    printf("%s\n", p->at.has_best ? ", the best one" : ", the last one: it has had no evaluation");
}

bool prediction_run(prediction* p, error* why)
{
    const evaluation_sink to = {put, p, p->comm->rank ? NULL : &p->bar};
    if (!worker_write(&p->worker, &to, why)) return false;
    if (p->comm->rank) return true;
    if (p->config->out_csv && !write_text(p, why)) return false;
    if (*p->comm->stop) {
        comm_heard_stop(p->comm);
        return false;
    }
    if (!output_end(&p->out) || !end_output(p, true)) return false;
    say(p);
    return true;
}
