/* ggnn-train with random combinations of all options, on a tiny graph and one to four devices: each is done, with finite losses, or is
   wrong usage that one clear sentence tells. Options that the help says change no result are left out then: the same losses. */
#include "tests/train_tool.h"
#include "trainer/options/config.h"

enum { VALUES_MAX = 12, GIVEN_MAX = 40 };

/* Values of each option; "": a flag. */
static const struct {
    const char *name, *values;
} of[] = {
    {"data", "same.ggnn"},
    {"verify", ""},
    {"split", "0"},
    {"loss", "auto ce bce"},
    {"model", "gcn sage sage gat gat mlp"},
    {"aggregator", "mean gcn pool importance"},
    {"layers", "1 2 3"},
    {"hidden", "4 8"},
    {"heads", "1 2 4"},
    {"out-heads", "1 3"},
    {"residual", ""},
    {"norm", "none layer"},
    {"dropout", "0 .3"},
    {"input-dropout", "0 .2"},
    {"attention-dropout", "0 .25"},
    {"fanout", "full -1 3 2,2 -1,3 3,2,1"},
    {"preprocess", ""},
    {"edge-features", ""},
    {"sampler", "fisher-yates path-doubling rejection reservoir weighted replacement walk walk"},
    {"batch", "1 7 20 1000"},
    {"walks", "1 5"},
    {"walk-length", "1 4"},
    {"walk-restart", "0 .3 1"},
    {"epochs", "0 1 2 3"},
    {"lr", "0 .01"},
    {"lr-schedule", "constant cosine step"},
    {"lr-step", "1 2"},
    {"lr-decay", "0 .5 1"},
    {"warmup", "0 3"},
    {"optimizer", "adam adamw"},
    {"weight-decay", "0 .01"},
    {"patience", "0 1"},
    {"eval", "full sampled"},
    {"eval-every", "0 1 2"},
    {"eval-memory", "0 1K 1G"},
    {"seed", "0 5 9000000000000000000"},
    {"threads", "0 1 3"},
    {"gemm", "builtin blas"},
    {"dense-features", ""},
    {"backend", "cpu cpu cpu cpu cuda cuda-emulated"},
    {"precision", "fp32 tf32"},
    {"pipeline", "auto serial overlap factored"},
    {"unique", "auto direct hash cooperative"},
    {"devices", "1 2 3 4"},
    {"samplers", "0 1 2"},
    {"device-list", "0 0,0"},
    {"parallel", "data split split"},
    {"split-sampling", "single cooperative"},
    {"split-partial", ""},
    {"store", "auto parts replica shards"},
    {"gather", "pointer exchange"},
    {"owners", "range modulo hash partition"},
    {"partition", "none mincut hash mod range pagraph pagraph metis"},
    {"balance", "vertices edges"},
    {"partition-file", "FILE"},
    {"closure-limit", "0 5 100000"},
    {"shuffle", "global local"},
    {"comm", "auto own nccl"},
    {"store-graph", "0 .4 1"},
    {"store-features", "0 .6 1"},
    {"store-edges", "0 .3 1"},
    {"cache-edges", "0 .3 1"},
    {"prefer", "graph features"},
    {"cache", "none degree aligraph presc optimal dual dual random"},
    {"cache-ratio", "0 .2 1"},
    {"cache-bytes", "auto 0 500 1M"},
    {"reserve-bytes", "0 1K"},
    {"device-memory", "0 1 2K 8K 1G"},
    {"host-share", "0 .5"},
    {"slopes", "0,0 5,300 measure"},
    {"presample-epochs", "1 3"},
    {"ranking", "FILE"},
    {"topology", "ring none dgx-1v pcie-pairs"},
    {"placement", "best pruned exact clique"},
    {"save", "saved"},
    {"save-every", "0 1 2"},
    {"save-steps", "0 2"},
    {"resume", "trained"},
    {"log", "given.log"},
    {"profile", ""},
    {"trace-step", "0 1 2"},
    {"explain", ""},
    {"links", "1500,50,12 1,1,1"},
};
enum { OPTIONS = sizeof of / sizeof *of };

typedef struct {
    const char* value[OPTIONS]; /* NULL: not given */
} combination;

