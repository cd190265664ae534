// simt_nccl.cc - NCCL's calls. The ranks of a communicator share a room, pages that other processes can map, with a box
// for each pair of ranks: the sender puts a piece of its message in, the receiver takes it out. A group becomes one piece
// of work of its stream, which is done when all its messages have been; whoever asks the stream lets them get on.
#include "nccl.h"
#include "simt_core.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>
#include <unistd.h>

namespace simt {

enum { RANKS_MAX = 16, PIECE = 16 << 10 };

struct Box { // from one rank to another
    std::atomic<int> full;
    int              collective;    // the message belongs to one
    size_t           message, bytes; // of the whole message, of this piece
    char             piece[PIECE];
};
struct Seat {
    std::atomic<int> taken, device; // device: its number + 1
};
struct Room {
    std::atomic<int> ranks;
    Seat             seat[RANKS_MAX];
    Box              box[RANKS_MAX][RANKS_MAX]; // [from][to]
};

struct Message {
    bool   sends, collective;
    int    peer;
    char*  at;
    size_t bytes, done;
    bool   over; // one of no bytes has a piece too
};

} // namespace simt

struct ncclComm {
    simt::Room*   room;
    int           rank, ranks, device;
    long          calls    = 0; // groups so far
    ncclResult_t  state    = ncclInProgress;
    bool          joined   = false, lost = false;
    int           pending  = 0;    // groups that are not done
    std::shared_ptr<bool> open = std::make_shared<bool>(true); // false: aborted
    std::string   last     = "";
};

namespace simt {

// ---- failures on demand

struct Failure {
    int  rank  = -1;
    long call  = 0;
    bool later = false;

