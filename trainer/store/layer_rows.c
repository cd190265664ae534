#include "trainer/store/layer_rows.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/memory.h"
#include "datasets/writer.h"

static const char outputs[] = "the outputs of layers (--eval-memory)";

/* Who uses which copy: machines have one each on a CPU, else ranks do. */
static bool find_users(layer_rows* r, bool host, error* why)
{
    comm* c = r->comm;
    if (host ? c->machines == 1 : c->ranks == 1) return true;
    r->user = memory_new((size_t)c->ranks * sizeof *r->user, outputs, why);
    r->piece = r->user ? memory_new(2 * (size_t)c->ranks * sizeof *r->piece, outputs, why) : NULL;
    if (!r->piece) return false;
    r->user[c->rank] = host ? (layer_rows_user){c->machine, c->local, c->locals} : (layer_rows_user){c->rank, 0, 1};
    return comm_gather_each(c, r->user, sizeof *r->user, why);
}

/* Does rank `to` take for its copy what rank `from` has? */
static bool takes(const layer_rows_user* to, const layer_rows_user* from)
{
    return to->copy != from->copy && to->user == from->user % to->users;
}

bool layer_rows_spread(layer_rows* r, void* rows, const int64_t* bound, size_t row_bytes, error* why)
{
    comm* c = r->comm;
    comm_piece *to = r->piece, *from = r->piece + c->ranks;
    const comm_piece none = {0, 0};
    if (!r->user) return true;
    const layer_rows_user* me = &r->user[c->rank];
    for (int32_t k = 0; k < c->ranks; k++) {
        to[k] = takes(me, &r->user[k]) ? (comm_piece){bound[k], bound[k + 1] - bound[k]} : none;
        from[k] = takes(&r->user[k], me) ? (comm_piece){bound[c->rank], bound[c->rank + 1] - bound[c->rank]} : none;
    }
    return comm_exchange(c, r->device->host_memory ? NULL : r->device, rows, to, rows, from, row_bytes, why);
}

/* The least rank of a machine gives all of it. A copy without a byte has an address, too. */
static void* share_memory(layer_rows* r, size_t bytes, error* why)
{
    const size_t given = bytes ? bytes : 1;
    if (!comm_share(r->comm, &r->shared, r->comm->local ? 0 : given, outputs, why)) return NULL;
    return r->shared.part[0];
}

static void* open_file(layer_rows* r, size_t bytes, size_t most, const char* beside, error* why)
{
    if (writer_scratch(&r->file, beside, (int64_t)bytes)) return r->file.data;
    error_set(why, "evaluation beyond --eval-memory %zu: %s", most, r->file.error);
    return NULL;
}

typedef struct { /* where the ranks of a machine find an unnamed file */
    int64_t process, file;
} file_place;

/* The least rank of a machine has the file. */
static void* share_file(layer_rows* r, size_t bytes, size_t most, const char* beside, error* why)
{
    comm* c = r->comm;
    void* memory = NULL;
    if (c->local == 0 && !(memory = open_file(r, bytes, most, beside, why))) return NULL;
    file_place* all = memory_new((size_t)c->ranks * sizeof *all, outputs, why);
    if (!all) return NULL;
    all[c->rank] = (file_place){getpid(), r->file.fd};
    bool good = comm_gather_each(c, all, sizeof *all, why);
    const int32_t first = c->rank - c->local;
    if (good && c->local) memory = r->mapped = comm_map_file(all[first].process, all[first].file, bytes, outputs, why);
    r->bytes = bytes;
    memory_free(all);
    return good && memory && comm_barrier(c, why) ? memory : NULL; /* until then the file is open */
}

/* Of a device, in memory of the host's that it reads and writes over a link. */
static void* open_host(layer_rows* r, size_t bytes, error* why)
{
    r->host_memory = device_new_host(r->device, bytes, outputs, why);
    if (r->host_memory) memset(r->host_memory, 0, bytes);
    return r->host_memory;
}

void* layer_rows_open(layer_rows* r, device* d, comm* c, size_t bytes, size_t most, const char* beside, error* why)
{
    const bool host = d->host_memory;
    memset(r, 0, sizeof *r);
    r->device = d;
    r->comm = c;
    r->file.fd = -1;
    if (!find_users(r, host, why)) return NULL;
    if (bytes <= most && host && c->ranks > 1) return share_memory(r, bytes, why);
    if (!host && (bytes > most || (int64_t)bytes > device_room(d))) return open_host(r, bytes, why);
    if (bytes <= most) return r->memory = device_new(d, bytes, outputs, why);
    return c->ranks > 1 ? share_file(r, bytes, most, beside, why) : open_file(r, bytes, most, beside, why);
}

void layer_rows_close(layer_rows* r)
{
    if (!r->device) return;
    device_free(r->device, r->memory);
    if (r->host_memory) {
        device_settle(r->device);
        device_free_host(r->device, r->host_memory);
    }
    comm_unshare(r->comm, &r->shared);
    memory_free(r->user);
    memory_free(r->piece);
    ggnn_file_scratch_close(&r->file);
    if (r->mapped) munmap(r->mapped, r->bytes);
    memset(r, 0, sizeof *r);
}
