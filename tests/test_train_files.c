/* What ggnn-train does with its files: checkpoints of other data and of version 0.1, logs, names that mean one file,
   disks that are full, a standard output that is gone. The programs of this test's own build, on small graphs. */
#include "tests/train_tool.h"
#include "tests/vectors/checkpoint_0_1.h"

/* The whole of a file; the next call takes it away. */
static const char* text_of(const char* path)
{
    static char* text;
    return text = read_text(text, path);
}

static void append_text(const char* path, const char* text)
{
    FILE* f = fopen(path, "ab");
    CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

/* karate.ggnn without the labels of one part of its split. */
static void unlabel(const char* path, uint8_t part)
{
    ggnn_file f;
    CHECK(ggnn_file_open(&f, "karate.ggnn"));
    const uint8_t* split = ggnn_file_data(&f, ggnn_file_find(&f, "split"));
    int32_t label[34];
    memcpy(label, ggnn_file_data(&f, ggnn_file_find(&f, "label")), sizeof label);
    for (int v = 0; v < 34; v++)
        if (split[v] == part) label[v] = -1;
    ggnn_file_close(&f);
    poison(path, "label", 0, label, sizeof label);
}

/* Copies the checkpoint with other contents of one section. */
static void forge_bytes(const char* from, const char* to, const char* section, const void* data, int64_t bytes)
{
    ggnn_file f;
    ggnn_file_writer w;
    CHECK(ggnn_file_open(&f, from) && ggnn_file_create(&w, to));
    for (int32_t i = 0; i < f.num_sections; i++) {
        const ggnn_file_section* s = &f.section[i];
        int64_t count = bytes / ggnn_file_type_bytes(s->type);
        if (strcmp(s->name, section) != 0) CHECK(ggnn_file_copy(&w, &f, s));
        else CHECK(ggnn_file_append(&w, section, (ggnn_file_type)s->type, 1, &count, data));
    }
    CHECK(ggnn_file_commit(&w));
    ggnn_file_close(&f);
}

static const char small[] = "--data karate.ggnn --fanout 4,3 --hidden 4";

/* ==== checkpoints =============================================================================================== */

TEST(other_features_labels_or_splits_are_refused_by_name)
{
    float feature = 3, nine = 9;
    int32_t label = 0;
    uint8_t part = SPLIT_TRAIN;
    poison("feat.ggnn", "feat", 7, &feature, sizeof feature);
    poison("label.ggnn", "label", 33, &label, sizeof label);
    poison("split.ggnn", "split", 5, &part, sizeof part);
    CHECK_EQ(trainf("%s --epochs 2 --save c", small), 0);
    static const char* const section[] = {"feat", "label", "split"};
    for (int i = 0; i < 3; i++) {
        char words[64];
        snprintf(words, sizeof words, "another section '%s' (checksum ", section[i]);
        CHECK_EQ(trainf("--data %s.ggnn --resume c --epochs 3", section[i]), 1);
        CHECK(says(words) && says(".ggnn (checksum "));
    }
    CHECK_EQ(train("--data karate.ggnn --resume c --epochs 3"), 0);
    add_weights("ones.ggnn", 1);
    add_weights("nines.ggnn", nine);
    CHECK_EQ(train("--data ones.ggnn --resume c --epochs 3"), 0); /* the sampler does not look at weights */
    CHECK_EQ(train("--data ones.ggnn --fanout 4,3 --hidden 4 --sampler weighted --epochs 2 --save w"), 0);
    CHECK_EQ(train("--data nines.ggnn --resume w --epochs 3"), 1);
    CHECK(says("another section 'weight'"));
    CHECK_EQ(train("--data karate.ggnn --resume w --epochs 3"), 1);
    CHECK(says("another section 'weight' (checksum ") && says("karate.ggnn (none)"));
    CHECK_EQ(train("--data ones.ggnn --resume w --epochs 3"), 0);
    CHECK_EQ(train("--data ones.ggnn --layers 2 --fanout full --hidden 4 --sampler weighted --epochs 2 --save weighted.full"), 0);
    CHECK_EQ(train("--data nines.ggnn --resume weighted.full --epochs 3"), 0); /* nor does a full batch, which samples nothing, */
    CHECK_EQ(train("--data ones.ggnn --model mlp --layers 2 --hidden 4 --sampler weighted --epochs 2 --save weighted.mlp"), 0);
    CHECK_EQ(train("--data nines.ggnn --resume weighted.mlp --epochs 3"), 0); /* or a model without neighbours */
}

TEST(a_checkpoint_of_version_0_1_goes_on_with_a_warning)
{
    static unsigned char bytes[checkpoint_0_1_bytes];
    if (sizeof(ggnn_node) > 4) SKIP("the checkpoint is one of 32-bit ids");
    for (size_t i = 0; i < sizeof checkpoint_0_1 / sizeof *checkpoint_0_1; i++) {
        unsigned char* to = bytes + checkpoint_0_1[i].offset;
        for (const char* hex = checkpoint_0_1[i].hex; *hex; hex += 2) {
            unsigned byte;
            CHECK(sscanf(hex, "%2x", &byte) == 1);
            *to++ = (unsigned char)byte;
        }
    }
    write_file("old", bytes, sizeof bytes);
    unlink("log");
    CHECK_EQ(train("--data karate.ggnn --resume old --epochs 6 --log log --save new"), 0);
    CHECK(says("warning: --resume old: version 0.1 wrote it") && says("is not checked"));
    CHECK(says("resumed from old after epoch 3, step 6"));
    read_log(&first, "log", "epoch");
    CHECK_EQ(first.count, 3);
    for (int i = 0; i < first.count; i++) /* on any CPU: sums in other orders */
        CHECK_NEAR(number(first.line[i], "loss"), checkpoint_0_1_losses[i], 1e-4);
    CHECK_EQ(train("--data karate.ggnn --resume new --epochs 7"), 0);
    CHECK(!strstr(output, "version 0.1"));
}

static const char summed[] = "--preprocess --layers 2 --fanout 4 --hidden 4";

/* Their sums are in no table of the features' own. */
TEST(other_preprocessed_features_are_refused_by_name)
{
    const float other = 3;
    CHECK_EQ(finish(start("ggnn-data", "preprocess karate.ggnn --model sage --out pre.ggnn")), 0);
    poison_of("pre.ggnn", "other.ggnn", "pre_feat", 7, &other, sizeof other);
    CHECK_EQ(trainf("--data pre.ggnn %s --epochs 2 --save c", summed), 0);
    CHECK_EQ(train("--data other.ggnn --resume c --epochs 3"), 1);
    CHECK(says("another section 'pre_feat' (checksum ") && says("other.ggnn (checksum "));
    CHECK_EQ(train("--data pre.ggnn --resume c --epochs 3"), 0);
    CHECK(!strstr(output, "warning"));
    CHECK_EQ(trainf("--data pre.ggnn --fanout 4,3 --hidden 4 --epochs 2 --save plain"), 0);
    CHECK_EQ(train("--data karate.ggnn --resume plain --epochs 3"), 0); /* which reads none */
}

/* The first four checksums are those that a checkpoint of an early 0.2 has. */
TEST(a_checkpoint_without_a_checksum_of_preprocessed_features_goes_on_with_a_warning)
{
    enum { KNOWN = 4 };
    int64_t crc[KNOWN + 1];
    ggnn_file f;
    const float other = 3;
    CHECK_EQ(finish(start("ggnn-data", "preprocess karate.ggnn --model sage --out pre.ggnn")), 0);
    poison_of("pre.ggnn", "other.ggnn", "pre_feat", 7, &other, sizeof other);
    CHECK_EQ(trainf("--data pre.ggnn %s --epochs 2 --save c", summed), 0);
    CHECK(ggnn_file_open(&f, "c"));
    memcpy(crc, ggnn_file_data(&f, ggnn_file_find(&f, "data_crc")), sizeof crc);
    ggnn_file_close(&f);
    CHECK(crc[0] >= 0 && crc[KNOWN] >= 0);
    forge_bytes("c", "early", "data_crc", crc, KNOWN * (int64_t)sizeof *crc);
    CHECK_EQ(train("--data other.ggnn --resume early --epochs 3 --save new"), 0);
    CHECK(says("warning: --resume early: it has no checksum of preprocessed features; that section 'pre_feat' is the same is not checked"));
    CHECK_EQ(train("--data pre.ggnn --resume new --epochs 4"), 1); /* now it has one */
    CHECK(says("another section 'pre_feat'"));
    crc[1]++;
    forge_bytes("c", "forged", "data_crc", crc, KNOWN * (int64_t)sizeof *crc);
    CHECK_EQ(train("--data pre.ggnn --resume forged --epochs 3"), 1);
    CHECK(says("another section 'label'"));
    forge_bytes("c", "forged", "data_crc", crc, 3 * (int64_t)sizeof *crc);
    CHECK_EQ(train("--data pre.ggnn --resume forged --epochs 3"), 1);
    CHECK(says("section 'data_crc'") && says("has 3 elements, not 5"));
    CHECK_EQ(trainf("%s --epochs 2 --save c", small), 0);
    CHECK(ggnn_file_open(&f, "c"));
    memcpy(crc, ggnn_file_data(&f, ggnn_file_find(&f, "data_crc")), sizeof crc);
    ggnn_file_close(&f);
    forge_bytes("c", "early", "data_crc", crc, KNOWN * (int64_t)sizeof *crc);
    CHECK_EQ(train("--data karate.ggnn --resume early --epochs 3"), 0);
    CHECK(!strstr(output, "warning"));
}

/* The table is as it was: only --verify looks at what it is of, and only at what is read. */
TEST(verify_names_the_damaged_section_that_would_be_read)
{
    static const struct {
        const char *section, *options, *unread; /* with which it is not read; NULL: it is always */
    } of[] = {{"indptr", "", NULL}, {"indices", "", NULL}, {"label", "", NULL}, {"split", "", NULL}, {"feat", "", "--preprocess --layers 2 --fanout 4"},
              {"pre_feat", "--preprocess --layers 2 --fanout 4", ""}, {"pre_of", "--preprocess --layers 2 --fanout 4", ""},
              {"weight", "--sampler weighted", ""}};
    add_weights("weighted.ggnn", 1);
    CHECK_EQ(finish(start("ggnn-data", "preprocess weighted.ggnn --model sage --out pre.ggnn")), 0);
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        char words[80];
        damage("pre.ggnn", "damaged.ggnn", of[i].section);
        CHECK_EQ(trainf("--data damaged.ggnn --verify --hidden 4 --epochs 1 %s", of[i].options), 1);
        snprintf(words, sizeof words, "--verify: damaged.ggnn: damaged section '%s' (", of[i].section);
        CHECK(says(words));
        if (of[i].unread && !CHECK_EQ(trainf("--data damaged.ggnn --verify --hidden 4 --epochs 1 %s", of[i].unread), 0))
            printf("  %s: %s\n", of[i].section, output);
    }
    damage("karate.ggnn", "damaged.ggnn", "feat");
    CHECK_EQ(trainf("--data damaged.ggnn --hidden 4 --epochs 1 --save c"), 0);
    CHECK_EQ(train("--data karate.ggnn --verify --resume c --epochs 2"), 0); /* checksums are the table's */
    CHECK_EQ(train("--data damaged.ggnn --verify --resume c --epochs 2"), 1);
}

