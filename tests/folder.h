/* folder.h - a folder for a test's files, removed at the end: in TMPDIR, else in memory (the tools sync what they
   write, and some tests write thousands of files), else in /tmp. */
#ifndef FOLDER_H
#define FOLDER_H
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[256];

static inline void folder_make(void)
{
    const char* root = getenv("TMPDIR");
    if (!root || strlen(root) > 200) root = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(folder, sizeof folder, "%s/ggnn-test-XXXXXX", root);
    if (!mkdtemp(folder)) {
        perror(folder);
        exit(1);
    }
}

/* The path of a file in it, into path (600 bytes), which is returned. */
static inline char* folder_path(char* path, const char* name)
{
    snprintf(path, 600, "%s/%s", folder, name);
    return path;
}

/* What a file in it holds; "" where there is none, and 64 KiB at most. Until the next call. */
static inline const char* folder_text(const char* name)
{
    static char words[1 << 16];
    char path[600];
    FILE* in = fopen(folder_path(path, name), "rb");
    size_t length = in ? fread(words, 1, sizeof words - 1, in) : 0;
    if (in) fclose(in);
    words[length] = 0;
    return words;
}

/* How many descriptors this program has open. */
static inline int open_descriptors(void)
{
    int count = 0;
    DIR* all = opendir("/proc/self/fd");
    while (all && readdir(all)) count++;
    if (all) closedir(all);
    return count;
}

static inline int times_in(const char* all, const char* words)
{
    int times = 0;
    for (const char* at = all; (at = strstr(at, words)); at++) times++;
    return times;
}

/* karate.ggnn in it, by the ggnn-data of this test's own build; self: argv[0]. */
static inline int folder_karate(const char* self)
{
    char line[5000];
    snprintf(line, sizeof line, "\"$(dirname %s)/../ggnn-data\" generate karate %s/karate.ggnn >%s/out", self, folder, folder);
    return system(line) == 0;
}

static inline void remove_tree(const char* path)
{
    DIR* list = opendir(path);
    for (struct dirent* entry; list && (entry = readdir(list));) {
        char inner[4096];
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        if (snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name) < (int)sizeof inner) remove_tree(inner);
    }
    if (list) closedir(list);
    remove(path);
}
static inline void folder_remove(void) { remove_tree(folder); }

/* How many files of unfinished outputs and scratch it holds. */
static inline int temporaries(void)
{
    int count = 0;
    DIR* list = opendir(folder);
    for (struct dirent* entry; list && (entry = readdir(list));) count += strstr(entry->d_name, ".tmp") != NULL;
    if (list) closedir(list);
    return count;
}

/* A new file each time: rewriting one makes some file systems wait for the disk. */
static inline void write_file(const char* path, const void* data, size_t size)
{
    remove(path);
    FILE* out = fopen(path, "wb");
    if (!out || (size && fwrite(data, 1, size, out) != size) || fclose(out) != 0) {
        perror(path);
        exit(1);
    }
}
#endif
