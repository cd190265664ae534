/* patience.h - a program that waits for others for long says so: a thread does it beside the one that waits. */
#ifndef TRAINER_PATIENCE_H
#define TRAINER_PATIENCE_H
#include <pthread.h>
#include <stdbool.h>

typedef struct {
    char text[400];
    int end; /* an event: the wait is over */
    bool running;
    pthread_t thread;
} patience;

/* From now on text is what is waited for. It is printed on standard error if patience_end has not come within 30 seconds
   (GGNN_TEST_PATIENCE: within so many), once. Where no thread can be had nothing is said. */
void patience_begin(patience* p, const char* text);
void patience_end(patience* p);
#endif
