/* test_random.c - [2] RANDOM of ggnn.h: the words, bounded draws, the permutation, dropout fields, the logarithm. */
#include "tests/forms.h"
#include "tests/chi_square.h"
#include "tests/test.h"
#include "tests/vectors/philox_kat.h"
#include "tests/vectors/shuffle_vectors.h"

#define COUNT(array) ((int64_t)(sizeof(array) / sizeof *(array)))

TEST(philox_gives_random123s_known_answers)
{
    for (int64_t i = 0; i < COUNT(philox_random123); i++) {
        const uint32_t* c = philox_random123[i].counter;
        uint64_t        key = (uint64_t)philox_random123[i].key[1] << 32 | philox_random123[i].key[0];
        ggnn_words      words = ggnn_philox(key, (uint64_t)c[3] << 32 | c[2], (uint64_t)c[1] << 32 | c[0]);
        for (int w = 0; w < 4; w++) CHECK_EQ(words.word[w], philox_random123[i].words[w]);
    }
}

TEST(random_gives_curands_words)
{
    for (int64_t i = 0; i < COUNT(philox_curand); i++) {
        ggnn_rng   rng = {philox_curand[i].seed, philox_curand[i].step, philox_curand[i].purpose};
        ggnn_words words = ggnn_random(&rng, (int32_t)philox_curand[i].hop, (int64_t)philox_curand[i].node, philox_curand[i].block);
        for (int w = 0; w < 4; w++) CHECK_EQ(words.word[w], philox_curand[i].words[w]);
    }
}

/* The 128-bit product by schoolbook decimal-free means: additions of shifted a. */
static uint64_t mul_high_by_adding(uint64_t a, uint64_t b)
{
    uint64_t high = 0, low = 0;
    for (int bit = 63; bit >= 0; bit--) {
        high = high << 1 | low >> 63;
        low <<= 1;
        if (b >> bit & 1) {
            low += a;
            high += low < a;
        }
    }
    return high;
}

TEST(mul_high_is_the_high_half_of_the_product)
{
    const uint64_t edge[] = {0, 1, 2, 0xffffffffu, 0x100000000u, 0x100000001u, UINT64_MAX - 1, UINT64_MAX};
    for (int64_t i = 0; i < COUNT(edge); i++)
        for (int64_t j = 0; j < COUNT(edge); j++) CHECK(ggnn_mul_high(edge[i], edge[j]) == mul_high_by_adding(edge[i], edge[j]));
    for (int i = 0; i < 2000; i++) {
        uint64_t a = test_random() >> test_below(64), b = test_random() >> test_below(64);
        CHECK(ggnn_mul_high(a, b) == mul_high_by_adding(a, b));
    }
}

TEST(bounded_draws_reach_both_ends_and_nothing_beyond)
{
    CHECK_EQ(ggnn_bounded(0, 7), 0);
    CHECK_EQ(ggnn_bounded(UINT64_MAX, 7), 6);
    CHECK_EQ(ggnn_bounded(UINT64_MAX, INT64_MAX), INT64_MAX - 1);
    CHECK_EQ(ggnn_bounded(UINT64_MAX, 1), 0);
}

TEST(draws_below_n_are_uniform)
{
    ggnn_rng rng = {99, 3, GGNN_PURPOSE_SAMPLE};
    for (int64_t n = 2; n <= 100; n += 7) {
        int64_t count[100] = {0};
        for (int64_t node = 0; node < 4000; node++)
            for (int64_t j = 0; j < 5; j++) count[ggnn_draw_below(&rng, 1, node, j, n)]++;
        CHECK(chi_square_uniform(count, n, 20000, 1));
    }
}

TEST(draw_j_is_words_2j_and_2j_plus_1)
{
    ggnn_rng   rng = {5, 6, GGNN_PURPOSE_SAMPLE};
    ggnn_words words = ggnn_random(&rng, 2, 77, 3);
    CHECK(ggnn_draw(words, 6) == ((uint64_t)words.word[0] << 32 | words.word[1]));
    CHECK(ggnn_draw(words, 7) == ((uint64_t)words.word[2] << 32 | words.word[3]));
}

