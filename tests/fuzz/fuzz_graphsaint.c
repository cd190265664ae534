/* Fuzzes GraphSAINT's JSON: the first byte says which file of a good folder the rest replaces, class_map.json or role.json. The
   arrays of such a folder are fuzz_npz's and fuzz_npy's. What is taken must be JSON to the reader of texts in memory, too. */
#include "bench/read_json.c"
#include "tests/fuzz/fuzz_convert.h"

static const char* const files[] = {"class_map.json", "role.json"};

/* Text that a plain reader takes: no mark of UTF-8, not gzipped, no zero byte. */
static bool is_plain(const uint8_t* data, size_t size)
{
    return (size < 3 || memcmp(data, "\xEF\xBB\xBF", 3) != 0) && (size < 2 || memcmp(data, "\x1F\x8B", 2) != 0) && !memchr(data, 0, size);
}

static void check_json(const uint8_t* data, size_t size)
{
    char* whole = malloc(size + 1);
    memcpy(whole, data, size);
    whole[size] = 0;
    if (is_plain(data, size) && !json_whole(whole)) abort();
    free(whole);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static bool made;
    static model m;
    char name[40], path[600], out[600];
    bytes good = {0};
    const int which = size ? data[0] % 2 : 0;
    fuzz_folder();
    if (!made) {
        test_state = 1;
        model_make(&m, 30);
        model_graphsaint(&m, "saint", false, false);
        made = true;
    }
    for (int k = 0; k < 2; k++) {
        snprintf(name, sizeof name, "saint/%s", files[k]);
        if (k == which) {
            write_file(folder_path(path, name), size ? data + 1 : data, size ? size - 1 : 0);
            continue;
        }
        (k ? put_roles : put_class_map)(&good, &m);
        save(good, name, false);
    }
    remove(folder_path(out, "out.ggnn"));
    fuzz_convert("saint", &(convert_options){.format = FORMAT_GRAPHSAINT, .memory = 64 << 20});
    if (size && access(out, F_OK) == 0) check_json(data + 1, size - 1);
    return 0;
}

#ifndef FUZZ_LIBFUZZER
static size_t fuzz_seed(int which, uint8_t* out, size_t room)
{
    static const char* const other[] = {"0{\"1\" :\n 2,\t\"\\u0032\": -1}\r\n", "0{\"7\": [0, 1, 0]}", "1{\"tr\":[1,2],\"v\\u0061\":[ ],\"te\":[3]}", "0{}",
                                        "1{\"tr\": [], \"va\": [], \"te\": [\"\\ud83d\\ude00\"]}"};
    const model* m = fuzz_model();
    bytes b = {0};
    if (which >= 7) return 0;
    put_string(&b, which >= 2 ? other[which - 2] : which ? "1" : "0");
    if (which == 0) put_class_map(&b, m);
    if (which == 1) put_roles(&b, m);
    return fuzz_give(b, out, room);
}
#endif