    Failure()
    {
        char        word[8] = "";
        const char* text    = options().fail_nccl;
        if (!text) return;
        const int read = sscanf(text, "%d:%ld:%7s", &rank, &call, word);
        later          = !strcmp(word, "later");
        if (read < 2 || (read == 3 && !later)) fail("SIMT_FAIL_NCCL: \"%s\" is no RANK:N or RANK:N:later", text);
    }
};
static Failure& failure()
{
    static Failure one;
    return one;
}

static ncclResult_t told_to_fail(ncclComm* c)
{
    if (failure().rank != c->rank || failure().call != c->calls) return ncclSuccess;
    c->lost = failure().later;
    c->last = "told to fail";
    return c->lost ? ncclSuccess : ncclInternalError;
}

// ---- messages

static bool send_piece(ncclComm* c, Message& m)
{
    Box& box = c->room->box[c->rank][m.peer];
    if (box.full.load(std::memory_order_acquire)) return false;
    if (with_tsan()) tsan_acquire(&box);
    box.collective = m.collective;
    box.message    = m.bytes;
    box.bytes      = std::min(m.bytes - m.done, (size_t)PIECE);
    memmove(box.piece, m.at + m.done, box.bytes);
    m.done += box.bytes;
    if (with_tsan()) tsan_release(&box);
    box.full.store(1, std::memory_order_release);
    return true;
}

static bool receive_piece(ncclComm* c, Message& m)
{
    Box& box = c->room->box[m.peer][c->rank];
    if (!box.full.load(std::memory_order_acquire)) return false;
    if (with_tsan()) tsan_acquire(&box);
    if (box.message != m.bytes || box.collective != m.collective)
        fail("NCCL: rank %d takes %zu bytes of rank %d by %s, which sends %zu by %s", c->rank, m.bytes, m.peer,
             m.collective ? "ncclAllGather" : "ncclRecv", box.message, box.collective ? "ncclAllGather" : "ncclSend");
    memmove(m.at + m.done, box.piece, box.bytes);
    m.done += box.bytes;
    if (with_tsan()) tsan_release(&box);
    box.full.store(0, std::memory_order_release);
    return true;
}

static bool can_get_on(const ncclComm* c, const Message& m)
{
    const Box& box = m.sends ? c->room->box[c->rank][m.peer] : c->room->box[m.peer][c->rank];
    return !m.over && m.sends != (box.full != 0);
}

// Messages between two ranks go one after the other. False: not all are over.
static bool get_on(ncclComm* c, std::vector<Message>& all)
{
    bool busy[2][RANKS_MAX] = {}, over = true;
    if (std::none_of(all.begin(), all.end(), [c](const Message& m) { return can_get_on(c, m); })) return all.empty();
    set_view(VIEW_ALL);
    for (Message& m : all) {
        if (!m.over && !busy[m.sends][m.peer] && (m.sends ? send_piece(c, m) : receive_piece(c, m)))
            m.over = m.done == m.bytes;
        busy[m.sends][m.peer] = busy[m.sends][m.peer] || !m.over;
        over                  = over && m.over;
    }
    set_view(VIEW_HOST);
    return over;
}

// ---- groups, of a thread

struct Group {
    int                  depth  = 0;
    ncclComm*            comm   = nullptr;
    void*                stream = nullptr;
    ncclResult_t         error  = ncclSuccess; // of a call in it: then none of it is done
    std::vector<Message> messages;
};
static thread_local Group group;

static void check_memory(const ncclComm* c, const void* at, size_t bytes)
{
    cudaPointerAttributes where;
    if (!bytes) return;
    check_range(at, bytes);
    cudaPointerGetAttributes(&where, at);
    require(where.type == cudaMemoryTypeDevice && where.device == c->device, cudaErrorInvalidValue);
}

static ncclResult_t add(ncclComm* c, Message m, cudaStream_t stream)
{
    Lock lock;
    try {
        check_memory(c, m.at, m.bytes);
    } catch (cudaError_t) {
        c->last = "memory that is not the device's";
        return group.error = ncclInvalidArgument;
    }
    if (group.depth == 0 || m.peer < 0 || m.peer >= c->ranks || (group.comm && group.comm != c))
        return group.error = ncclInvalidUsage;
    group.comm   = c;
    group.stream = stream;
    group.messages.push_back(m);
    return ncclSuccess;
}

static ncclResult_t start(ncclComm* c, void* stream, std::vector<Message> messages)
{
    if (c->state != ncclSuccess) fail("ncclGroupEnd: the communicator's state is %d, not ncclSuccess", (int)c->state);
    c->calls++;
    if (told_to_fail(c) != ncclSuccess) return c->state = ncclInternalError;
    auto all  = std::make_shared<std::vector<Message>>(std::move(messages));
    auto work = [c, all, open = c->open] {
        if (!*open) return true;
        if (c->lost || !get_on(c, *all)) return false;
        c->pending--;
        return true;
    };
    c->pending++;
    c->state = ncclInProgress;
    try {
        put_until(stream, work);
    } catch (cudaError_t error) {
        c->last = cudaGetErrorString(error);
        return c->state = ncclUnhandledCudaError;
    }
    return ncclInProgress;
}

// ---- rooms

static std::map<long, Room*>& rooms() // those of this process, by their place in its file
{
    static std::map<long, Room*> all;
    return all;
}

static Room* room_of(const Shared& where)
{
    if (where.process != getpid()) return (Room*)map_shared(where).start;
    auto it = rooms().find(where.offset);
    require(it != rooms().end(), cudaErrorInvalidResourceHandle);
    return it->second;
}

// A rank has joined when all sit in the room, each with a device of its own.
static ncclResult_t look_around(ncclComm* c)
{
    for (int r = 0; r < c->ranks; r++)
        if (!c->room->seat[r].taken) return ncclInProgress;
    for (int r = 0; r < c->ranks; r++)
        if (r != c->rank && c->room->seat[r].device == c->device + 1) {
            c->last = "Duplicate GPU detected";
            return ncclInvalidUsage;
        }
    c->joined = true;
    return ncclSuccess;
}

} // namespace simt

using namespace simt;

ncclResult_t ncclGetVersion(int* version) { return *version = NCCL_VERSION_CODE, ncclSuccess; }

static_assert(sizeof(Shared) <= sizeof(ncclUniqueId));

