/* trainer/options/config.h: each option of ggnn-train in a table of its own, against --help, the command line, a checkpoint's options, those
   that ranks compare, and the log. No file is opened. */
#include <stddef.h>

#include "tests/capture.h"
#include "tests/test.h"
#include "datasets/dataset.h"
#include "trainer/options/config.h"
#include "trainer/options/config_rules.h"

/* ==== the options =============================================================================================== */

typedef enum { FLAG, INT, REAL, BYTES, CHOICE, TEXT } kind;
typedef enum { FREE, EPOCHS, SAME } keep; /* of a checkpoint: may differ; may unless the schedule is the cosine; may not */

static const struct {
    const char* name;
    kind kind;
    size_t at;
    keep keep;
    bool compared;      /* between processes, though a checkpoint does not keep it */
    const char* usual;  /* NULL: there is none */
    const char* other;  /* a value that is not usual; it reads back as it is */
    const char *least, *most; /* of numbers. Of choices: all of them, in their order */
} of[] = {
#define AT(field) offsetof(config, field)
    {"data", TEXT, AT(data), FREE, false, NULL, "other.ggnn", 0, 0},
    {"verify", FLAG, AT(verify), FREE, false, NULL, NULL, 0, 0},
    {"split", INT, AT(split), SAME, false, "0", "3", "0", "1000000000"},
    {"loss", CHOICE, AT(loss), SAME, false, "auto", "bce", "auto|ce|bce", 0},
    {"model", CHOICE, AT(model), SAME, false, "sage", "gat", "gcn|sage|gat|mlp", 0},
    {"aggregator", CHOICE, AT(aggregator), SAME, false, "mean", "pool", "mean|gcn|pool|importance", 0},
    {"layers", INT, AT(layers), SAME, false, "3", "2", "1", "8"},
    {"edge-features", FLAG, AT(edge_features), SAME, false, NULL, NULL, 0, 0},
    {"hidden", INT, AT(hidden), SAME, false, "256", "257", "1", "65536"},
    {"heads", INT, AT(heads), SAME, false, "4", "8", "1", "1024"},
    {"out-heads", INT, AT(out_heads), SAME, false, "1", "6", "1", "1024"},
    {"residual", FLAG, AT(residual), SAME, false, NULL, NULL, 0, 0},
    {"norm", CHOICE, AT(norm), SAME, false, "none", "layer", "none|layer", 0},
    {"dropout", REAL, AT(dropout), SAME, false, "0.5", "0.3", "0", "0.999"},
    {"input-dropout", REAL, AT(input_dropout), SAME, false, "0", "0.2", "0", "0.999"},
    {"attention-dropout", REAL, AT(attention_dropout), SAME, false, "0", "0.1", "0", "0.999"},
    {"fanout", TEXT, AT(fanout_text), SAME, false, NULL, "7,6,5", 0, 0},
    {"preprocess", FLAG, AT(preprocess), SAME, false, NULL, NULL, 0, 0},
    {"sampler", CHOICE, AT(sampler), SAME, false, "fisher-yates", "replacement", GGNN_METHOD_NAMES, 0},
    {"batch", INT, AT(batch), SAME, false, "1024", "1000", "1", "16777216"},
    {"walks", INT, AT(walks), SAME, false, "4", "9", "1", "1024"},
    {"walk-length", INT, AT(walk_length), SAME, false, "3", "7", "1", "1024"},
    {"walk-restart", REAL, AT(walk_restart), SAME, false, "0.5", "0.12345678901234568", "0", "1"},
    {"epochs", INT, AT(epochs), EPOCHS, false, "10", "11", "0", "16777216"},
    {"lr", REAL, AT(lr), SAME, false, "0.003", "0.10000000000000003", "0", "1000000"},
    {"lr-schedule", CHOICE, AT(schedule), SAME, false, "constant", "step", "constant|cosine|step", 0},
    {"lr-step", INT, AT(lr_step), SAME, false, "30", "2", "1", "16777216"},
    {"lr-decay", REAL, AT(lr_decay), SAME, false, "0.1", "0.7", "0", "1"},
    {"warmup", INT, AT(warmup), SAME, false, "0", "5", "0", "1073741824"},
    {"optimizer", CHOICE, AT(optimizer), SAME, false, "adam", "adamw", "adam|adamw", 0},
    {"weight-decay", REAL, AT(weight_decay), SAME, false, "0", "0.01", "0", "1000000"},
    {"patience", INT, AT(patience), SAME, false, "0", "4", "0", "16777216"},
    {"eval", CHOICE, AT(eval), SAME, false, "full", "sampled", "full|sampled", 0},
    {"eval-every", INT, AT(eval_every), SAME, false, "1", "3", "0", "16777216"},
    {"eval-memory", BYTES, AT(eval_memory), FREE, true, "4294967296", "12345", "0", "9000000000000000000"},
    {"seed", INT, AT(seed), SAME, false, "1", "8999999999999999999", "0", "9000000000000000000"},
    {"threads", INT, AT(threads), FREE, false, "0", "3", "0", "4096"},
    {"gemm", CHOICE, AT(gemm), SAME, false, "builtin", "blas", "builtin|blas", 0},
    {"dense-features", FLAG, AT(dense_features), SAME, false, NULL, NULL, 0, 0},
    {"backend", CHOICE, AT(backend), FREE, true, "cpu", "cuda", "cpu|cuda|cuda-emulated", 0},
    {"precision", CHOICE, AT(precision), FREE, true, "fp32", "tf32", "fp32|tf32", 0},
    {"pipeline", CHOICE, AT(pipeline), FREE, false, "auto", "overlap", "auto|serial|overlap|factored", 0},
    {"unique", CHOICE, AT(unique), FREE, true, "auto", "hash", "auto|direct|hash|cooperative", 0},
    {"devices", INT, AT(devices), FREE, false, "1", "7", "1", "256"},
    {"samplers", INT, AT(samplers), FREE, false, "0", "2", "0", "256"},
    {"device-list", TEXT, AT(device_list), FREE, false, NULL, "1,0", 0, 0},
    {"parallel", CHOICE, AT(parallel), FREE, true, "data", "split", "data|split", 0},
    {"split-sampling", CHOICE, AT(split_sampling), FREE, true, "cooperative", "single", "single|cooperative", 0},
    {"split-partial", FLAG, AT(split_partial), FREE, true, NULL, NULL, 0, 0},
    {"store", CHOICE, AT(store), FREE, true, "auto", "shards", "auto|parts|replica|shards", 0},
    {"gather", CHOICE, AT(gather), FREE, true, "pointer", "exchange", "pointer|exchange", 0},
    {"owners", CHOICE, AT(owners), FREE, true, "range", "hash", "range|modulo|hash", 0},
    {"partition", CHOICE, AT(partition), SAME, false, "none", "pagraph", "none|mincut|hash|mod|range|pagraph|metis", 0},
    {"balance", CHOICE, AT(balance), FREE, true, "vertices", "edges", "vertices|edges", 0},
    {"partition-file", TEXT, AT(partition_file), FREE, false, NULL, "a.part", 0, 0},
    {"closure-limit", INT, AT(closure_limit), SAME, false, "100000", "50", "0", "2147483647"},
    {"shuffle", CHOICE, AT(shuffle), SAME, false, "global", "local", "global|local", 0},
    {"comm", CHOICE, AT(comm), FREE, true, "auto", "own", "auto|own|nccl", 0},
    {"store-graph", REAL, AT(store_graph), FREE, true, "1", "0.25", "0", "1"},
    {"store-features", REAL, AT(store_features), FREE, true, "1", "0.75", "0", "1"},
    {"store-edges", REAL, AT(store_edges), FREE, true, "0", "0.5", "0", "1"},
    {"cache-edges", REAL, AT(cache_edges), FREE, true, "0", "0.5", "0", "1"},
    {"prefer", CHOICE, AT(prefer), FREE, true, "graph", "features", "graph|features", 0},
    {"cache", CHOICE, AT(cache), FREE, true, "none", "dual", "none|degree|aligraph|presc|optimal|dual|random", 0},
    {"cache-ratio", REAL, AT(cache_ratio), FREE, true, "0", "0.4", "0", "1"},
    {"cache-bytes", TEXT, AT(cache_bytes_text), FREE, true, NULL, "64M", 0, 0},
    {"reserve-bytes", BYTES, AT(reserve_bytes), FREE, true, "1073741824", "17", "0", "9000000000000000000"},
    {"device-memory", BYTES, AT(device_memory), FREE, true, "0", "4096", "0", "9000000000000000000"},
    {"host-share", REAL, AT(host_share), FREE, true, "0.2", "0.6", "0", "1"},
    {"slopes", TEXT, AT(slopes_text), FREE, true, "0,0", "3,4", 0, 0},
    {"presample-epochs", INT, AT(presample_epochs), FREE, true, "1", "2", "1", "10000"},
    {"ranking", TEXT, AT(ranking), FREE, false, NULL, "a.rank", 0, 0},
    {"topology", TEXT, AT(topology), FREE, false, NULL, "ring", 0, 0},
    {"placement", CHOICE, AT(placement), FREE, true, "best", "exact", "best|pruned|exact|clique", 0},
    {"save", TEXT, AT(save), FREE, true, NULL, "saved", 0, 0}, /* compared is whether there is one */
    {"save-every", INT, AT(save_every), FREE, true, "1", "2", "0", "16777216"},
    {"save-steps", INT, AT(save_steps), FREE, true, "0", "6", "0", "1073741824"},
    {"resume", TEXT, AT(resume), FREE, false, NULL, "c", 0, 0},
    {"log", TEXT, AT(log), FREE, false, NULL, "a.log", 0, 0},
    {"profile", FLAG, AT(profile), FREE, false, NULL, NULL, 0, 0},
    {"trace-step", INT, AT(trace_step), FREE, false, "0", "12", "0", "1073741824"},
    {"explain", FLAG, AT(explain), FREE, false, NULL, NULL, 0, 0},
    {"links", TEXT, AT(links_text), FREE, false, "1500,50,12", "9,8,7", 0, 0},
#undef AT
};
enum { OPTIONS = sizeof of / sizeof *of };