TEST(a_run_that_has_nothing_to_do_saves_all_the_same)
{
    unlink("c");
    unlink("other");
    CHECK_EQ(trainf("%s --epochs 0 --save c", small), 0);
    CHECK(whole_file("c"));
    CHECK_EQ(trainf("%s --epochs 4 --log whole", small), 0);
    CHECK_EQ(train("--data karate.ggnn --resume c --epochs 4 --log part --save c"), 0);
    read_log(&first, "whole", "epoch");
    read_log(&second, "part", "epoch");
    CHECK(same_records(&first, &second));
    CHECK_EQ(train("--data karate.ggnn --resume c --save other"), 0);
    CHECK(whole_file("other"));
    CHECK_EQ(shell("cmp c other"), 0);
}

/* Has the text a byte that a terminal obeys? */
static bool obeyed(const char* text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 && *text != '\n') return true;
    return false;
}

static void forge(const char* from, const char* to, const char* section, const char* text)
{
    forge_bytes(from, to, section, text, (int64_t)strlen(text));
}

TEST(counters_that_contradict_each_other_are_an_error)
{
    enum { EPOCH, BATCH, STEP, LOSS_ROWS, HAS_BEST, BEST_EPOCH, STALE, UPDATES, COUNTERS };
    static const struct {
        int which;
        int64_t value;
    } wrong[] = {{EPOCH, 1}, {EPOCH, -1}, {EPOCH, INT64_MAX}, {BATCH, 3}, {BATCH, -1}, {STEP, 3}, {LOSS_ROWS, -1},
                 {BEST_EPOCH, 3}, {STALE, -5}, {UPDATES, 3}};
    ggnn_file f;
    int64_t counters[COUNTERS];
    CHECK_EQ(trainf("%s --batch 1 --epochs 2 --save c", small), 0);
    CHECK(ggnn_file_open(&f, "c"));
    memcpy(counters, ggnn_file_data(&f, ggnn_file_find(&f, "counters")), sizeof counters);
    ggnn_file_close(&f);
    CHECK(counters[EPOCH] == 2 && counters[STEP] == 4 && counters[UPDATES] == 4);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int64_t other[COUNTERS];
        memcpy(other, counters, sizeof other);
        other[wrong[i].which] = wrong[i].value;
        if (wrong[i].which == STEP) other[UPDATES] = wrong[i].value;
        forge_bytes("c", "forged", "counters", other, sizeof other);
        CHECK_EQ(train("--data karate.ggnn --resume forged --epochs 3"), 1);
        CHECK(says("forged: epoch ") && says("do not fit 2 mini-batches an epoch"));
    }
}

