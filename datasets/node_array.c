#include "datasets/node_array.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "datasets/arrays.h"
#include "ggnn_plan.h"

enum { CHUNK = 1024 };

/* what: "owners". reals: floats are taken, too. */
static bool open_nodes(array* a, const char* path, const char* what, bool reals, int64_t nodes, error* why)
{
    if (!array_open_file(a, path, why)) return false;
    const npy_header* h = &a->h;
    const bool wide = h->size >= 4, known = wide && (h->kind == 'i' || (reals && h->kind == 'f'));
    if (h->num_dims != 1) array_wrong_shape(a, "one dimension, a number per node,", why);
    else if (!known)
        error_set(why, "%s: elements of type '%c%d'; %s are int32%s int64%s", path, h->kind, h->size, what, reals ? "," : " or",
                  reals ? ", float32 or float64" : "");
    else if (h->count != nodes)
        error_set(why, "%s: %" PRId64 " %s; the graph has %" PRId64 " nodes", path, h->count, what, nodes);
    if (!why->text[0]) return true;
    array_close(a);
    return false;
}

static bool close_nodes(array* a, bool good, error* why)
{
    good = good && array_end(a, why);
    array_close(a);
    return good;
}

/* ---- owners --------------------------------------------------------------------------------------------------- */

bool node_owners(int32_t* owner, int32_t* parts, const char* path, int64_t nodes, error* why)
{
    const int32_t below = *parts ? *parts : GGNN_PARTS_MAX;
    int64_t piece[CHUNK], largest = 0;
    array a;
    if (!open_nodes(&a, path, "owners", false, nodes, why)) return false;
    bool good = true;
    for (int64_t done = 0, some; good && done < nodes; done += some) {
        some = nodes - done < CHUNK ? nodes - done : CHUNK;
        good = array_ints(&a, piece, some, why);
        for (int64_t i = 0; good && i < some; i++) {
            if (piece[i] < 0 || piece[i] >= below)
                good = error_set(why, "%s: element %" PRId64 ": owner %" PRId64 " is outside [0, %d)%s", path, done + i,
                                 piece[i], (int)below, *parts ? "" : ", the most parts that there may be");
            owner[done + i] = good ? (int32_t)piece[i] : -1;
            if (piece[i] > largest) largest = piece[i];
        }
    }
    if (good && !*parts) *parts = (int32_t)largest + 1;
    return close_nodes(&a, good, why);
}

/* ---- scores --------------------------------------------------------------------------------------------------- */

/* The order of finite and infinite floats as integers: of positive ones the bits are in order, of negative ones in reverse. */
static int64_t key_of(double score)
{
    int64_t bits;
    memcpy(&bits, &score, sizeof bits);
    return bits < 0 ? INT64_MIN - bits : bits; /* -0 has 0's key */
}

static bool read_real_keys(array* a, int64_t* key, int64_t first, int64_t count, const char* path, error* why)
{
    double piece[CHUNK];
    if (!array_doubles(a, piece, count, why)) return false;
    for (int64_t i = 0; i < count; i++) {
        if (isnan(piece[i])) return error_set(why, "%s: element %" PRId64 ": nan is no score", path, first + i);
        key[i] = key_of(piece[i]);
    }
    return true;
}

bool node_scores(int64_t* key, const char* path, int64_t nodes, error* why)
{
    array a;
    if (!open_nodes(&a, path, "scores", true, nodes, why)) return false;
    bool good = true;
    for (int64_t done = 0, some; good && done < nodes; done += some) {
        some = nodes - done < CHUNK ? nodes - done : CHUNK;
        good = a.h.kind == 'f' ? read_real_keys(&a, key + done, done, some, path, why) : array_ints(&a, key + done, some, why);
    }
    return close_nodes(&a, good, why);
}