/* Block j / 2, of which there are 2^32. */
TEST(a_stream_has_2_33_draws)
{
    ggnn_rng      rng = {5, 6, GGNN_PURPOSE_SAMPLE};
    const int64_t draw[] = {0, 3, ((int64_t)1 << 32) - 1, (int64_t)1 << 32, ((int64_t)1 << 32) + 7, ((int64_t)1 << 33) - 1}, n = ((int64_t)1 << 60) + 3;
    for (int64_t i = 0; i < COUNT(draw); i++) {
        const ggnn_words block = ggnn_random(&rng, 2, 77, (uint32_t)(draw[i] >> 1));
        const uint64_t   bits = (uint64_t)block.word[draw[i] % 2 * 2] << 32 | block.word[draw[i] % 2 * 2 + 1];
        CHECK_EQ(ggnn_draw_below(&rng, 2, 77, draw[i], n), mul_high_by_adding(bits, (uint64_t)n));
    }
}

/* The numbers of Steele and Vigna's generator from 1234567 on, and those of the harness. */
TEST(mix_is_that_of_splitmix64)
{
    const uint64_t known[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u, 4593380528125082431u, 16408922859458223821u};
    uint64_t       state = 1234567;
    for (int64_t i = 0; i < COUNT(known); i++) CHECK(ggnn_mix(state += 0x9E3779B97F4A7C15u) == known[i]);
    for (int64_t v = 0; v < 1000; v++) {
        const int32_t  parts = INT32_MAX - (int32_t)test_below(1000);
        const uint64_t before = test_state, next = test_random();
        CHECK(ggnn_mix(before + 0x9E3779B97F4A7C15u) == next);
        CHECK_EQ(ggnn_owner_hash((int64_t)(before >> 1), parts), mul_high_by_adding(ggnn_mix((before >> 1) + 0x9E3779B97F4A7C15u), (uint64_t)parts));
    }
}

TEST(shuffle_is_a_permutation_and_differs_by_epoch_and_seed)
{
    static unsigned char seen[70000];
    const int64_t        size[] = {1, 2, 3, 5, 255, 256, 257, 1000, 65536, 65537, 70000};
    for (int64_t s = 0; s < COUNT(size); s++) {
        int64_t n = size[s], same_epoch = 0, same_seed = 0, in_place = 0;
        memset(seen, 0, sizeof seen);
        for (int64_t i = 0; i < n; i++) {
            int64_t to = ggnn_shuffle(7, 2, i, n);
            if (!CHECK(to >= 0 && to < n) || !CHECK(!seen[to]++)) return;
            same_epoch += to == ggnn_shuffle(7, 3, i, n);
            same_seed += to == ggnn_shuffle(8, 2, i, n);
            in_place += to == i;
        }
        if (n >= 255) CHECK(same_epoch < 10 && same_seed < 10 && in_place < 10); /* each about 1 in the mean */
    }
}

TEST(shuffle_gives_the_frozen_orders)
{
    for (int64_t i = 0; i < COUNT(shuffle_vectors); i++) {
        uint64_t seed = shuffle_vectors[i].seed;
        uint32_t epoch = shuffle_vectors[i].epoch;
        int64_t  n = shuffle_vectors[i].n;
        for (int64_t k = 0; k < 5; k++) CHECK_EQ(ggnn_shuffle(seed, epoch, k, n), shuffle_vectors[i].to[k]);
        for (int64_t k = 0; k < 3; k++) CHECK_EQ(ggnn_shuffle(seed, epoch, n - 1 - k, n), shuffle_vectors[i].last[k]);
    }
}

