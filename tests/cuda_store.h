// cuda_store.h - for tests: a store of random rows, spread by any layout, on the host and once more on the
// device.
#ifndef CUDA_STORE_H
#define CUDA_STORE_H

#include "tests/cuda_memory.h"

struct store_shape {
    int64_t   n;
    int32_t   width;
    ggnn_type type = GGNN_F32;
    int32_t   parts = 1;
    bool      ranked = false, ranges = false; // arrays of ranks and of cache rows; bounds instead of modulo
    int64_t   cached = 0, stored = -1;        // -1: all
    int64_t   extra = 0;                      // elements that a pitch is longer than a row
    int64_t   shift = 0;                      // elements by which bases are off their alignment
};

class twin_store {
public:
    ggnn_store host = {}, device = {};

    explicit twin_store(const store_shape& shape)
        : table(static_cast<size_t>(shape.n * (shape.width + shape.extra) * ggnn_type_bytes(shape.type)))
    {
        host.width = shape.width;
        host.type = shape.type;
        host.pitch = (shape.width + shape.extra) * ggnn_type_bytes(shape.type);
        fill_table();
        host.at = {nullptr, shape.cached, nullptr, nullptr, shape.stored < 0 ? shape.n : shape.stored, shape.parts};
        spread(shape);
    }
    twin_store(const twin_store&) = delete;
    ~twin_store() { cudaFreeHost(pinned); }

    // Makes both count, from zero.
    void count_traffic()
    {
        traffic.assign(slots(), 0);
        device_traffic = device_array<int64_t>(traffic);
        host.traffic = traffic.data();
        device.traffic = device_traffic.at();
    }
    bool traffic_agrees() const { return traffic == device_traffic.values(); }

    // A value that no random row has, where a test wants it.
    void set(int64_t v, int32_t column, float value)
    {
        char* row = const_cast<char*>(static_cast<const char*>(ggnn_row(&host, v)));
        if (host.type == GGNN_F32)
            reinterpret_cast<float*>(row)[column] = value;
        else
            reinterpret_cast<uint16_t*>(row)[column] = ggnn_float_to_half(value);
    }
    // Sends the host's rows again.
    void send()
    {
        for (size_t s = 0; s < slots(); s++) {
            if (slot[s].empty()) continue;
            if (s == static_cast<size_t>(host.at.parts))
                memcpy(pinned, slot[s].data(), slot[s].size());
            else
                device_slot[s].upload(slot[s].data());
        }
    }

private:
    size_t slots() const { return static_cast<size_t>(host.at.parts) + 2; }

    void fill_table()
    {
        if (host.type == GGNN_F32)
            for (size_t i = 0; i < table.size(); i += 4) {
                float x = test_uniform();
                memcpy(&table[i], &x, 4);
            }
        else
            for (size_t i = 0; i < table.size(); i += 2) {
                uint16_t x = ggnn_float_to_half(test_uniform());
                memcpy(&table[i], &x, 2);
            }
    }

    static std::vector<ggnn_node> random_order(int64_t n)
    {
        std::vector<ggnn_node> order(static_cast<size_t>(n));
        for (size_t v = 0; v < order.size(); v++) order[v] = static_cast<ggnn_node>(v);
        for (size_t v = order.size(); v > 1; v--)
            std::swap(order[v - 1], order[static_cast<size_t>(test_below(static_cast<int64_t>(v)))]);
        return order;
    }

    void set_layout(const store_shape& shape)
    {
        if (shape.ranked) {
            rank = random_order(shape.n);
            cache_row = random_order(shape.n);
            for (ggnn_node& row : cache_row) // any value past the cache says that a row is not there
                if (row >= shape.cached && test_below(2)) row = -1;
        }
        for (int32_t p = 0; p <= shape.parts; p++) // the first part is the largest, the second has no rows
            bound.push_back(p == 0 ? 0 : p < 3 ? host.at.stored / 2 : host.at.stored * p / shape.parts);
        bound.back() = host.at.stored;
        if (shape.ranked) {
            host.at.rank = rank.data();
            host.at.cache_row = cache_row.data();
        }
        if (shape.ranges) host.at.bound = bound.data();
    }

    // Every slot ends with its last row's last element, so that reading on is reading wildly.
    void spread(const store_shape& shape)
    {
        const int64_t row_bytes = host.width * ggnn_type_bytes(host.type),
                      off = shape.shift * ggnn_type_bytes(host.type);
        set_layout(shape);
        slot.resize(slots());
        for (int pass = 0; pass < 2; pass++) // cached rows lie in a part or in the host tier too
            for (int64_t v = 0; v < shape.n; v++) {
                ggnn_layout at = host.at;
                if (pass == 0) at.cached = 0;
                ggnn_place         place = ggnn_locate(&at, v);
                std::vector<char>& rows = slot[static_cast<size_t>(place.slot)];
                const size_t       end = static_cast<size_t>(off + place.row * host.pitch + row_bytes);
                if (rows.size() < end) rows.resize(end);
                memcpy(&rows[end - static_cast<size_t>(row_bytes)],
                       &table[static_cast<size_t>(v * host.pitch)], static_cast<size_t>(row_bytes));
            }
        host_base.resize(slots());
        device_slot.resize(slots());
        std::vector<const void*> base(slots());
        for (size_t s = 0; s < slots(); s++) {
            if (slot[s].empty()) continue;
            host_base[s] = slot[s].data() + off;
            if (s == static_cast<size_t>(host.at.parts)) {
                CHECK_CUDA(cudaMallocHost(&pinned, slot[s].size()));
                base[s] = static_cast<char*>(pinned) + off;
            } else {
                device_slot[s] = device_array<char>(static_cast<int64_t>(slot[s].size()));
                base[s] = device_slot[s].at() + off;
            }
        }
        send();
        device_base = device_array<const void*>(base);
        host.base = host_base.data();
        device = host;
        device.base = device_base.at();
        if (host.at.rank) {
            device_rank = device_array<ggnn_node>(rank);
            device_cache_row = device_array<ggnn_node>(cache_row);
            device.at.rank = device_rank.at();
            device.at.cache_row = device_cache_row.at();
        }
        if (host.at.bound) {
            device_bound = device_array<int64_t>(bound);
            device.at.bound = device_bound.at();
        }
    }

    std::vector<char>               table; // (n, pitch)
    std::vector<std::vector<char>>  slot;
    std::vector<device_array<char>> device_slot;
    void*                           pinned = nullptr; // the host tier
    std::vector<const void*>        host_base;
    device_array<const void*>       device_base;
    std::vector<ggnn_node>          rank, cache_row;
    std::vector<int64_t>            bound, traffic;
    device_array<ggnn_node>         device_rank, device_cache_row;
    device_array<int64_t>           device_bound, device_traffic;
};

// Layouts of every kind for n rows: one array, parts by modulo and by ranges, ranked, cached, host tier.
static inline std::vector<store_shape> layouts_of(int64_t n, int32_t width, ggnn_type type)
{
    store_shape              s{n, width, type};
    std::vector<store_shape> all{s};
    s.parts = 3;
    all.push_back(s);
    s.ranges = true;
    all.push_back(s);
    s.ranked = true;
    s.cached = n / 5;
    s.stored = n / 2;
    all.push_back(s);
    s.ranges = false;
    all.push_back(s);
    s.parts = 1;
    s.cached = 0;
    s.stored = 0; // all in the host tier
    s.shift = 1;  // off any alignment
    all.push_back(s);
    return all;
}

#endif // CUDA_STORE_H
