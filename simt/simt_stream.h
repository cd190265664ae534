// simt_stream.h - streams and captures, as simt_stream.cc and simt_graph.cc share them.
#ifndef SIMT_STREAM_H
#define SIMT_STREAM_H

#include "simt_core.h"

#include <atomic>
#include <deque>

namespace simt {

struct Stream;
struct Capture;
using StreamPointer = std::shared_ptr<Stream>;

struct Mark { // the first n pieces of work of a stream
    StreamPointer stream;
    uint64_t      n;
};
struct Work {
    std::function<void()> run;
    int                   view; // what it may touch: a device's number, or VIEW_ALL for copies
    int                   device;
    std::vector<Mark>     after;   // work of other streams that comes first
    std::vector<Sync>     acquire; // and what it is ordered after
    std::function<bool()> ready = nullptr; // what it waits for besides: asked until it says so
};
enum { GREATEST_PRIORITY = -5, LEAST_PRIORITY = 0 }; // as an H100 has them: told, and no more
struct Stream {
    int              device;
    bool             is_default;
    bool             blocking; // ordered with the default stream
    int              priority = LEAST_PRIORITY;
    std::deque<Work> queue;
    uint64_t         pushed = 0, done = 0;
    TaskFiber*       fiber   = new_task_fiber();
    Sync             sync    = make_sync(); // released by all that has been done
    Capture*         capture = nullptr;
    std::vector<int> tail; // while captured: the nodes that its next node comes after
};
struct SharedEvent { // in memory that several processes map
    std::atomic<uint64_t> recorded, reached; // how often
    std::atomic<int>      process;           // that recorded it last
};
struct Event {
    bool                    timed;
    Mark                    mark; // nothing recorded: no stream
    Sync                    sync;
    std::shared_ptr<double> ms; // when it was reached
    Capture*                capture;
    std::vector<int>        tail;
    Range                   pages  = {nullptr, 0}; // cudaEventInterprocess: what follows is in them
    SharedEvent*            shared = nullptr;
    Shared                  where  = {};
};

StreamPointer stream_of(void* handle); // throws
Event&        event_of(cudaEvent_t);   // throws
void          do_work(const Work& work);

// ---- capture
bool capturing();
void add_node(Stream& stream, Work work);
void join_capture(const StreamPointer& stream, const Event& event);
// Ends a capture (all, where null), since something was asked for that it cannot record.
[[noreturn]] void refuse(Capture* capture, cudaError_t error);

} // namespace simt
#endif