TEST(bytes_of_a_checkpoint_do_not_reach_the_terminal)
{
    CHECK_EQ(trainf("%s --epochs 1 --save c", small), 0);
    forge("c", "forged", "options", "--model=\033[2Jsage\n--hidden=4\n");
    CHECK_EQ(train("--data karate.ggnn --resume forged"), 2);
    CHECK(says("forged: its options are not those of this program") && says("\\x1b[2J") && !obeyed(output));
    forge("c", "forged", "params", "w_self0 34 4\n\033]0;title\007\nmore");
    CHECK_EQ(train("--data karate.ggnn --resume forged"), 1);
    CHECK(says("forged: its parameters are not those of this network: '\\x1b]0;title\\x07', not 'w_") && !obeyed(output));
    forge("c", "forged", "params", "");
    CHECK_EQ(train("--data karate.ggnn --resume forged"), 1);
    CHECK(says("its parameters are not those of this network: '', not 'w_"));
}

TEST(help_says_what_a_checkpoint_fixes_and_the_rest_may_change)
{
    static const char* const differ[] = {" --data", " --eval-memory", " --threads", " --backend", " --precision",
        " --pipeline", " --save", " --save-every", " --resume", " --log", " --profile", " --epochs",
        " --devices", " --save-steps", " --verify"};
    CHECK_EQ(train("--help"), 0);
    const char* fixed = strstr(output, "A checkpoint fixes graph, features, labels, splits");
    for (size_t i = 0; fixed && i < sizeof differ / sizeof *differ; i++) CHECK(strstr(fixed, differ[i]));
    CHECK(fixed && !strstr(fixed, " --seed") && !strstr(fixed, " --batch"));
    CHECK_EQ(trainf("%s --epochs 2 --save c --fanout 4,03", small), 0);
    CHECK_EQ(train("--data ./karate.ggnn --resume c --epochs 3 --eval-memory 1 --threads 2 --save d --save-every 0 "
                   "--pipeline serial --log log --profile --backend cpu --precision fp32 --fanout 4,3"), 0);
    CHECK_EQ(train("--data karate.ggnn --resume c --seed 2"), 2);
    CHECK(says("--seed 2 contradicts c"));
}

