#include "trainer/device/device.h"

#include "common/memory.h"
#include "trainer/device/ops.h"

void device_close(device* d)
{
    if (d) d->ops->memory->close(d);
}

device* device_twin(device* d, error* why)
{
    device* twin = d->ops->memory->twin(d, why);
    if (twin) twin->host_share = d->host_share;
    if (twin) twin->tight = d->tight;
    if (twin) twin->unique = (device_unique){.which = d->unique.which, .room = d->unique.room == INT64_MAX ? INT64_MAX : 0}; /* what is left is d's */
    return twin;
}

void device_enter(device* d) { d->ops->memory->enter(d); }

void* device_new(device* d, size_t bytes, const char* what, error* why)
{
    return d->ops->memory->take(d, bytes, what, why);
}

void device_free(device* d, void* memory)
{
    if (memory) d->ops->memory->give_back(d, memory);
}

void device_upload(device* d, void* to, const void* from, size_t bytes)
{
    if (bytes) d->ops->memory->upload(d, to, from, bytes);
}

void device_download(device* d, void* to, const void* from, size_t bytes)
{
    if (bytes) d->ops->memory->download(d, to, from, bytes);
}

const void* device_read(device* d, void* to, const void* from, size_t bytes)
{
    return d->ops->memory->read(d, to, from, bytes);
}

int64_t device_size(device* d, ggnn_count count)
{
    int64_t n = count.max;
    return count.n ? *(const int64_t*)device_read(d, &n, count.n, sizeof n) : n;
}

const void* device_pin(device* d, const void* host, size_t bytes, const char* what, bool* copied, error* why)
{
    return d->ops->memory->pin(d, host, bytes, what, copied, why);
}

void device_unpin(device* d, const void* host) { d->ops->memory->unpin(d, host); }

void* device_new_host(device* d, size_t bytes, const char* what, error* why)
{
    return d->ops->memory->take_host(d, bytes, what, why);
}

void device_free_host(device* d, void* memory) { d->ops->memory->give_back_host(d, memory); }

void device_fetch(device* d, void* to, const void* from, size_t bytes)
{
    if (bytes) d->ops->memory->fetch(d, to, from, bytes);
}

int64_t device_room(device* d) { return d->ops->memory->room(d); }

bool device_lend(device* d, void* memory, char handle[DEVICE_HANDLE], error* why)
{
    return d->ops->memory->lend(d, memory, handle, why);
}

void* device_borrow(device* d, const char handle[DEVICE_HANDLE], error* why)
{
    return d->ops->memory->borrow(d, handle, why);
}

void device_give_borrowed(device* d, void* memory) { d->ops->memory->give_borrowed(d, memory); }

double device_link(device* d, const char bus[DEVICE_BUS]) { return d->ops->memory->link(d, bus); }

bool device_reach(device* d, const void* memory, error* why) { return d->ops->memory->reach(d, memory, why); }

void device_settle(device* d) { d->ops->memory->settle(d); }

void* device_grow(device* d, device_growing* g, size_t bytes, const char* what, error* why)
{
    if (g->memory && bytes <= g->bytes) return g->memory;
    device_free_growing(d, g);
    g->bytes = bytes < SIZE_MAX / 2 ? bytes + bytes / 4 + 64 : SIZE_MAX; /* what cannot be fails with its message */
    g->memory = d ? device_new(d, g->bytes, what, why) : memory_new(g->bytes, what, why);
    return g->memory;
}

void device_free_growing(device* d, device_growing* g)
{
    if (d) device_free(d, g->memory);
    else memory_free(g->memory);
    g->memory = NULL;
}
