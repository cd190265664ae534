/* What ggnn-train does with its files: checkpoints of other data and of version 0.1, logs, names that mean one file,
   disks that are full, a standard output that is gone. The programs of this test's own build, on small graphs. */
#include "tests/train_tool.h"
#include "tests/vectors/checkpoint_0_1.h"
#include "trainer/ranks/comm.h"

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

static const char small[] = "--data karate.ggnn --fanout 4,3 --hidden 4";

/* ==== checkpoints =============================================================================================== */

/* "checksum 01234567" of a section, "none", or (section NULL) the graph's digits. */
static const char* checksum_of(char text[32], const char* path, const char* section)
{
    ggnn_file f;
    CHECK(ggnn_file_open(&f, path));
    const ggnn_file_section* s = section ? ggnn_file_find(&f, section) : NULL;
    if (!section) snprintf(text, 32, "%08llx", (unsigned long long)ggnn_file_graph_crc(&f));
    else if (s) snprintf(text, 32, "checksum %08llx", (unsigned long long)s->crc);
    else snprintf(text, 32, "none");
    ggnn_file_close(&f);
    return text;
}

/* What was trained on karate.ggnn, or another file, is refused on the one that has another section, by both checksums. */
static void refuses_section(const char* checkpoint, const char* was, const char* is, const char* section)
{
    char words[300], there[32], here[32];
    snprintf(words, sizeof words, "ggnn-train: %s was trained with another section '%s' (%s) than that of %s (%s)\n", checkpoint, section,
             checksum_of(there, was, section), is, checksum_of(here, is, section));
    CHECK_EQ(trainf("--data %s --resume %s --epochs 3", is, checkpoint), 1);
    CHECK(says(words));
}

TEST(another_graph_is_refused_by_both_checksums)
{
    char words[300], there[32], here[32];
    finish(start("ggnn-data", "generate planted graph.ggnn --nodes 34 --edges 60 --classes 2 --features 34"));
    CHECK_EQ(trainf("%s --epochs 2 --save c", small), 0);
    snprintf(words, sizeof words, "ggnn-train: c was trained on a graph with checksum %s; that of graph.ggnn is %s\n", checksum_of(there, "karate.ggnn", NULL),
             checksum_of(here, "graph.ggnn", NULL));
    CHECK(strcmp(there, here) != 0);
    CHECK_EQ(train("--data graph.ggnn --resume c --epochs 3"), 1);
    CHECK(says(words));
}

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
        char path[32];
        snprintf(path, sizeof path, "%s.ggnn", section[i]);
        refuses_section("c", "karate.ggnn", path, section[i]);
    }
    CHECK_EQ(train("--data karate.ggnn --resume c --epochs 3"), 0);
    add_weights("ones.ggnn", 1);
    add_weights("nines.ggnn", nine);
    CHECK_EQ(train("--data ones.ggnn --resume c --epochs 3"), 0); /* the sampler does not look at weights */
    CHECK_EQ(train("--data ones.ggnn --fanout 4,3 --hidden 4 --sampler weighted --epochs 2 --save w"), 0);
    refuses_section("w", "ones.ggnn", "nines.ggnn", "weight");
    refuses_section("w", "ones.ggnn", "karate.ggnn", "weight");
    CHECK_EQ(train("--data ones.ggnn --resume w --epochs 3"), 0);
    CHECK_EQ(train("--data ones.ggnn --layers 2 --fanout full --hidden 4 --sampler weighted --epochs 2 --save weighted.full"), 0);
    CHECK_EQ(train("--data nines.ggnn --resume weighted.full --epochs 3"), 0); /* nor does a full batch, which samples nothing, */
    CHECK_EQ(train("--data ones.ggnn --model mlp --layers 2 --hidden 4 --sampler weighted --epochs 2 --save weighted.mlp"), 0);
    CHECK_EQ(train("--data nines.ggnn --resume weighted.mlp --epochs 3"), 0); /* or a model without neighbours */
}

TEST(a_checkpoint_of_version_0_1_goes_on_with_a_warning)
{
    if (sizeof(ggnn_node) > 4) SKIP("the checkpoint is one of 32-bit ids");
    write_checkpoint_0_1("old");
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
    forge_bytes("c", "early", "data_crc", crc, (KNOWN + 1) * (int64_t)sizeof *crc); /* one without features of edges */
    CHECK_EQ(train("--data pre.ggnn --resume early --epochs 3"), 0);
    CHECK(!strstr(output, "warning"));
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
    CHECK(says("section 'data_crc'") && says("has 3 elements, not 6"));
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
        char words[200];
        snprintf(words, sizeof words, "ggnn-train: forged: epoch %lld, mini-batch %lld, step %lld do not fit 2 mini-batches an epoch\n", (long long)other[EPOCH],
                 (long long)other[BATCH], (long long)other[STEP]);
        CHECK(says(words));
    }
}