static int place_of(const char* name, size_t length)
{
    int i = 0;
    while (i < OPTIONS && (strlen(of[i].name) != length || memcmp(of[i].name, name, length))) i++;
    return i;
}

static const char* value_of(const combination* c, const char* name) { return c->value[place_of(name, strlen(name))]; }

static const char* random_value(int i)
{
    static char kept[OPTIONS][VALUES_MAX][24];
    int count = 0;
    for (const char* at = of[i].values; *at; at += strspn(at, " ")) {
        const int length = (int)strcspn(at, " ");
        snprintf(kept[i][count++], sizeof kept[i][0], "%.*s", length, at);
        at += length;
    }
    return count ? kept[i][test_below(count)] : "";
}

/* Half of them three options or a few, half of them many, of which those are taken out that do not go with the others. */
static combination random_combination(void)
{
    combination c = {{"same.ggnn"}};
    c.value[place_of("hidden", 6)] = "8";
    for (int64_t left = test_below(2) ? 3 + test_below(5) : 8 + test_below(20); left > 0; left--) {
        const int i = 1 + (int)test_below(OPTIONS - 1);
        c.value[i] = random_value(i);
    }
    return c;
}

/* A file that fits: any other is no question of options. */
static const char* file_of(const combination* c, const char* name)
{
    static char file[2][60];
    const char *cache = value_of(c, "cache"), *devices = value_of(c, "devices");
    const bool ranking = !strcmp(name, "ranking");
    if (ranking) snprintf(file[0], sizeof file[0], "%s.rank", cache && strcmp(cache, "none") ? cache : "degree");
    else snprintf(file[1], sizeof file[1], "%s.part", devices ? devices : "1");
    return file[!ranking];
}

static void write_line(char line[4096], const combination* c)
{
    size_t used = 0;
    const char* model = value_of(c, "model");
    line[0] = 0;
    for (int i = 0; i < OPTIONS; i++) {
        const char* value = c->value[i];
        if (!value) continue;
        if (!strcmp(value, "FILE")) value = file_of(c, of[i].name);
        if (i == 0 && model && !strcmp(model, "gcn")) value = "gcn.ggnn"; /* as what --preprocess reads is a model's */
        used += (size_t)snprintf(line + used, 4096 - used, "--%s%s%s ", of[i].name, value[0] ? " " : "", value);
    }
}

/* The error that the options alone give; "": none. */
static const char* refusal(const combination* c)
{
    static error why;
    static config parsed;
    static char line[4096];
    char* argv[2 * OPTIONS + 1] = {(char*)(uintptr_t) "ggnn-train"};
    int argc = 1;
    write_line(line, c);
    for (char* word = strtok(line, " "); word; word = strtok(NULL, " ")) argv[argc++] = word;
    why.text[0] = 0;
    if (config_parse(&parsed, argc, argv, &why) == OPTIONS_GOOD) config_finish(&parsed, &why);
    return why.text;
}

/* Begins with an option that was given, or with the file whose it is; one line, that names no option that there is not. */
static bool is_clear(const combination* c, const char* sentence)
{
    static const char trained[] = "trained was trained with --";
    const char* begin = strncmp(sentence, trained, strlen(trained)) ? sentence : sentence + strlen(trained) - 2;
    bool clear = !strncmp(begin, "--", 2) && strlen(sentence) > 20 && strlen(sentence) < 300 && !strpbrk(sentence, "\n\t%");
    if (begin == sentence) clear = clear && c->value[place_of(begin + 2, strcspn(begin + 2, " :")) % OPTIONS];
    for (const char* at = strstr(sentence, "--"); at; at = strstr(at + 2, "--"))
        clear = clear && place_of(at + 2, strspn(at + 2, "abcdefghijklmnopqrstuvwxyz-")) < OPTIONS;
    return clear;
}

/* Takes out the first given option but --data that the sentence names. */
static bool take_out(combination* c, const char* sentence)
{
    for (const char* at = strstr(sentence, "--"); at; at = strstr(at + 2, "--")) {
        const int i = place_of(at + 2, strspn(at + 2, "abcdefghijklmnopqrstuvwxyz-"));
        if (i == 0 || i == OPTIONS || !c->value[i]) continue;
        c->value[i] = NULL;
        return true;
    }
    return false;
}

