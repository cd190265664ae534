/* The tools' one allocator. */
#include <string.h>
#include <unistd.h>

#include "common/memory.h"
#include "tests/test.h"

static error why;

TEST(blocks_are_zeroed_aligned_and_apart)
{
    unsigned char* block[40];
    for (size_t i = 0; i < 40; i++) {
        block[i] = memory_new(i * 7, "block", &why);
        CHECK(block[i] != NULL && (uintptr_t)block[i] % 64 == 0);
        for (size_t k = 0; k < i * 7; k++) CHECK_EQ(block[i][k], 0);
        memset(block[i], (int)i + 1, i * 7);
    }
    for (size_t i = 0; i < 40; i++)
        for (size_t k = 0; k < i * 7; k++) CHECK_EQ(block[i][k], i + 1);
    for (size_t i = 0; i < 40; i++) memory_free(block[i]);
    memory_free(NULL);
}

TEST(resizing_keeps_what_fits_and_zeroes_the_rest)
{
    unsigned char* a = memory_resize(NULL, 0, 100, "a", &why);
    memset(a, 9, 100);
    a = memory_resize(a, 100, 300, "a", &why);
    for (int k = 0; k < 300; k++) CHECK_EQ(a[k], k < 100 ? 9 : 0);
    a = memory_resize(a, 300, 50, "a", &why);
    for (int k = 0; k < 50; k++) CHECK_EQ(a[k], 9);
    char next[24], wanted[100];
    error said = {""};
    snprintf(next, sizeof next, "%ld", memory_calls() + 1);
    setenv("GGNN_TEST_FAIL_ALLOCATION", next, 1);
    CHECK(memory_resize(a, 50, (size_t)1 << 40, "the list", &said) == NULL);
    unsetenv("GGNN_TEST_FAIL_ALLOCATION");
    snprintf(wanted, sizeof wanted, "out of memory: %zu bytes for the list", (size_t)1 << 40);
    CHECK_STR(said.text, wanted);
    for (int k = 0; k < 50; k++) CHECK_EQ(a[k], 9); /* the old block is as it was */
    memory_free(a);
}

static long resident_pages(void)
{
    long  pages = 0, ignored;
    FILE* f = fopen("/proc/self/statm", "r");
    if (!f) return -1;
    if (fscanf(f, "%ld %ld", &ignored, &pages) != 2) pages = -1;
    fclose(f);
    return pages;
}

/* Sizes on both sides of where blocks are mapped. */
TEST(large_blocks_cost_only_what_is_touched)
{
    const size_t sizes[] = {(size_t)256 << 20, (size_t)3 << 30};
    for (int i = 0; i < 2; i++) {
        long before = resident_pages();
        char* a = memory_new(sizes[i], "large block", &why);
        CHECK(a != NULL && (uintptr_t)a % 64 == 0);
        if (!a) return;
        CHECK(a[0] == 0 && a[sizes[i] - 1] == 0);
        a[0] = a[sizes[i] - 1] = 1;
        CHECK(before < 0 || resident_pages() - before < 20000); /* of 65536 at least; sanitizers keep an eighth */
        memory_free(a);
    }
}

/* Does the mapping that holds `at` ask for huge pages? -1: the system does not say. */
static int asks_for_huge_pages(const void* at)
{
    char          line[512];
    unsigned long begin, end;
    int           inside = 0, asks = -1;
    FILE*         f = fopen("/proc/self/smaps", "r");
    if (!f) return -1;
    while (asks < 0 && fgets(line, sizeof line, f)) {
        if (sscanf(line, "%lx-%lx ", &begin, &end) == 2) inside = begin <= (uintptr_t)at && (uintptr_t)at < end;
        else if (inside && strncmp(line, "VmFlags:", 8) == 0) asks = strstr(line, " hg") != NULL;
    }
    fclose(f);
    return asks;
}

TEST(large_blocks_begin_with_a_huge_page_and_ask_for_them)
{
    char* a = memory_new((size_t)1 << 30, "large block", &why);
    CHECK(a != NULL && (uintptr_t)a % ((size_t)2 << 20) == 64);
    if (access("/sys/kernel/mm/transparent_hugepage", F_OK) == 0) CHECK(asks_for_huge_pages(a) != 0);
    memory_free(a);
}

/* A quarter of the addresses that a process has, ten times: each goes back. */
TEST(large_blocks_are_given_back)
{
    for (int i = 0; i < 10; i++) {
        char* a = memory_new((size_t)1 << 45, "large block", &why);
        if (!a && i == 0) SKIP("addresses are limited");
        CHECK(a != NULL);
        memory_free(a);
    }
}

TEST(failure_names_what_was_for_how_much)
{
    error said = {""};
    CHECK(memory_new(memory_product((size_t)1 << 40, 1 << 20, 8), "a matrix", &said) == NULL);
    CHECK(strstr(said.text, "for a matrix") != NULL);
    CHECK(memory_product(3, 5, 7) == 105 && memory_product((size_t)1 << 63, 2, 1) == SIZE_MAX);
    CHECK(memory_product((size_t)1 << 40, 1 << 20, 16) == SIZE_MAX && memory_product(0, 5, 7) == 0);
    CHECK(memory_product(5, 0, 7) == 0 && memory_product(5, 7, 0) == 0 && memory_product(5, 0, 0) == 0);
    CHECK(memory_product(SIZE_MAX / 2, 2, 1) == SIZE_MAX - 1 && memory_product(SIZE_MAX / 2 + 1, 2, 1) == SIZE_MAX);
    CHECK(memory_product(1, SIZE_MAX / 2, 2) == SIZE_MAX - 1 && memory_product(1, SIZE_MAX / 2 + 1, 2) == SIZE_MAX);
    for (size_t less = 0; less < 200; less += 50) CHECK(memory_new(SIZE_MAX - less, "all there is", &said) == NULL);
    char number[24];
    snprintf(number, sizeof number, "%ld", memory_calls() + 2);
    setenv("GGNN_TEST_FAIL_ALLOCATION", number, 1);
    void* a = memory_new(10, "first", &said);
    CHECK(a != NULL && memory_new(10, "second", &said) == NULL);
    unsetenv("GGNN_TEST_FAIL_ALLOCATION");
    memory_free(a);
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    RUN(blocks_are_zeroed_aligned_and_apart);
    RUN(resizing_keeps_what_fits_and_zeroes_the_rest);
    RUN(large_blocks_cost_only_what_is_touched);
    RUN(large_blocks_begin_with_a_huge_page_and_ask_for_them);
    RUN(large_blocks_are_given_back);
    RUN(failure_names_what_was_for_how_much);
    return test_finish();
}
