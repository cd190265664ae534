/* bus_error.h - a mapped file that another program cuts short: a message instead of "Bus error". */
#ifndef COMMON_BUS_ERROR_H
#define COMMON_BUS_ERROR_H

/* From now on, where a page of a mapped file cannot be read any more, the program prints "PROGRAM: FILE: cut short to 8192
   bytes while it was read: ...", removes its unfinished files (unfinished.h), and ends with status 1, whichever thread read
   it. Any other SIGBUS goes to the handler that was there before. */
void bus_error_catch(void);
#endif
