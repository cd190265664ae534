/* ggnn_level.h - the vector loops that ggnn.h may use in these programs: GGNN_SIMD_LEVEL() of common/ggnn.c. 3, all,
   unless a test or a bench wants to see others. */
#ifndef COMMON_GGNN_LEVEL_H
#define COMMON_GGNN_LEVEL_H
extern int ggnn_level;
#endif
