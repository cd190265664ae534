/* touch.h - counts who writes a page of memory first and who uses it first after that: on machines with memory at each
   processor, pages lie at the thread that wrote them first. Linux alone; by page faults, whose time is nobody's figure. */
#ifndef BENCH_TOUCH_H
#define BENCH_TOUCH_H
#include <stddef.h>

/* Memory whose pages are counted, filled with zeros; NULL: there is none, or no such system. One at a time. */
void* touch_new(size_t bytes);
void touch_free(void);

/* The pages' first threads from here on are their writers; are their users. */
void touch_writers(void);
void touch_users(void);

/* Of the pages that have a writer and a user, the share whose user is the writer; -1: there is no such page. */
double touch_share(void);
#endif
