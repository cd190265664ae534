/* Fuzzes folders of arrays: the first byte says which file of a good folder of Reddit's, IGB's or MAG240M's the rest replaces. Of
   IGB a file without a header is np.memmap's. */
#include "tests/fuzz/fuzz_convert.h"

static const struct {
    const char *folder, *file;
    convert_format format;
} of[] = {
    {"reddit", "reddit_data.npz", FORMAT_REDDIT},
    {"reddit", "reddit_graph.npz", FORMAT_REDDIT},
    {"igb", "processed/paper__cites__paper/edge_index.npy", FORMAT_IGB},
    {"igb", "processed/paper/node_feat.npy", FORMAT_IGB},
    {"igb", "processed/paper/node_label_19.npy", FORMAT_IGB},
    {"mag", "processed/paper___cites___paper/edge_index.npy", FORMAT_MAG240M},
    {"mag", "processed/paper/node_feat.npy", FORMAT_MAG240M},
    {"mag", "processed/paper/node_label.npy", FORMAT_MAG240M},
    {"mag", "processed/paper/node_year.npy", FORMAT_MAG240M},
};
enum { FILES = sizeof of / sizeof of[0] };
static bytes good[FILES]; /* the files of the good folders, read once */

static const char* path_of(int k, char path[600])
{
    char inner[200];
    snprintf(inner, sizeof inner, "%s/%s", of[k].folder, of[k].file);
    return folder_path(path, inner);
}

static void make_good(void)
{
    static model m;
    char path[600];
    fuzz_folder();
    if (good[0].data) return;
    test_state = 1;
    model_make(&m, 30);
    model_reddit(&m, "reddit", false, false);
    model_papers(&m, "igb", false);
    model_papers(&m, "mag", true);
    for (int k = 0; k < FILES; k++) put_file_bytes(&good[k], path_of(k, path));
}

static void parse(int k, const uint8_t* data, size_t size)
{
    char path[600];
    write_file(path_of(k, path), data, size);
    fuzz_convert(of[k].folder, &(convert_options){.format = of[k].format, .memory = 64 << 20});
    fuzz_convert(of[k].folder, &(convert_options){.format = of[k].format, .direction = DIRECTION_BOTH, .half = true, .no_features = k % 2, .memory = 64 << 20});
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    char path[600], inner[200];
    if (size == 0) return 0;
    const int k = data[0] % FILES;
    make_good();
    parse(k, data + 1, size - 1);
    snprintf(inner, sizeof inner, "%s/%s", of[k].folder, of[k].file);
    uint8_t* copy = k < 2 ? fuzz_signed(inner, data + 1, size - 1) : NULL;
    if (copy) parse(k, copy, size - 1);
    free(copy);
    write_file(path_of(k, path), good[k].data, good[k].size);
    return 0;
}

#ifndef FUZZ_LIBFUZZER
static size_t fuzz_seed(int which, uint8_t* out, size_t room)
{
    static const float bare[] = {1, 2, 3};
    bytes b = {0};
    if (which > FILES) return 0;
    make_good();
    const uint8_t first = (uint8_t)(which < FILES ? which : 4);
    put(&b, &first, 1);
    if (which < FILES) put(&b, good[which].data, good[which].size);
    else put(&b, bare, sizeof bare);
    return fuzz_give(b, out, room);
}
#endif
