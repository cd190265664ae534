#include "commands.h"

#include <stdio.h>
#include <string.h>

#include "common/standard.h"

char** program_arguments;

#include "common/standard.h"

bool command_begin(const char* usage, const char* text, const option* table, int argc, char** argv,
                   const char** argument, int* num_arguments, int min, int max, int* exit_code)
{
    error why = {""};
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) { /* before parsing, while the table holds the defaults */
            printf("usage: ggnn-data %s\n\n%s\n\n", usage, text);
            options_help(table, stdout);
            *exit_code = standard_flush(&why) ? EXIT_GOOD : command_failed(&why);
            return false;
        }
    *exit_code = EXIT_WRONG_USAGE;
    if (options_parse(table, argc, argv, argument, num_arguments, min, max, &why) == OPTIONS_GOOD) return true;
    fprintf(stderr, "ggnn-data: %s: %s\nusage: ggnn-data %s     (--help says more)\n", argv[0], why.text, usage);
    return false;
}

int command_failed(const error* why)
{
    fflush(stdout); /* what was said before the failure stands before it, also where both go to one file */
    fprintf(stderr, "ggnn-data: %s\n", why->text);
    return EXIT_FAILED;
}

void command_warns(const error* why) { fprintf(stderr, "ggnn-data: warning: %s\n", why->text); }

int command_refused(const char* command, const error* why)
{
    fprintf(stderr, "ggnn-data: %s: %s\n", command, why->text);
    return EXIT_WRONG_USAGE;
}
