// nccl.h - of NCCL what trainer/cuda/comm_nccl.cu calls: communicators that never block, send, receive, all-gather. Ranks
// are threads, or processes of one machine. simt_nccl.cc says how it works.
#ifndef SIMT_NCCL_H
#define SIMT_NCCL_H

#include "cuda_runtime.h"

#include <climits>

#define NCCL_VERSION_CODE 21400 // the first with communicators that never block

typedef enum {
    ncclSuccess            = 0,
    ncclUnhandledCudaError = 1,
    ncclSystemError        = 2,
    ncclInternalError      = 3,
    ncclInvalidArgument    = 4,
    ncclInvalidUsage       = 5,
    ncclRemoteError        = 6,
    ncclInProgress         = 7
} ncclResult_t;
typedef enum { ncclChar = 0 } ncclDataType_t;
typedef struct ncclComm* ncclComm_t;

#define NCCL_UNIQUE_ID_BYTES 128
typedef struct {
    char internal[NCCL_UNIQUE_ID_BYTES];
} ncclUniqueId;

typedef struct {
    int blocking; // has to be 0
} ncclConfig_t;
#define NCCL_CONFIG_INITIALIZER {INT_MIN}

ncclResult_t ncclGetVersion(int* version);
ncclResult_t ncclGetUniqueId(ncclUniqueId* id);
ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank, ncclConfig_t* config);
ncclResult_t ncclCommFinalize(ncclComm_t comm);
ncclResult_t ncclCommDestroy(ncclComm_t comm);
ncclResult_t ncclCommAbort(ncclComm_t comm);
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* state);
const char*  ncclGetErrorString(ncclResult_t result);
const char*  ncclGetLastError(ncclComm_t comm);

// Only in a group, and of one communicator.
ncclResult_t ncclGroupStart();
ncclResult_t ncclGroupEnd();
ncclResult_t ncclSend(const void* from, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream);
ncclResult_t ncclRecv(void* to, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclAllGather(const void* from, void* to, size_t count, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream);

// Only here: call n of that rank fails, as SIMT_FAIL_NCCL=rank:n says. 0 is the initialisation, n the n-th group.
// later: the call is accepted, and ends in an error of the network.
void simt_fail_nccl(int rank, long n, bool later); // rank -1: none
#endif
