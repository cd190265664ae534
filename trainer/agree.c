#include "trainer/agree.h"

#include <stdio.h>
#include <string.h>

#include "common/input.h"
#include "common/options.h"
#include "datasets/topology.h"

/* Of all bytes of a file. */
static bool checksum_of(const char* path, uint32_t* crc, error* why)
{
    unsigned char piece[1 << 14];
    int64_t bytes;
    FILE* in = input_stream(path, &bytes, why);
    if (!in) return false;
    *crc = 0;
    for (size_t n; (n = fread(piece, 1, sizeof piece, in)) > 0;) *crc = ggnn_file_crc32c(*crc, piece, (int64_t)n);
    const bool good = !ferror(in) || error_set(why, "%s: cannot be read", path);
    fclose(in);
    return good;
}

/* What follows a tab is told, but not compared (comm_same). */
static void checksum_line(char line[COMM_TEXT], const char* name, uint32_t crc, const char* path)
{
    snprintf(line, COMM_TEXT, "%s has checksum %08x\t(%s)", name, (unsigned)crc, path);
}

static bool agree_on_file(comm* c, const char* name, const char* path, error* why)
{
    char line[COMM_TEXT];
    uint32_t crc;
    if (!path) snprintf(line, sizeof line, "no %s", name);
    else if (!checksum_of(path, &crc, why)) return false;
    else checksum_line(line, name, crc, path);
    return comm_same(c, line, why);
}

/* What is named, a machine or a part of the split, is no file. */
static bool agree_on_named(comm* c, const char* name, const char* from, bool named, error* why)
{
    char line[COMM_TEXT];
    if (!from || !named) return agree_on_file(c, name, from, why);
    snprintf(line, sizeof line, "%s %s", name, from);
    return comm_same(c, line, why);
}

/* By the section table: its checksums were compared with the arrays when the file was opened. */
static bool agree_on_checkpoint(comm* c, const config* with, const ggnn_file* f, error* why)
{
    char line[COMM_TEXT] = "no --resume";
    if (with->resume)
        checksum_line(line, with->predicts ? "--load" : "--resume", ggnn_file_crc32c(0, f->section, f->num_sections * (int64_t)sizeof *f->section), with->resume);
    return comm_same(c, line, why);
}

/* Line by line, so that a difference is one of the same option's. */
static bool agree_on_options(comm* c, const config* with, error* why)
{
    char text[CONFIG_TEXT_MAX + COMM_TEXT] = "", *end;
    config_common_text(with, text);
    for (char* at = text; *at; at = end + 1) {
        end = at + strcspn(at, "\n");
        *end = 0;
        if (!comm_same(c, at, why)) return false;
    }
    return true;
}

bool agree_on_inputs(comm* c, const config* with, const task* t, const ggnn_file* resumed, error* why)
{
    char version[64], data[256], line[COMM_TEXT];
    snprintf(version, sizeof version, "version %s, %d-bit ids", GGNN_VERSION, 8 * (int)sizeof(ggnn_node));
    checkpoint_data_text(with, t, data);
    snprintf(line, sizeof line, "%s\t(%s)", data, with->data);
    return comm_same(c, version, why) && comm_same(c, line, why) && agree_on_checkpoint(c, with, resumed, why) &&
           agree_on_file(c, "--ranking", with->ranking, why) && agree_on_file(c, "--partition-file", with->partition_file, why) &&
           agree_on_named(c, "--nodes", with->nodes, with->nodes_of != 0, why) &&
           agree_on_named(c, "--topology", with->topology, with->topology && options_choice(TOPOLOGY_NAMES, with->topology) >= 0, why) &&
           agree_on_options(c, with, why);
}

bool agree_on_owners(comm* c, const config* with, const task* t, error* why)
{
    char line[64];
    const bool split = with->parallel == PARALLEL_SPLIT;
    if (!split && !t->division.parts) return true;
    snprintf(line, sizeof line, "--partition: its owners have CRC %08x", (unsigned)(split ? t->owners.crc : t->division.crc));
    return comm_same(c, line, why);
}

bool agree_on_parts(const config* with, const task* t, int32_t count, error* why)
{
    char first[256], other[256];
    checkpoint_data_text(with, t, first);
    for (int32_t i = 1; i < count; i++) {
        checkpoint_data_text(with, &t[i], other);
        if (strcmp(first, other) != 0)
            return error_set(why, "%s and %s are parts of two graphs: %s; %s", t->set.file.path, t[i].set.file.path, first, other);
        if (t->division.crc != t[i].division.crc)
            return error_set(why, "%s and %s are parts of one graph that was divided in two ways: their owners have CRC %08x and %08x",
                             t->set.file.path, t[i].set.file.path, (unsigned)t->division.crc, (unsigned)t[i].division.crc);
    }
    return true;
}