/* Those of ggnn-train predict alone, as its help begins them. Its table has them behind the others. */
static const char* const own[] = {"load FILE", "out FILE", "nodes train|val|test|FILE", "layer N", "write logits|classes"};
enum { OWN = sizeof own / sizeof *own };

/* What predict lacks of training's: these, and all but two of what a checkpoint keeps. */
static bool is_of_training(const char* name)
{
    static const char list[] = " samplers parallel split-sampling split-partial balance partition-file save save-every save-steps resume log profile "
                               "trace-step explain links ";
    char word[60];
    snprintf(word, sizeof word, " %s ", name);
    return strstr(list, word) != NULL;
}

/* ==== helpers =================================================================================================== */

/* Parses the blank-separated words, which live on in one of a few places. */
static options_result parse(config* c, error* why, const char* format, const char* a, const char* b)
{
    static char place[8][4096];
    static int next;
    char *text = place[next++ % 8], *argv[200] = {(char*)(uintptr_t) "ggnn-train"};
    int argc = 1;
    snprintf(text, sizeof place[0], format, a, b);
    for (char* word = strtok(text, " "); word; word = strtok(NULL, " ")) argv[argc++] = word;
    why->text[0] = 0;
    return config_parse(c, argc, argv, why);
}

/* "--name value" of option i, of a flag "--name". */
static const char* given(int i, const char* value)
{
    static char text[4][200];
    static int next;
    char* to = text[next++ % 4];
    snprintf(to, sizeof text[0], "--%s%s%s", of[i].name, of[i].kind == FLAG ? "" : " ", of[i].kind == FLAG ? "" : value);
    return to;
}

/* A config with --data and option i at that value. */
static config config_with(int i, const char* value)
{
    static config c;
    error why;
    if (!CHECK(parse(&c, &why, i ? "--data x %s" : "%s", given(i, value), "") == OPTIONS_GOOD)) printf("  %s\n", why.text);
    return c;
}

static config config_plain(void)
{
    static config c;
    error why;
    CHECK(parse(&c, &why, "--data x", "", "") == OPTIONS_GOOD);
    return c;
}

/* Which of the choices it is. */
static int choice_of(const char* choices, const char* text)
{
    int which = 0;
    for (const char* at = choices; at && strncmp(at, text, strlen(text)); at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL) which++;
    return which;
}

/* Has c option i at that value? NULL: at none, a flag: unset. */
static bool is_at(const config* c, int i, const char* value)
{
    const void* at = (const char*)c + of[i].at;
    switch (of[i].kind) {
    case FLAG: return *(const bool*)at == (value != NULL);
    case REAL: return *(const double*)at == strtod(value, NULL);
    case CHOICE: return *(const int*)at == choice_of(of[i].least, value);
    case TEXT: return value ? *(const char* const*)at && !strcmp(*(const char* const*)at, value) : !*(const char* const*)at;
    default: return *(const int64_t*)at == strtoll(value, NULL, 10);
    }
}

static const char* other_of(int i) { return of[i].kind == FLAG ? "set" : of[i].other; }
static const char* usual_of(int i) { return i ? of[i].usual : "x"; }

static bool check_at(const config* c, int i, const char* value)
{
    const bool is = CHECK(is_at(c, i, value)) != 0;
    if (!is) printf("  --%s is not %s\n", of[i].name, value ? value : "not given");
    return is;
}

/* ==== the command line and the help ============================================================================= */

TEST(each_option_has_its_default_and_sets_its_own_value_alone)
{
    for (int i = 0; i < OPTIONS; i++) {
        const config c = config_with(i, other_of(i));
        for (int k = 0; k < OPTIONS; k++) {
            check_at(&c, k, k == i ? other_of(k) : usual_of(k));
            CHECK_EQ(c.given[k], k == i || k == 0);
        }
    }
}

/* One below the least, and one above the most; of numbers with a point a little. */
static void outside(int i, bool above, char text[40])
{
    const char* limit = above ? of[i].most : of[i].least;
    if (of[i].kind == REAL) snprintf(text, 40, "%.9f", strtod(limit, NULL) + (above ? .0001 : -.0001));
    else if (strlen(limit) > 18) snprintf(text, 40, "9100000000000000000");
    else snprintf(text, 40, "%lld", strtoll(limit, NULL, 10) + (above ? 1 : -1));
}

TEST(each_number_may_be_its_least_and_its_most_and_no_other_beyond)
{
    for (int i = 0; i < OPTIONS; i++) {
        if (of[i].kind != INT && of[i].kind != REAL && of[i].kind != BYTES) continue;
        const config least = config_with(i, of[i].least), most = config_with(i, of[i].most);
        check_at(&least, i, of[i].least);
        check_at(&most, i, of[i].most);
        for (int above = 0; above < 2; above++) {
            char text[40], words[200];
            config c;
            error why;
            outside(i, above, text);
            CHECK(parse(&c, &why, "--data x %s", given(i, text), "") == OPTIONS_WRONG);
            snprintf(words, sizeof words, "--%s %s: must be between %s and %s", of[i].name, text, of[i].least, of[i].most);
            if (of[i].kind != BYTES) CHECK_STR(why.text, words);
            else CHECK(strncmp(why.text, words, strlen(of[i].name) + 3 + strlen(text)) == 0);
        }
    }
}

TEST(each_choice_is_one_of_the_help_and_no_other)
{
    for (int i = 0; i < OPTIONS; i++) {
        if (of[i].kind != CHOICE) continue;
        int count = 0;
        for (const char* at = of[i].least; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL, count++) {
            char name[40];
            snprintf(name, sizeof name, "%.*s", (int)strcspn(at, "|"), at);
            const config c = config_with(i, name);
            CHECK_EQ(*(const int*)(const void*)((const char*)&c + of[i].at), count);
        }
        config c;
        error why;
        CHECK(parse(&c, &why, "--data x %s", given(i, "neither"), "") == OPTIONS_WRONG && strstr(why.text, of[i].least));
    }
}

static bool is_free(int i) { return of[i].keep == FREE; }
static bool is_epochs(int i) { return of[i].keep == EPOCHS; }
static bool is_owners(int i) { return !strcmp(of[i].name, "partition") || !strcmp(of[i].name, "closure-limit"); }

/* Of presample-epochs --balance edges makes other owners, which add gradients in another order. */
static bool changes_nothing(int i)
{
    static const char list[] = " verify eval-memory threads unique samplers store gather owners comm store-graph store-features store-edges cache-edges prefer cache cache-ratio "
                               "cache-bytes reserve-bytes device-memory host-share slopes ranking topology placement save save-every save-steps log "
                               "profile trace-step links ";
    char name[60];
    snprintf(name, sizeof name, " %s ", of[i].name);
    return strstr(list, name) != NULL;
}

/* The names after `title`, up to an empty line or a title. */
static bool names(const char* help, const char* title, bool (*is)(int))
{
    const char* at = strstr(help, title);
    if (!CHECK(at != NULL)) return false;
    at = strchr(at + strlen(title), '\n');
    for (int i = 0; i < OPTIONS; i++) {
        char name[60];
        if (!is(i)) continue;
        at += strspn(at, " \n");
        snprintf(name, sizeof name, "--%s", of[i].name);
        if (!CHECK(strlen(name) == strcspn(at, " \n") && !strncmp(at, name, strlen(name)))) return false;
        at += strlen(name);
    }
    return CHECK(*at == '\n' && (at[1] == '\n' || at[1] == 'M' || at[1] == 'C')) != 0;
}

/* In this order, none left out, and each with its default. */
TEST(the_help_has_each_option_with_its_choices_and_its_default)
{
    config c;
    error why;
    capture();
    const options_result result = parse(&c, &why, "--help", "", "");
    const char *help = captured(), *at = help;
    CHECK(result == OPTIONS_HELP);
    for (int i = 0; i < OPTIONS; i++) {
        static const char* const value[] = {"\n", "N", "X", "BYTES", "", ""};
        char begin[200], usual[60];
        snprintf(begin, sizeof begin, "\n  --%s %s", of[i].name, of[i].kind == CHOICE ? of[i].least : value[of[i].kind]);
        if (of[i].kind == FLAG) begin[strlen(begin) - 1] = 0;
        at = strstr(at, "\n  --");
        if (!CHECK(at != NULL)) return;
        if (strncmp(at, begin, strlen(begin))) {
            CHECK_STR(begin, "in the help");
            return;
        }
        const char *next = strstr(at + 1, "\n  --"), *blank = strstr(at + 1, "\n\n"), *end = next && next < blank ? next : blank;
        snprintf(usual, sizeof usual, "[%s]", of[i].usual ? of[i].usual : "");
        const char* found = strstr(at, usual);
        if (of[i].usual && i && !CHECK(found && found < end)) printf("  --%s %s\n", of[i].name, usual);
        if (!of[i].usual && !CHECK(end[-1] != ']')) printf("  --%s\n", of[i].name);
        at = end;
    }
    at = strstr(at, "\nA checkpoint fixes ");
    CHECK(at && names(at, "and all options but these, which may differ when it is resumed:", is_free));
    CHECK(at && names(at, "May differ unless the schedule is cosine's, and is the checkpoint's where it is not given:", is_epochs));
    CHECK(at && names(at, "Changes no result, whatever its value:", changes_nothing));
    CHECK(strstr(help, "\nExit status: 0 done, 1 failure, 2 wrong usage, 130 interrupted (and saved, with --save).\n") != NULL);
}

/* ==== a checkpoint's options ==================================================================================== */

/* The line that a text of options has of option i at that value. */
static bool has_line(const char* text, int i, const char* value)
{
    char line[200];
    snprintf(line, sizeof line, "--%s%s%s\n", of[i].name, of[i].kind == FLAG ? "" : "=", of[i].kind == FLAG ? "" : value);
    const char* at = strstr(text, line);
    return at && (at == text || at[-1] == '\n');
}

static int lines_of(const char* text)
{
    int lines = 0;
    for (; *text; text++) lines += *text == '\n';
    return lines;
}

