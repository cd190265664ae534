/* command.h - the commands of a program: each is a function with a main's arguments and exit code. */
#ifndef COMMON_COMMAND_H
#define COMMON_COMMAND_H
#include <stdbool.h>
#include <stdio.h>

#include "common/error.h"
#include "common/options.h"

enum { EXIT_GOOD = 0, EXIT_FAILED = 1, EXIT_WRONG_USAGE = 2 };

typedef struct {
    const char* name; /* NULL ends a table of them */
    int (*run)(int argc, char** argv);
    const char* summary;
} command_entry;

extern const char* command_program; /* "ggnn-data", in messages: main sets it */
extern char** program_arguments;    /* main's argv */

/* The table's names and summaries, a line each. */
void command_print(const command_entry* table, FILE* out);

/* Runs the command argv[0] of the table, and returns its exit code. No such command: says so, and which one is likely meant, on
   standard error, and returns -1. */
int command_run(const command_entry* table, int argc, char** argv);

/* What every command begins with. usage is "info FILE [options]", text says what it does. Parses the options; on
   --help prints help, on wrong usage the reason. Returns whether to go on; else *exit_code is what the command
   returns. */
bool command_begin(const char* usage, const char* text, const option* table, int argc, char** argv,
                   const char** argument, int* num_arguments, int min, int max, int* exit_code);

/* Prints a warning on standard error. */
void command_warns(const error* why);

/* Prints the reason on standard error. Returns EXIT_FAILED. */
int command_failed(const error* why);

/* The same for a command line that cannot be meant: names the command, returns EXIT_WRONG_USAGE. */
int command_refused(const char* command, const error* why);
#endif