/* ==== names ===================================================================================================== */

TEST(names_that_mean_one_file_are_refused_and_nothing_is_lost)
{
    CHECK_EQ(trainf("%s --epochs 2 --save c", small), 0);
    CHECK_EQ(shell("mkdir -p under && ln -sf c link && ln -f c hard && ln -sfn . here && ln -sf new dangling && "
                   "ln -sf under/../new far && rm -f new && touch there && ln -f there there2"), 0);
    static const char* const log[] = {"c", "./c", "link", "hard", "here/c", "under/../c"};
    for (size_t i = 0; i < sizeof log / sizeof *log; i++) {
        CHECK_EQ(trainf("--data karate.ggnn --resume c --epochs 3 --log %s", log[i]), 2);
        CHECK(says("that is the checkpoint of --resume"));
    }
    static const char* const both[][2] = {
        {"new", "new"}, {"new", "./new"}, {"under/new", "here/under//new"}, {"new", "dangling"}, {"far", "./new"},
        {"dangling", "far"}, {"there", "there2"}};
    for (size_t i = 0; i < sizeof both / sizeof *both; i++) {
        CHECK_EQ(trainf("%s --save %s --log %s", small, both[i][0], both[i][1]), 2);
        if (!CHECK(says("--save writes there"))) printf("  %s and %s\n", both[i][0], both[i][1]);
        CHECK_EQ(trainf("%s --save %s --log %s", small, both[i][1], both[i][0]), 2);
    }
    CHECK(access("new", F_OK) != 0);
    CHECK(whole_file("c"));
    CHECK_EQ(trainf("%s --epochs 1 --save new --log under/new", small), 0); /* one name in two folders */
}

TEST(no_file_that_a_training_reads_is_written_over)
{
    static const struct {
        const char *options, *file, *what;
    } input[] = {{"", "karate.ggnn", "the data"},
                 {"--cache degree --cache-ratio .5 --ranking R", "R", "the ranking"},
                 {"--devices 2 --partition pagraph --partition-file P", "P", "the partition"},
                 {"--devices 2 --store parts --topology T", "T", "the topology"}};
    static const char* const output_of[] = {"--save", "--log"};
    CHECK_EQ(finish(start("ggnn-data", "rank karate.ggnn --by degree --out R")), 0);
    CHECK_EQ(finish(start("ggnn-data", "partition karate.ggnn --parts 2 --method pagraph --out P")), 0);
    write_file("T", "0 25\n25 0\n", 10);
    CHECK_EQ(shell("mkdir -p was && cp karate.ggnn R P T was"), 0);
    for (int i = 0; i < 4; i++)
        for (int o = 0; o < 2; o++) {
            char words[64];
            snprintf(words, sizeof words, "%s ./%s: that is %s", output_of[o], input[i].file, input[i].what);
            CHECK_EQ(trainf("%s --epochs 1 %s %s ./%s", small, input[i].options, output_of[o], input[i].file), 2);
            if (!CHECK(says(words))) printf("  %s\n", words);
            CHECK_EQ(shell("cmp %s was/%s", input[i].file, input[i].file), 0);
        }
    CHECK_EQ(trainf("%s --epochs 1 --cache degree --cache-ratio .5 --ranking R --save other", small), 0);
}

TEST(wrong_inputs_leave_old_outputs_as_they_were)
{
    static const char* const wrong[] = {
        "--data karat.ggnn", "--data karate.ggnn --split 3", "--data bare.ggnn", "--data karate.ggnn --resume none",
        "--data planted.ggnn --resume c", "--data karate.ggnn --hidden 8 --resume c", "--data karate.ggnn --epochs x"};
    CHECK_EQ(finish(start("ggnn-data", "generate path bare.ggnn --nodes 10")), 0);
    CHECK_EQ(trainf("%s --epochs 1 --save c --log log", small), 0);
    CHECK_EQ(shell("cp c c.was && cp log log.was"), 0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK(trainf("%s --epochs 2 --save c --log log", wrong[i]) > 0);
        if (!CHECK_EQ(shell("cmp c c.was && cmp log log.was"), 0)) printf("  %s\n", wrong[i]);
    }
    CHECK_EQ(shell("ls | grep -c '[.]tmp$'"), 1); /* none */
}

