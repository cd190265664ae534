/* links.h - where the parts lie of a machine whose devices cannot all read each other: the links are asked of the driver, and
   ggnn_place_parts (ggnn_plan.h) places parts for them, as it does for a --topology. */
#ifndef TRAINER_LINKS_H
#define TRAINER_LINKS_H
#include "ggnn_plan.h"
#include "trainer/device/device.h"
#include "trainer/ranks/comm.h"

typedef struct { /* all zeros: each device has its own part and reads all others */
    int32_t missing;  /* pairs of a device and one that it cannot read */
    int32_t from, to; /* the first of them */
    ggnn_placement placement; /* where any is missing: alike on all ranks; where machines differ, for links that all have */
} links_found;

/* Each rank of `over` asks on behalf of its device. Of more than GGNN_DEVICES_MAX devices nothing is asked. All ranks call it. */
bool links_place(links_found* l, ggnn_place_rule rule, comm* over, device* d, error* why);
#endif
