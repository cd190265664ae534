// simt_symbols.cc - this program's own symbol table: its __shared__ variables, its kernels' names.
#include "simt_core.h"

#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace simt {

// The program's file, mapped, and by how much it was moved when it was loaded.
struct Image {
    const char* file  = nullptr;
    uintptr_t   moved = 0;
};

static Image read_image()
{
    Image       image;
    struct stat info;
    int         fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info)) fail("cannot read this program's own file");
    void* file = mmap(nullptr, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (file == MAP_FAILED) fail("cannot map this program's own file");
    image.file = (const char*)file;
    auto first = [](dl_phdr_info* object, size_t, void* into) { // the first object is the program itself
        *(uintptr_t*)into = object->dlpi_addr;
        return 1;
    };
    dl_iterate_phdr(first, &image.moved);
    return image;
}

static const Image& image()
{
    static const Image it = read_image();
    return it;
}

// Calls visit(name, address, bytes, type) for every symbol; returns how many there are.
template <class F> static size_t each_symbol(F visit)
{
    const char* file     = image().file;
    auto*       header   = (const ElfW(Ehdr)*)file;
    auto*       sections = (const ElfW(Shdr)*)(file + header->e_shoff);
    size_t      seen     = 0;
    for (int i = 0; i < header->e_shnum; i++) {
        if (sections[i].sh_type != SHT_SYMTAB) continue;
        auto*       symbol = (const ElfW(Sym)*)(file + sections[i].sh_offset);
        const char* names  = file + sections[sections[i].sh_link].sh_offset;
        size_t      n      = sections[i].sh_size / sizeof *symbol;
        for (size_t k = 0; k < n; k++, seen++)
            visit(names + symbol[k].st_name, (char*)(image().moved + symbol[k].st_value), symbol[k].st_size,
                  symbol[k].st_info & 15);
    }
    return seen;
}

static std::vector<Range> find_shared()
{
    std::vector<Range> found;
    size_t             seen = each_symbol([&](const char* name, char* start, size_t bytes, int type) {
        if (type == STT_OBJECT && strstr(name, "B10simtshared")) found.push_back({start, bytes});
    });
    if (!seen) fail("this program was stripped: its __shared__ variables cannot be found");
    return found;
}

const std::vector<Range>& shared_variables()
{
    static const std::vector<Range> found = find_shared();
    return found;
}

std::string function_name(const void* function)
{
    std::string found = "an unnamed kernel";
    each_symbol([&](const char* name, char* start, size_t, int type) {
        if (type != STT_FUNC || start != (const char*)function) return;
        int   status    = 0;
        char* demangled = abi::__cxa_demangle(name, nullptr, nullptr, &status);
        found           = demangled ? demangled : name;
        free(demangled);
    });
    return found;
}

std::string source_line(const void* instruction)
{
    char command[128], line[512] = "";
    snprintf(command, sizeof command, "addr2line -e /proc/%d/exe %#lx 2>/dev/null", (int)getpid(),
             (unsigned long)((uintptr_t)instruction - image().moved));
    FILE* pipe = popen(command, "r");
    if (!pipe) return "";
    if (!fgets(line, sizeof line, pipe)) line[0] = 0;
    pclose(pipe);
    line[strcspn(line, " \n")] = 0; // "(discriminator 3)" may follow
    return line[0] == '?' ? "" : line;
}

} // namespace simt
