#include "trainer/device/device.h"

device_opener* const device_open_cuda = NULL; /* what links ops.cu has others */
device_counter* const device_count_cuda = NULL;
