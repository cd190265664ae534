/* A program without a device. */
#include "datasets/sample_device.h"
sample_device* const sample_on_device = NULL;