TEST(a_checkpoint_has_the_options_that_it_keeps_and_no_others)
{
    char text[CONFIG_TEXT_MAX], plain[CONFIG_TEXT_MAX];
    const config usual = config_plain();
    plain[config_text(&usual, plain)] = 0;
    for (int i = 0; i < OPTIONS; i++) {
        const config c = config_with(i, other_of(i));
        text[config_text(&c, text)] = 0;
        const bool owners = !strcmp(of[i].name, "parallel"); /* of split: who owns which node shapes no batch */
        CHECK_EQ(has_line(text, i, of[i].other), of[i].keep != FREE);
        CHECK_EQ(strcmp(text, plain) != 0, of[i].keep != FREE || owners);
        CHECK_EQ(lines_of(text) - lines_of(plain), owners ? -2 : of[i].keep != FREE && !of[i].usual);
        if (of[i].keep != FREE && of[i].usual) CHECK(has_line(plain, i, of[i].usual));
        if (owners) CHECK(!strstr(text, "--partition=") && !strstr(text, "--closure-limit=") && strstr(text, "--shuffle="));
    }
}

/* config_inherit of "c"; why is of this call alone. */
static bool inherit(config* c, const char* text, size_t length, error* why)
{
    why->text[0] = 0;
    return config_inherit(c, "c", text, length, why);
}

/* What was trained with option i at its other value is gone on with. */
static void check_inherit(int i)
{
    char text[CONFIG_TEXT_MAX], words[300];
    const config was = config_with(i, other_of(i));
    const size_t length = config_text(&was, text);
    config c = config_plain();
    error why = {""};
    CHECK(inherit(&c, text, length, &why));
    for (int k = 0; k < OPTIONS; k++) check_at(&c, k, k == i && of[i].keep != FREE ? other_of(k) : usual_of(k));
    if (of[i].kind == FLAG || i == 0) return;
    c = config_with(i, of[i].other);
    CHECK(inherit(&c, text, length, &why) && check_at(&c, i, of[i].other));
    const char* another = of[i].kind == TEXT ? "1,1" : of[i].usual;
    c = config_with(i, another);
    const bool fits = inherit(&c, text, length, &why);
    if (!CHECK_EQ(fits, of[i].keep != SAME)) printf("  --%s\n", of[i].name);
    if (fits) check_at(&c, i, another);
    snprintf(words, sizeof words, "--%s %s contradicts c, which was trained with --%s %s", of[i].name, another, of[i].name, of[i].other);
    if (!fits) CHECK_STR(why.text, words);
}

TEST(each_option_of_a_checkpoint_is_inherited_or_free_and_a_contradiction_names_both)
{
    for (int i = 0; i < OPTIONS; i++) check_inherit(i);
}

TEST(flags_and_epochs_contradict_where_the_checkpoint_has_none_or_a_cosine)
{
    char text[CONFIG_TEXT_MAX], words[200];
    error why = {""};
    config was = config_plain(), c;
    size_t length = config_text(&was, text);
    for (int i = 0; i < OPTIONS; i++) {
        if (of[i].kind != FLAG) continue;
        c = config_with(i, NULL);
        const bool fits = inherit(&c, text, length, &why);
        CHECK_EQ(fits, of[i].keep == FREE);
        snprintf(words, sizeof words, "--%s true contradicts c, which was trained with --%s false", of[i].name, of[i].name);
        if (!fits) CHECK_STR(why.text, words);
    }
    CHECK(parse(&c, &why, "--data x --fanout 5,4,3", "", "") == OPTIONS_GOOD && !inherit(&c, text, length, &why));
    CHECK_STR(why.text, "--fanout 5,4,3 contradicts c, which was trained with --fanout not given");
    CHECK(parse(&was, &why, "--data x --lr-schedule cosine --epochs 7", "", "") == OPTIONS_GOOD);
    length = config_text(&was, text);
    CHECK(parse(&c, &why, "--data x --epochs 8", "", "") == OPTIONS_GOOD && !inherit(&c, text, length, &why));
    CHECK_STR(why.text, "--epochs 8 contradicts c, which was trained with --epochs 7");
    CHECK(parse(&c, &why, "--data x --epochs 7", "", "") == OPTIONS_GOOD && inherit(&c, text, length, &why));
    c = config_plain();
    CHECK(inherit(&c, text, length, &why) && c.epochs == 7 && c.schedule == SCHEDULE_COSINE);
    CHECK(parse(&was, &why, "--data x --partition pagraph --closure-limit 9", "", "") == OPTIONS_GOOD);
    length = config_text(&was, text);
    CHECK(parse(&c, &why, "--data x --parallel split --partition hash", "", "") == OPTIONS_GOOD && inherit(&c, text, length, &why));
    CHECK(c.partition == 1 + DIVIDE_HASH && c.closure_limit == 100000);
}

TEST(a_text_of_options_that_is_too_long_or_has_others_is_refused)
{
    static char text[CONFIG_TEXT_MAX + 1];
    error why = {""};
    config c = config_plain();
    memset(text, '\n', sizeof text);
    memcpy(text, "--hidden=7\n", 11);
    CHECK(inherit(&c, text, CONFIG_TEXT_MAX - 1, &why) && c.hidden == 7);
    CHECK(!inherit(&c, text, CONFIG_TEXT_MAX, &why));
    CHECK_STR(why.text, "c: its options are 8192 bytes long");
    for (int i = 0; i < OPTIONS + OWN + 1; i++) memcpy(text + 11 * i, "--hidden=7\n", 11);
    CHECK(inherit(&c, text, 11 * (OPTIONS + OWN), &why));
    CHECK(!inherit(&c, text, 11 * (OPTIONS + OWN + 1), &why));
    CHECK_STR(why.text, "c: it has more options than there are");
    CHECK(!inherit(&c, "--depth=4\n", 10, &why));
    CHECK_STR(why.text, "c: its options are not those of this program: --depth: no such option");
    CHECK(!inherit(&c, "--layers=9\n", 11, &why) && strstr(why.text, "c: its options are not those of this program: --layers 9: must be"));
}

static void print_resume(char* text, size_t size, const config* c)
{
    FILE* out = fmemopen(text, size, "w");
    config_print_resume(c, out);
    fclose(out);
}

/* All that a checkpoint does not keep, and --epochs by the checkpoint. */
TEST(the_command_that_goes_on_has_every_other_option_that_was_given)
{
    static char line[4096], again[4096];
    config c, then;
    error why;
    size_t used = 0;
    for (int i = 0; i < OPTIONS; i++)
        if (strcmp(of[i].name, "resume")) used += (size_t)snprintf(line + used, sizeof line - used, "%s ", given(i, other_of(i)));
    CHECK(parse(&c, &why, "%s", line, "") == OPTIONS_GOOD);
    print_resume(again, sizeof again, &c);
    CHECK(strncmp(again, "--data other.ggnn --resume saved --save saved --verify --eval-memory 12345 --threads 3 --backend cuda ", 101) == 0);
    CHECK(parse(&then, &why, "%s", again, "") == OPTIONS_GOOD);
    for (int i = 0; i < OPTIONS; i++) { /* --parallel split is among them: owners are no checkpoint's */
        const bool resume = !strcmp(of[i].name, "resume"), there = of[i].keep == FREE || is_owners(i);
        check_at(&then, i, resume ? "saved" : there ? other_of(i) : usual_of(i));
        CHECK_EQ(then.given[i], there);
    }
    CHECK(parse(&c, &why, "--data x --save y --partition metis --balance edges --parallel %s", "split", "") == OPTIONS_GOOD);
    print_resume(again, sizeof again, &c);
    CHECK_STR(again, "--data x --resume y --save y --parallel split --partition metis --balance edges");
    CHECK(parse(&c, &why, "--data x --save y --partition pagraph --devices %s", "2", "") == OPTIONS_GOOD);
    print_resume(again, sizeof again, &c);
    CHECK_STR(again, "--data x --resume y --save y --devices 2");
    CHECK(parse(&c, &why, "--data x --save y --hidden 3", "", "") == OPTIONS_GOOD);
    print_resume(again, sizeof again, &c);
    CHECK_STR(again, "--data x --resume y --save y");
}

/* As a POSIX shell takes it: in quotes where it is not plain, or is nothing. */
TEST(words_of_the_command_are_quoted_where_a_shell_would_see_more)
{
    static const char* const word[][2] = {
        {"plain/a_b-c.d,e:f=g%h@i+J9", "plain/a_b-c.d,e:f=g%h@i+J9"}, {"", "''"}, {"a b", "'a b'"}, {"'", "''\\'''"}, {"it's", "'it'\\''s'"}, {"''", "''\\'''\\'''"}, {"$x", "'$x'"},
        {"`x`", "'`x`'"}, {"a\\b", "'a\\b'"}, {"a\"b", "'a\"b'"}, {"~", "'~'"}, {"a;b", "'a;b'"}, {"a&b", "'a&b'"}, {"(a)", "'(a)'"}, {"a*", "'a*'"}, {"a?", "'a?'"}, {"[a]", "'[a]'"},
        {"{a}", "'{a}'"}, {"a|b", "'a|b'"}, {"a<b>", "'a<b>'"}, {"#a", "'#a'"}, {"!a", "'!a'"}, {"a\tb", "'a\tb'"}, {"a\nb", "'a\nb'"}, {"\303\244", "'\303\244'"}};
    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        for (int where = 0; where < 3; where++) {
            char is[300] = "", should[300];
            config c = config_plain();
            FILE* out = fmemopen(is, sizeof is, "w");
            c.save = "s";
            *(where == 0 ? &c.data : where == 1 ? &c.save : &c.log) = word[i][0];
            for (int k = 0; k < OPTIONS; k++) c.given[k] = where == 2 && !strcmp(of[k].name, "log");
            config_print_resume(&c, out);
            fclose(out);
            const char* quoted = word[i][1];
            snprintf(should, sizeof should, "--data %s --resume %s --save %s%s%s", where == 0 ? quoted : "x", where == 1 ? quoted : "s", where == 1 ? quoted : "s",
                     where == 2 ? " --log " : "", where == 2 ? quoted : "");
            CHECK_STR(is, should);
        }
}

/* ==== ranks, the log ============================================================================================ */

