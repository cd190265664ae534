/* commands.h - the commands of ggnn-data, each in a file cmd_*.c (command.h). */
#ifndef DATASETS_COMMANDS_H
#define DATASETS_COMMANDS_H
#include "common/command.h"

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
#endif