/* Which agree with each other, and with no run. */
TEST(counters_that_no_run_has_are_an_error)
{
    static const struct {
        int64_t counters[8]; /* epoch, batch, step, loss_rows, has_best, best_epoch, stale, updates */
        bool good;
    } of[] = {{{2, 0, 4, 0, 1, 2, 0, 4}, true}, {{2, 2, 6, 1, 1, 2, 0, 6}, true}, {{2, 3, 7, 1, 1, 2, 0, 7}, false}, {{3, -1, 5, 0, 1, 2, 0, 5}, false},
              {{2, 0, 4, 0, 1, -1, 0, 4}, false}, {{2, 0, 4, 0, 1, 0, 0, 4}, true}, {{2, 0, 4, 0, 1, 2, 9, 4}, true}, {{1 << 24, 0, 1 << 25, 0, 1, 2, 0, 1 << 25}, true},
              {{(1 << 24) + 1, 0, (1 << 25) + 2, 0, 1, 2, 0, (1 << 25) + 2}, false}, {{2, 0, 4, 0, 1, 2, 0, 5}, false}, {{2, 0, 5, 0, 1, 2, 0, 4}, false}};
    CHECK_EQ(trainf("%s --batch 1 --epochs 2 --save c", small), 0);
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        forge_bytes("c", "forged", "counters", of[i].counters, sizeof of[i].counters);
        CHECK_EQ(shell("timeout -k 5 20 \"$train\" --data karate.ggnn --resume forged --epochs 3"), !of[i].good);
        if (!CHECK(strstr(output, of[i].good ? "resumed from forged after epoch " : "forged: epoch ") != NULL)) printf("  %zu: %s", i, output);
    }
}

/* Devices that sample for others: two slices of each batch that is left of the epoch, each sampled once and trained on once. */
TEST(what_is_left_of_an_epoch_is_all_that_is_sampled)
{
    CHECK_EQ(train("--data planted.ggnn --fanout 4,3 --hidden 8 --batch 50 --epochs 1 --save c --log log"), 0);
    read_log(&first, "log", "start");
    const int64_t batches = (int64_t)number(first.line[0], "batches");
    CHECK(batches > 4);
    for (int64_t done = 1; done < batches; done += done < 3 || done == batches - 1 ? 2 : batches - 1 - done) {
        const int64_t counters[8] = {0, done, done, done * 50, 0, 0, 0, done};
        forge_bytes("c", "forged", "counters", counters, sizeof counters);
        unlink("left");
        CHECK_EQ(train("--data planted.ggnn --resume forged --epochs 1 --pipeline factored --devices 3 --log left"), 0);
        read_log(&second, "left", "ranks");
        double sum[2] = {0, 0};
        for (int r = 0; r < 3 && CHECK_EQ(second.count, 1); r++) {
            sum[0] += element(second.line[0], "\"slices\":{", "sampled", r);
            sum[1] += element(second.line[0], "\"slices\":{", "trained", r);
        }
        if (!CHECK(sum[0] == (double)(2 * (batches - done)) && sum[1] == sum[0])) printf("  after %d of %d: %g, %g\n", (int)done, (int)batches, sum[0], sum[1]);
    }
}

