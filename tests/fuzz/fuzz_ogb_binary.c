/* Fuzzes OGB's binary folders: raw/data.npz is the input, or raw/node-label.npz the bytes behind a form feed. The other one is good. */
#include "tests/fuzz/fuzz_convert.h"

enum { NODES = 3, EDGES = 2 };

static void put_good(const char* name, const char* path)
{
    static const int64_t nodes = NODES, edges = EDGES, ids[] = {0, 1, 1, 2};
    static const float label[] = {0, 1, NAN};
    zip_maker z = {0};
    array_sink to = {&z, NULL};
    if (!strcmp(name, "data")) {
        put_vector(&to, "num_nodes_list", "<i8", 1, &nodes, 8);
        put_vector(&to, "num_edges_list", "<i8", 1, &edges, 8);
        put_matrix(&to, "edge_index", "<i8", 2, EDGES, ids, 8, false);
    } else
        put_matrix(&to, "node_label", "<f4", NODES, 1, label, 4, false);
    save(zip_end(&z), path, false);
}

/* A folder with all but the archive of that name. */
static void make_rest(const char* name, const char* other)
{
    char path[100];
    static const char* const folders[] = {"", "/raw", "/split", "/split/time"};
    for (int k = 0; k < 4; k++) {
        snprintf(path, sizeof path, "%s%s", name, folders[k]);
        make_folder(path);
    }
    for (int64_t k = 0; k < 3; k++) save_numbers(path, (const char*[]){"train", "valid", "test"}[k], &k, 1, false);
    snprintf(path, sizeof path, "%s/raw/%s.npz", name, other);
    put_good(other, path);
}

static void parse(const char* name, const char* path, const uint8_t* data, size_t size)
{
    char whole[600];
    write_file(folder_path(whole, path), data, size);
    fuzz_convert(name, &(convert_options){.format = FORMAT_OGB_BINARY, .memory = 64 << 20});
    fuzz_convert(name, &(convert_options){.format = FORMAT_OGB_BINARY, .direction = DIRECTION_BOTH, .half = true, .no_features = true, .memory = 64 << 20});
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static bool made;
    const bool labels = size && data[0] == '\f';
    const char *name = labels ? "labels" : "data", *path = labels ? "labels/raw/node-label.npz" : "data/raw/data.npz";
    fuzz_folder();
    if (!made) make_rest("labels", "data");
    if (!made) make_rest("data", "node-label");
    made = true;
    parse(name, path, data + labels, size - labels);
    uint8_t* copy = fuzz_signed(path, data + labels, size - labels);
    if (copy) parse(name, path, copy, size - labels);
    free(copy);
    return 0;
}

#ifndef FUZZ_LIBFUZZER
static size_t fuzz_seed(int which, uint8_t* out, size_t room)
{
    const model* m = fuzz_model();
    char path[600];
    bytes b = {0};
#ifndef HAVE_ZLIB
    if (which % 2) return 0;
#endif
    if (which > 8) return 0;
    if (which < 4) return fuzz_give(model_ogb_arrays(m, which % 2, false, which > 1), out, room); /* of 40 nodes */
    fuzz_folder();
    if (which < 6) {
        put_good("data", "seed.npz");
    } else if (which < 8) {
        put(&b, "\f", 1);
        put_good("node-label", "seed.npz");
    } else {
        put(&b, "\f", 1);
        bytes labels = model_ogb_labels(m, false);
        put(&b, labels.data, labels.size);
        drop(&labels);
        return fuzz_give(b, out, room);
    }
    put_file_bytes(&b, folder_path(path, "seed.npz"));
    return fuzz_give(b, out, room);
}
#endif
