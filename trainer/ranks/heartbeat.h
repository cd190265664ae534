/* heartbeat.h - does every process of a run still live? A thread in each sends a byte every quarter of a second, beside
   whatever the main thread does, for as long as it takes. Rank 0 has a connection with each other rank.

   A rank is lost when its connection closes without a goodbye, or when no byte has come from it for 5 seconds. Rank 0
   tells the others. Then every process prints "ggnn-train: rank 3 (host b, process 123): lost: connection closed",
   removes its unfinished files (unfinished.h), and ends with status 1, whatever its main thread waits for: when all have
   printed it, within 1.5 seconds, or at once if it is told to end. */
#ifndef TRAINER_HEARTBEAT_H
#define TRAINER_HEARTBEAT_H
#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

enum { HEARTBEAT_ADDRESSES = 16 };
typedef struct { /* where rank 0 is; the other ranks get it by other means */
    uint16_t port;
    char address[HEARTBEAT_ADDRESSES][48]; /* at which it listens, as text; empty: no more */
    unsigned char token[32];               /* who knows it belongs to this run */
} heartbeat_address;

/* title(context, rank, text): how messages call a rank. Both must outlive the heartbeat. */
typedef void heartbeat_title(const void* context, int32_t rank, char text[160]);

typedef struct heartbeat heartbeat;
heartbeat* heartbeat_new(int32_t rank, int32_t ranks, heartbeat_title* title, const void* context, error* why);

/* Rank 0 alone: takes a port and fills `at`. one_machine: all ranks are on this machine, so the port is at its loopback
   alone; else it is at all addresses of the host, as rank 0 does not know by which of them another host comes. */
bool heartbeat_bind(heartbeat* h, bool one_machine, heartbeat_address* at, error* why);

/* All ranks at one time: connects them, and starts. Nobody can connect to the port before or after. Strangers who do so
   meanwhile, and say nothing or something else, are heard beside the ranks and hold up none of them. False after 20
   seconds without some rank. */
bool heartbeat_start(heartbeat* h, const heartbeat_address* at, error* why);

/* Says goodbye: from now on this rank is not missed, and does not watch. NULL is fine. */
void heartbeat_free(heartbeat* h);
#endif