TEST(ranks_compare_the_options_that_have_to_be_alike)
{
    char text[CONFIG_TEXT_MAX], plain[CONFIG_TEXT_MAX];
    const config usual = config_plain();
    const size_t length = config_common_text(&usual, plain);
    CHECK_EQ(length, strlen(plain));
    CHECK(strstr(plain, "\nno --save\n") != NULL);
    for (int i = 0; i < OPTIONS; i++) {
        if (of[i].kind == FLAG && of[i].compared) continue; /* is listed, whether it is set or not */
        const config c = config_with(i, other_of(i));
        const size_t now = config_common_text(&c, text);
        CHECK_EQ(now, strlen(text));
        if (!CHECK_EQ(strcmp(text, plain) != 0, of[i].keep != FREE || of[i].compared)) printf("  --%s\n", of[i].name);
        if (of[i].compared && strcmp(of[i].name, "save")) CHECK(has_line(text, i, of[i].other) && (!of[i].usual || has_line(plain, i, of[i].usual)));
    }
}

/* Numbers as such, flags as true or false, all else as text. */
TEST(the_log_has_the_options_that_a_checkpoint_keeps)
{
    for (int i = 0; i < OPTIONS; i++)
        for (int set = 0; set < 2; set++) {
            const config c = set ? config_with(i, other_of(i)) : config_plain();
            const char* value = set ? other_of(i) : of[i].usual;
            char *text = NULL, member[200];
            size_t length;
            json j;
            FILE* out = open_memstream(&text, &length);
            json_start(&j, out, false);
            json_begin_object(&j, NULL);
            config_json(&c, &j, "options");
            json_end_object(&j);
            fclose(out);
            if (of[i].kind == FLAG) value = set ? "true" : "false";
            const bool quoted = of[i].kind == CHOICE || of[i].kind == TEXT;
            snprintf(member, sizeof member, "\"%s\":%s%s%s", of[i].name, quoted ? "\"" : "", value ? value : "", quoted ? "\"" : "");
            const char* at = strstr(text, member);
            const bool there = at && (at[-1] == '{' || at[-1] == ',') && strchr(",}", at[strlen(member)]);
            if (!CHECK_EQ(there, of[i].keep != FREE)) printf("  %s\n", member);
            snprintf(member, sizeof member, "\"%s\":", of[i].name);
            CHECK_EQ(strstr(text, member) != NULL, of[i].keep != FREE);
            free(text);
        }
}

/* ==== options together ========================================================================================== */

/* The error of these words, "" where there is none. */
static const char* wrong_with(const char* words)
{
    static config c;
    static error why;
    const bool predicts = strncmp(words, "predict ", 8) == 0;
    CHECK(parse(&c, &why, predicts ? "predict --data x --load c --out o.npy %s" : "--data x %s", words + 8 * predicts, "") == OPTIONS_GOOD);
    const bool good = config_finish(&c, &why);
    CHECK_EQ(good, !why.text[0]);
    return why.text;
}