/* Six rounds over two halves of the fewest bits, 4 each at least, that hold n; what lands past n goes round again. */
static int64_t shuffled(uint64_t seed, uint32_t epoch, int64_t i, int64_t n)
{
    int      bits = 8;
    uint64_t left = 0, right = 0, at = (uint64_t)i;
    while (bits < 62 && ((uint64_t)n - 1) >> bits) bits += 2;
    const uint64_t low = ((uint64_t)1 << bits / 2) - 1;
    for (int again = 1; again || at >= (uint64_t)n; again = 0) {
        left = at >> bits / 2;
        right = at & low;
        for (uint64_t round = 0; round < 6; round++) {
            const uint64_t mixed = left ^ ggnn_philox(seed, (uint64_t)4 << 56 | right, (uint64_t)epoch << 32 | round).word[0];
            left = right;
            right = mixed & low;
        }
        at = left << bits / 2 | right;
    }
    return (int64_t)at;
}

/* Up to 2^62: all numbers that 62 bits hold. */
TEST(shuffle_follows_its_definition_for_any_size)
{
    const int64_t size[] = {1, 2, 255, 256, 257, 1024, 1025, 65537, INT32_MAX, (int64_t)1 << 32, ((int64_t)1 << 32) + 1,
                            ((int64_t)1 << 60) + 1, ((int64_t)1 << 61) + 3, (int64_t)1 << 62};
    for (int64_t s = 0; s < COUNT(size); s++)
        for (int64_t k = 0; k < 60; k++) {
            const int64_t i = k < 20 ? k % size[s] : k < 40 ? size[s] - 1 - k % size[s] : (int64_t)(test_random() >> 2) % size[s];
            CHECK_EQ(ggnn_shuffle(9 + (uint64_t)k, (uint32_t)s, i, size[s]), shuffled(9 + (uint64_t)k, (uint32_t)s, i, size[s]));
        }
}

TEST(shuffle_puts_every_element_everywhere_equally_often)
{
    for (int64_t n = 2; n <= 7; n++) {
        int64_t count[49] = {0};
        for (uint32_t epoch = 0; epoch < 3000; epoch++)
            for (int64_t i = 0; i < n; i++) count[i * n + ggnn_shuffle(11, epoch, i, n)]++;
        for (int64_t i = 0; i < n; i++) CHECK(chi_square_uniform(count + i * n, n, 3000, 1));
    }
}

TEST(all_orders_of_four_are_equally_likely)
{
    int64_t count[24] = {0};
    for (uint32_t epoch = 0; epoch < 24000; epoch++) {
        int64_t left[4] = {0, 1, 2, 3}, code = 0;
        for (int64_t i = 0; i < 3; i++) { /* Lehmer code */
            int64_t to = ggnn_shuffle(13, epoch, i, 4), at = 0;
            while (left[at] != to) at++;
            code = code * (4 - i) + at;
            memmove(left + at, left + at + 1, (size_t)(3 - at) * sizeof *left);
        }
        count[code]++;
    }
    CHECK(chi_square_uniform(count, 24, 24000, 1));
}

/* Any number of nodes goes through several vector widths and the plain remainder; each width begins, too. Hop 255 is the
   last. */
TEST(random_nodes_are_their_definition)
{
    const ggnn_rng rng = {0x0123456789abcdefu, 77, GGNN_PURPOSE_GENERATE};
    ggnn_words     words[41];
    for (ggnn_level = 0; ggnn_level <= 3; ggnn_level++)
        for (int64_t nodes = 0; nodes < 40; nodes++) {
            int32_t  hop = nodes % 3 ? 3 : 255;
            int64_t  first = nodes % 2 ? 7 : ((int64_t)1 << 32) - 9; /* the low word carries */
            uint32_t block = (uint32_t)nodes * 0x0fffffffu;
            memset(words, 0x5a, sizeof words);
            CHECK_EQ(ggnn_random_nodes(words, &rng, hop, first, nodes, block), GGNN_OK);
            for (int64_t i = 0; i < nodes; i++) {
                ggnn_words one = ggnn_random(&rng, hop, first + i, block);
                CHECK(memcmp(&words[i], &one, sizeof one) == 0);
            }
            CHECK_EQ(words[nodes].word[0], 0x5a5a5a5au);
        }
    ggnn_level = 3;
}