/* Does the program refuse it so, too? */
static void check_refused(const combination* c, const char* sentence)
{
    char line[4096], said[1024];
    write_line(line, c);
    snprintf(said, sizeof said, "ggnn-train: %s\n", sentence);
    CHECK_EQ(train(line), 2);
    if (!CHECK_STR(output, said)) printf("  %s\n", line);
}

/* Until it is taken; every refusal on the way has to be clear. */
static void mend(combination* c)
{
    const char* sentence;
    for (int turn = 0; (sentence = refusal(c))[0] && turn < 2 * OPTIONS; turn++) {
        if (!CHECK(is_clear(c, sentence))) printf("  %s\n", sentence);
        if (turn == 0 && test_below(8) == 0 && !value_of(c, "resume")) check_refused(c, sentence);
        if (test_below(3) || !take_out(c, strrchr(sentence, ':') ? strrchr(sentence, ':') : sentence))
            if (!CHECK(take_out(c, sentence))) return;
    }
    CHECK(!sentence[0]);
}

/* Only this machine's: is it made by a program with METIS, and does not ask for a GPU's backend? */
static bool runs_here(const combination* c, bool metis)
{
    const char *backend = value_of(c, "backend"), *partition = value_of(c, "partition");
    return (!backend || !strcmp(backend, "cpu")) && (metis || !partition || strcmp(partition, "metis"));
}

static bool finite_losses(const char* log)
{
    bool finite = true;
    read_log(&first, log, NULL);
    for (int i = 0; i < first.count; i++)
        if (strstr(first.line[i], "\"event\":\"epoch\"")) finite = finite && isfinite(number(first.line[i], "loss"));
    const char* last = first.count ? first.line[first.count - 1] : "";
    return finite && (strstr(last, "\"event\":\"final\"") || strstr(last, "\"event\":\"explain\""));
}

static int run_one(const combination* c, const char* log)
{
    char line[4096];
    combination logged = *c;
    logged.value[place_of("log", 3)] = log;
    unlink(log);
    write_line(line, &logged);
    return train(line);
}

/* What was run, and how its output ends. */
static void show(const combination* c)
{
    const size_t length = strlen(output);
    char line[4096];
    write_line(line, c);
    printf("  %s\n  %s\n", line, output + (length > 400 ? length - 400 : 0));
}

static char unmarked[OPTIONS]; /* 1: the help does not say that it changes no result */

static bool read_help(void)
{
    static const char title[] = "Changes no result, whatever its value:\n";
    int options = 0;
    CHECK_EQ(train("--help"), 0);
    for (const char* at = strstr(output, "\n  --"); at; at = strstr(at + 1, "\n  --")) {
        const int i = place_of(at + 5, strcspn(at + 5, " \n"));
        if (strstr(at, "A checkpoint fixes") == NULL) break;
        if (!CHECK(i < OPTIONS)) printf("  no values here for %.30s\n", at + 3);
        options++;
    }
    memset(unmarked, 1, sizeof unmarked);
    char* list = strstr(output, title);
    if (!CHECK(list && options == OPTIONS)) return false;
    *strstr(list, "\n\n") = 0;
    for (const char* at = list + strlen(title); (at = strstr(at, "--")) != NULL; at += 2) {
        const int i = place_of(at + 2, strcspn(at + 2, " \n"));
        if (CHECK(i < OPTIONS)) unmarked[i] = 0;
    }
    return true;
}

/* Without what changes no result: and without what has no effect then. False where nothing is left out. */
static bool leave_out_marked(combination* c)
{
    const char *pipeline = value_of(c, "pipeline"), *sentence;
    int left_out = 0;
    for (int i = 1; i < OPTIONS; i++) {
        if (!c->value[i] || (unmarked[i] && strcmp(of[i].name, "pipeline"))) continue;
        if (unmarked[i] && !strcmp(pipeline, "factored")) continue; /* the others change nothing */
        c->value[i] = NULL;
        left_out++;
    }
    while ((sentence = refusal(c))[0] && strstr(sentence, "has no effect") && take_out(c, sentence)) {}
    CHECK_STR(sentence, "");
    return left_out > 0;
}