/* Of each rule, in their order: it alone is broken, its sentence, and what breaks it no more. */
static const char* const broken[][3] = {
    {"--explain --save s",
     "--explain: trains without evaluation, so it takes no --save and no --resume",
     "--explain --log s"},
    {"--explain --fanout full",
     "--explain: nothing is sampled with --fanout full; give a value a layer",
     "--explain --fanout 3,3,3"},
    {"--links 9,8,7",
     "--links 9,8,7: has no effect without --explain",
     "--links 9,8,7 --explain"},
    {"predict --layer 1 --write classes",
     "--layer 1: says what is written, too; give one of them",
     "predict --layer 1"},
    {"predict --pipeline factored",
     "--pipeline factored: devices that predict do all stages",
     "predict --pipeline overlap"},
    {"--aggregator mean --model gcn",
     "--aggregator mean: has no effect without --model sage, whose aggregator it is",
     "--aggregator mean --model sage"},
    {"--aggregator importance --sampler reservoir",
     "--aggregator importance: needs --sampler walk, whose visits are its weights; other samplers have none",
     "--aggregator importance --sampler walk"},
    {"--aggregator importance --eval full",
     "--aggregator importance: --eval full takes all neighbours and has no visits; use --eval sampled",
     "--aggregator importance --eval full --eval-every 0"},
    {"--aggregator importance --fanout full",
     "--aggregator importance: --fanout full samples nothing, so there are no visits; give the most visited a node, as in --fanout 5,5",
     "--aggregator importance --fanout -1,-1"},
    {"--heads 8",
     "--heads 8: has no effect without --model gat",
     "--heads 8 --model gat"},
    {"--out-heads 1 --model mlp",
     "--out-heads 1: has no effect without --model gat",
     "--out-heads 1 --model gat"},
    {"--attention-dropout 0",
     "--attention-dropout 0: has no effect without --model gat",
     "--attention-dropout 0 --model gat"},
    {"--walks 4 --sampler reservoir",
     "--walks 4: has no effect without --sampler walk",
     "--walks 4 --sampler walk"},
    {"--walk-length 3",
     "--walk-length 3: has no effect without --sampler walk",
     "--walk-length 3 --aggregator importance"},
    {"--walk-restart .5 --sampler replacement",
     "--walk-restart 0.5: has no effect without --sampler walk",
     "--walk-restart .5 --sampler walk"},
    {"--edge-features --model gcn",
     "--edge-features: needs --model sage or gat, which alone read them",
     "--edge-features --model gat"},
    {"--edge-features --aggregator pool",
     "--edge-features: needs --aggregator mean, which alone of GraphSAGE's reads them",
     "--edge-features --aggregator mean"},
    {"--edge-features --sampler walk",
     "--edge-features: --sampler walk takes nodes, not edges of a list, so there is no row to read",
     "--edge-features --sampler weighted"},
    {"--edge-features --preprocess",
     "--edge-features: what --preprocess has summed of the first layer has no features of edges",
     "--preprocess"},
    {"--edge-features --fanout full",
     "--edge-features: with --fanout full the whole graph is one batch, which has no positions; --fanout -1,-1,.., a value a layer, takes all neighbours of each --batch",
     "--edge-features --fanout -1,-1"},
    {"--edge-features --parallel split",
     "--edge-features: --parallel split moves rows of nodes alone; use --parallel data",
     "--edge-features --parallel data"},
    {"--edge-features --store shards",
     "--edge-features: with --gather exchange, and --store shards, rows of nodes alone are sent; use --gather pointer",
     "--edge-features --gather pointer"},
    {"--store-edges .5",
     "--store-edges 0.5: has no effect without --edge-features",
     "--store-edges .5 --edge-features"},
    {"--cache-edges .5",
     "--cache-edges 0.5: has no effect without --edge-features",
     "--cache-edges .5 --edge-features"},
    {"--edge-features --explain",
     "--edge-features: --explain does not count what is read of edges",
     "--explain"},
    {"--edge-features --trace-step 1",
     "--edge-features: --trace-step prints rows of nodes alone",
     "--edge-features --trace-step 0"},
    {"--lr-step 30 --lr-schedule cosine",
     "--lr-step 30: has no effect without --lr-schedule step",
     "--lr-step 30 --lr-schedule step"},
    {"--lr-decay .1",
     "--lr-decay 0.1: has no effect without --lr-schedule step",
     "--lr-decay .1 --lr-schedule step"},
    {"--preprocess --model gat",
     "--preprocess: --model gat weighs neighbours by what it learns, so nothing can be summed before training",
     "--preprocess --model gcn"},
    {"--preprocess --model mlp",
     "--preprocess: --model mlp looks at no neighbour, so there is nothing to sum",
     "--preprocess --model sage"},
    {"--preprocess --aggregator pool",
     "--preprocess: --aggregator pool transforms neighbours by weights that it learns before it looks for the largest",
     "--preprocess --aggregator mean"},
    {"--preprocess --aggregator gcn",
     "--preprocess: the file has a node's row and its neighbours' mean, which --aggregator gcn mixes otherwise",
     "--preprocess --model gcn"},
    {"--preprocess --aggregator importance",
     "--preprocess: --aggregator importance weighs neighbours by the walks of each step, all of which were summed alike",
     "--preprocess --aggregator mean"},
    {"--preprocess --input-dropout .1",
     "--preprocess: --input-dropout changes features in each step, which were summed once",
     "--preprocess --input-dropout 0"},
    {"--preprocess --residual",
     "--preprocess: --residual adds the features themselves to the first layer, which then begins without them",
     "--preprocess"},
    {"--preprocess --sampler walk",
     "--preprocess: --sampler weighted and walk choose neighbours of the first layer too, which were all summed alike",
     "--preprocess --sampler walk --fanout full"},
    {"--cache-ratio .1",
     "--cache-ratio 0.1: needs --cache other than none",
     "--cache-ratio .1 --cache degree"},
    {"--cache-bytes 5K --cache none",
     "--cache-bytes 5K: needs --cache other than none",
     "--cache-bytes 5K --cache random"},
    {"--cache presc --cache-ratio .1 --cache-bytes 5",
     "--cache-ratio 0.1: --cache-bytes says it, too; give one of them",
     "--cache presc --cache-ratio .1"},
    {"--cache dual --ranking r --cache-ratio .1",
     "--cache-ratio 0.1: with --cache dual --ranking says how much is cached; leave out one of them",
     "--cache presc --ranking r --cache-ratio .1"},
    {"--cache dual --ranking r --cache-bytes 5",
     "--cache-bytes 5: with --cache dual --ranking says how much is cached; leave out one of them",
     "--cache degree --ranking r --cache-bytes 5"},
    {"--cache degree --ranking r",
     "--cache degree: needs --cache-ratio or --cache-bytes, which say how large it is",
     "--cache degree --ranking r --cache-bytes 5"},
    {"--cache dual",
     "--cache dual: needs --cache-ratio or --cache-bytes or --ranking, which say how large it is",
     "--cache dual --ranking r"},
    {"--cache presc --cache-bytes auto --device-memory 0",
     "--cache-bytes auto: needs --device-memory other than 0, as a CPU has no memory of a device's",
     "--cache presc --cache-bytes auto --device-memory 1"},
    {"--slopes measure --cache presc --cache-ratio .1",
     "--slopes measure: needs --cache dual, which shares its bytes by them",
     "--slopes measure --cache dual --cache-ratio .1"},
    {"--slopes 0,0",
     "--slopes 0,0: has no effect without --cache dual, which shares its bytes by them",
     "--slopes 0,0 --cache dual --cache-bytes 7"},
    {"--slopes 1,2 --cache dual --ranking r",
     "--slopes 1,2: --ranking says what is cached; leave out one of them",
     "--slopes 1,2 --cache dual --cache-ratio 1"},
    {"--store-graph .5 --gather exchange",
     "--store-graph 0.5: with --gather exchange, and --store shards, rows are sent by their owners, not read from tiers",
     "--store-graph .5 --gather pointer"},
    {"--store-features 0 --store shards",
     "--store-features 0: with --gather exchange, and --store shards, rows are sent by their owners, not read from tiers",
     "--store-features 0 --store parts"},
    {"--device-memory 5 --gather exchange",
     "--device-memory 5: with --gather exchange, and --store shards, rows are sent by their owners, not read from tiers",
     "--device-memory 5"},
    {"--topology ring --store shards",
     "--topology ring: with --gather exchange, and --store shards, rows are sent by their owners, not read from tiers",
     "--topology ring"},
    {"--ranking r --store shards",
     "--ranking r: with --gather exchange, and --store shards, rows are sent by their owners, not read from tiers",
     "--ranking r --store shards --cache degree --cache-ratio .1"},
    {"--cache dual --cache-ratio .1 --store shards",
     "--cache dual: with --gather exchange, and --store shards, each device has all lists; a cache has rows alone",
     "--cache presc --cache-ratio .1 --store shards"},
    {"--cache presc --cache-bytes auto --backend cuda --gather exchange",
     "--cache-bytes auto: with --gather exchange, and --store shards, no room of a device is planned for",
     "--cache presc --cache-bytes 5 --backend cuda --gather exchange"},
    {"--prefer features --backend cuda --gather exchange --cache presc --cache-ratio .1",
     "--prefer features: with --gather exchange, and --store shards, no room of a device is planned for",
     "--prefer features --backend cuda --cache presc --cache-ratio .1"},
    {"--reserve-bytes 5 --backend cuda --gather exchange --cache presc --cache-ratio .1",
     "--reserve-bytes 5: with --gather exchange, and --store shards, no room of a device is planned for",
     "--reserve-bytes 5 --backend cuda --cache presc --cache-ratio .1"},
    {"--host-share .3 --backend cuda --gather exchange --cache presc --cache-ratio .1",
     "--host-share 0.3: with --gather exchange, and --store shards, rows are sent by their owners, not read from tiers",
     "--host-share .3 --backend cuda --cache presc --cache-ratio .1"},
    {"--explain --gather exchange --cache presc --cache-ratio .1",
     "--explain: with --gather exchange, and --store shards, rows are sent by their owners, not read from tiers",
     "--explain --cache presc --cache-ratio .1"},
    {"--owners hash --store-features .5",
     "--owners hash: the parts of tiers (--store-graph, --store-features, --store-edges, --cache-edges, --cache, --device-memory, --ranking, --topology) follow the order of what is hot",
     "--owners hash --cache none"},
    {"--owners partition --parallel split --devices 2",
     "--owners partition: needs --gather exchange or --store shards, whose rows lie where they are computed",
     "--owners partition --parallel split --devices 2 --store shards"},
    {"--owners partition --store shards --devices 2",
     "--owners partition: needs --partition pagraph, which says whose training nodes are whose",
     "--owners partition --store shards --devices 2 --partition pagraph"},
    {"--owners hash --parallel split --devices 2", "--owners hash: has no effect without --gather exchange or --store shards, as a part has what its device owns (--partition)", "--owners hash --parallel split --devices 2 --gather exchange"},
    {"--topology ring --store replica",
     "--topology ring: places parts, and with --store replica there are none",
     "--topology ring --store parts"},
    {"--placement best",
     "--placement best: has no effect without --topology or --backend cuda or cuda-emulated",
     "--placement best --topology none"},
    {"--fanout full --ranking r",
     "--ranking r: with --fanout full the whole graph is one batch, which lies in the device's memory, not in tiers; --fanout -1,-1,.., a value a layer, takes all neighbours of each --batch",
     "--fanout -1,-1 --ranking r"},
    {"--prefer graph --store-graph .5",
     "--prefer graph: has no effect without --device-memory other than 0, as on a CPU all that is given has room",
     "--prefer graph --device-memory 5"},
    {"--prefer graph --backend cuda",
     "--prefer graph: has no effect without an option of tiers, such as --device-memory",
     "--prefer graph --backend cuda --store-graph .5"},
    {"--reserve-bytes 0 --cache degree --cache-ratio .1 --device-memory 0",
     "--reserve-bytes 0: has no effect without --device-memory other than 0, as a CPU has no memory of a device's",
     "--reserve-bytes 0 --device-memory 5"},
    {"--reserve-bytes 0 --backend cuda",
     "--reserve-bytes 0: has no effect without --explain or an option of tiers, such as --device-memory or --partition pagraph",
     "--reserve-bytes 0 --backend cuda --explain"},
    {"--host-share .2 --store-graph .5",
     "--host-share 0.2: has no effect without --backend cuda or cuda-emulated",
     "--host-share .2 --store-graph .5 --backend cuda"},
    {"--host-share .2 --backend cuda",
     "--host-share 0.2: has no effect without an option of tiers, such as --device-memory or --partition pagraph",
     "--host-share .2 --backend cuda --cache random --cache-ratio 0"},
    {"--presample-epochs 1 --cache presc --cache-ratio .1 --ranking r",
     "--presample-epochs 1: has no effect without --balance edges or --explain, as --ranking says what is hot",
     "--presample-epochs 1 --cache presc --cache-ratio .1 --ranking r --explain"},
    {"--presample-epochs 1 --cache degree --cache-ratio .1",
     "--presample-epochs 1: has no effect without --cache presc or dual or optimal or --balance edges or --explain",
     "--presample-epochs 1 --parallel split --partition metis --balance edges"},
    {"--precision tf32",
     "--precision tf32: needs --backend cuda or cuda-emulated",
     "--precision tf32 --backend cuda-emulated"},
    {"--comm nccl",
     "--comm nccl: needs --backend cuda or cuda-emulated",
     "--comm nccl --backend cuda"},
    {"--gemm blas --backend cuda",
     "--gemm blas: needs --backend cpu",
     "--gemm blas"},
    {"--device-list 0",
     "--device-list 0: needs --backend cuda or cuda-emulated",
     "--device-list 0 --backend cuda"},
    {"--unique cooperative",
     "--unique cooperative: needs --backend cuda or cuda-emulated, whose lanes look for an id together",
     "--unique cooperative --backend cuda"},
    {"--unique hash --fanout full",
     "--unique hash: nothing is sampled with --fanout full",
     "--unique hash --fanout -1,-1"},
    {"--unique direct --parallel split",
     "--unique direct: has no effect without --backend cuda or cuda-emulated or --split-sampling single, as each part numbers what it owns "
     "by a table that fits the cache",
     "--unique direct --parallel split --split-sampling single"},
    {"--split-sampling cooperative",
     "--split-sampling cooperative: needs --parallel split",
     "--split-sampling cooperative --parallel split"},
    {"--split-partial",
     "--split-partial: needs --parallel split",
     "--split-partial --parallel split"},
    {"--balance vertices",
     "--balance vertices: needs --parallel split",
     "--balance vertices --parallel split"},
    {"--partition range",
     "--partition range: needs --parallel split, where each node has an owner; else pagraph alone divides training nodes",
     "--partition range --parallel split"},
    {"--partition none --parallel split",
     "--partition none: in --parallel split each node has an owner",
     "--partition none --parallel data"},
    {"--split-partial --parallel split --model gat",
     "--split-partial: needs --model sage, whose mean alone is a sum that can be sent in parts",
     "--split-partial --parallel split --model sage"},
    {"--split-partial --parallel split --aggregator gcn",
     "--split-partial: needs --aggregator mean, which alone is a sum that can be sent in parts",
     "--split-partial --parallel split --aggregator mean"},
    {"--balance edges --parallel split --partition hash",
     "--balance edges: needs --partition metis",
     "--balance edges --parallel split --partition metis"},
    {"--partition hash --parallel split --partition-file f",
     "--partition hash: --partition-file says it, too; give one of them in --parallel split",
     "--parallel split --partition-file f"},
    {"--parallel split --fanout full",
     "--parallel split: with --fanout full the whole graph is one batch, of one device; --fanout -1,-1,.., a value a layer, takes all neighbours of each --batch",
     "--parallel split --fanout -1,-1"},
    {"--parallel split --pipeline factored",
     "--parallel split: devices sample and train one batch together, so none samples for the others; use --pipeline overlap",
     "--parallel split --pipeline overlap"},
    {"--parallel split --pipeline overlap --gather exchange",
     "--parallel split: rows by exchange (--gather exchange, --store shards) come on the line that training has; use --pipeline serial",
     "--parallel split --pipeline serial --gather exchange"},
    {"--parallel split --explain",
     "--parallel split: --explain looks at devices that train on slices",
     "--parallel data --explain"},
    {"--shuffle local --parallel split --partition pagraph",
     "--shuffle local: in --parallel split all devices have all seeds; use --parallel data",
     "--shuffle local --parallel data --partition pagraph --devices 2"},
    {"--closure-limit 5 --parallel split",
     "--closure-limit 5: needs --partition pagraph",
     "--closure-limit 5 --parallel split --partition pagraph"},
    {"--partition-file f",
     "--partition-file f: needs --partition pagraph or --parallel split",
     "--partition-file f --partition pagraph --devices 2"},
    {"--shuffle local",
     "--shuffle local: needs --partition pagraph, which says whose training nodes are whose",
     "--shuffle local --partition pagraph --devices 2"},
    {"--closure-limit 5 --partition pagraph --devices 2 --partition-file f",
     "--closure-limit 5: --partition-file says whose nodes are whose",
     "--closure-limit 5 --partition pagraph --devices 2"},
    {"--partition pagraph --devices 2 --fanout full",
     "--partition pagraph: with --fanout full the whole graph is one batch, of one device",
     "--partition pagraph --devices 2 --fanout -1,-1"},
    {"--partition pagraph --devices 2 --pipeline factored",
     "--partition pagraph: with --pipeline factored devices train on what others sample, so none has nodes of its own",
     "--partition pagraph --devices 2 --pipeline overlap"},
    {"--partition pagraph --devices 2 --explain",
     "--partition pagraph: --explain compares settings that have no partition",
     "--partition pagraph --devices 2"},
    {"--partition pagraph --devices 2 --sampler walk",
     "--partition pagraph: --sampler walk leaves the hops around a training node that a device has",
     "--partition pagraph --devices 2 --sampler walk --model mlp"},
    {"--gather exchange --store replica",
     "--gather exchange: with --store replica each device has all rows",
     "--gather exchange --store parts"},
    {"--gather pointer --store shards",
     "--gather pointer: reads no memory of other machines; --store shards needs --gather exchange",
     "--store shards"},
    {"--samplers 2 --pipeline serial --devices 3",
     "--samplers 2: needs --pipeline factored",
     "--samplers 0 --pipeline serial --devices 3"},
    {"--pipeline factored --devices 2 --gather exchange",
     "--pipeline factored: rows by exchange (--gather exchange, --store shards) need all devices at the same batch; use --gather pointer",
     "--pipeline factored --devices 2 --gather pointer"},
    {"--pipeline factored --explain",
     "--pipeline factored: --explain looks at devices that do all stages",
     "--pipeline serial --explain"},
    {"--pipeline factored --fanout full",
     "--pipeline factored: nothing is sampled with --fanout full",
     "--pipeline factored"},
    {"--trace-step 7 --backend cuda-emulated",
     "--trace-step 7: needs --backend cpu, as it prints what a CPU computes",
     "--trace-step 0 --backend cuda-emulated"},
    {"--trace-step 7 --parallel split",
     "--trace-step 7: prints whole mini-batches, and --parallel split cuts them; use --parallel data",
     "--trace-step 7 --parallel data"},
    {"--fanout full --eval sampled",
     "--eval sampled: nothing is sampled with --fanout full",
     "--eval sampled"},
    {"--save-every 1 --resume s",
     "--save-every 1: has no effect without --save",
     "--save-every 1 --save s"},
    {"--save-steps 5",
     "--save-steps 5: needs --save",
     "--save-steps 5 --save s"},
    {"--patience 6 --eval-every 0",
     "--patience 6: needs --eval-every other than 0",
     "--patience 6 --eval-every 2"},
};
enum { BROKEN = sizeof broken / sizeof *broken };