/* Of another length or type, or not there. */
TEST(each_section_of_a_checkpoint_has_to_be_as_the_network_is)
{
    static const char* const section[] = {"options", "params", "graph_crc", "data_crc", "counters", "sums", "value", "moment1", "moment2", "best"};
    CHECK_EQ(trainf("%s --batch 1 --epochs 2 --save c", small), 0);
    for (size_t k = 0; k < sizeof section / sizeof *section; k++)
        for (int how = 0; how < 4; how++) { /* one element less, one more, another type, none */
            ggnn_file f;
            ggnn_file_writer w;
            char words[64];
            if (k < 2 && how < 2) continue; /* texts, of any length */
            if (k == 3 && (how == 0 || how == 3)) continue; /* as early versions have it */
            CHECK(ggnn_file_open(&f, "c") && ggnn_file_create(&w, "forged"));
            for (int32_t i = 0; i < f.num_sections; i++) {
                const ggnn_file_section* s = &f.section[i];
                const bool other = strcmp(s->name, section[k]) == 0;
                const int64_t count = s->dim[0] + (other && how < 2 ? how ? 1 : -1 : 0);
                ggnn_file_type type = other && how == 2 ? s->type == GGNN_FILE_I32 ? GGNN_FILE_F32 : GGNN_FILE_I32 : (ggnn_file_type)s->type;
                if (other && how == 3) continue;
                char* to = ggnn_file_reserve(&w, s->name, type, 1, &count);
                const int64_t room = count * ggnn_file_type_bytes(type);
                memset(to, 0, (size_t)room);
                memcpy(to, ggnn_file_data(&f, s), (size_t)(s->bytes < room ? s->bytes : room));
            }
            CHECK(ggnn_file_commit(&w));
            ggnn_file_close(&f);
            CHECK_EQ(train("--data karate.ggnn --resume forged --epochs 3"), 1);
            snprintf(words, sizeof words, "'%s'", section[k]);
            if (!CHECK(strncmp(output, "ggnn-train: forged: ", 20) == 0 && says(words) && !strstr(output, "resumed"))) printf("  %s %d: %s", section[k], how, output);
            if (how < 2) CHECK(says(" elements, not "));
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

/* The first line that differs, of each as much as fits; the whole of a text counts. */
TEST(parameters_of_another_network_are_named_by_the_first_that_differs)
{
    static const char rest[] = "b0 1 4\nw_self1 4 1\nw_neigh1 4 1\nb1 1 1\n";
    char long_line[200], other[300], message[400];
    memset(long_line, 'x', 100);
    strcpy(long_line + 100, "\nmore\n");
    const struct {
        const char *params, *there, *here;
    } of[] = {{"w_self0 34 4\nw_neigh0 34 5\n", "w_neigh0 34 5", "w_neigh0 34 4"}, {"w_self0 34 5\n", "w_self0 34 5", "w_self0 34 4"}, {"w_self0 34 4\n", "", "w_neigh0 34 4"},
              {"w_self0 34 4\nw_nei", "w_nei", "w_neigh0 34 4"}, {long_line, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "w_self0 34 4"}};
    CHECK_EQ(trainf("%s --layers 2 --epochs 1 --save c", small), 0);
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        forge("c", "forged", "params", of[i].params);
        CHECK_EQ(train("--data karate.ggnn --resume forged --epochs 2"), 1);
        snprintf(message, sizeof message, "ggnn-train: forged: its parameters are not those of this network: '%s', not '%s' (name, rows, columns)\n", of[i].there, of[i].here);
        CHECK_STR(output, message);
    }
    snprintf(other, sizeof other, "w_self0 34 4\nw_neigh0 34 4\n%s", rest);
    forge("c", "forged", "params", other);
    CHECK_EQ(train("--data karate.ggnn --resume forged --epochs 2"), 0);
    strcat(other, "b2 1 1\n"); /* more than there are */
    forge("c", "forged", "params", other);
    CHECK_EQ(train("--data karate.ggnn --resume forged --epochs 2"), 1);
    CHECK(says("forged: its parameters are not those of this network: 'b2 1 1', not '' (name, rows, columns)\n"));
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
        {"{\"event\":\"start\",\"file\":\"a\\\"}}", ""}, /* a quote within the name */
        {"{\"event\":\"start\",\"file\":\"a\\\\\",\"b\":{}", ""},
        {"{\"event\":\"start\",\"file\":\"a\\", ""},
        {"{\"event\":\"end\",\"file\":\"{{a\\\\\"}", "{\"event\":\"end\",\"file\":\"{{a\\\\\"}\n"},
        {"{\"event\":\"final\",\"epochs\":4}", "{\"event\":\"final\",\"epochs\":4}\n"},
        {"{\"note\":1", "{\"note\":1\n"},
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

/* No record is as long as what is looked at of the end, so that a longer last line is someone else's: it is ended. */
TEST(a_last_line_that_is_longer_than_any_record_stays)
{
    static char whole[1 << 18];
    CHECK_EQ(trainf("%s --epochs 2 --save long.saved", small), 0);
    for (int i = 0; i < 3; i++) {
        const size_t length = (size_t)((1 << 16) + i - 1); /* of a record that begins where the tail does it is still a part */
        memset(whole, 'x', sizeof whole);
        memcpy(whole + (i == 2), "{\"event\":\"epoch\",\"", 18); /* the last one where the tail begins, not the line */
        write_file("long.log", whole, length);
        CHECK_EQ(train("--data karate.ggnn --resume long.saved --epochs 3 --log long.log"), 0);
        const bool cut_off = i < 2;
        strcpy(whole + (cut_off ? 0 : length), cut_off ? "{\"event\":\"start\"," : "\n{\"event\":\"start\",");
        if (!CHECK(strncmp(text_of("long.log"), whole, strlen(whole)) == 0)) printf("  of %zu bytes\n", length);
    }
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
    CHECK_EQ(shell("timeout -k 5 20 \"$train\" %s --epochs 1 --log pipe >mine 2>&1", small), 1);
    CHECK(strstr(text_of("mine"), "ggnn-train: pipe: cannot open the log: a pipe that nobody reads\n"));
    CHECK_EQ(trainf("%s --epochs 1 --save c", small), 0);
    CHECK_EQ(shell("timeout -k 5 20 \"$train\" --data karate.ggnn --resume c --epochs 2 --log pipe >mine 2>&1"), 1);
    CHECK(strstr(text_of("mine"), "a pipe that nobody reads"));
    CHECK_EQ(shell("timeout -k 5 20 cat pipe >got & sleep .2; timeout -k 5 20 \"$train\" %s --epochs 2 --log pipe >mine 2>&1; s=$?; wait; exit $s", small), 0);
    read_log(&first, "got", NULL);
    CHECK(first.count > 3 && strstr(first.line[0], "\"start\"") && strstr(first.line[first.count - 1], "\"final\""));
    CHECK_EQ(shell("[ -p pipe ]"), 0);
}

TEST(a_training_goes_on_without_a_log_whose_reader_leaves)
{
    CHECK_EQ(shell("rm -f pipe c; mkfifo pipe; timeout -k 5 100 head -n 2 pipe >got & "
                   "sleep .2; timeout -k 5 100 \"$train\" %s --epochs 1000 --save c --log pipe >mine 2>&1; s=$?; wait; exit $s", small), 1);
    const char* said = text_of("mine");
    CHECK(strstr(said, "\nggnn-train: warning: pipe: cannot write the log: Broken pipe; training goes on without it\n"));
    CHECK(strstr(said, "test: accuracy ") && strstr(said, "\nggnn-train: pipe: cannot write the log: Broken pipe\n"));
    CHECK(whole_file("c"));
    CHECK_EQ(shell("\"$train\" --data karate.ggnn --resume c --epochs 1000"), 0);
    CHECK(says("epoch 1000"));
}

TEST(a_program_whose_output_nobody_reads_ends_by_sigpipe)
{
    CHECK_EQ(shell("{ timeout -k 5 20 \"$train\" %s --epochs 1000000; echo $? >status; } | head -n 3; cat status", small), 0);
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

/* Starts a long training by a shell line, stops it when its first epoch is in the log; its exit status. Signals are caught by then. */
static int interrupted(const char* log, const char* line)
{
    char all[2048];
    unlink(log);
    snprintf(all, sizeof all, "\"$train\" --fanout 4,3 --hidden 4 --epochs 1000000 --log %s %s & "
                              "while ! grep -q '\"event\":\"epoch\"' %s 2>/dev/null; do sleep .02; done; kill -TERM $!; wait $!", log, line, log);
    return shell("%s", all);
}

/* With the profile or without it: what all ranks did stands in front of the last line. */
TEST(the_log_of_a_training_that_is_stopped_says_what_all_ranks_did)
{
    for (int profile = 0; profile < 2; profile++) {
        CHECK_EQ(interrupted("log", profile ? "--data karate.ggnn --devices 2 --profile" : "--data karate.ggnn --devices 2"), 130);
        const char* text = text_of("log");
        const char *ranks = strstr(text, "{\"event\":\"ranks\","), *end = strstr(text, "{\"event\":\"interrupted\",");
        CHECK(ranks && end && ranks < end && !strstr(ranks + 1, "{\"event\":\"ranks\","));
        CHECK(ranks && strchr(ranks, '\n') + 1 == end);
    }
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

/* The evaluation after the fifth epoch fails. */
TEST(a_checkpoint_is_written_after_every_so_many_epochs)
{
    static const int64_t last[] = {0, 4, 4, 3, 4, 0, 0}; /* by --save-every; 0: there is none */
    const float nan = NAN;
    poison("nan.ggnn", "feat", 34 * 12 + 2, &nan, sizeof nan);
    for (int every = 0; every < 7; every++) {
        ggnn_file f;
        unlink("c");
        CHECK_EQ(trainf("--data nan.ggnn --model mlp --layers 2 --hidden 4 --batch 1 --epochs 9 --eval-every 5 --save c --save-every %d", every), 1);
        CHECK(says("epoch 5, step 10: the logits of validation node 12 are not finite"));
        CHECK_EQ(access("c", F_OK) == 0, last[every] > 0);
        if (!last[every] || !CHECK(ggnn_file_open(&f, "c"))) continue;
        const int64_t* counters = ggnn_file_data(&f, ggnn_file_find(&f, "counters"));
        CHECK(counters[0] == last[every] && counters[1] == 0 && counters[2] == 2 * last[every] && counters[7] == 2 * last[every]);
        ggnn_file_close(&f);
    }
    for (int every = 0; every < 4; every += 3) { /* and at the end, whatever it says */
        ggnn_file f;
        unlink("c");
        CHECK_EQ(trainf("%s --epochs 2 --save c --save-every %d", small, every), 0);
        if (!CHECK(ggnn_file_open(&f, "c"))) continue;
        CHECK_EQ(((const int64_t*)ggnn_file_data(&f, ggnn_file_find(&f, "counters")))[0], 2);
        ggnn_file_close(&f);
    }
    unlink("c"); /* without --save there is nothing to save */
    CHECK_EQ(trainf("%s --epochs 2", small), 0);
    CHECK(access("c", F_OK) != 0);
}

/* karate.ggnn whose nodes of one part, or of two, are of another one. */
static void empty_part(const char* path, uint8_t from, uint8_t also, uint8_t to)
{
    ggnn_file f;
    uint8_t split[34];
    CHECK(ggnn_file_open(&f, "karate.ggnn"));
    memcpy(split, ggnn_file_data(&f, ggnn_file_find(&f, "split")), sizeof split);
    ggnn_file_close(&f);
    for (int v = 0; v < 34; v++)
        if (split[v] == from || split[v] == also) split[v] = to;
    poison(path, "split", 0, split, sizeof split);
}

/* karate.ggnn with features of 16 bits. */
static void halve(const char* path, int64_t at, float value)
{
    ggnn_file f;
    ggnn_file_writer w;
    CHECK(ggnn_file_open(&f, "karate.ggnn") && ggnn_file_create(&w, path));
    for (int32_t i = 0; i < f.num_sections; i++) {
        const ggnn_file_section* s = &f.section[i];
        const bool feat = strcmp(s->name, "feat") == 0;
        void* data = ggnn_file_reserve(&w, s->name, feat ? GGNN_FILE_F16 : (ggnn_file_type)s->type, (int32_t)s->num_dims, s->dim);
        if (!feat) memcpy(data, ggnn_file_data(&f, s), (size_t)s->bytes);
        for (int64_t k = 0; feat && k < 34 * 34; k++) ((uint16_t*)data)[k] = ggnn_float_to_half(k == at ? value : ((const float*)ggnn_file_data(&f, s))[k]);
    }
    CHECK(ggnn_file_commit(&w));
    ggnn_file_close(&f);
}

TEST(features_of_16_bits_are_those_of_32_and_are_named_where_they_are_not_finite)
{
    static const char* const how[] = {"--fanout full --model gcn", "--fanout full --model gat --residual", "--fanout full --model mlp --input-dropout .2",
                                      "--fanout 4,3 --model sage", "--fanout 4,3 --aggregator pool --eval sampled"};
    halve("half.ggnn", -1, 0);
    for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
        unlink("whole");
        unlink("part");
        CHECK_EQ(trainf("--data karate.ggnn --layers 2 --hidden 4 --epochs 3 --log whole %s", how[i]), 0);
        CHECK_EQ(trainf("--data half.ggnn --layers 2 --hidden 4 --epochs 3 --log part %s", how[i]), 0);
        read_log(&first, "whole", "epoch");
        read_log(&second, "part", "epoch");
        CHECK(same_records(&first, &second));
    }
    halve("half.ggnn", 34 * 5 + 7, NAN);
    CHECK_EQ(train("--data half.ggnn --fanout full --layers 2 --hidden 4 --epochs 1"), 1);
    CHECK(says("step 1: the loss is ") && says(": half.ggnn: feature 7 of node 5 is nan\n"));
    halve("half.ggnn", 34 * 33, -INFINITY);
    CHECK_EQ(train("--data half.ggnn --fanout full --layers 2 --hidden 4 --epochs 1"), 1);
    CHECK(says("half.ggnn: feature 0 of node 33 is -inf\n"));
}

/* Of two training nodes one has a label: every other mini-batch of one has no loss. */
TEST(a_mini_batch_without_a_labelled_seed_has_no_part_in_the_loss)
{
    static const char* const how[] = {"--fanout 4,3", "--fanout 4,3 --model gat", "--fanout 4,3 --devices 2", "--fanout 4,3 --devices 2 --parallel split",
                                      "--fanout 4,3 --devices 3 --pipeline factored"};
    const int32_t none = -1;
    ggnn_file f;
    int node = 0;
    CHECK(ggnn_file_open(&f, "karate.ggnn"));
    while (((const uint8_t*)ggnn_file_data(&f, ggnn_file_find(&f, "split")))[node] != SPLIT_TRAIN) node++;
    ggnn_file_close(&f);
    poison("one.ggnn", "label", node, &none, sizeof none);
    for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
        double loss = 0;
        CHECK_EQ(trainf("--data one.ggnn --hidden 4 --batch 1 --epochs 4 --lr 0 --dropout 0 --log log %s", how[i]), 0);
        read_log(&first, "log", "epoch");
        CHECK_EQ(first.count, 4);
        for (int e = 0; e < first.count; e++) CHECK(number(first.line[e], "step") == 2 * (e + 1) && number(first.line[e], "loss") > .01);
        for (int s = 1; s <= 2 && i == 0; s++) {
            CHECK_EQ(trainf("--data one.ggnn --hidden 4 --batch 1 --epochs 4 --lr 0 --dropout 0 --trace-step %d %s", s, how[i]), 0);
            const bool labelled = strstr(output, "the mean over 1 labelled seeds\n") != NULL;
            CHECK(labelled || says("\nloss: 0, the mean over 0 labelled seeds\n"));
            if (labelled) loss = strtod(strstr(output, "\nloss: ") + 7, NULL);
        }
        if (i == 0) CHECK_NEAR(loss, number(first.line[0], "loss"), 1e-8); /* the mean over one seed */
    }
}

/* Where a file may have 20,000 bytes, no scratch is made: which says whether one is wanted, and beside what. Rows of 600 nodes, 16 columns. */
TEST(rows_between_layers_go_to_a_file_beyond_what_eval_memory_says)
{
    static const struct {
        int layers, bytes; /* of one matrix, or of two in turn */
    } of[] = {{1, 0}, {2, 4 * 600 * 16}, {3, 8 * 600 * 16}, {5, 8 * 600 * 16}};
    CHECK_EQ(shell("mkdir -p elsewhere && rm -f elsewhere/c"), 0);
    file_limit = 20000;
    for (int i = 0; i < 4; i++)
        for (int saved = 0; saved < 2; saved++) {
            char words[100];
            const char* save = saved ? "--save elsewhere/c --save-every 0" : "";
            if (!saved) CHECK_EQ(trainf("--data planted.ggnn --layers %d --hidden 16 --epochs 0 --eval-memory %d", of[i].layers, of[i].bytes), 0);
            if (!of[i].bytes) continue;
            CHECK_EQ(trainf("--data planted.ggnn --layers %d --hidden 16 --epochs 0 --eval-memory %d %s", of[i].layers, of[i].bytes - 1, save), 1);
            snprintf(words, sizeof words, "ggnn-train: evaluation beyond --eval-memory %d: %s: no room for ", of[i].bytes - 1, saved ? "elsewhere/c" : "planted.ggnn");
            if (!CHECK(strstr(output, words) != NULL)) printf("  %s%s", words, output);
        }
    file_limit = RLIM_INFINITY;
    CHECK_EQ(shell("ls elsewhere | wc -l"), 0);
    CHECK_STR(output, "0\n");
}

/* What the umask leaves of reading and writing for all. */
TEST(a_new_log_and_a_checkpoint_have_the_rights_that_the_umask_leaves)
{
    static const char* const mask[][2] = {{"022", "-rw-r--r--"}, {"077", "-rw-------"}, {"000", "-rw-rw-rw-"}};
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(shell("rm -f log c; umask %s; \"$train\" %s --epochs 1 --log log --save c && ls -l log c | cut -c1-10", mask[i][0], small), 0);
        char words[40];
        snprintf(words, sizeof words, "\n%s\n%s\n", mask[i][1], mask[i][1]);
        CHECK(says(words));
    }
}

TEST(a_part_of_the_split_without_nodes_has_no_score_and_ends_nothing)
{
    static const char* const how[] = {"--fanout 4,3", "--fanout 4,3 --eval sampled", "--fanout full --layers 2", "--fanout 4,3 --model gat --devices 3",
                                      "--fanout 4,3 --aggregator pool --eval sampled --devices 2", "--fanout 4,3 --devices 2 --parallel split"};
    empty_part("none.val", SPLIT_VAL, SPLIT_VAL, SPLIT_TEST);
    empty_part("none.test", SPLIT_TEST, SPLIT_TEST, SPLIT_VAL);
    empty_part("none", SPLIT_VAL, SPLIT_TEST, SPLIT_NONE);
    empty_part("none.train", SPLIT_TRAIN, SPLIT_TRAIN, SPLIT_TEST);
    for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
        double best, loss;
        CHECK_EQ(trainf("--data none.val --hidden 4 --epochs 3 --patience 1 --log log %s", how[i]), 0);
        CHECK(says("to train, 0 to validate, 32 to test\n") && says("warning: none.val: no validation node has a label") && says("\ntest: accuracy ") && !strstr(output, "val loss"));
        best = last_number("log", "final", "best_epoch");
        loss = last_number("log", "final", "test_loss");
        CHECK(best == 3 && isfinite(loss) && isnan(last_number("log", "final", "val_loss")));
        read_log(&first, "log", "epoch");
        CHECK(first.count == 3 && strstr(first.line[2], "\"val_loss\":null,\"val_accuracy\":null,\"val_macro_f1\":null,\"val_roc_auc\":null,\"best\":true"));
        CHECK_EQ(trainf("--data none.test --hidden 4 --epochs 3 --log log %s", how[i]), 0);
        CHECK(says("to train, 32 to validate, 0 to test\n") && says("warning: none.test: no test node has a label") && says("\ntest: no labelled nodes  (epoch "));
        CHECK(isnan(last_number("log", "final", "test_loss")) && isnan(last_number("log", "final", "test_accuracy")) && isfinite(last_number("log", "final", "val_loss")));
        CHECK_EQ(trainf("--data none --hidden 4 --epochs 3 --log log %s", how[i]), 0);
        CHECK(says("to train, 0 to validate, 0 to test\n") && says("warning: none: no validation node has a label: the last epoch counts as the best one\n")
              && says("no test node") && says("\ntest: no labelled nodes\n"));
        CHECK_EQ(trainf("--data none.train --hidden 4 --epochs 3 --log log %s", how[i]), 1);
        CHECK(says("ggnn-train: none.train: split 0 has no training nodes\n"));
    }
}