/* ==== logs ====================================================================================================== */

TEST(a_log_goes_on_after_a_torn_line)
{
    static const struct {
        const char *torn, *kept; /* the end of the log, and what is left of it */
    } tail[] = {
        {"{\"event\":\"epoch\",\"epoch\":4,\"lo", ""},
        {"{", ""},
        {"{\"event\":\"start\",\"options\":{\"a\":\"}}\"}", ""},
        {"{\"event\":\"final\",\"epochs\":4}", "{\"event\":\"final\",\"epochs\":4}\n"},
        {"notes of mine", "notes of mine\n"},
        {"a line\n", "a line\n"},
    };
    for (size_t i = 0; i < sizeof tail / sizeof *tail; i++) {
        static char expected[1 << 17];
        unlink("log");
        CHECK_EQ(trainf("%s --epochs 2 --save c --log log", small), 0);
        snprintf(expected, sizeof expected, "%s%s{\"event\":\"start\",", text_of("log"), tail[i].kept);
        append_text("log", tail[i].torn);
        CHECK_EQ(train("--data karate.ggnn --resume c --epochs 3 --log log"), 0);
        CHECK(strncmp(text_of("log"), expected, strlen(expected)) == 0);
        read_log(&first, "log", "start");
        CHECK_EQ(first.count, 2);
    }
    write_file("log", "{\"event\":\"epo", 13); /* nothing else in it */
    CHECK_EQ(train("--data karate.ggnn --resume c --epochs 3 --log log"), 0);
    CHECK(strncmp(text_of("log"), "{\"event\":\"start\",", 17) == 0);
}

/* Of a log that is longer than what is looked at of its end. */
TEST(a_long_log_loses_its_torn_line_alone)
{
    static char whole[1 << 17];
    size_t used = 0;
    CHECK_EQ(trainf("%s --epochs 2 --save long.saved", small), 0);
    while (used < 100000) used += (size_t)sprintf(whole + used, "{\"event\":\"epoch\",\"epoch\":%zu}\n", used);
    write_file("long.log", whole, used);
    append_text("long.log", "{\"event\":\"epoch\",\"epoch\":4,\"lo");
    CHECK_EQ(train("--data karate.ggnn --resume long.saved --epochs 3 --log long.log"), 0);
    strcpy(whole + used, "{\"event\":\"start\",");
    CHECK(strncmp(text_of("long.log"), whole, strlen(whole)) == 0);
}

/* A log of many lengths of its last line, cut anywhere. */
TEST(a_log_cut_anywhere_goes_on_with_whole_records)
{
    CHECK_EQ(trainf("%s --epochs 2 --save c --log whole", small), 0);
    int64_t bytes = file_bytes("whole");
    for (int i = 0; i < 25; i++) {
        copy_file("whole", "log", test_below(bytes), -1);
        CHECK_EQ(train("--data karate.ggnn --resume c --epochs 2 --log log"), 0);
        int lines = 0, good = 0;
        for (const char *at = text_of("log"), *end; (end = strchr(at, '\n')); at = end + 1) {
            lines++;
            good += strncmp(at, "{\"event\":\"", 10) == 0 && end[-1] == '}' && !memchr(at + 1, '\n', (size_t)(end - at - 1));
        }
        CHECK(lines >= 2 && good == lines);
        const char* whole = text_of("log");
        CHECK(whole[strlen(whole) - 1] == '\n');
    }
}

TEST(a_log_that_reaches_its_limit_is_an_error_and_ends_with_a_record)
{
    unlink("log");
    file_limit = 4000;
    CHECK_EQ(trainf("%s --epochs 30 --eval-every 30 --log log", small), 1);
    file_limit = RLIM_INFINITY;
    CHECK(says("ggnn-train: log: cannot write the log: File too large"));
    size_t length = strlen(text_of("log"));
    CHECK(length > 1000 && length <= 4000 && strcmp(text_of("log") + length - 2, "}\n") == 0);
}

TEST(a_log_that_others_write_is_refused_and_stays)
{
    CHECK_EQ(shell("\"$train\" %s --epochs 1 --log log >log 2>err", small), 1);
    CHECK(strstr(text_of("err"), "log: cannot open the log: standard output goes there"));
    CHECK_EQ(shell("\"$train\" %s --epochs 1 --log ./log 2>>log", small), 1);
    CHECK(strstr(text_of("log"), "standard error goes there"));
    unlink("log");
    pid_t other = start("ggnn-train", "--data karate.ggnn --fanout 4,3 --hidden 4 --epochs 1000000 --log log");
    for (int i = 0; i < 1000 && strlen(text_of("log")) < 2000; i++) nap(0.01);
    CHECK_EQ(shell("\"$train\" %s --epochs 1 --log log >mine 2>&1", small), 1);
    CHECK(strstr(text_of("mine"), "log: cannot open the log: another process writes it"));
    kill(other, SIGTERM);
    CHECK_EQ(finish(other), 130);
    read_log(&first, "log", NULL);
    CHECK(strstr(first.line[0], "\"start\"") && strstr(first.line[1], "\"epoch\":1,"));
}