/* Is there such an option, and are its values some that it can have? */
static bool is_term(const char* text)
{
    char name[60], value[60];
    const char* at = text + strcspn(text, " &");
    int i = 0;
    snprintf(name, sizeof name, "%.*s", (int)(at - text), text);
    if (!strcmp(name, "tiers")) return true;
    for (int k = 0; k < OWN; k++)
        if (strncmp(own[k], name, strlen(name)) == 0 && own[k][strlen(name)] == ' ') return true;
    while (i < OPTIONS && strcmp(of[i].name, name)) i++;
    if (i == OPTIONS || at[0] != ' ' || at[1] == '&' || strncmp(at, " or ", 4) == 0) return i < OPTIONS;
    for (at += 1 + (at[1] == '!'); at; at = at[strcspn(at, "| ")] == '|' ? at + strcspn(at, "|") + 1 : NULL) {
        snprintf(value, sizeof value, "%.*s", (int)strcspn(at, "| "), at);
        if (of[i].kind == CHOICE && choice_of(of[i].least, value) >= 10) return false;
    }
    return true;
}

static bool are_terms(const char* terms, const char* between)
{
    for (; terms; terms = strstr(terms, between) ? strstr(terms, between) + strlen(between) : NULL)
        if (!is_term(terms)) return false;
    return true;
}

TEST(each_rule_is_told_where_it_is_broken_and_silent_where_it_is_not)
{
    int rules = 0;
    for (const config_rule* r = config_rules; r->verb != CONFIG_RULES_END; r++, rules++) {
        char begin[80];
        if (rules >= BROKEN) continue;
        CHECK_STR(wrong_with(broken[rules][0]), broken[rules][1]);
        if (!CHECK_STR(wrong_with(broken[rules][2]), "")) printf("  %s\n", broken[rules][2]);
        CHECK(are_terms(r->a, " & ") && are_terms(r->b, " or "));
        const size_t length = strlen(broken[rules][1]), why = strlen(r->why);
        CHECK(length > why && !strcmp(broken[rules][1] + length - why, r->why));
        snprintf(begin, sizeof begin, "--%.*s", (int)strcspn(r->a, " "), r->a);
        if (strcmp(begin, "--tiers")) CHECK(!strncmp(broken[rules][1], begin, strlen(begin)));
    }
    CHECK_EQ(rules, BROKEN);
}