/* Losses, scores and rates of all epochs, and of the end. */
static bool same_results(const char* a, const char* b)
{
    static const char* const event[] = {"epoch", "final"};
    bool same = true;
    for (int i = 0; i < 2; i++) {
        read_log(&first, a, event[i]);
        read_log(&second, b, event[i]);
        leave_out(&first, "device_memory_bytes");
        leave_out(&second, "device_memory_bytes");
        same = same && first.count == second.count;
        for (int k = 0; same && k < first.count; k++) same = CHECK_STR(first.line[k], second.line[k]) != 0;
    }
    return same;
}

static void try_combinations(int count, uint64_t seed)
{
    static const char past[] = "ggnn-train: --trace-step ";
    int done = 0, refused = 0, elsewhere = 0, compared = 0;
    test_seed(seed);
    if (!read_help()) return;
    const bool metis = finish(start("ggnn-data", "partition same.ggnn --method metis --parts 2 --out metis.part")) == 0;
    for (int i = 0; i < count && test_errors < 8; i++) {
        combination c = random_combination();
        mend(&c);
        if (!runs_here(&c, metis)) {
            elsewhere++;
            continue;
        }
        const int status = run_one(&c, "with.log");
        if (status == 2) {
            char* sentence = output + strlen("ggnn-train: ");
            if (sentence[0]) sentence[strcspn(sentence, "\n")] = 0;
            if (!CHECK(is_clear(&c, sentence))) show(&c);
            refused++;
            continue;
        }
        if (status == 1 && !strncmp(output, past, strlen(past))) { /* it is the data that says how many steps there are */
            refused++;
            continue;
        }
        done++;
        if (!CHECK_EQ(status, 0) || !CHECK(finite_losses("with.log"))) show(&c);
        combination without = c;
        if (status || !leave_out_marked(&without)) continue;
        compared++;
        const int again = run_one(&without, "without.log");
        if (!CHECK_EQ(again, 0) || !CHECK(same_results("with.log", "without.log"))) {
            show(&without);
            show(&c);
        }
    }
    printf("  %d done, %d of them compared, %d refused, %d of other machines\n", done, compared, refused, elsewhere);
    CHECK(done > count / 2 && compared > count / 4);
}

TEST(a_hundred_combinations_of_options_are_done_or_refused_in_a_clear_sentence) { try_combinations(100, 1); }

TEST(two_thousand_combinations_of_options_are_done_or_refused_in_a_clear_sentence) { try_combinations(2000, 2); }

static bool make_files(void)
{
    static const char* const policy[] = {"degree", "aligraph", "presc", "optimal", "dual", "random"};
    bool good = finish(start("ggnn-data", "generate planted tiny.ggnn --nodes 60 --edges 480 --classes 2 --features 6 --edge-features 3")) == 0 &&
                finish(start("ggnn-data", "preprocess tiny.ggnn --model sage --out same.ggnn")) == 0 &&
                finish(start("ggnn-data", "preprocess tiny.ggnn --model gcn --out gcn.ggnn")) == 0 &&
                train("--data same.ggnn --hidden 8 --fanout 3,2 --epochs 2 --save trained") == 0;
    for (int i = 0; good && i < 6; i++) {
        char line[200];
        snprintf(line, sizeof line, "rank same.ggnn --by %s --fanout 3,2 --out %s.rank%s", policy[i], policy[i], i == 4 ? " --cache-bytes 2K" : "");
        good = finish(start("ggnn-data", line)) == 0;
    }
    for (int parts = 1; good && parts <= 4; parts++) {
        char line[200];
        snprintf(line, sizeof line, "partition same.ggnn --method pagraph --hops 3 --parts %d --out %d.part", parts, parts);
        good = finish(start("ggnn-data", line)) == 0;
    }
    if (!good) printf("  %s\n", output);
    return good;
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    if (!test_is("--list") && (!train_tool_begin() || !make_files())) return 1;
    RUN(a_hundred_combinations_of_options_are_done_or_refused_in_a_clear_sentence);
    RUN_SLOW(two_thousand_combinations_of_options_are_done_or_refused_in_a_clear_sentence);
    return test_finish();
}
