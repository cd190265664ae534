/* topology.h - which device reads which others' memory, and how fast: a machine by name, a matrix of numbers, or what
   `nvidia-smi topo -m` prints. */
#ifndef DATASETS_TOPOLOGY_H
#define DATASETS_TOPOLOGY_H
#include "common/error.h"
#include "ggnn_plan.h"

#define TOPOLOGY_NAMES "dgx-1v|dgx-a100|pcie-pairs|ring|none" /* ggnn_topology_named's */

/* from: a name, with `devices` devices (0: 8), or else a file.
   - A matrix: P lines of P numbers, divided by blanks or commas; the number at row i, column j is the bandwidth of
     device i reading device j's memory, 0: it cannot. Lines that begin with # are skipped.
   - nvidia-smi topo -m: NV# counts # links of 25 GB/s, PIX and PXB (PCIe without a host bridge) 12 GB/s, PHB, NODE and
     SYS none; own memory 700 GB/s. NICs and affinities are skipped.
   devices other than 0 must be the file's number. Errors name file, line and what stands there; what
   ggnn_topology_validate refuses is an error too. */
bool topology_read(ggnn_topology* t, const char* from, int32_t devices, error* why);

/* Keeps the devices listed, in that order: device i of the result is device list[i]. An error where one is not there
   or is listed twice. */
bool topology_keep(ggnn_topology* t, const int64_t* list, int32_t count, error* why);
#endif