/* The same of a row's blocks. */
TEST(dropout_fields_are_their_definition)
{
    const ggnn_rng rng = {0xfedcba9876543210u, 5, GGNN_PURPOSE_DROPOUT};
    uint16_t       field[8 * 41];
    for (ggnn_level = 0; ggnn_level <= 3; ggnn_level++)
        for (int64_t blocks = 0; blocks < 40; blocks++) {
            int32_t  hop = blocks % 3 ? 1 : 255;
            int64_t  node = blocks % 2 ? 12 : ((int64_t)1 << 40) + blocks;
            uint32_t first = blocks % 5 ? (uint32_t)blocks : 0xfffffff0u; /* the last ones, and the first again */
            memset(field, 0x5a, sizeof field);
            CHECK_EQ(ggnn_dropout_fields(field, &rng, hop, node, first, blocks), GGNN_OK);
            for (int64_t i = 0; i < 8 * blocks; i++)
                CHECK_EQ(field[i], ggnn_dropout_field(ggnn_random(&rng, hop, node, first + (uint32_t)(i / 8)), i % 8));
            CHECK_EQ(field[8 * blocks], 0x5a5a);
        }
    ggnn_level = 3;
}

TEST(neg_log2_is_the_truncated_logarithm)
{
    const double one = 1099511627776.0; /* 2^40 */
    CHECK(ggnn_neg_log2(UINT64_MAX) == 0);
    CHECK(ggnn_neg_log2(0) == (uint64_t)64 << 40);
    for (int bit = 1; bit < 64; bit++) CHECK(ggnn_neg_log2(((uint64_t)1 << bit) - 1) == (uint64_t)(64 - bit) << 40);
    for (int i = 0; i < 20000; i++) {
        uint64_t draw = test_random() >> test_below(63);
        double   exact = 64.0 - log2((double)draw + 1.0);
        CHECK_NEAR((double)ggnn_neg_log2(draw) / one, exact, 2.0 / one + 4e-14); /* double's own error near 64 */
    }
    for (int i = 0; i < 2000; i++) { /* monotone: equal keys are ties, never swaps */
        uint64_t a = test_random(), b = a + test_random() % 1000000;
        if (b > a) CHECK(ggnn_neg_log2(a) >= ggnn_neg_log2(b));
    }
}

TEST(the_fast_logarithm_has_the_bits_of_the_definition)
{
    for (int bit = 0; bit < 64; bit++)
        for (uint64_t near = 0; near < 64; near++) { /* around powers of two, 0 and 2^64 - 1 too */
            uint64_t draw = ((uint64_t)1 << bit) - 32 + near;
            CHECK_EQ(ggnn_neg_log2_fast(draw), ggnn_neg_log2(draw));
        }
    for (int i = 0; i < 400000; i++) { /* one of 128 is too near a multiple of 2^-40 for a double */
        uint64_t draw = i % 4 ? test_random() : test_random() >> test_below(64);
        CHECK_EQ(ggnn_neg_log2_fast(draw), ggnn_neg_log2(draw));
    }
}

TEST(dropout_fields_are_the_words_low_half_first)
{
    ggnn_words words = {{0x00020001u, 0x00040003u, 0x00060005u, 0x00080007u}};
    for (int64_t i = 0; i < 8; i++) CHECK_EQ(ggnn_dropout_field(words, i), i + 1);
    CHECK_EQ(ggnn_dropout_field(words, 13), 6);
    CHECK_EQ(ggnn_dropout_threshold(0.0f), 0);
    CHECK_EQ(ggnn_dropout_threshold(0.5f), 32768);
    CHECK_NEAR(ggnn_dropout_scale(32768), 2.0, 0);
    CHECK_NEAR(ggnn_dropout_scale(0), 1.0, 0);
}

TEST(uniform_is_24_bits_of_a_word)
{
    CHECK_NEAR(ggnn_uniform(0), 0, 0);
    CHECK_NEAR(ggnn_uniform(255), 0, 0);
    CHECK_NEAR(ggnn_uniform(256), ldexp(1, -24), 0);
    CHECK_NEAR(ggnn_uniform(0x80000000u), 0.5, 0);
    CHECK_NEAR(ggnn_uniform(UINT32_MAX), 1 - ldexp(1, -24), 0);
}

