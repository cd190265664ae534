/* bench_tool.h - runs build/ggnn-bench on a generated graph, and reads the figures of its JSON. */
#ifndef BENCH_TOOL_H
#define BENCH_TOOL_H
#include <math.h>

#include "bench/read_json.h"
#include "tests/test.h"
#include "tests/tool.h"

static char data[600], bench_tool[700];

/* Finds the tools beside the test program, and names the graph's file. */
static inline void bench_tool_find(void)
{
    folder_path(data, "data.ggnn");
    tool_find();
    snprintf(bench_tool, sizeof bench_tool, "%.600s/ggnn-bench", build);
}

static inline bool generate_graph(const char* how)
{
    char line[1000];
    const char* space = strchr(how, ' ');
    snprintf(line, sizeof line, "generate %.*s %s %s --features 8", (int)(space - how), how, data, space);
    return CHECK_EQ(run("", line), 0);
}

/* The JSON of ggnn-bench on the graph, with "--quick" or "", to be freed. */
static inline char* bench_json_sized(const char* arguments, const char* quick)
{
    char line[4000], json[600];
    snprintf(line, sizeof line, "%s %s %s --data %s --json %s >%s/out 2>%s/err", bench_tool, arguments, quick, data,
             folder_path(json, "bench.json"), folder, folder);
    remove(json);
    if (!CHECK_EQ(system(line), 0)) printf("  %s", printed("err"));
    FILE* in = fopen(json, "r");
    char* text = calloc(1 << 20, 1);
    if (in) text[fread(text, 1, (1 << 20) - 1, in)] = 0;
    if (in) fclose(in);
    CHECK(json_whole(text));
    return text;
}
static inline char* bench_json(const char* arguments) { return bench_json_sized(arguments, "--quick"); }

static inline double bench_figure(const char* text, const char* label, const char* what, const char* row, const char* column)
{
    for (const char* f = json_begin(json_member(json_first(text), "figures")); f; f = json_next(f))
        if (json_is_text(json_member(f, "case"), what) && json_is_text(json_member(f, "row"), row) &&
            json_is_text(json_member(f, "column"), column)) {
            CHECK(json_is_text(json_member(f, "label"), label));
            return json_number(json_member(f, "value"));
        }
    printf("  no figure: %s, %s, %s\n", what, row, column);
    return NAN;
}
#endif
