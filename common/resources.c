#include "resources.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "progress.h"

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* The number behind "name" at the start of a line of file; name "": the first number. -1: there is none. */
static int64_t number_in(const char* file, const char* name)
{
    char line[256];
    long long number = -1;
    size_t length = strlen(name);
    FILE* in = fopen(file, "r");
    while (in && number < 0 && fgets(line, sizeof line, in))
        if (strncmp(line, name, length) == 0 && sscanf(line + length, "%lld", &number) != 1) number = -1;
    if (in) fclose(in);
    return number;
}

typedef struct { /* the files of a control group */
    const char *mount, *limit, *used, *cache;
} group_files;

/* What group and the groups above it leave; file pages count as used, but are given back. */
static int64_t left_by_groups(const char* root, const group_files* f, const char* group)
{
    int64_t left = INT64_MAX;
    char path[2048];
    size_t length = strlen(group);
    for (;;) {
        char file[2600];
        snprintf(path, sizeof path, "%s%s%.*s", root, f->mount, (int)length, group);
        snprintf(file, sizeof file, "%s/%s", path, f->limit);
        int64_t limit = number_in(file, "");
        snprintf(file, sizeof file, "%s/%s", path, f->used);
        int64_t used = number_in(file, "");
        snprintf(file, sizeof file, "%s/memory.stat", path);
        int64_t cache = number_in(file, f->cache);
        if (limit >= 0 && used >= 0) left = smaller(left, limit - used + (cache > 0 ? cache : 0));
        while (length > 0 && group[length - 1] != '/') length--;
        if (length == 0) return left > 0 ? left : 0;
        length--; /* "/a/b" -> "/a" -> "" */
    }
}

/* Lines of /proc/self/cgroup: "4:memory:/a/b" of version 1, "0::/a/b" of version 2. */
static int64_t left_by_control_groups(const char* root)
{
    static const group_files first = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                                      "total_inactive_file "};
    static const group_files second = {"/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file "};
    int64_t left = INT64_MAX;
    char line[1024];
    snprintf(line, sizeof line, "%s/proc/self/cgroup", root);
    FILE* in = fopen(line, "r");
    while (in && fgets(line, sizeof line, in)) {
        char* controllers = strchr(line, ':');
        char* group = controllers ? strchr(controllers + 1, ':') : NULL;
        line[strcspn(line, "\n")] = 0;
        if (!group) continue;
        *group++ = 0;
        if (!controllers[1]) left = smaller(left, left_by_groups(root, &second, group));
        else if (strstr(controllers + 1, "memory")) left = smaller(left, left_by_groups(root, &first, group));
    }
    if (in) fclose(in);
    return left;
}

static int64_t left_by_limit(const char* root, const struct rlimit* limit, const char* used_by)
{
    char file[1024];
    if (limit->rlim_cur >= INT64_MAX) return INT64_MAX;
    snprintf(file, sizeof file, "%s/proc/self/status", root);
    int64_t left = (int64_t)limit->rlim_cur - number_in(file, used_by) * 1024;
    return left > 0 ? left : 0;
}

int64_t resources_memory(const char* root)
{
    char file[1024];
    struct rlimit limit;
    snprintf(file, sizeof file, "%s/proc/meminfo", root);
    int64_t kilobytes = number_in(file, "MemAvailable:"), left = kilobytes * 1024;
    if (kilobytes < 0) left = (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE) / 2;
    left = smaller(left, left_by_control_groups(root));
    if (getrlimit(RLIMIT_AS, &limit) == 0) left = smaller(left, left_by_limit(root, &limit, "VmSize:"));
    if (getrlimit(RLIMIT_DATA, &limit) == 0) left = smaller(left, left_by_limit(root, &limit, "VmData:"));
    return left;
}

int64_t resources_memory_or(int64_t asked) { return asked > 0 ? asked : resources_memory("") / 4 * 3; }

int64_t resources_disk(const char* path)
{
    char folder[4096];
    const char* slash = strrchr(path, '/');
    struct statvfs about;
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 1, slash ? path : ".");
    if (statvfs(folder, &about) != 0) return -1;
    return (int64_t)about.f_bavail * (int64_t)about.f_frsize;
}

const char* resources_bytes(char text[24], int64_t bytes)
{
    char amount[16];
    progress_amount(amount, (double)bytes);
    snprintf(text, 24, "%s%sB", amount, strchr(amount, ' ') ? "" : " ");
    return text;
}

static void find_caches(int64_t cache[4])
{
    for (int i = 0; i < 8; i++) {
        char path[128], kind[32] = "";
        int level = 0;
        long long size = 0;
        char unit = 0;
        const char* const leaf[] = {"level", "type", "size"};
        for (int k = 0; k < 3; k++) {
            snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", i, leaf[k]);
            FILE* in = fopen(path, "r");
            if (!in) return;
            int read = k == 0   ? fscanf(in, "%d", &level)
                       : k == 1 ? fscanf(in, "%31s", kind)
                                : fscanf(in, "%lld%c", &size, &unit);
            fclose(in);
            if (read < 1) return;
        }
        if (level >= 1 && level <= 3 && strcmp(kind, "Instruction") != 0)
            cache[level] = size * (unit == 'K' ? 1024 : unit == 'M' ? 1 << 20 : 1);
    }
}

void resources_caches(int64_t cache[4])
{
    for (int level = 0; level < 4; level++) cache[level] = 0;
    find_caches(cache);
    if (!cache[2]) cache[2] = 1 << 20; /* as many have that do not say */
}
