#include "trainer/saved/saved.h"

#include <stdio.h>
#include <string.h>

/* Version 0.1 had no checksums but the graph's; the next ones did not name themselves. */
static bool read_version(saved* s, error* why)
{
    const ggnn_file_section* there = ggnn_file_find(&s->file, "version");
    const char* text = there ? checkpoint_need(&s->file, "version", GGNN_FILE_U8, -1, why) : s->known ? "" : "0.1";
    if (!text) return false;
    snprintf(s->version, sizeof s->version, "%.15s", text); /* zeros follow a section, to the end of its page */
    return true;
}

bool saved_open(saved* s, const char* path, error* why)
{
    size_t length;
    ggnn_file* f = &s->file;
    memset(s, 0, sizeof *s);
    const char* options = checkpoint_open(f, path, &length, why);
    if (!options || !config_inherit(&s->options, path, options, length, why)) return false;
    const int64_t* crc = checkpoint_need(f, "graph_crc", GGNN_FILE_I64, 1, why);
    if (!crc) return false;
    s->graph_crc = *crc;
    s->data_crc = checkpoint_data_crcs(f, &s->known, why);
    return !why->text[0] && read_version(s, why) && checkpoint_state(f, &s->at, why) &&
           checkpoint_params(f, s->param, &s->params, &s->floats, why) &&
           weights_plan(&s->options, path, s->param, s->params, s->tensor, &s->tensors, why);
}

void saved_close(saved* s) { ggnn_file_close(&s->file); }
