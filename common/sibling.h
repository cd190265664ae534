/* sibling.h - the programs that run on another backend are built beside this one, as NAME-emulated and NAME-cuda. */
#ifndef COMMON_SIBLING_H
#define COMMON_SIBLING_H
#include "common/error.h"

#define SIBLING_BACKENDS "cpu|cuda|cuda-emulated" /* for option tables, in this order */
enum { SIBLING_CPU, SIBLING_CUDA, SIBLING_EMULATED };

/* Replaces this program by the one for the backend, with the same arguments. Returns only on failure: where there is
   none the error says how to build it. */
void sibling_run(int backend, char** argv, error* why);
#endif