TEST(dropout_threshold_is_rounded_to_nearest)
{
    CHECK_EQ(ggnn_dropout_threshold(0.1f), 6554); /* 6553.6 */
    CHECK_EQ(ggnn_dropout_threshold(0.3f), 19661); /* 19660.8 */
    CHECK_EQ(ggnn_dropout_threshold(0.2f), 13107); /* 13107.2 */
    CHECK_EQ(ggnn_dropout_threshold(0.999f), 65470); /* 65470.46 */
}

TEST(half_floats_convert_as_ieee_says)
{
    for (uint32_t h = 0; h < 65536; h++) { /* there and back, every value */
        float value = ggnn_half_to_float((uint16_t)h);
        int   nan = (h & 0x7fffu) > 0x7c00u;
        if (nan) CHECK(value != value && ggnn_float_to_half(value) == (h | 0x200u)); /* its payload, made quiet */
        else CHECK_EQ(ggnn_float_to_half(value), h);
    }
    CHECK_NEAR(ggnn_half_to_float(0x3c01), 1.0009765625, 0);
    CHECK_NEAR(ggnn_half_to_float(0x0001), ldexp(1, -24), 0);
    CHECK_NEAR(ggnn_half_to_float(0xfbff), -65504.0, 0);
    for (uint32_t h = 0; h < 0x7bffu; h++) { /* between neighbours: below, at and above the middle */
        float low = ggnn_half_to_float((uint16_t)h), high = ggnn_half_to_float((uint16_t)(h + 1)), middle = (low + high) / 2;
        CHECK_EQ(ggnn_float_to_half(nextafterf(middle, 0.0f)), h);
        CHECK_EQ(ggnn_float_to_half(middle), h & 1 ? h + 1 : h); /* to even */
        CHECK_EQ(ggnn_float_to_half(nextafterf(middle, 1e9f)), h + 1);
    }
    CHECK_EQ(ggnn_float_to_half(65519.99f), 0x7bff);
    CHECK_EQ(ggnn_float_to_half(65520.0f), 0x7c00);
    CHECK_EQ(ggnn_float_to_half(3e38f), 0x7c00);
    CHECK_EQ(ggnn_float_to_half(-1e-9f), 0x8000);
    static const uint32_t low[] = {0x7f800001u, 0xff801fffu}; /* NaN whose payload a half has no bits for */
    for (int i = 0; i < 2; i++) {
        float value;
        memcpy(&value, &low[i], sizeof value);
        CHECK_EQ(ggnn_float_to_half(value), i ? 0xfe00 : 0x7e00);
    }
}

TEST(every_status_has_a_sentence)
{
    static const char* const sentence[] = {"ok", "an argument is out of range", "a node id or a row of indptr is out of range",
                                           "an edge weight is negative or not finite", "a result does not fit its buffer",
                                           "a block contradicts itself", "no memory is left"};
    CHECK_EQ(GGNN_ERROR_MEMORY, COUNT(sentence) - 1);
    for (int s = 0; s < COUNT(sentence); s++) CHECK_STR(ggnn_status_string((ggnn_status)s), sentence[s]);
    CHECK_STR(ggnn_status_string((ggnn_status)7), "unknown status");
    CHECK_STR(ggnn_status_string((ggnn_status)77), "unknown status");
    CHECK_STR(ggnn_status_string((ggnn_status)-1), "unknown status");
}

