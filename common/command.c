#include "common/command.h"

#include <string.h>

#include "common/standard.h"

const char* command_program;
char** program_arguments;

/* ---- which command -------------------------------------------------------------------------------------------- */

void command_print(const command_entry* table, FILE* out)
{
    for (; table->name; table++) fprintf(out, "  %-10s %s\n", table->name, table->summary);
}

static void say_unknown(const command_entry* table, const char* name)
{
    char all[512] = "", nearest[64];
    error why = {""};
    for (const command_entry* c = table; c->name; c++) {
        strcat(all, c == table ? "" : "|");
        strcat(all, c->name);
    }
    bool near = options_nearest(all, name, nearest);
    error_set(&why, "'%s' is not a command%s%s%s", name, near ? "; is " : "", near ? nearest : "", near ? " meant?" : "");
    command_failed(&why);
}

int command_run(const command_entry* table, int argc, char** argv)
{
    for (const command_entry* c = table; c->name; c++)
        if (strcmp(argv[0], c->name) == 0) return c->run(argc, argv);
    say_unknown(table, argv[0]);
    return -1;
}

/* ---- what commands begin and end with ------------------------------------------------------------------------- */

bool command_begin(const char* usage, const char* text, const option* table, int argc, char** argv,
                   const char** argument, int* num_arguments, int min, int max, int* exit_code)
{
    error why = {""};
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) { /* before parsing, while the table holds the defaults */
            printf("usage: %s %s\n\n%s\n\n", command_program, usage, text);
            options_help(table, stdout);
            *exit_code = standard_flush(&why) ? EXIT_GOOD : command_failed(&why);
            return false;
        }
    *exit_code = EXIT_WRONG_USAGE;
    if (options_parse(table, argc, argv, argument, num_arguments, min, max, &why) == OPTIONS_GOOD) return true;
    fprintf(stderr, "%s: %s: %s\nusage: %s %s     (--help says more)\n", command_program, argv[0], why.text, command_program, usage);
    return false;
}

int command_failed(const error* why)
{
    fflush(stdout); /* what was said before the failure stands before it, also where both go to one file */
    fprintf(stderr, "%s: %s\n", command_program, why->text);
    return EXIT_FAILED;
}

void command_warns(const error* why) { fprintf(stderr, "%s: warning: %s\n", command_program, why->text); }

int command_refused(const char* command, const error* why)
{
    fprintf(stderr, "%s: %s: %s\n", command_program, command, why->text);
    return EXIT_WRONG_USAGE;
}
