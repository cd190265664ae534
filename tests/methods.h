/* methods.h - tests of every sampler: from the list of ggnn.h, so that a new one is among them. */
#ifndef TESTS_METHODS_H
#define TESTS_METHODS_H
#include <stdbool.h>

#include "ggnn.h"

static inline bool method_has(int method, int traits) { return ggnn_method_has((ggnn_method)method, traits) != 0; }

/* A loop over those that have none of these traits. */
#define FOR_METHODS_WITHOUT(traits, method)                         \
    for (int method = 0; method < GGNN_NUM_METHODS; method++)       \
        if (!method_has(method, traits))
#define FOR_METHODS_OF_LISTS(method) FOR_METHODS_WITHOUT(GGNN_METHOD_WALKS, method) /* of ggnn_sample_list */
#define FOR_METHODS(method) FOR_METHODS_WITHOUT(0, method)

#ifdef __cplusplus
#include <vector>
static inline std::vector<ggnn_method> methods_without(int traits)
{
    std::vector<ggnn_method> of;
    FOR_METHODS_WITHOUT(traits, method) of.push_back(static_cast<ggnn_method>(method));
    return of;
}
#endif
#endif
