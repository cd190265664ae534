// comm_nccl.cu - rows of devices over NCCL: what trainer/ranks/comm_nccl.c calls of it. A communicator that never blocks: a rank
// that waits for another one asks NCCL, the stream, and the engine for the alarm, in turn.
#include <cstdio>
#include <cstring>
#include <new>

#include <cuda_runtime.h>
#include <nccl.h>
#include <sched.h>

#include "trainer/ranks/comm_engine.h"

namespace {

struct link { // of a rank
    ncclComm_t   comm;
    cudaStream_t stream; // its own: what the device works on was waited for before
};

link& own(const comm* c) { return *static_cast<link*>(c->nccl); }

bool failed(const char* what, ncclResult_t e, const link* l, error* why)
{
    const char* more = l && l->comm ? ncclGetLastError(l->comm) : nullptr;
    return error_set(why, "NCCL: %s: %s%s%s", what, ncclGetErrorString(e), more && *more ? ": " : "", more ? more : "");
}

// Until NCCL has done what it was asked for, and its stream as well.
bool finish(const comm* c, const link* l, const char* what, error* why)
{
    for (;; sched_yield()) {
        ncclResult_t state = ncclSuccess;
        ncclResult_t e = ncclCommGetAsyncError(l->comm, &state);
        if (e != ncclSuccess) state = e;
        if (state != ncclSuccess && state != ncclInProgress) return failed(what, state, l, why);
        if (state == ncclSuccess) { // before that the stream may not have got the work yet
            cudaError_t done = cudaStreamQuery(l->stream);
            if (done == cudaSuccess) return true;
            if (done != cudaErrorNotReady) return error_set(why, "NCCL: %s: %s", what, cudaGetErrorString(done));
            cudaGetLastError(); // no error to be found later
        }
        if (c->engine->alarmed(const_cast<comm*>(c))) return false;
    }
}

bool under_way(ncclResult_t e) { return e == ncclSuccess || e == ncclInProgress; }

// ==== joining, leaving =====================================================================================

int32_t version()
{
    int number = 0;
    return ncclGetVersion(&number) == ncclSuccess ? number : 0;
}

const char* name()
{
    static char text[48];
    const int   v = version();
#ifdef __CUDACC__
    const char* where = "";
#else
    const char* where = ", emulated";
#endif
    snprintf(text, sizeof text, "NCCL %d.%d.%d%s", v / 10000, v / 100 % 100, v % 100, where);
    return text;
}

bool describe(const comm* c, const device* d, comm_nccl_member* m, error* why)
{
    static_assert(sizeof(ncclUniqueId) == COMM_NCCL_ID, "an id is told in so many bytes");
    ncclUniqueId id;
    if (strncmp(d->backend, "cuda", 4) != 0) return true;
    cudaError_t found = cudaDeviceGetPCIBusId(m->device, sizeof m->device, d->number);
    if (found != cudaSuccess) return error_set(why, "NCCL: device %d: %s", d->number, cudaGetErrorString(found));
    if (c->rank != 0) return true;
    ncclResult_t e = ncclGetUniqueId(&id);
    if (e == ncclSuccess) memcpy(m->id, &id, sizeof id);
    return e == ncclSuccess || failed("an id for all", e, nullptr, why);
}

// What is under way ends, and writes no more.
void abandon(link* l)
{
    if (l->comm) ncclCommAbort(l->comm);
    if (l->stream) cudaStreamSynchronize(l->stream), cudaStreamDestroy(l->stream);
    delete l;
}

bool join(comm* c, const char id[COMM_NCCL_ID], error* why)
{
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    ncclUniqueId all;
    config.blocking = 0;
    memcpy(&all, id, sizeof all);
    link* l = new (std::nothrow) link();
    if (!l) return error_set(why, "out of memory: NCCL");
    cudaError_t opened = cudaStreamCreateWithFlags(&l->stream, cudaStreamNonBlocking);
    bool        good = opened == cudaSuccess || error_set(why, "NCCL: a stream: %s", cudaGetErrorString(opened));
    if (good) {
        ncclResult_t e = ncclCommInitRankConfig(&l->comm, c->ranks, all, c->rank, &config);
        good = under_way(e) ? finish(c, l, "joining", why) : failed("joining", e, l, why);
    }
    if (good) c->nccl = l;
    else abandon(l);
    return good;
}

void leave(comm* c)
{
    link& l = own(c);
    error ignored = {""};
    bool  good = !c->failed.text[0];
    good = good && under_way(ncclCommFinalize(l.comm)) && finish(c, &l, "leaving", &ignored);
    if (good && ncclCommDestroy(l.comm) == ncclSuccess) l.comm = nullptr;
    abandon(&l);
}

// ==== moving ===============================================================================================

ncclResult_t send_and_receive(const comm* c, const link& l, const comm_transfer* t)
{
    ncclResult_t e = ncclSuccess;
    for (int32_t i = 1; i < c->ranks; i++) {
        const int32_t    to = (c->rank + i) % c->ranks, from = (c->rank + c->ranks - i) % c->ranks;
        const comm_piece out = t->from_piece[to], in = t->to_piece[from];
        if (out.count && e == ncclSuccess)
            e = ncclSend(t->from + comm_offset(t, out), comm_bytes(t, out), ncclChar, to, l.comm, l.stream);
        if (in.count && e == ncclSuccess)
            e = ncclRecv(t->to + comm_offset(t, in), comm_bytes(t, in), ncclChar, from, l.comm, l.stream);
    }
    return e;
}

ncclResult_t gather(const comm* c, const link& l, const comm_transfer* t)
{
    const comm_piece mine = t->from_piece[c->rank];
    if (mine.count == 0) return ncclSuccess;
    return ncclAllGather(t->from + comm_offset(t, mine), t->to + comm_offset(t, t->to_piece[0]), comm_bytes(t, mine),
                         ncclChar, l.comm, l.stream);
}

// A communicator that failed is of no more use.
bool move(comm* c, const comm_transfer* t, error* why)
{
    link&        l = own(c);
    ncclResult_t e = ncclGroupStart();
    if (e == ncclSuccess) {
        e = t->gathers ? gather(c, l, t) : send_and_receive(c, l, t);
        ncclResult_t ended = ncclGroupEnd(); // due after a failure too
        if (under_way(e)) e = ended;
    }
    if (under_way(e) ? finish(c, &l, "rows", why) : failed("rows", e, &l, why)) return true;
    abandon(&l);
    c->nccl = nullptr;
    return false;
}

const comm_nccl calls = {version, name, describe, join, move, leave};

} // namespace

extern "C" {
const comm_nccl* const comm_nccl_here = &calls;
}
