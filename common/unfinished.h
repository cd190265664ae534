/* unfinished.h - files that a program which is interrupted takes with it. */
#ifndef COMMON_UNFINISHED_H
#define COMMON_UNFINISHED_H

/* From now on SIGHUP, SIGINT and SIGTERM remove the file or the empty folder path before they end the program, as they
   would have done at once; those that the program was told to ignore (nohup) stay ignored. path is copied; what is
   added last is removed first. Paths that do not exist by then, because they got their name, do no harm. A program
   with one thread calls it, at most 32 times between two calls of unfinished_clear. */
void unfinished_add(const char* path);

/* Removes them now, from any thread or signal handler of a program that is about to end. */
void unfinished_remove(void);

/* Forgets all paths. */
void unfinished_clear(void);
#endif
