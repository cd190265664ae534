#include "bench/bench.h"

bench_opener* const bench_open_cuda = NULL; /* what links a device's benches has another one */