/* ==== what is said at the start ================================================================================== */

/* The members of an object of the first record, as they stand there. */
static bool starts_with(const char* object, const char* members)
{
    const char *start = strstr(text_of("log"), "{\"event\":\"start\""), *at = start ? strstr(start, object) : NULL;
    const bool good = at && strncmp(at + strlen(object), members, strlen(members)) == 0;
    if (!good) printf("  not %s%s: %.600s\n", object, members, at ? at : "no record");
    return good;
}

TEST(the_first_record_and_lines_say_what_is_trained_on_what)
{
    dataset d;
    error why = {""};
    char data[400], run[400], begin[300];
    int64_t count[4];
    CHECK(dataset_open(&d, "planted.ggnn", &why) && dataset_split(&d, 0, count, &why));
    for (int how = 0; how < 3; how++) {
        static const char* const options[] = {"--threads 5", "--threads 5 --devices 3", "--threads 1 --devices 4 --loss ce"};
        static const int devices[] = {1, 3, 4}, threads[] = {5, 5, 4};
        const int64_t batches = (count[SPLIT_TRAIN] + 69) / 70;
        unlink("log");
        CHECK_EQ(trainf("--data planted.ggnn --layers 2 --fanout 4,3 --hidden 16 --batch 70 --epochs 2 --eval-every 0 --save c --log log %s", options[how]), 0);
        snprintf(data, sizeof data, "\"planted.ggnn\",\"nodes\":600,\"edges\":%lld,\"features\":16,\"classes\":5,\"outputs\":5,\"train\":%lld,\"val\":%lld,\"test\":%lld,"
                 "\"graph_crc\":%lld},\"parameters\":%d,\"batches\":%lld,\"run\":{", (long long)d.num_edges, (long long)count[SPLIT_TRAIN], (long long)count[SPLIT_VAL],
                 (long long)count[SPLIT_TEST], (long long)ggnn_file_graph_crc(&d.file), 2 * 16 * 16 + 16 + 2 * 16 * 5 + 5, (long long)batches);
        snprintf(run, sizeof run, "%d,\"threads\":%d,\"backend\":\"cpu\",\"device\":\"\",\"precision\":\"fp32\",\"gemm\":\"", devices[how], threads[how]);
        CHECK(starts_with("\"data\":{\"file\":", data) && starts_with("\"run\":{\"devices\":", run));
        snprintf(run, sizeof run, "%d,\"resumed_epoch\":0,\"resumed_step\":0}}\n", 8 * (int)sizeof(ggnn_node));
        CHECK(starts_with("\"node_bits\":", run) && starts_with("\"version\":", "\"" GGNN_VERSION "\","));
        snprintf(begin, sizeof begin, " features, 5 classes; %lld to train, %lld to validate, %lld to test\n2 layers, %d parameters; %lld mini-batches an epoch, ",
                 (long long)count[SPLIT_TRAIN], (long long)count[SPLIT_VAL], (long long)count[SPLIT_TEST], 693, (long long)batches);
        CHECK(strncmp(output, "planted.ggnn: 600 nodes, ", 25) == 0 && says(begin));
        if (devices[how] > 1) snprintf(begin, sizeof begin, " an epoch, %d devices, %d threads\n", devices[how], threads[how]);
        else snprintf(begin, sizeof begin, " an epoch, %d threads\n", threads[how]);
        CHECK(says(begin));
        CHECK_EQ(train("--data planted.ggnn --resume c --epochs 3 --log log2 --threads 1"), 0);
        snprintf(begin, sizeof begin, " an epoch, 1 thread\nresumed from c after epoch 2, step %lld\n", (long long)(2 * batches));
        CHECK(says(begin));
        CHECK_EQ(shell("mv log2 log"), 0);
        snprintf(begin, sizeof begin, "2,\"resumed_step\":%lld}}\n", (long long)(2 * batches));
        CHECK(starts_with("\"resumed_epoch\":", begin));
    }
    dataset_close(&d);
    CHECK_EQ(train("--data karate.ggnn --fanout full --layers 1 --epochs 1 --log log"), 0);
    CHECK(says("karate.ggnn: 34 nodes, 156 edges, 34 features, 2 classes; 2 to train, 8 to validate, 24 to test\n1 layers, 69 parameters; 1 mini-batch an epoch, 1 thread\n"));
    CHECK(starts_with("\"file\":\"karate.ggnn\",", "\"nodes\":34,\"edges\":156,\"features\":34,\"classes\":2,\"outputs\":1,\"train\":2,\"val\":8,\"test\":24,\"graph_crc\":"));
    CHECK_EQ(train("--version"), 0);
    CHECK(strncmp(output, "ggnn-train " GGNN_VERSION "\nOpenMP: ", strlen("ggnn-train " GGNN_VERSION "\nOpenMP: ")) == 0);
#ifdef _OPENMP
    CHECK(says("OpenMP: yes  CBLAS: "));
#else
    CHECK(says("OpenMP: no  CBLAS: "));
#endif
    snprintf(begin, sizeof begin, "  MPI: %s  NCCL: %s\n", comm_mpi_name() ? comm_mpi_name() : "no", comm_nccl_name() ? comm_nccl_name() : "no");
    CHECK(says(begin));
}