TEST(a_log_may_be_a_pipe_but_one_that_nobody_reads_is_refused_at_once)
{
    CHECK_EQ(shell("rm -f pipe; mkfifo pipe"), 0);
    CHECK_EQ(shell("timeout 20 \"$train\" %s --epochs 1 --log pipe >mine 2>&1", small), 1);
    CHECK(strstr(text_of("mine"), "ggnn-train: pipe: cannot open the log: a pipe that nobody reads\n"));
    CHECK_EQ(trainf("%s --epochs 1 --save c", small), 0);
    CHECK_EQ(shell("timeout 20 \"$train\" --data karate.ggnn --resume c --epochs 2 --log pipe >mine 2>&1"), 1);
    CHECK(strstr(text_of("mine"), "a pipe that nobody reads"));
    CHECK_EQ(shell("timeout 20 cat pipe >got & sleep .2; timeout 20 \"$train\" %s --epochs 2 --log pipe >mine 2>&1; s=$?; wait; exit $s", small), 0);
    read_log(&first, "got", NULL);
    CHECK(first.count > 3 && strstr(first.line[0], "\"start\"") && strstr(first.line[first.count - 1], "\"final\""));
    CHECK_EQ(shell("[ -p pipe ]"), 0);
}

TEST(a_training_goes_on_without_a_log_whose_reader_leaves)
{
    CHECK_EQ(shell("rm -f pipe c; mkfifo pipe; timeout 100 head -n 2 pipe >got & "
                   "sleep .2; timeout 100 \"$train\" %s --epochs 1000 --save c --log pipe >mine 2>&1; s=$?; wait; exit $s", small), 1);
    const char* said = text_of("mine");
    CHECK(strstr(said, "\nggnn-train: warning: pipe: cannot write the log: Broken pipe; training goes on without it\n"));
    CHECK(strstr(said, "test: accuracy ") && strstr(said, "\nggnn-train: pipe: cannot write the log: Broken pipe\n"));
    CHECK(whole_file("c"));
    CHECK_EQ(shell("\"$train\" --data karate.ggnn --resume c --epochs 1000"), 0);
    CHECK(says("epoch 1000"));
}

TEST(a_program_whose_output_nobody_reads_ends_by_sigpipe)
{
    CHECK_EQ(shell("{ timeout 20 \"$train\" %s --epochs 1000000; echo $? >status; } | head -n 3; cat status", small), 0);
    CHECK(says("\n141\n"));
}

/* Writers of c remove what killed writers left: files with names like this one. */
TEST(a_log_named_like_an_unfinished_checkpoint_stays)
{
    CHECK_EQ(trainf("%s --epochs 3 --save c --log c.1.2.tmp", small), 0);
    read_log(&first, "c.1.2.tmp", "final");
    CHECK_EQ(first.count, 1);
}

/* ==== standard output =========================================================================================== */

TEST(a_report_that_cannot_be_written_is_an_error_and_all_is_saved)
{
    static const char* const where[] = {">&-", ">/dev/full"};
    if (access("/dev/full", W_OK) != 0) SKIP("no /dev/full");
    for (int i = 0; i < 2; i++) {
        unlink("c");
        CHECK_EQ(shell("\"$train\" %s --epochs 2 --save c --log log %s", small, where[i]), 1);
        CHECK(says("ggnn-train: cannot write to standard output: "));
        CHECK(whole_file("c"));
        read_log(&first, "log", "final");
        CHECK(first.count == 1 && strncmp(text_of("log"), "{\"event\":", 9) == 0);
        CHECK_EQ(shell("\"$train\" --help %s", where[i]), 1);
        CHECK_EQ(shell("\"$train\" --version %s", where[i]), 1);
        CHECK(says("cannot write to standard output"));
    }
    CHECK_EQ(shell("\"$train\" %s --epochs 1 <&- 2>&-", small), 0);
}

/* Starts a long training by a shell line, stops it in the middle; its exit status. */
static int interrupted(const char* log, const char* line)
{
    char all[2048];
    unlink(log);
    snprintf(all, sizeof all, "\"$train\" --fanout 4,3 --hidden 4 --epochs 1000000 --log %s %s & "
                              "while ! grep -q epoch %s 2>/dev/null; do sleep .02; done; kill -TERM $!; wait $!", log, line, log);
    return shell("%s", all);
}

/* What a long training says last is looked at below. */
TEST(all_that_a_program_says_is_seen_however_much_it_is)
{
    CHECK_EQ(shell("seq 100000; echo the end"), 0);
    CHECK(strncmp(output, "1\n2\n", 4) == 0 && says("\n100000\nthe end\n"));
    CHECK_EQ(shell("true"), 0);
    CHECK_STR(output, "");
}

