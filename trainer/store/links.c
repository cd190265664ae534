#include "trainer/store/links.h"

#include <string.h>

#include "common/memory.h"

typedef struct { /* a rank's */
    int32_t local;
    char    bus[DEVICE_BUS];
    double  bandwidth[GGNN_DEVICES_MAX]; /* of its device reading the machine's others */
} answer;

/* The least that any machine has. */
static void join(ggnn_topology* t, const answer* all, int32_t ranks)
{
    for (int32_t r = 0; r < ranks; r++)
        for (int32_t j = 0; all[r].local < t->devices && j < t->devices; j++) {
            double* to = &t->bandwidth[all[r].local][j];
            if (*to < 0 || all[r].bandwidth[j] < *to) *to = all[r].bandwidth[j];
        }
}

static bool ask(ggnn_topology* t, answer* all, comm* over, device* d, error* why)
{
    answer* mine = &all[over->rank];
    mine->local = over->local;
    memcpy(mine->bus, d->bus, sizeof mine->bus);
    if (!comm_gather_each(over, all, sizeof *all, why)) return false;
    for (int32_t j = 0; j < t->devices; j++) mine->bandwidth[j] = device_link(d, all[over->rank - over->local + j].bus);
    return comm_gather_each(over, all, sizeof *all, why);
}

static void count_missing(links_found* l, const ggnn_topology* t)
{
    for (int32_t i = t->devices - 1; i >= 0; i--)
        for (int32_t j = t->devices - 1; j >= 0; j--) {
            if (t->bandwidth[i][j] > 0) continue;
            l->missing++;
            l->from = i;
            l->to = j;
        }
}

bool links_place(links_found* l, ggnn_place_rule rule, comm* over, device* d, error* why)
{
    ggnn_topology t = {.devices = over->locals};
    ggnn_fault fault;
    memset(l, 0, sizeof *l);
    if (over->locals > GGNN_DEVICES_MAX) return true;
    for (int32_t i = 0; i < t.devices; i++)
        for (int32_t j = 0; j < t.devices; j++) t.bandwidth[i][j] = -1;
    answer* all = memory_new((size_t)over->ranks * sizeof *all, "links of devices", why);
    bool good = all && ask(&t, all, over, d, why);
    if (good) {
        join(&t, all, over->ranks);
        count_missing(l, &t);
    }
    if (good && l->missing && ggnn_place_parts(&l->placement, &t, rule, 0, &fault) != GGNN_OK)
        good = error_set(why, "links of devices: %s", fault.what);
    memory_free(all);
    return good;
}