/* In the order of trainer/report.h. */
TEST(records_come_in_the_order_of_the_schema)
{
    static const struct {
        const char *options, *events;
    } run[] = {{"--epochs 2", "start epoch epoch ranks final "}, {"--epochs 0", "start ranks final "}, {"--epochs 1 --eval-every 0", "start epoch ranks final "},
               {"--epochs 1 --devices 2 --partition pagraph --cache degree --cache-ratio .5", "start partition tiers epoch ranks final "},
               {"--epochs 1 --devices 2 --parallel split", "start owners epoch ranks final "}, {"--epochs 1 --device-memory 9M", "start tiers epoch ranks final "},
               {"--epochs 3 --model mlp --fanout 1 --trace-step 2", "start epoch trace trace trace trace trace trace trace trace trace trace trace epoch epoch ranks final "},
               {"--epochs 1 --explain", "start epoch ranks final explain "}};
    for (size_t i = 0; i < sizeof run / sizeof *run; i++) {
        char events[400] = "";
        CHECK_EQ(trainf("--data karate.ggnn --layers %d --hidden 4 --log log %s", strstr(run[i].options, "fanout") ? 1 : 2, run[i].options), 0);
        for (const char* at = text_of("log"); *at; at = strchr(at, '\n') + 1) {
            CHECK(strncmp(at, "{\"event\":\"", 10) == 0);
            snprintf(events + strlen(events), sizeof events - strlen(events), "%.*s ", (int)strcspn(at + 10, "\""), at + 10);
        }
        CHECK_STR(events, run[i].events);
    }
}