TEST(the_printed_command_is_one_that_a_shell_takes)
{
    static const char* const name[][2] = {{"plain", "plain"}, {"a b", "'a b'"}, {"it's", "'it'\\''s'"},
                                          {"$(touch hacked)", "'$(touch hacked)'"}, {"~", "'~'"}, {"*", "'*'"}};
    CHECK_EQ(shell("cp karate.ggnn \"it's a graph.ggnn\""), 0);
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        char line[256], expected[256], command[1024];
        snprintf(line, sizeof line, "--data \"it's a graph.ggnn\" --save-every 0 --threads 1 --save %s", name[i][1]);
        CHECK_EQ(interrupted("log", line), 130);
        snprintf(expected, sizeof expected, "--data 'it'\\''s a graph.ggnn' --resume %s --save %s --threads 1 "
                 "--save-every 0 --log log\n", name[i][1], name[i][1]);
        CHECK(says(expected) && whole_file(name[i][0]));
        const char* go = strstr(output, "go on with ");
        snprintf(command, sizeof command, "%s", go ? go + 11 : "");
        command[strcspn(command, "\n")] = 0;
        CHECK_EQ(shell("\"$train\" %s --epochs 1", command), 0);
        CHECK(says("resumed from "));
    }
    CHECK(access("hacked", F_OK) != 0);
}

TEST(the_printed_command_has_the_whole_of_a_long_path)
{
    char path[320] = "", expected[400];
    for (int i = 0; i < 150; i++) strcat(path, "./");
    strcat(path, "far.log");
    CHECK_EQ(interrupted(path, "--data karate.ggnn --save far.saved"), 130);
    snprintf(expected, sizeof expected, "--data karate.ggnn --resume far.saved --save far.saved --log %s\n", path);
    CHECK(says(expected));
}

/* The first signal waits for the end of a step, here of a second and more; the second does not, whichever it is. */
TEST(a_second_signal_of_either_kind_ends_the_program)
{
    int status = 130;
    for (int i = 0; i < 5 && status == 130; i++) { /* a step may end between the two */
        unlink("output");
        pid_t child = start("ggnn-train", "--data planted.ggnn --fanout full --layers 8 --hidden 1000 --epochs 1000 "
                                          "--eval-every 0 --save slow --threads 1");
        for (int wait = 0; wait < 1000 && !strstr(text_of("output"), "parameters"); wait++) nap(0.01);
        nap(0.1);
        kill(child, SIGINT);
        nap(0.01);
        kill(child, SIGTERM);
        status = finish(child);
    }
    CHECK_EQ(status, 1000 + SIGTERM);
}

/* ==== what cannot be scored ===================================================================================== */

TEST(logits_that_are_not_finite_are_an_error_and_no_score)
{
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) {
        poison("nan.ggnn", "feat", 34 * 13 + 2, &bad[i], sizeof *bad); /* 13 is a test node; an MLP sees it alone */
        CHECK_EQ(train("--data nan.ggnn --model mlp --fanout 1,1 --hidden 8 --epochs 3 --save c --log log"), 1);
        CHECK(says("epoch 3, step 3: the logits of test node 13 are not finite: nan.ggnn: feature 2 of node 13 is "));
        CHECK(!strstr(output, "test: accuracy") && whole_file("c"));
        poison("nan.ggnn", "feat", 34 * 12 + 2, &bad[i], sizeof *bad); /* 12 is a validation node: no epoch is best */
        CHECK_EQ(train("--data nan.ggnn --model mlp --fanout 1,1 --hidden 8 --epochs 3"), 1);
        CHECK(says("epoch 1, step 1: the logits of validation node 12 are not finite: nan.ggnn: feature 2 of node 12 is "));
    }
    for (int v = 14; v < 20; v++) /* of several the first is named */
        poison_of(v % 2 ? "more.ggnn" : "nan.ggnn", v % 2 ? "nan.ggnn" : "more.ggnn", "feat", 34 * v + 2, &bad[0], sizeof *bad);
    CHECK_EQ(train("--data nan.ggnn --model mlp --fanout 1,1 --hidden 8 --epochs 3"), 1);
    CHECK(says("the logits of validation node 12 are not finite: "));
}

/* Two mini-batches an epoch; the evaluation after the fourth fails, and leaves what was saved last. */
TEST(steps_from_save_to_save_are_counted_through_epochs)
{
    const float nan = NAN;
    ggnn_file f;
    poison("nan.ggnn", "feat", 34 * 12 + 2, &nan, sizeof nan);
    unlink("c");
    CHECK_EQ(train("--data nan.ggnn --model mlp --layers 2 --hidden 4 --batch 1 --epochs 4 --eval-every 4 --save c --save-every 0 --save-steps 3"), 1);
    CHECK(says("the logits of validation node 12 are not finite"));
    if (!CHECK(ggnn_file_open(&f, "c"))) return;
    CHECK_EQ(((const int64_t*)ggnn_file_data(&f, ggnn_file_find(&f, "counters")))[2], 6);
    ggnn_file_close(&f);
}