ncclResult_t ncclGetUniqueId(ncclUniqueId* id)
{
    Lock lock;
    try {
        Range  pages;
        Shared where = new_shared(sizeof(Room), &pages);
        memset(id, 0, sizeof *id);
        memcpy(id, &where, sizeof where);
        rooms()[where.offset] = (Room*)pages.start; // zeros; it stays until this process ends
        return ncclSuccess;
    } catch (cudaError_t) {
        return ncclSystemError;
    }
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank, ncclConfig_t* config)
{
    Lock   lock;
    Shared where;
    memcpy(&where, &id, sizeof where);
    if (!comm || rank < 0 || rank >= ranks || ranks > RANKS_MAX || !config || config->blocking != 0)
        return ncclInvalidArgument;
    try {
        auto c  = std::make_unique<ncclComm>();
        c->room = room_of(where);
        c->rank = rank, c->ranks = ranks, c->device = current_device();
        if (told_to_fail(c.get()) != ncclSuccess) return ncclInternalError;
        Seat& seat  = c->room->seat[rank];
        seat.device = c->device + 1;
        if (seat.taken.exchange(1)) return ncclInvalidUsage;
        *comm = c.release();
        return ncclInProgress;
    } catch (cudaError_t) {
        return ncclSystemError;
    }
}

// The state is told as it was, so that whoever asks once and goes on is found out.
ncclResult_t ncclCommGetAsyncError(ncclComm_t c, ncclResult_t* state)
{
    Lock lock;
    if (c->lost) c->state = ncclRemoteError;
    *state = c->state;
    if (c->state == ncclInProgress) c->state = c->joined ? ncclSuccess : look_around(c);
    return ncclSuccess;
}

ncclResult_t ncclCommFinalize(ncclComm_t c)
{
    Lock lock;
    if (c->state != ncclSuccess || c->pending) return ncclInvalidUsage;
    return c->state = ncclInProgress;
}
ncclResult_t ncclCommDestroy(ncclComm_t c)
{
    Lock lock;
    if (c->pending) fail("ncclCommDestroy: %d groups are not done", c->pending);
    delete c;
    return ncclSuccess;
}
ncclResult_t ncclCommAbort(ncclComm_t c)
{
    Lock lock;
    *c->open = false;
    delete c;
    return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result)
{
    static const char* const text[] = {"no error", "unhandled cuda error", "unhandled system error", "internal error",
                                       "invalid argument", "invalid usage",
                                       "remote process exited or there was a network error", "NCCL operation in progress"};
    return (size_t)result < sizeof text / sizeof *text ? text[result] : "unknown result code";
}
const char* ncclGetLastError(ncclComm_t c) { return c ? c->last.c_str() : ""; }

ncclResult_t ncclGroupStart() { return group.depth++, ncclSuccess; }
ncclResult_t ncclGroupEnd()
{
    Lock lock;
    if (group.depth == 0) return ncclInvalidUsage;
    if (--group.depth) return ncclSuccess;
    Group one = std::move(group);
    group     = Group();
    if (one.error != ncclSuccess) return one.error;
    return one.comm ? start(one.comm, one.stream, std::move(one.messages)) : ncclSuccess;
}

ncclResult_t ncclSend(const void* from, size_t count, ncclDataType_t, int peer, ncclComm_t c, cudaStream_t stream)
{
    return add(c, {true, false, peer, (char*)from, count, 0, false}, stream);
}
ncclResult_t ncclRecv(void* to, size_t count, ncclDataType_t, int peer, ncclComm_t c, cudaStream_t stream)
{
    return add(c, {false, false, peer, (char*)to, count, 0, false}, stream);
}
ncclResult_t ncclAllGather(const void* from, void* to, size_t count, ncclDataType_t, ncclComm_t c, cudaStream_t stream)
{
    ncclResult_t e = ncclSuccess;
    for (int r = 0; r < c->ranks && e == ncclSuccess; r++) { // a rank's own piece is a message as well
        e = add(c, {true, true, r, (char*)from, count, 0, false}, stream);
        if (e == ncclSuccess) e = add(c, {false, true, r, (char*)to + (size_t)r * count, count, 0, false}, stream);
    }
    return e;
}

void simt_fail_nccl(int rank, long n, bool later)
{
    Lock lock;
    failure().rank = rank, failure().call = n, failure().later = later;
}