/* Of several devices, or where something lies in tiers; parts of a batch have a table of their own. */
TEST(the_profile_has_a_table_of_devices_where_there_is_something_to_tell)
{
    static const char* const options[] = {"", "--profile", "--profile --devices 2", "--profile --store-graph .5", "--profile --devices 2 --parallel split", "--devices 2"};
    for (int i = 0; i < 6; i++) {
        CHECK_EQ(trainf("%s --epochs 1 %s", small, options[i]), 0);
        CHECK_EQ(strstr(output, "\n  stage  ") != NULL, i > 0 && i < 5);
        CHECK_EQ(strstr(output, "rows of features read from (counted)") != NULL, i > 1 && i < 5);
        CHECK_EQ(strstr(output, "computed of all layers") != NULL, i == 4);
    }
}

/* The log has whose products they are; a level of the built-in ones is a word. */
TEST(products_are_whose_the_log_says)
{
    static const char* const levels[] = {"plain", "sse2", "neon", "avx2", "avx512"};
    char gemm[40] = "";
    bool known = false;
    unlink("log");
    CHECK_EQ(trainf("%s --epochs 3 --log log", small), 0);
    const double loss = last_number("log", "epoch", "val_loss");
    const char* at = strstr(text_of("log"), "\"run\":");
    at = at ? strstr(at, "\"gemm\":\"") : NULL;
    if (CHECK(at != NULL)) snprintf(gemm, sizeof gemm, "%.*s", (int)strcspn(at + 8, "\""), at + 8);
    for (int i = 0; i < 5; i++) known = known || !strcmp(gemm, levels[i]);
    CHECK(known);
    CHECK_EQ(train("--version"), 0);
    const bool blas = strstr(output, "CBLAS: yes") != NULL;
    unlink("log");
    CHECK_EQ(trainf("%s --epochs 3 --log log --gemm blas", small), blas ? 0 : 2);
    CHECK(blas || says("--gemm blas: this build has no BLAS"));
    if (!blas) return;
    CHECK_NEAR(last_number("log", "epoch", "val_loss"), loss, 1e-4);
    CHECK(strstr(text_of("log"), "\"gemm\":\"blas\",\"compiler\":") && strstr(text_of("log"), "\"blas\":true,\"node_bits\":"));
}

