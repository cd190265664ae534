#include "trainer/device.h"

device_opener* const device_open_cuda = NULL; /* what links ops.cu has another one */