/* Purposes key draws, a method and what is kept lie in packed bytes: another number is another sample, or another file. */
TEST(the_numbers_of_enumerators_are_fixed)
{
    const int64_t number[][9] = {
        {GGNN_PURPOSE_SAMPLE, GGNN_PURPOSE_EVALUATE, GGNN_PURPOSE_PRESAMPLE, GGNN_PURPOSE_WALK, GGNN_PURPOSE_EPOCH,
         GGNN_PURPOSE_WEIGHTS, GGNN_PURPOSE_DROPOUT, GGNN_PURPOSE_ATTENTION_DROPOUT, GGNN_PURPOSE_GENERATE},
        {GGNN_FISHER_YATES, GGNN_PATH_DOUBLING, GGNN_REJECTION, GGNN_RESERVOIR, GGNN_WEIGHTED, GGNN_REPLACEMENT, GGNN_WALK, 7, 8},
        {GGNN_OK, GGNN_ERROR_ARGUMENT, GGNN_ERROR_ID, GGNN_ERROR_WEIGHT, GGNN_ERROR_CAPACITY, GGNN_ERROR_BLOCK, GGNN_ERROR_MEMORY, 7, 8},
        {GGNN_SUM, GGNN_MEAN, GGNN_MAX, GGNN_MIN, 4, 5, 6, 7, 8},
        {GGNN_OWNER_RANGE, GGNN_OWNER_MODULO, GGNN_OWNER_HASH, GGNN_OWNER_MAP, 4, 5, 6, 7, 8},
        {GGNN_F32, GGNN_F16, 2, 3, 4, 5, 6, 7, 8},
        {GGNN_DOT, GGNN_ADD, 2, 3, 4, 5, 6, 7, 8},
        {GGNN_UNIQUE_DIRECT, GGNN_UNIQUE_HASH, 2, 3, 4, 5, 6, 7, 8}};
    const int64_t flag[] = {GGNN_KEEP_NEIGHBORS, GGNN_KEEP_POSITIONS, GGNN_KEEP_WEIGHTS, GGNN_KEEP_REPEATS, GGNN_KEEP_TRANSPOSES};
    const int64_t drop[] = {GGNN_DROP_DUPLICATES, GGNN_DROP_SELF_LOOPS, GGNN_ADD_SELF_LOOPS};
    for (int64_t i = 0; i < COUNT(number); i++)
        for (int64_t j = 0; j < 9; j++) CHECK_EQ(number[i][j], j);
    for (int64_t i = 0; i < COUNT(flag); i++) CHECK_EQ(flag[i], 1 << i);
    for (int64_t i = 0; i < COUNT(drop); i++) CHECK_EQ(drop[i], 1 << i);
    CHECK(GGNN_KEEP_ALL == 31 && GGNN_HOPS_MAX == 8 && GGNN_HOP_NUMBERS == 256 && GGNN_FANOUT_MAX == 1024);
    CHECK_EQ(ggnn_walk_purpose(GGNN_PURPOSE_SAMPLE), 3);
    CHECK_EQ(ggnn_walk_purpose(GGNN_PURPOSE_EVALUATE), 19);
    CHECK_EQ(ggnn_walk_purpose(GGNN_PURPOSE_PRESAMPLE), 35);
    CHECK_EQ(ggnn_type_bytes(GGNN_F32), 4);
    CHECK_EQ(ggnn_type_bytes(GGNN_F16), 2);
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    test_seed(20261);
    RUN(philox_gives_random123s_known_answers);
    RUN(random_gives_curands_words);
    RUN(mul_high_is_the_high_half_of_the_product);
    RUN(bounded_draws_reach_both_ends_and_nothing_beyond);
    RUN(draws_below_n_are_uniform);
    RUN(draw_j_is_words_2j_and_2j_plus_1);
    RUN(a_stream_has_2_33_draws);
    RUN(mix_is_that_of_splitmix64);
    RUN(shuffle_is_a_permutation_and_differs_by_epoch_and_seed);
    RUN(shuffle_gives_the_frozen_orders);
    RUN(shuffle_follows_its_definition_for_any_size);
    RUN(shuffle_puts_every_element_everywhere_equally_often);
    RUN(all_orders_of_four_are_equally_likely);
    RUN(random_nodes_are_their_definition);
    RUN(dropout_fields_are_their_definition);
    RUN(neg_log2_is_the_truncated_logarithm);
    RUN(the_fast_logarithm_has_the_bits_of_the_definition);
    RUN(dropout_fields_are_the_words_low_half_first);
    RUN(uniform_is_24_bits_of_a_word);
    RUN(dropout_threshold_is_rounded_to_nearest);
    RUN(half_floats_convert_as_ieee_says);
    RUN(every_status_has_a_sentence);
    RUN(the_numbers_of_enumerators_are_fixed);
    return test_finish();
}
