/* unfinished.h - files that a program which is interrupted takes with it. */
#ifndef COMMON_UNFINISHED_H
#define COMMON_UNFINISHED_H

/* A file or folder is about to be created. From now on SIGHUP, SIGINT and SIGTERM end the program by unfinished_end, and wait
   until the next unfinished_add: nobody else knows the name by then. Those that the program was told to ignore (nohup), or
   that it handles itself, stay as they are. */
void unfinished_expect(void);

/* Signals remove the file or the empty folder path before they end the program; NULL: nothing was created. A signal that
   waited ends the program now. path is copied; what is added last is removed first. Paths that do not exist by then, because
   they got their name, do no harm. One thread of a program calls both, at most 32 times between two calls of unfinished_clear. */
void unfinished_add(const char* path);

/* Removes them now, from any thread or signal handler of a program that is about to end. */
void unfinished_remove(void);

/* A handler that removes them, and then does what the signal does where nobody handles it. */
void unfinished_end(int signal_number);

/* Forgets all paths. */
void unfinished_clear(void);
#endif
