// simt_fiber.cc - stacks, the switch between them, and telling the sanitizers about it.
#include "simt_core.h"

#include <sys/mman.h>

namespace simt {

// ---- the switch: saves the registers that a call preserves on the old stack, takes those of the new one.
// It ends in a plain `ret`. Fibers usually wait at the same depth of the same calls, so the processor's stack
// of return addresses is right for the fiber that goes on as well.

#if defined(__x86_64__) && !defined(SIMT_UCONTEXT)
extern "C" void simt_switch(void** save_sp, void* load_sp);
asm(R"(
.text
.globl simt_switch
.type simt_switch,@function
simt_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size simt_switch,.-simt_switch
)");

// A new stack looks as if entry had been about to be called.
static void* first_frame(char*, char* top, void (*entry)())
{
    void** sp = (void**)top;
    *--sp     = nullptr; // entry's return address: it never returns
    *--sp     = (void*)entry;
    for (int i = 0; i < 6; i++) *--sp = nullptr;
    return sp;
}

#elif defined(__aarch64__) && !defined(SIMT_UCONTEXT)
extern "C" void simt_switch(void** save_sp, void* load_sp);
asm(R"(
.text
.globl simt_switch
.type simt_switch,%function
simt_switch:
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
.size simt_switch,.-simt_switch
)");

static void* first_frame(char*, char* top, void (*entry)())
{
    void** sp = (void**)(top - 160);
    memset(sp, 0, 160);
    sp[11] = (void*)entry; // x30
    return sp;
}

#else // ucontext: every other processor, and a check of the two above; slow, since it asks the kernel
} // namespace simt
#include <ucontext.h>
namespace simt {
static void simt_switch(void** save_sp, void* load_sp)
{
    ucontext_t here;
    *save_sp = &here;
    swapcontext(&here, (ucontext_t*)load_sp);
}
static void* first_frame(char* stack, char* top, void (*entry)())
{
    auto* context = (ucontext_t*)(top - ((sizeof(ucontext_t) + 63) & ~(size_t)63));
    getcontext(context);
    context->uc_stack.ss_sp   = stack;
    context->uc_stack.ss_size = (size_t)((char*)context - stack);
    makecontext(context, entry, 0);
    return context;
}
#endif

// ---- stacks

static const size_t PAGE = 4096;
static std::vector<char*> guards; // a page before each stack

bool in_stack_guard(const void* address)
{
    for (char* guard : guards)
        if ((char*)address >= guard && (char*)address < guard + PAGE) return true;
    return false;
}

void fiber_create(Fiber& fiber, void (*entry)())
{
    size_t bytes = options().stack;
    char*  guard = (char*)mmap(nullptr, bytes + PAGE, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (guard == MAP_FAILED) fail("no memory for a fiber's stack");
    mprotect(guard, PAGE, PROT_NONE);
    fiber.stack = guard + PAGE;
    fiber.bytes = bytes;
    (void)VALGRIND_STACK_REGISTER(fiber.stack, fiber.stack + bytes);
    // Tops lie at different places of a page, or all would fall into the same few sets of the cache.
    char* top            = fiber.stack + bytes - guards.size() * 320 % PAGE;
    fiber.saved_sp       = first_frame(fiber.stack, (char*)((uintptr_t)top & ~(uintptr_t)63), entry);
    fiber.asan_stack     = nullptr;
    guards.push_back(guard);
}

static void tell_asan_we_arrived(void* asan_stack, Fiber& from)
{
    const void* stack;
    size_t      bytes;
    __sanitizer_finish_switch_fiber(asan_stack, &stack, &bytes);
    if (from.stack) return;
    from.stack = (char*)stack; // the host's own, which nobody told us
    from.bytes = bytes;
}

static Fiber* switched_from;

void fiber_entered()
{
    if (__sanitizer_finish_switch_fiber) tell_asan_we_arrived(nullptr, *switched_from);
}

void fiber_switch(Fiber& from, Fiber& to)
{
    counts.switches++;
    switched_from = &from;
    if (__sanitizer_start_switch_fiber) __sanitizer_start_switch_fiber(&from.asan_stack, to.stack, to.bytes);
    if (to.tsan) __tsan_switch_to_fiber(to.tsan, 1); // 1: the switch itself orders nothing
    simt_switch(&from.saved_sp, to.saved_sp);
    if (__sanitizer_finish_switch_fiber) tell_asan_we_arrived(from.asan_stack, *switched_from);
}

// ---- thread sanitizer

void tsan_forget(void* start, size_t bytes)
{
    uintptr_t first = (uintptr_t)start & ~(uintptr_t)7, end = ((uintptr_t)start + bytes + 7) & ~(uintptr_t)7;
    if (with_tsan() && __tsan_java_alloc) __tsan_java_alloc(first, end - first);
}

static long     block_syncs[1 << 16];
static unsigned block_syncs_used;

void* new_block_sync()
{
    if (!with_tsan()) return nullptr;
    return &block_syncs[block_syncs_used++ % (1 << 16)];
}

void reset_block_syncs()
{
    if (!with_tsan() || block_syncs_used < 1 << 15) return; // not each time: it takes a while
    if (__tsan_java_free) __tsan_java_free((uintptr_t)block_syncs, sizeof block_syncs);
    tsan_forget(block_syncs, sizeof block_syncs);
    block_syncs_used = 0;
}

struct TaskFiber : Fiber {
    Fiber*                       back = nullptr; // who waits for the task; null: idle
    const std::function<void()>* task = nullptr;
};
static TaskFiber* starting;

static void task_loop()
{
    TaskFiber* self = starting;
    fiber_entered();
    for (;;) {
        (*self->task)();
        fiber_switch(*self, *std::exchange(self->back, nullptr));
    }
}

TaskFiber* new_task_fiber()
{
    if (!with_tsan()) return nullptr;
    auto* fiber = new TaskFiber();
    fiber_create(*fiber, task_loop);
    fiber->tsan = __tsan_create_fiber(0);
    return fiber;
}

void run_as(TaskFiber* fiber, const std::function<void()>& task)
{
    if (!fiber || fiber->back) return task(); // busy: the task is part of another of the same fiber
    Fiber here;
    here.tsan   = __tsan_get_current_fiber();
    fiber->back = &here;
    fiber->task = &task;
    starting    = fiber;
    fiber_switch(here, *fiber);
}

} // namespace simt