TEST(training_without_a_label_is_refused_and_other_missing_labels_are_said)
{
    unlabel("train.ggnn", SPLIT_TRAIN);
    unlabel("val.ggnn", SPLIT_VAL);
    unlabel("test.ggnn", SPLIT_TEST);
    unlink("log");
    CHECK_EQ(train("--data train.ggnn --fanout 4,3 --hidden 4 --epochs 1 --log log"), 1);
    CHECK(says("train.ggnn: split 0 has 2 training nodes, none of which has a label"));
    CHECK(access("log", F_OK) != 0);
    CHECK_EQ(train("--data train.ggnn --fanout full --layers 2 --hidden 4 --epochs 1"), 1);
    CHECK_EQ(train("--data val.ggnn --fanout 4,3 --hidden 4 --epochs 3 --patience 1 --log log"), 0);
    CHECK(says("warning: val.ggnn: no validation node has a label: the last epoch counts as the best one, "
               "--patience ends nothing"));
    CHECK_NEAR(last_number("log", "final", "best_epoch"), 3, 0);
    CHECK_EQ(train("--data test.ggnn --fanout 4,3 --hidden 4 --epochs 1"), 0);
    CHECK(says("warning: test.ggnn: no test node has a label: there will be no test score") &&
          says("test: no labelled nodes"));
    CHECK_EQ(train("--data val.ggnn --fanout 4,3 --hidden 4 --epochs 1 --eval-every 0"), 0);
    CHECK(!strstr(output, "warning"));
}

TEST(weighted_sampling_without_weights_is_warned_of)
{
    static const char words[] = "warning: --sampler weighted: karate.ggnn has no edge weights (section 'weight')";
    CHECK_EQ(trainf("%s --sampler weighted --epochs 1", small), 0);
    CHECK(says(words) && !strstr(output, "unbiased"));
    CHECK_EQ(trainf("%s --sampler weighted --model gcn --epochs 1", small), 0);
    CHECK(says(words) && !strstr(output, "unbiased")); /* uniform it is */
    static const char* const quiet[] = {"--data karate.ggnn --fanout 4,3", "--data ones.ggnn --sampler weighted",
                                        "--data karate.ggnn --sampler weighted --fanout full",
                                        "--data karate.ggnn --sampler weighted --model mlp"};
    add_weights("ones.ggnn", 1);
    for (size_t i = 0; i < sizeof quiet / sizeof *quiet; i++) {
        CHECK_EQ(trainf("%s --hidden 4 --epochs 1", quiet[i]), 0);
        CHECK(!strstr(output, "warning"));
    }
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    test_seed(8);
    if (!train_tool_begin()) return 1;
    RUN(other_features_labels_or_splits_are_refused_by_name);
    RUN(a_checkpoint_of_version_0_1_goes_on_with_a_warning);
    RUN(other_preprocessed_features_are_refused_by_name);
    RUN(a_checkpoint_without_a_checksum_of_preprocessed_features_goes_on_with_a_warning);
    RUN(verify_names_the_damaged_section_that_would_be_read);
    RUN(a_run_that_has_nothing_to_do_saves_all_the_same);
    RUN(bytes_of_a_checkpoint_do_not_reach_the_terminal);
    RUN(counters_that_contradict_each_other_are_an_error);
    RUN(help_says_what_a_checkpoint_fixes_and_the_rest_may_change);
    RUN(names_that_mean_one_file_are_refused_and_nothing_is_lost);
    RUN(no_file_that_a_training_reads_is_written_over);
    RUN(wrong_inputs_leave_old_outputs_as_they_were);
    RUN(a_log_goes_on_after_a_torn_line);
    RUN(a_long_log_loses_its_torn_line_alone);
    RUN(a_log_cut_anywhere_goes_on_with_whole_records);
    RUN(a_log_that_reaches_its_limit_is_an_error_and_ends_with_a_record);
    RUN(a_log_that_others_write_is_refused_and_stays);
    RUN(a_log_may_be_a_pipe_but_one_that_nobody_reads_is_refused_at_once);
    RUN(a_training_goes_on_without_a_log_whose_reader_leaves);
    RUN(a_program_whose_output_nobody_reads_ends_by_sigpipe);
    RUN(a_log_named_like_an_unfinished_checkpoint_stays);
    RUN(a_report_that_cannot_be_written_is_an_error_and_all_is_saved);
    RUN(all_that_a_program_says_is_seen_however_much_it_is);
    RUN(the_printed_command_is_one_that_a_shell_takes);
    RUN(the_printed_command_has_the_whole_of_a_long_path);
    RUN_SLOW(a_second_signal_of_either_kind_ends_the_program);
    RUN(logits_that_are_not_finite_are_an_error_and_no_score);
    RUN(steps_from_save_to_save_are_counted_through_epochs);
    RUN(training_without_a_label_is_refused_and_other_missing_labels_are_said);
    RUN(weighted_sampling_without_weights_is_warned_of);
    folder_remove();
    return test_finish();
}