/* Other values, and what no rule says. */
TEST(options_that_contradict_each_other_are_errors_that_say_what_to_do)
{
    static const char* const wrong[][2] = {
        {"--fanout 5,5 --layers 3", "--fanout 5,5: 2 values for --layers 3"},
        {"--fanout 1,1,1,1,1,1,1,1,1", "--fanout 1,1,1,1,1,1,1,1,1: at most 8 values"},
        {"--preprocess --fanout 1,1,1,1,1,1,1,1", "--fanout 1,1,1,1,1,1,1,1: at most 7 values"},
        {"--preprocess --layers 2 --fanout 5,5", "--fanout 5,5: 2 values for --layers 2, the first of which --preprocess samples nothing for"},
        {"--fanout 5,-2", "--fanout -2: must be between -1 and 2147483647"},
        {"--fanout 2147483648", "--fanout 2147483648: must be between -1 and 2147483647"},
        {"--fanout 5,", "--fanout '': not an integer"},
        {"--backend cuda --device-list 0,1 --devices 3", "--device-list 0,1: 2 devices for --devices 3"},
        {"--backend cuda --device-list 65537", "--device-list 65537: must be between 0 and 65536"},
        {"--backend cuda --device-list -1", "--device-list -1: must be between 0 and 65536"},
        {"--cache presc --cache-bytes some", "--cache-bytes 'some': not a number of bytes"},
        {"--slopes 3", "--slopes 3: two numbers, A,F, or measure"},
        {"--slopes 3,4,5", "--slopes 3,4,5: two numbers, A,F, or measure"},
        {"--slopes 3,-1", "--slopes -1: must be between 0 and 9000000000000000"},
        {"--slopes measure --cache dual --ranking r", "--slopes measure: --ranking says what is cached; leave out one of them"},
        {"--links 1,2", "--links 1,2: three numbers, OWN,PEER,HOST in GB/s"},
        {"--links 1,2,0", "--links 0: must be between 1 and 1000000"},
        {"--links 1,2,1000001", "--links 1000001: must be between 1 and 1000000"},
        {"--explain --resume s", "--explain: trains without evaluation, so it takes no --save and no --resume"},
        {"--aggregator importance --model gat", "--aggregator importance: has no effect without --model sage, whose aggregator it is"},
        {"--walks 4 --fanout full", "--walks 4: has no effect without --sampler walk"},
        {"--preprocess --sampler weighted", "--preprocess: --sampler weighted and walk choose neighbours of the first layer too, which were all summed alike"},
        {"--store-features 1 --gather exchange", "--store-features 1: with --gather exchange, and --store shards, rows are sent by their owners, not read from tiers"},
        {"--device-memory 5 --store shards", "--device-memory 5: with --gather exchange, and --store shards, rows are sent by their owners, not read from tiers"},
        {"--cache dual --ranking r --store shards", "--cache dual: with --gather exchange, and --store shards, each device has all lists; a cache has rows alone"},
        {"--ranking r --store shards", "--ranking r: with --gather exchange, and --store shards, rows are sent by their owners, not read from tiers"},
        {"--topology ring --store shards", "--topology ring: with --gather exchange, and --store shards, rows are sent by their owners, not read from tiers"},
        {"--prefer features", "--prefer features: has no effect without --device-memory other than 0, as on a CPU all that is given has room"},
        {"--prefer features --device-memory 0", "--prefer features: has no effect without --device-memory other than 0, as on a CPU all that is given has room"},
        {"--host-share .3 --backend cuda --cache none", "--host-share 0.3: has no effect without an option of tiers, such as --device-memory or --partition pagraph"},
        {"--presample-epochs 2", "--presample-epochs 2: has no effect without --cache presc or dual or optimal or --balance edges or --explain"},
        {"--presample-epochs 2 --parallel split --balance vertices",
         "--presample-epochs 2: has no effect without --cache presc or dual or optimal or --balance edges or --explain"},
        {"--partition mincut", "--partition mincut: needs --parallel split, where each node has an owner; else pagraph alone divides training nodes"},
        {"--partition metis", "--partition metis: needs --parallel split, where each node has an owner; else pagraph alone divides training nodes"},
        {"--parallel split --pipeline overlap --store shards",
         "--parallel split: rows by exchange (--gather exchange, --store shards) come on the line that training has; use --pipeline serial"},
        {"--pipeline factored --devices 2 --store shards",
         "--pipeline factored: rows by exchange (--gather exchange, --store shards) need all devices at the same batch; use --gather pointer"},
        {"--pipeline factored --devices 3 --samplers 3", "--samplers 3: one of --devices 3 has to train at least"},
        {"--partition pagraph", "--partition pagraph: divides training nodes among --devices, here is one"},
        {"--trace-step 7 --devices 3", "--trace-step 7: prints a step of one device, here are 3"},
        {"--fanout full --devices 3", "--fanout full: one device computes the whole graph, here are 3; --fanout -1,-1,.., a value a layer, takes all neighbours of each --batch"},
        {"--log l --save l", "--log l: --save writes there"},
        {"--save x", "--save x: that is the data"},
        {"--model gat --hidden 30 --heads 4", "--heads 4 does not divide --hidden 30"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) CHECK_STR(wrong_with(wrong[i][0]), wrong[i][1]);
}

/* Rules ask what was given on the command line, or what a value is. A checkpoint gives no option, but it has values. */
TEST(what_a_checkpoint_has_is_not_given_and_its_values_count)
{
    static const char* const resumed[][3] = { /* trained with; resumed with; the error */
        {"--model gat --heads 2", "", ""}, {"--model gat --heads 2", "--heads 2", ""}, {"", "--heads 4", "--heads 4: has no effect without --model gat"},
        {"--model gcn --attention-dropout .3 --aggregator pool --lr-step 7", "", ""}, {"--sampler walk", "--walks 4", ""}, {"--partition pagraph --closure-limit 9", "--devices 2", ""},
        {"--partition pagraph --shuffle local", "--devices 2 --closure-limit 100000", ""},
        {"--partition pagraph --shuffle local", "--devices 2 --parallel split",
         "c was trained with --shuffle local: in --parallel split all devices have all seeds; use --parallel data"},
        {"--fanout full", "--ranking r", "--ranking r: with --fanout full the whole graph is one batch, which lies in the device's memory, not in tiers; "
                                         "--fanout -1,-1,.., a value a layer, takes all neighbours of each --batch"},
        {"--patience 3", "", ""}, {"--fanout full", "--pipeline factored", "--pipeline factored: nothing is sampled with --fanout full"},
        {"--parallel split --partition hash", "--parallel split --partition mod", ""}, {"--parallel split --partition hash", "", ""}};
    for (size_t i = 0; i < sizeof resumed / sizeof *resumed; i++) {
        char text[CONFIG_TEXT_MAX], words[300];
        error why;
        config was, c;
        CHECK(parse(&was, &why, "--data x %s", resumed[i][0], "") == OPTIONS_GOOD);
        const size_t length = config_text(&was, text);
        snprintf(words, sizeof words, "--resume c %s", resumed[i][1]);
        CHECK(parse(&c, &why, "--data x %s", words, "") == OPTIONS_GOOD && inherit(&c, text, length, &why));
        config_finish(&c, &why);
        CHECK_STR(why.text, resumed[i][2]);
    }
}

/* Beside those above, what looks much like it and is no error. */
TEST(options_that_go_together_are_taken)
{
    static const char* const good[] = {
        "--fanout 2147483647,-1,0", "--fanout 1,1,1,1,1,1,1,1", "--preprocess --fanout 1,1,1,1,1,1,1", "--preprocess --layers 1",
        "--preprocess --model gcn", "--preprocess --fanout full --sampler weighted", "--aggregator importance --eval-every 0 --eval full",
        "--aggregator importance --walks 7", "--backend cuda --device-list 0,65536,0", "--backend cuda --device-list 3,4 --devices 2", "--cache dual --ranking r",
        "--cache presc --cache-bytes auto --device-memory 1", "--cache presc --cache-bytes auto --backend cuda", "--cache dual --cache-ratio .1 --slopes measure",
        "--slopes 9000000000000000,0 --cache dual --cache-ratio .1", "--topology ring", "--links 1,1000000,1 --explain", "--pipeline factored --devices 3 --samplers 2",
        "--pipeline factored", "--parallel split", "--parallel split --devices 256", "--parallel split --partition-file f", "--parallel split --pipeline serial",
        "--parallel split --split-partial", "--parallel split --balance vertices", "--parallel split --partition metis --balance edges --presample-epochs 2",
        "--parallel split --partition pagraph --closure-limit 5", "--partition pagraph --devices 2 --partition-file f",
        "--partition pagraph --devices 2 --model mlp --sampler walk", "--partition pagraph --devices 2 --shuffle global --closure-limit 0",
        "--trace-step 5 --pipeline overlap", "--precision tf32 --backend cuda", "--comm nccl --backend cuda", "--comm own", "--model sage --hidden 30",
        "--store shards", "--store shards --gather exchange", "--store shards --cache random --cache-bytes 5 --owners hash", "--store replica", "--store parts --gather exchange --owners hash", "--save s --save-steps 5 --resume s",
        "--explain --epochs 3 --eval-every 2", "--explain --presample-epochs 2", "--cache optimal --cache-ratio .1 --presample-epochs 2",
        "--explain --reserve-bytes 5 --device-memory 7", "--backend cuda --cache degree --cache-bytes auto --reserve-bytes 5 --prefer features",
        "--model gat --out-heads 2 --sampler walk --walk-length 2 --walk-restart .1 --lr-schedule step --lr-step 3 --lr-decay .5 --save s --save-every 2"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!CHECK_STR(wrong_with(good[i]), "")) printf("  %s\n", good[i]);
}

/* What follows from options that were given where others were not. */
TEST(what_is_worked_out_follows_from_what_was_given)
{
    config c;
    error why;
#define WORKED_OUT(words, condition)                                                                         \
    CHECK(parse(&c, &why, "--data x %s", words, "") == OPTIONS_GOOD && config_finish(&c, &why));             \
    if (!CHECK(condition)) printf("  %s\n", words)
    WORKED_OUT("", !c.tiers && !c.full_batch && c.cache_bytes == -1 && !c.cache_auto && !c.slopes_measured && !c.listed && !strcmp(c.fanout_text, "15,10,5"));
    WORKED_OUT("--fanout full", c.full_batch && c.layers == 3 && !strcmp(c.fanout_text, "full"));
    WORKED_OUT("--fanout -1 --layers 5", c.full_batch && c.layers == 5 && !strcmp(c.fanout_text, "full"));
    WORKED_OUT("--fanout -1,07", !c.full_batch && c.layers == 2 && c.fanout[0] == -1 && c.fanout[1] == 7 && !strcmp(c.fanout_text, "-1,7"));
    WORKED_OUT("--preprocess --fanout 6,4", c.layers == 3 && c.fanout[0] == 6 && c.fanout[1] == 4 && c.fanout[2] == 0 && !strcmp(c.fanout_text, "6,4"));
    WORKED_OUT("--preprocess", c.layers == 3 && c.fanout[0] == 15 && c.fanout[1] == 10 && c.fanout[2] == 0 && !strcmp(c.fanout_text, "15,10"));
    WORKED_OUT("--preprocess --layers 1", c.fanout[0] == 0 && !c.fanout_text);
    WORKED_OUT("--aggregator importance", c.sampler == GGNN_WALK && c.eval == EVAL_SAMPLED && !strcmp(c.fanout_text, "5,5,5"));
    WORKED_OUT("--backend cuda --device-list 3,0,3", c.devices == 3 && c.listed == 3 && c.device[0] == 3 && c.device[1] == 0 && c.device[2] == 3);
    WORKED_OUT("--cache degree --cache-ratio .5", c.tiers && c.store_features == 0 && c.store_graph == 1 && c.cache_bytes == -1);
    WORKED_OUT("--cache dual --cache-bytes 3K", c.tiers && c.store_features == 0 && c.store_graph == 0 && c.cache_bytes == 3072 && !c.cache_auto);
    WORKED_OUT("--cache dual --cache-ratio 1 --store-graph .5 --store-features .25", c.store_graph == .5 && c.store_features == .25);
    WORKED_OUT("--cache presc --cache-bytes auto --device-memory 1", c.cache_auto && c.cache_bytes == -1);
    WORKED_OUT("--cache dual --cache-ratio .5 --slopes measure", c.slopes_measured && !c.slopes[0] && !c.slopes[1]);
    WORKED_OUT("--cache dual --cache-ratio 0 --slopes 7,9", !c.slopes_measured && c.slopes[0] == 7 && c.slopes[1] == 9);
    WORKED_OUT("--store-graph 1", c.tiers);
    WORKED_OUT("--store-features 1", c.tiers);
    WORKED_OUT("--device-memory 0", c.tiers);
    WORKED_OUT("--ranking r", c.tiers);
    WORKED_OUT("--topology t", c.tiers);
    WORKED_OUT("--cache none", !c.tiers);
    WORKED_OUT("--explain --presample-epochs 2 --backend cuda --reserve-bytes 5", !c.tiers);
    WORKED_OUT("--explain --links 9,8,7", c.links[0] == 9 && c.links[1] == 8 && c.links[2] == 7);
    WORKED_OUT("--explain", c.epochs == 1 && c.eval_every == 0);
    WORKED_OUT("--explain --epochs 4 --eval-every 2", c.epochs == 4 && c.eval_every == 0);
    WORKED_OUT("--parallel split", c.partition == 1 + DIVIDE_MINCUT && c.shuffle == SHUFFLE_GLOBAL);
    WORKED_OUT("--parallel split --partition-file f", c.partition == PARTITION_NONE);
    WORKED_OUT("--partition pagraph --devices 2", c.partition == PARTITION_PAGRAPH && c.shuffle == SHUFFLE_LOCAL);
    WORKED_OUT("--partition pagraph --devices 2 --shuffle global", c.shuffle == SHUFFLE_GLOBAL);
    WORKED_OUT("--partition pagraph --devices 2 --resume c", c.shuffle == SHUFFLE_GLOBAL); /* as the checkpoint has it */
    WORKED_OUT("--parallel split --partition pagraph --devices 2", c.shuffle == SHUFFLE_GLOBAL);
#undef WORKED_OUT
}

TEST(a_training_samples_as_its_options_say)
{
    config c;
    error why;
    CHECK(parse(&c, &why, "--data x --fanout 7,-1,3 --sampler walk --walks 9 --walk-length 8 --walk-restart .25", "", "") == OPTIONS_GOOD && config_finish(&c, &why));
    ggnn_sampling how = config_sampling(&c);
    CHECK(how.method == GGNN_WALK && how.num_hops == 3 && how.fanout[0] == 7 && how.fanout[1] == -1 && how.fanout[2] == 3 && how.keep == 0 && !how.last_hop_global);
    CHECK(how.walk.walks == 9 && how.walk.length == 8 && how.walk.restart == .25f);
    CHECK(!config_counts_visits(&c) && !config_reads_weights(&c));
    CHECK(parse(&c, &why, "--data x --aggregator importance --layers 2", "", "") == OPTIONS_GOOD && config_finish(&c, &why));
    how = config_sampling(&c);
    CHECK(how.keep == GGNN_KEEP_WEIGHTS && how.method == GGNN_WALK && config_counts_visits(&c));
    for (int model = 0; model < 4; model++)
        for (int full = 0; full < 2; full++) {
            static const char* const name[] = {"gcn", "sage", "gat", "mlp"};
            CHECK(parse(&c, &why, "--data x --sampler weighted --model %s %s", name[model], full ? "--fanout full" : "") == OPTIONS_GOOD && config_finish(&c, &why));
            how = config_sampling(&c);
            CHECK(how.method == (model == NET_MLP ? GGNN_FISHER_YATES : GGNN_WEIGHTED) && how.num_hops == 3 && how.keep == 0);
            for (int h = 0; h < 3 && !full; h++) CHECK_EQ(how.fanout[h], model == NET_MLP ? 0 : h ? h > 1 ? 5 : 10 : 15);
            CHECK_EQ(config_reads_weights(&c), model != NET_MLP && !full);
        }
}

/* Every schedule with every warm-up, at every step of three epochs of four mini-batches. */
TEST(the_rate_of_each_step_is_that_of_schedule_and_warmup)
{
    static const char* const schedule[] = {"constant", "cosine", "step"};
    enum { EPOCHS_RUN = 3, BATCHES = 4 };
    for (int s = 0; s < 3; s++)
        for (int warmup = 0; warmup < 8; warmup++)
            for (int every = 1; every < 3; every++) {
                config c;
                error why;
                char words[100];
                const char* const steps = s < 2 ? "" : every < 2 ? " --lr-decay .3 --lr-step 1" : " --lr-decay .3 --lr-step 2";
                snprintf(words, sizeof words, "%s --warmup %d", schedule[s], warmup);
                CHECK(parse(&c, &why, "--data x --lr .02 --epochs 3 --lr-schedule %s%s", words, steps) == OPTIONS_GOOD && config_finish(&c, &why));
                for (int step = 0; step < EPOCHS_RUN * BATCHES; step++) {
                    double rate = .02;
                    if (s == 1) rate *= .5 + .5 * cos(acos(-1) * step / 12.);
                    for (int e = every; s == 2 && e <= step / BATCHES; e += every) rate *= .3;
                    if (step < warmup) rate = rate * (step + 1) / warmup;
                    CHECK_NEAR((double)config_rate(&c, step, BATCHES), rate, 1e-8);
                }
            }
}

TEST(a_list_of_devices_has_256_at_most)
{
    char list[520] = "0";
    static config c;
    error why = {""};
    for (int i = 1; i < 256; i++) strcat(list, ",1");
    CHECK(parse(&c, &why, "--data x --backend cuda --device-list %s", list, "") == OPTIONS_GOOD && config_finish(&c, &why));
    CHECK_STR(why.text, "");
    CHECK(c.devices == 256 && c.listed == 256 && c.device[0] == 0 && c.device[255] == 1);
    strcat(list, ",2");
    CHECK(parse(&c, &why, "--data x --backend cuda --device-list %s", list, "") == OPTIONS_GOOD && !config_finish(&c, &why));
    CHECK(strstr(why.text, ",2: at most 256 devices") != NULL);
}

/* ==== predict =================================================================================================== */

TEST(the_help_of_predict_has_its_own_options_and_none_that_it_does_not_take)
{
    config c;
    error why;
    char begin[100];
    for (int predicts = 0; predicts < 2; predicts++) {
        capture();
        CHECK(parse(&c, &why, predicts ? "predict --help" : "--help", "", "") == OPTIONS_HELP);
        const char* help = captured();
        CHECK(!strncmp(help, predicts ? "Usage: ggnn-train predict --load " : "Usage: ggnn-train --data FILE [options]\n", 33));
        for (int k = 0; k < OWN; k++) {
            snprintf(begin, sizeof begin, "\n  --%s", own[k]);
            CHECK_EQ(strstr(help, begin) != NULL, predicts);
        }
        for (int i = 0; i < OPTIONS; i++) {
            const bool open = !strcmp(of[i].name, "split") || !strcmp(of[i].name, "eval");
            snprintf(begin, sizeof begin, "\n  --%s%s", of[i].name, of[i].kind == FLAG ? "" : " ");
            if (!CHECK_EQ(strstr(help, begin) != NULL, !predicts || open || (of[i].keep == FREE && !is_of_training(of[i].name)))) printf("  --%s\n", of[i].name);
        }
        if (predicts) CHECK(!strstr(help, "\nModel\n") && strstr(help, "\nPredictions\n") && strstr(help, "\nExit status: 0 done, 1 failure, 2 wrong usage, 130 interrupted (--out is as it was).\n"));
    }
}

TEST(each_command_refuses_the_options_of_the_other)
{
    static const char* const word[OWN] = {"load c", "out o.npy", "nodes test", "layer 1", "write logits"};
    config c;
    error why;
    char words[200];
    for (int i = 0; i < OPTIONS; i++) {
        const bool taken = parse(&c, &why, "predict --data x --load c --out o.npy %s", given(i, other_of(i)), "") == OPTIONS_GOOD;
        CHECK_EQ(taken, !is_of_training(of[i].name));
        snprintf(words, sizeof words, "--%s: an option of training, which ggnn-train predict does not take", of[i].name);
        if (!taken) CHECK_STR(why.text, words);
    }
    for (int k = 0; k < OWN; k++) {
        CHECK(parse(&c, &why, "--data x --%s", word[k], "") == OPTIONS_WRONG);
        snprintf(words, sizeof words, "--%.*s: an option of ggnn-train predict alone", (int)strcspn(word[k], " "), word[k]);
        CHECK_STR(why.text, words);
    }
}

TEST(predict_needs_checkpoint_data_and_an_output_of_a_known_format)
{
    static const char* const lacks[][2] = {{"predict --data x --out o.npy", "--load FILE.ckpt: missing (predict --help lists the options)"},
                                           {"predict --load c --out o.npy", "--data FILE: missing (predict --help lists the options)"},
                                           {"predict --load c --data x", "--out FILE.npy: missing (predict --help lists the options)"}};
    static const char* const wrong[][2] = {{"--out o.txt", "--out o.txt: its name has to end in .npy or .csv"}, {"--out npy", "--out npy: its name has to end in .npy or .csv"},
                                           {"--layer 4", "--layer 4: c has 3 layers"}, {"--data p.{r}", "--data p.{r}: predict reads a whole graph, not a part for each device"},
                                           {"--out c.npy --load c.npy", "--out c.npy: that is the checkpoint of --load"}, {"--nodes o.npy", "--out o.npy: that is the file of --nodes"},
                                           {"--data o.npy", "--out o.npy: that is the data"}};
    config c;
    error why;
    char words[200];
    for (int i = 0; i < 3; i++) {
        CHECK(parse(&c, &why, lacks[i][0], "", "") == OPTIONS_WRONG);
        CHECK_STR(why.text, lacks[i][1]);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(words, sizeof words, "predict %s", wrong[i][0]);
        CHECK_STR(wrong_with(words), wrong[i][1]);
    }
    CHECK_STR(wrong_with("predict --layer 3 --nodes train"), "");
}

/* Its options are the checkpoint's, which contradictions are errors of, but for --eval and --split. */
TEST(predict_takes_the_options_of_the_checkpoint_and_works_out_its_own)
{
    char text[CONFIG_TEXT_MAX];
    config was, c;
    error why;
    CHECK(parse(&was, &why, "--data x --partition pagraph --devices 2 --hidden 9 --eval sampled --eval-every 0 --split 2 --epochs 7", "", "") == OPTIONS_GOOD && config_finish(&was, &why));
    const size_t length = config_text(&was, text);
    CHECK(parse(&c, &why, "predict --data x --load c --out o.csv --nodes val", "", "") == OPTIONS_GOOD && inherit(&c, text, length, &why) && config_finish(&c, &why));
    CHECK(c.predicts && !was.predicts && c.hidden == 9 && c.eval == EVAL_SAMPLED && c.split == 2 && c.eval_every == 1 && !c.layer);
    CHECK(c.partition == PARTITION_NONE && c.shuffle == SHUFFLE_GLOBAL && was.shuffle == SHUFFLE_LOCAL);
    CHECK(c.out_csv && c.nodes_of == SPLIT_VAL && !strcmp(c.resume, "c"));
    CHECK(parse(&c, &why, "predict --data x --load c --out o.npy --nodes ids --eval full --split 1 --layer 2 --epochs 7", "", "") == OPTIONS_GOOD);
    CHECK(inherit(&c, text, length, &why) && config_finish(&c, &why));
    CHECK(c.eval == EVAL_FULL && c.split == 1 && c.layer == 2 && !c.out_csv && !c.nodes_of);
    CHECK(parse(&c, &why, "predict --data x --load c --out o.npy --hidden 8", "", "") == OPTIONS_GOOD && !inherit(&c, text, length, &why));
    CHECK_STR(why.text, "--hidden 8 contradicts c, which was trained with --hidden 9");
    CHECK(parse(&c, &why, "predict --data x --load c --out o.npy --epochs 8", "", "") == OPTIONS_GOOD && !inherit(&c, text, length, &why));
    CHECK_STR(why.text, "--epochs 8 contradicts c, which was trained with --epochs 7");
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    RUN(each_option_has_its_default_and_sets_its_own_value_alone);
    RUN(each_number_may_be_its_least_and_its_most_and_no_other_beyond);
    RUN(each_choice_is_one_of_the_help_and_no_other);
    RUN(the_help_has_each_option_with_its_choices_and_its_default);
    RUN(a_checkpoint_has_the_options_that_it_keeps_and_no_others);
    RUN(each_option_of_a_checkpoint_is_inherited_or_free_and_a_contradiction_names_both);
    RUN(flags_and_epochs_contradict_where_the_checkpoint_has_none_or_a_cosine);
    RUN(a_text_of_options_that_is_too_long_or_has_others_is_refused);
    RUN(the_command_that_goes_on_has_every_other_option_that_was_given);
    RUN(words_of_the_command_are_quoted_where_a_shell_would_see_more);
    RUN(ranks_compare_the_options_that_have_to_be_alike);
    RUN(the_log_has_the_options_that_a_checkpoint_keeps);
    RUN(each_rule_is_told_where_it_is_broken_and_silent_where_it_is_not);
    RUN(what_a_checkpoint_has_is_not_given_and_its_values_count);
    RUN(options_that_contradict_each_other_are_errors_that_say_what_to_do);
    RUN(options_that_go_together_are_taken);
    RUN(what_is_worked_out_follows_from_what_was_given);
    RUN(a_list_of_devices_has_256_at_most);
    RUN(a_training_samples_as_its_options_say);
    RUN(the_rate_of_each_step_is_that_of_schedule_and_warmup);
    RUN(the_help_of_predict_has_its_own_options_and_none_that_it_does_not_take);
    RUN(each_command_refuses_the_options_of_the_other);
    RUN(predict_needs_checkpoint_data_and_an_output_of_a_known_format);
    RUN(predict_takes_the_options_of_the_checkpoint_and_works_out_its_own);
    return test_finish();
}
