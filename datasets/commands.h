/* commands.h - the commands of ggnn-data: each is a function with a main's arguments and exit code, in a file
 * cmd_*.c. */
#ifndef DATASETS_COMMANDS_H
#define DATASETS_COMMANDS_H
#include "common/error.h"
#include "common/options.h"

enum { EXIT_GOOD = 0, EXIT_FAILED = 1, EXIT_WRONG_USAGE = 2 };

int generate_main(int argc, char** argv);
int info_main(int argc, char** argv);
int verify_main(int argc, char** argv);
int stats_main(int argc, char** argv);
int sample_main(int argc, char** argv);
int export_main(int argc, char** argv);
int rank_main(int argc, char** argv);
int reorder_main(int argc, char** argv);
int preprocess_main(int argc, char** argv);
int place_main(int argc, char** argv);
int partition_main(int argc, char** argv);

extern char** program_arguments; /* main's argv */

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
