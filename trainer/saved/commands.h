/* commands.h - the commands of ggnn-train that look at a checkpoint alone, each in a file cmd_*.c (command.h). */
#ifndef TRAINER_COMMANDS_H
#define TRAINER_COMMANDS_H
#include "common/command.h"

int saved_export_main(int argc, char** argv);
int saved_info_main(int argc, char** argv);
#endif