/* A random number's key has room for 2^30 of them. */
TEST(more_steps_than_random_numbers_can_tell_apart_are_refused)
{
    CHECK_EQ(shell("timeout -k 5 20 \"$train\" %s --batch 1 --epochs 16777216 --lr 0 --patience 1", small), 0); /* 2^25 */
    finish(start("ggnn-data", "generate planted many.ggnn --nodes 160 --edges 600 --classes 3 --features 4 --train .5"));
    CHECK_EQ(train("--data many.ggnn --fanout 2 --hidden 4 --batch 1 --epochs 16777216 --patience 1"), 1);
    CHECK(says("ggnn-train: --epochs 16777216 of ") && says(" mini-batches: more than 2^30 steps\n"));
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
                                        "--data karate.ggnn --sampler weighted --model mlp",
                                        "--data karate.ggnn --sampler walk --model gcn --fanout full"};
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
    RUN(another_graph_is_refused_by_both_checksums);
    RUN(other_features_labels_or_splits_are_refused_by_name);
    RUN(a_checkpoint_of_version_0_1_goes_on_with_a_warning);
    RUN(other_preprocessed_features_are_refused_by_name);
    RUN(a_checkpoint_without_a_checksum_of_preprocessed_features_goes_on_with_a_warning);
    RUN(verify_names_the_damaged_section_that_would_be_read);
    RUN(a_run_that_has_nothing_to_do_saves_all_the_same);
    RUN(bytes_of_a_checkpoint_do_not_reach_the_terminal);
    RUN(counters_that_contradict_each_other_are_an_error);
    RUN(counters_that_no_run_has_are_an_error);
    RUN(what_is_left_of_an_epoch_is_all_that_is_sampled);
    RUN(each_section_of_a_checkpoint_has_to_be_as_the_network_is);
    RUN(help_says_what_a_checkpoint_fixes_and_the_rest_may_change);
    RUN(parameters_of_another_network_are_named_by_the_first_that_differs);
    RUN(names_that_mean_one_file_are_refused_and_nothing_is_lost);
    RUN(no_file_that_a_training_reads_is_written_over);
    RUN(wrong_inputs_leave_old_outputs_as_they_were);
    RUN(a_log_goes_on_after_a_torn_line);
    RUN(a_long_log_loses_its_torn_line_alone);
    RUN(a_last_line_that_is_longer_than_any_record_stays);
    RUN(a_log_cut_anywhere_goes_on_with_whole_records);
    RUN(a_log_that_reaches_its_limit_is_an_error_and_ends_with_a_record);
    RUN(a_log_that_others_write_is_refused_and_stays);
    RUN(a_log_may_be_a_pipe_but_one_that_nobody_reads_is_refused_at_once);
    RUN(a_training_goes_on_without_a_log_whose_reader_leaves);
    RUN(a_program_whose_output_nobody_reads_ends_by_sigpipe);
    RUN(a_log_named_like_an_unfinished_checkpoint_stays);
    RUN(a_report_that_cannot_be_written_is_an_error_and_all_is_saved);
    RUN(all_that_a_program_says_is_seen_however_much_it_is);
    RUN(the_log_of_a_training_that_is_stopped_says_what_all_ranks_did);
    RUN(the_printed_command_is_one_that_a_shell_takes);
    RUN(the_printed_command_has_the_whole_of_a_long_path);
    RUN_SLOW(a_second_signal_of_either_kind_ends_the_program);
    RUN(logits_that_are_not_finite_are_an_error_and_no_score);
    RUN(steps_from_save_to_save_are_counted_through_epochs);
    RUN(a_checkpoint_is_written_after_every_so_many_epochs);
    RUN(a_part_of_the_split_without_nodes_has_no_score_and_ends_nothing);
    RUN(features_of_16_bits_are_those_of_32_and_are_named_where_they_are_not_finite);
    RUN(a_mini_batch_without_a_labelled_seed_has_no_part_in_the_loss);
    RUN(rows_between_layers_go_to_a_file_beyond_what_eval_memory_says);
    RUN(a_new_log_and_a_checkpoint_have_the_rights_that_the_umask_leaves);
    RUN(the_first_record_and_lines_say_what_is_trained_on_what);
    RUN(records_come_in_the_order_of_the_schema);
    RUN(products_are_whose_the_log_says);
    RUN(the_profile_has_a_table_of_devices_where_there_is_something_to_tell);
    RUN(more_steps_than_random_numbers_can_tell_apart_are_refused);
    RUN(training_without_a_label_is_refused_and_other_missing_labels_are_said);
    RUN(weighted_sampling_without_weights_is_warned_of);
    folder_remove();
    return test_finish();
}
