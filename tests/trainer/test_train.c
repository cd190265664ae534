/* ggnn-train from end to end, as a user runs it: the programs of this test's own build, on small generated graphs. */
#include "common/progress.h"
#include "tests/methods.h"
#include "tests/train_tool.h"
#include "trainer/options/config.h"
#include "trainer/task.h"

/* ==== what it learns ============================================================================================ */

TEST(communities_are_learnt_better_than_features_allow)
{
    const char* options = "--data planted.ggnn --fanout 8,8 --hidden 32 --epochs 20 --batch 64 --lr .01 --log a";
    CHECK_EQ(train(options), 0);
    double sage = last_number("a", "final", "test_accuracy");
    CHECK_EQ(trainf("%s --model mlp", options), 0);
    double mlp = last_number("a", "final", "test_accuracy");
    CHECK(sage > 0.75);
    CHECK(sage > mlp + 0.1);
    CHECK(mlp > 0.3);
}

/* Test accuracy of a run on `data`. */
static double accuracy_of(const char* data, const char* options)
{
    CHECK_EQ(trainf("--data %s --layers 2 --hidden 32 --batch 64 --lr .01 --eval sampled --log a %s", data, options), 0);
    return last_number("a", "final", "test_accuracy");
}

TEST(pinsage_by_its_defaults_comes_within_two_points_of_graphsage)
{
    finish(start("ggnn-data", "generate planted near.ggnn --nodes 1000 --edges 20000 --classes 5 --features 16 --homophily .9"));
    CHECK(accuracy_of("near.ggnn", "--aggregator importance --epochs 12") > accuracy_of("near.ggnn", "--epochs 12") - .02);
}

/* One step leads to the other of two communities, a second one back. Walks count both, most often what is one step away:
   visits tell them apart. */
TEST(pinsage_by_its_defaults_is_near_graphsage_where_visits_as_weights_beat_none)
{
    double sage = 0, plain = 0, importance = 0;
    char options[100];
    finish(start("ggnn-data", "generate planted apart.ggnn --nodes 5000 --edges 10000 --classes 2 --features 32 --homophily .1 --separation 1.5"));
    for (int seed = 1; seed <= 3; seed++) {
        snprintf(options, sizeof options, "--epochs 8 --seed %d", seed);
        sage += accuracy_of("apart.ggnn", options) / 3;
        strcat(options, " --sampler walk");
        plain += accuracy_of("apart.ggnn", options) / 3;
        strcat(options, " --aggregator importance");
        importance += accuracy_of("apart.ggnn", options) / 3;
    }
    if (!CHECK(importance > sage - .02) || !CHECK(importance > plain + .02))
        printf("  GraphSAGE %.3f, PinSAGE %.3f, without weights %.3f\n", sage, importance, plain);
}

/* Said or not, the same run; a checkpoint keeps what was not said. */
TEST(importance_turns_on_walks_and_sampled_evaluation)
{
    static const char common[] = "--data planted.ggnn --aggregator importance --layers 2 --hidden 8 --epochs 3";
    CHECK_EQ(trainf("%s --log a", common), 0);
    read_log(&first, "a", NULL);
    CHECK(strstr(first.line[0], "\"sampler\":\"walk\"") && strstr(first.line[0], "\"fanout\":\"5,5\""));
    CHECK_EQ(trainf("%s --sampler walk --walks 4 --walk-length 3 --walk-restart .5 --fanout 5,5 --eval sampled --log a", common), 0);
    read_log(&second, "a", NULL);
    CHECK(same_records(&first, &second));
    CHECK_EQ(train("--data planted.ggnn --aggregator importance --layers 2 --hidden 8 --epochs 2 --save c --log a"), 0);
    CHECK_EQ(train("--data planted.ggnn --resume c --epochs 3 --log a"), 0);
    read_log(&first, "a", "epoch");
    CHECK_EQ(trainf("%s --log whole", common), 0);
    read_log(&second, "whole", "epoch");
    CHECK(same_records(&first, &second));
}

TEST(every_model_and_sampler_learns_the_karate_club)
{
    static const char* const how[] = {
        "--model gcn --fanout full", "--model sage --fanout full", "--model sage --aggregator gcn --fanout full",
        "--model sage --aggregator pool --fanout full", "--model gat --fanout full", "--model sage --fanout 4,4",
        "--model gat --fanout 4,4 --norm layer --residual", "--model gcn --fanout 4,4 --eval sampled",
        "--model sage --fanout 4,4 --loss ce --optimizer adamw --weight-decay .01",
        "--model sage --fanout 4,4 --lr-schedule cosine --warmup 10",
        "--model sage --fanout 4,4 --lr-schedule step --lr-step 40 --input-dropout .1"};
    enum { HOWS = sizeof how / sizeof *how };
    for (int i = 0; i < HOWS + GGNN_NUM_METHODS; i++) {
        const int method = i - HOWS;
        char by_sampler[100];
        if (method >= 0)
            snprintf(by_sampler, sizeof by_sampler, "--model %s --sampler %s --fanout 4,4", method_has(method, GGNN_METHOD_WALKS) ? "sage" : "gcn",
                     ggnn_method_name((ggnn_method)method));
        const char* options = method < 0 ? how[i] : by_sampler;
        int status = trainf("--data karate.ggnn --layers 2 --hidden 32 --dropout .2 --lr .02 --epochs 100 "
                            "--eval-every 10 --log a %s", options);
        double accuracy = last_number("a", "final", "test_accuracy"), auc = last_number("a", "final", "test_roc_auc");
        if (!CHECK_EQ(status, 0) || !CHECK(accuracy > 0.7) || !CHECK(auc > 0.8)) /* of two training nodes */
            printf("  %s: accuracy %g, ROC-AUC %g\n", options, accuracy, auc);
    }
}

TEST(gcn_under_samplers_that_prefer_neighbours_is_warned_of_once)
{
    static const struct {
        const char* options;
        bool warned;
    } run[] = {{"--model gcn --sampler weighted", true}, {"--model gcn --sampler walk", true},
               {"--model gcn --sampler replacement", false}, {"--model gcn", false},
               {"--model sage --sampler weighted", false}, {"--model gcn --sampler weighted --fanout full", false},
               {"--model gcn --sampler walk --fanout full", false}};
    add_weights("heavy.ggnn", 1);
    for (size_t i = 0; i < sizeof run / sizeof *run; i++) {
        CHECK_EQ(trainf("--data heavy.ggnn --layers 2 --hidden 4 --epochs 2 %s", run[i].options), 0);
        const char* warning = strstr(output, "ggnn-train: warning: --sampler w");
        CHECK_EQ(warning != NULL, run[i].warned);
        CHECK(!warning || (says("unbiased") && !strstr(warning + 1, "ggnn-train: warning")));
    }
}

/* With a rate of 0 nothing is learnt, so that validation looks at the same weights whatever the batches are. */
TEST(evaluation_by_layers_equals_one_pass_over_the_graph)
{
    static const char* const model[] = {"--model gcn", "--model sage", "--model sage --aggregator pool",
                                        "--model gat --heads 4", "--norm layer --residual", "--model mlp"};
    static const char* const batches[] = {"--fanout 3,3,3", "--fanout 3,3,3 --eval-memory 0",
                                          "--fanout -1,-1,-1 --eval sampled",
                                          "--fanout 3,3,3 --threads 3 --input-dropout .5"};
    const char* common = "--data planted.ggnn --layers 3 --hidden 16 --lr 0 --epochs 1 --log a";
    for (size_t m = 0; m < sizeof model / sizeof *model; m++) {
        CHECK_EQ(trainf("%s --fanout full %s", common, model[m]), 0);
        double loss = last_number("a", "epoch", "val_loss"), test = last_number("a", "final", "test_macro_f1");
        for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
            CHECK_EQ(trainf("%s %s %s", common, model[m], batches[i]), 0);
            CHECK_NEAR(last_number("a", "epoch", "val_loss"), loss, 1e-5);
            CHECK_NEAR(last_number("a", "final", "test_macro_f1"), test, 0.01); /* a near tie may fall either way */
        }
    }
}

/* Chunks are of 4,096 nodes: two and a part of one, whose layers must not overwrite what later chunks read. Rows that are transformed
   first are wider behind the first layer than before it. */
TEST(evaluation_by_layers_of_many_nodes_equals_that_by_batches)
{
    static const char* const model[] = {"--model gcn", "--model sage", "--model gat --heads 2 --hidden 128 --threads 1", "--aggregator pool --hidden 128 --threads 1"};
    const char* common = "--data chunks.ggnn --layers 3 --hidden 4 --lr 0 --epochs 1 --batch 4096 --log a";
    finish(start("ggnn-data", "generate planted chunks.ggnn --nodes 9000 --edges 18000 --classes 3 --features 4"));
    for (int m = 0; m < 4; m++) {
        CHECK_EQ(trainf("%s %s --fanout 2,2,2", common, model[m]), 0);
        const double loss = last_number("a", "epoch", "val_loss");
        CHECK_EQ(trainf("%s %s --fanout -1,-1,-1 --eval sampled", common, model[m]), 0);
        CHECK_NEAR(last_number("a", "epoch", "val_loss"), loss, 1e-5);
    }
}

/* As many layers as there may be, whose rows take each other's place; heads of the last layer that are more than those of the others. */
TEST(evaluation_of_any_number_of_layers_equals_one_pass_over_the_graph)
{
    static const char* const model[] = {"--model gcn", "--model sage", "--aggregator pool", "--model gat --heads 2 --out-heads 7", "--model mlp"};
    static const int layers[] = {1, 4, 5, 8};
    for (int m = 0; m < 5; m++)
        for (int i = 0; i < 4; i++) {
            const char* const all = &"-1,-1,-1,-1,-1,-1,-1,-1"[3 * (8 - layers[i])];
            double loss[3], f1[3];
            for (int how = 0; how < 3; how++) {
                static const char* const batches[] = {"", "--eval full", "--eval sampled"};
                const char* fanout = !how ? "full" : layers[i] > 1 ? all : "33"; /* "-1" alone is the whole graph */
                CHECK_EQ(trainf("--data karate.ggnn %s --layers %d --hidden 6 --lr 0 --epochs 1 --log a --loss ce --fanout %s %s", model[m], layers[i], fanout, batches[how]), 0);
                loss[how] = last_number("a", "epoch", "val_loss");
                f1[how] = last_number("a", "final", "test_macro_f1");
                CHECK_NEAR(loss[how], loss[0], 1e-5);
                if (!CHECK_NEAR(f1[how], f1[0], .1)) printf("  %s, %d layers, %s\n", model[m], layers[i], batches[how]);
            }
        }
}

/* One batch of all training nodes with all neighbours is what full batch is, but for the order of sums. */
TEST(full_batch_trains_as_a_batch_of_all_training_nodes_does)
{
    static const char* const model[] = {"--model gcn", "--model sage", "--model gat", "--model mlp"};
    const char* common = "--data planted.ggnn --layers 2 --hidden 16 --dropout 0 --epochs 5 --log a";
    for (size_t m = 0; m < sizeof model / sizeof *model; m++) {
        CHECK_EQ(trainf("%s %s --fanout full", common, model[m]), 0);
        read_log(&first, "a", "epoch");
        CHECK_EQ(trainf("%s %s --fanout -1,-1 --batch 10000", common, model[m]), 0);
        read_log(&second, "a", "epoch");
        CHECK(first.count == 5 && second.count == 5);
        for (int i = 0; i < 5; i++)
            CHECK_NEAR(number(first.line[i], "loss"), number(second.line[i], "loss"), i ? 1e-3 : 1e-6);
    }
}

TEST(the_test_score_is_that_of_the_least_validation_loss)
{
    const char* options = "--data planted.ggnn --fanout 4,4 --hidden 32 --lr .05 --dropout 0 --log a";
    CHECK_EQ(trainf("%s --epochs 30", options), 0);
    double best = INFINITY, at = 0;
    read_log(&first, "a", "epoch");
    CHECK_EQ(first.count, 30);
    for (int i = 0; i < first.count; i++) {
        double loss = number(first.line[i], "val_loss");
        CHECK_EQ(strstr(first.line[i], "\"best\":true") != NULL, loss < best);
        if (loss < best) at = i + 1;
        if (loss < best) best = loss;
    }
    CHECK(at < 30); /* overfits, else this shows little */
    CHECK_NEAR(last_number("a", "final", "best_epoch"), at, 0);
    double test = last_number("a", "final", "test_loss");
    CHECK_EQ(trainf("%s --epochs %d", options, (int)at), 0);
    CHECK_NEAR(last_number("a", "final", "test_loss"), test, 0);
}

/* With a rate of 0 the first evaluation is the best one, and --patience counts those after it, not epochs. */
TEST(evaluations_are_after_every_so_many_epochs_and_the_last)
{
    const char* common = "--data karate.ggnn --fanout 4,4 --hidden 4 --lr 0 --log a";
    CHECK_EQ(trainf("%s --epochs 7 --eval-every 3", common), 0);
    read_log(&first, "a", "epoch");
    if (!CHECK_EQ(first.count, 7)) return;
    for (int i = 0; i < 7; i++) {
        CHECK_EQ(isfinite(number(first.line[i], "val_loss")) != 0, i == 2 || i == 5 || i == 6);
        CHECK_EQ(strstr(first.line[i], "\"best\":true") != NULL, i == 2);
    }
    CHECK_EQ(trainf("%s --epochs 50 --eval-every 3 --patience 2", common), 0);
    CHECK_EQ(last_number("a", "final", "epochs"), 9);
    CHECK_EQ(trainf("%s --epochs 7 --eval-every 3 --patience 4 --save c", common), 0);
    CHECK_EQ(train("--data karate.ggnn --resume c --epochs 50 --log a"), 0); /* two of the four were before */
    CHECK_EQ(last_number("a", "final", "epochs"), 12);
}

TEST(patience_ends_training)
{
    CHECK_EQ(train("--data planted.ggnn --fanout 4,4 --hidden 32 --epochs 200 --patience 3 --lr .05 --log a"), 0);
    read_log(&first, "a", "epoch");
    CHECK(first.count < 200 && first.count > 3);
    CHECK_NEAR(last_number("a", "final", "best_epoch"), last_number("a", "final", "epochs") - 3, 0);
}

/* ==== batches, orders, rates ==================================================================================== */

/* With a rate of 0 and no dropout a node's loss is the same in every epoch, so that an epoch's loss changes with the
   order of its sum alone: in the last bits, of at least one of eight epochs. */
TEST(every_epoch_has_an_order_of_its_own)
{
    int differ = 0;
    CHECK_EQ(train("--data planted.ggnn --model mlp --hidden 8 --layers 2 --dropout 0 --lr 0 --batch 7 --epochs 9 "
                   "--eval-every 0 --log a"), 0);
    read_log(&first, "a", "epoch");
    if (!CHECK_EQ(first.count, 9)) return;
    for (int i = 1; i < 9; i++) {
        CHECK_NEAR(number(first.line[i], "loss"), number(first.line[0], "loss"), 1e-6);
        differ += fabs(number(first.line[i], "loss") - number(first.line[0], "loss")) > 0;
    }
    CHECK(differ > 0);
}

/* And each alone, not another one of them. */
TEST(every_option_of_a_net_changes_what_it_learns)
{
    static const char* const common = "--data karate.ggnn --fanout 4,3 --hidden 8 --epochs 2 --log a --model";
    static const char* const base[] = {"gat", "sage"};
    static const char* const options[][11] = {
        {"--dropout .2", "--input-dropout .2", "--attention-dropout .2", "--heads 2", "--out-heads 2", "--residual", "--norm layer",
         "--lr .01", "--optimizer adamw --weight-decay .1", "--weight-decay .1", "--seed 2"},
        {"--aggregator gcn", "--aggregator pool", "--residual", "--norm layer", "--dropout .2", "--input-dropout .2"}};
    for (int m = 0; m < 2; m++) {
        double loss[12];
        CHECK_EQ(trainf("%s %s", common, base[m]), 0);
        loss[0] = last_number("a", "epoch", "val_loss");
        for (int i = 0; i < 11 && options[m][i]; i++) {
            CHECK_EQ(trainf("%s %s %s", common, base[m], options[m][i]), 0);
            loss[i + 1] = last_number("a", "epoch", "val_loss");
            for (int k = 0; k <= i; k++)
                if (!CHECK(fabs(loss[i + 1] - loss[k]) > 0)) printf("  %s %s\n", options[m][i], k ? options[m][k - 1] : "");
        }
    }
}

/* --loss ce is a softmax over two logits, --loss bce has one. */
TEST(one_class_is_learnt_beside_one_that_no_node_has)
{
    static const char* const loss[] = {"ce", "bce"};
    double begin[2];
    finish(start("ggnn-data", "generate planted alone.ggnn --nodes 300 --edges 1500 --classes 1 --features 4"));
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(trainf("--data alone.ggnn --layers 2 --fanout 4,4 --hidden 8 --lr .05 --epochs 20 --log a --loss %s", loss[i]), 0);
        read_log(&first, "a", "epoch");
        begin[i] = number(first.line[0], "val_loss");
        CHECK(begin[i] > .1 && number(first.line[19], "val_loss") < .1 * begin[i]);
    }
    CHECK(fabs(begin[0] - begin[1]) > 0);
}

static double loss_of_epoch(const char* options, int epoch)
{
    CHECK_EQ(trainf("--data planted.ggnn --hidden 8 --layers 2 --dropout 0 --lr 0 --epochs 2 --eval-every 0 --log a %s",
                    options), 0);
    read_log(&first, "a", "epoch");
    return first.count == 2 ? number(first.line[epoch], "loss") : (double)NAN;
}

/* A node's sample depends on seed, step and node, so at a rate of 0 an epoch's loss tells whether its batches are
   sampled at one step: then their number changes nothing. */
TEST(every_batch_is_sampled_at_a_step_of_its_own)
{
    double all = loss_of_epoch("--fanout -1,-1 --batch 1000", 0), sampled = loss_of_epoch("--fanout 2,2 --batch 1000", 0);
    CHECK_NEAR(loss_of_epoch("--fanout -1,-1 --batch 70", 0), all, 1e-6); /* the last of them is shorter */
    CHECK(fabs(loss_of_epoch("--fanout 2,2 --batch 20", 0) - sampled) > 1e-4);
    CHECK(fabs(loss_of_epoch("--fanout 2,2 --batch 1000", 1) - sampled) > 1e-4);
    CHECK_NEAR(loss_of_epoch("--fanout -1,-1 --batch 1000", 1), all, 1e-6);
}

/* As --help says: 15,10,5,5,... or, of walks, the five most visited; for as many layers as there may be. */
TEST(what_is_not_given_is_as_the_help_says)
{
    for (int layers = 1; layers <= NET_LAYERS_MAX; layers++)
        for (int walk = 0; walk < 2; walk++) {
            config c;
            error why = {""};
            char number[16], *words[] = {"ggnn-train", "--data", "x.ggnn", "--layers", number, "--sampler", walk ? "walk" : "reservoir"};
            snprintf(number, sizeof number, "%d", layers);
            CHECK(config_parse(&c, 7, words, &why) == OPTIONS_GOOD && config_finish(&c, &why));
            CHECK_EQ(c.layers, layers);
            for (int h = 0; h < layers; h++) CHECK_EQ(c.fanout[h], walk || h > 1 ? 5 : h ? 10 : 15);
        }
    config c;
    error why = {""};
    char* words[] = {"ggnn-train", "--data", "x.ggnn"};
    CHECK(config_parse(&c, 3, words, &why) == OPTIONS_GOOD && config_finish(&c, &why));
    CHECK(c.layers == 3 && c.hidden == 256 && c.heads == 4 && c.out_heads == 1 && c.dropout == .5 && c.batch == 1024);
    CHECK(c.epochs == 10 && c.lr == .003 && c.lr_step == 30 && c.lr_decay == .1 && c.warmup == 0 && c.patience == 0 && c.seed == 1);
    CHECK(c.walks == 4 && c.walk_length == 3 && c.walk_restart == .5 && c.eval_every == 1 && c.save_every == 1 && c.devices == 1);
    CHECK(c.closure_limit == 100000 && c.presample_epochs == 1 && c.store_graph == 1 && c.store_features == 1 && c.host_share == .2);
    CHECK(c.reserve_bytes == (int64_t)1 << 30 && c.eval_memory == (int64_t)4 << 30 && c.links[0] == 1500 && c.links[1] == 50 && c.links[2] == 12);
}

/* The log has the rate of an epoch's last step: step 2, 5, 8 ... of 15 with three batches an epoch. */
TEST(rates_follow_their_schedules)
{
    enum { EPOCHS = 5, BATCHES = 3, WARMUP = 7, DECAY_EVERY = 2 };
    const double pi = acos(-1), rate = 0.01;
    char line[200];
    snprintf(line, sizeof line, "--data planted.ggnn --model mlp --hidden 4 --layers 2 --lr .01 --epochs %d --eval-every 0 "
                                "--log a --batch ", EPOCHS);
    CHECK_EQ(trainf("%s 1000", line), 0);
    read_log(&first, "a", "start");
    int train_nodes = first.count ? (int)number(strstr(first.line[0], "\"data\":"), "train") : 0;
    int batch = (train_nodes + BATCHES - 1) / BATCHES;
    for (int kind = 0; kind < 4; kind++) {
        static const char* const options[] = {"", "--lr-schedule cosine", "--lr-schedule step --lr-step 2 --lr-decay .5",
                                              "--lr-schedule cosine --warmup 7"};
        CHECK_EQ(trainf("%s %d %s", line, batch, options[kind]), 0);
        read_log(&first, "a", "epoch");
        if (!CHECK_EQ(first.count, EPOCHS)) return;
        for (int epoch = 0; epoch < EPOCHS; epoch++) {
            int step = BATCHES * epoch + BATCHES - 1;
            double wanted = rate;
            if (kind == 1 || kind == 3) wanted *= (1 + cos(pi * step / (EPOCHS * BATCHES))) / 2;
            if (kind == 2) wanted *= pow(.5, epoch / DECAY_EVERY);
            if (kind == 3 && step < WARMUP) wanted *= (step + 1) / (double)WARMUP;
            CHECK_EQ((int)number(first.line[epoch], "step"), step + 1);
            CHECK_NEAR(number(first.line[epoch], "learning_rate"), wanted, 1e-8);
        }
    }
}

/* That the rates of the log are those that are used: a rate of 0 changes nothing, a warm-up of one step is none, and the
   first step of a warm-up of many has a small part of the rate. */
TEST(steps_are_made_at_the_rate_of_the_schedule)
{
    const char* common = "--data planted.ggnn --model mlp --hidden 8 --layers 2 --dropout 0 --lr .05 --batch 1000 --log a";
    CHECK_EQ(trainf("%s --epochs 5 --lr-schedule step --lr-step 2 --lr-decay 0", common), 0);
    read_log(&first, "a", "epoch");
    if (!CHECK_EQ(first.count, 5)) return;
    double loss[5];
    for (int i = 0; i < 5; i++) loss[i] = number(first.line[i], "val_loss");
    CHECK(loss[1] != loss[0]);
    for (int i = 2; i < 5; i++) CHECK_NEAR(loss[i], loss[1], 0);
    CHECK_EQ(trainf("%s --epochs 2 --warmup 1", common), 0);
    read_log(&first, "a", "epoch");
    CHECK_NEAR(number(first.line[0], "val_loss"), loss[0], 0);
    CHECK_NEAR(number(first.line[1], "val_loss"), loss[1], 0);
    CHECK_EQ(trainf("%s --epochs 1 --warmup 5", common), 0); /* Adam's first step is the rate, whatever the gradient */
    double warm = last_number("a", "epoch", "val_loss");
    CHECK_EQ(trainf("--data planted.ggnn --model mlp --hidden 8 --layers 2 --dropout 0 --lr .01 --batch 1000 --log a "
                    "--epochs 1"), 0);
    CHECK_NEAR(warm, last_number("a", "epoch", "val_loss"), 1e-6);
}

/* ==== the same again ============================================================================================ */

static const char* const variant[] = {
    "--fanout 4,3 --batch 50 --hidden 16",
    "--model gat --fanout 4,3 --batch 50 --hidden 16 --attention-dropout .3 --norm layer --residual --patience 50",
    "--model gcn --fanout full --hidden 16 --layers 2 --optimizer adamw --weight-decay .1",
    "--aggregator pool --fanout 4,3 --batch 50 --hidden 16 --eval sampled --lr-schedule step --lr-step 2",
    "--aggregator importance --layers 2 --batch 50 --hidden 16",
};
enum { VARIANTS = sizeof variant / sizeof *variant };

TEST(runs_of_one_seed_write_one_log_for_any_number_of_threads)
{
    static const char* const also[] = {"", "--threads 1", "--threads 2", "--threads 3 --eval-memory 1", "--threads 4"};
    for (int v = 0; v < VARIANTS; v++) {
        for (int i = 0; i < 5; i++) {
            CHECK_EQ(trainf("--data planted.ggnn --epochs 3 --log a %s %s", variant[v], also[i]), 0);
            read_log(i ? &second : &first, "a", NULL);
            if (i) CHECK(same_records(&first, &second));
        }
        CHECK_EQ(trainf("--data planted.ggnn --epochs 3 --log a --seed 2 %s", variant[v]), 0);
        read_log(&second, "a", NULL);
        CHECK(strcmp(first.line[1], second.line[1]) != 0);
    }
}

TEST(a_resumed_run_goes_on_bit_for_bit_after_every_epoch)
{
    for (int v = 0; v < VARIANTS; v++) {
        CHECK_EQ(trainf("--data planted.ggnn --epochs 5 --log whole %s", variant[v]), 0);
        for (int k = 1; k < 5; k++) {
            CHECK_EQ(trainf("--data planted.ggnn --epochs %d --save c --log part %s", k, variant[v]), 0);
            CHECK_EQ(train("--data planted.ggnn --resume c --epochs 5 --log part"), 0);
            read_log(&first, "whole", "epoch");
            read_log(&second, "part", "epoch");
            CHECK(same_records(&first, &second));
            CHECK_NEAR(last_number("part", "final", "test_loss"), last_number("whole", "final", "test_loss"), 0);
        }
    }
}

/* Interrupts runs at arbitrary moments until one reaches the end; together they have to have said what one would, which
   takes `seconds`. Returns how many were stopped, and how many of these within an epoch. */
static int interrupted_until_done(const char* options, double seconds, int* within_epoch)
{
    int stops = 0, status = 130;
    unlink("part");
    unlink("c");
    for (int i = 0; status != 0 && i < 100; i++) {
        char line[1024];
        bool begun = access("c", F_OK) == 0;
        snprintf(line, sizeof line, "--data planted.ggnn --save c --save-every 0 --log part %s",
                 begun ? "--resume c" : options);
        pid_t child = start("ggnn-train", line);
        nap(seconds * (0.1 + 0.5 * (double)test_below(1000) / 1000) * (1 + 0.1 * i));
        kill(child, i % 2 ? SIGTERM : SIGINT);
        status = finish(child);
        if (status == 1000 + SIGINT || status == 1000 + SIGTERM) continue; /* before it was ready to catch it */
        if (status != 130) break;
        CHECK(says("saved, go on with --data planted.ggnn --resume c --save c"));
        int64_t step = (int64_t)last_number("part", "interrupted", "step");
        read_log(&first, "part", "start");
        *within_epoch += step % (int64_t)number(first.line[0], "batches") != 0;
        stops++;
    }
    CHECK_EQ(status, 0);
    return stops;
}

/* The best weights, their loss and the epochs since then are all that a checkpoint has of it. */
TEST(a_run_resumed_after_worse_epochs_scores_its_best_weights)
{
    static const char common[] = "--data planted.ggnn --fanout 4,3 --hidden 16 --batch 100 --lr .1";
    for (int patience = 0; patience < 6; patience += 5) {
        CHECK_EQ(trainf("%s --epochs 12 --patience %d --log whole", common, patience), 0);
        const int best = (int)last_number("whole", "final", "best_epoch"), ended = (int)last_number("whole", "final", "epochs");
        CHECK(best > 3 && best + 3 < ended);
        for (int k = best - 3; k <= ended; k += 3) {
            CHECK_EQ(trainf("%s --epochs %d --patience %d --save c --log part", common, k, patience), 0);
            CHECK_EQ(train("--data planted.ggnn --resume c --epochs 12 --log part"), 0);
            read_log(&first, "whole", "final");
            read_log(&second, "part", "final");
            CHECK_EQ(second.count, 2);
            if (first.count == 1 && second.count == 2) CHECK_STR(second.line[1], first.line[0]);
        }
    }
}

TEST(an_interrupted_run_goes_on_bit_for_bit_within_an_epoch)
{
    const char* options = "--fanout 4,3 --batch 4 --hidden 48 --epochs 12 --lr-schedule cosine --dropout .3";
    int    within = 0;
    double begin = progress_seconds();
    CHECK_EQ(trainf("--data planted.ggnn --log whole %s", options), 0);
    double seconds = progress_seconds() - begin;
    for (int round = 0; round < 20 && within == 0; round++) { /* signals may come between epochs, or too late */
        if (interrupted_until_done(options, seconds, &within) == 0) continue;
        read_log(&first, "whole", "epoch");
        read_log(&second, "part", "epoch");
        CHECK(same_records(&first, &second));
        CHECK_NEAR(last_number("part", "final", "test_loss"), last_number("whole", "final", "test_loss"), 0);
    }
    CHECK(within > 0);
}

/* Stops a run. True: between the only mini-batch of an epoch and its end. Sets how many epochs were done. */
static bool interrupt_evaluation(const char* options, int* epochs)
{
    char line[400];
    ggnn_file f;
    int64_t counters[2];
    unlink("part");
    snprintf(line, sizeof line, "%s --epochs 1000 --save c --save-every 0 --log part", options);
    pid_t child = start("ggnn-train", line);
    for (int k = 0; k < 1000 && file_bytes("part") < 1500; k++) nap(.005); /* the start, and some epochs */
    nap(.001 * (double)test_below(40));
    kill(child, SIGTERM);
    CHECK_EQ(finish(child), 130);
    if (!CHECK(ggnn_file_open(&f, "c"))) return false;
    memcpy(counters, ggnn_file_data(&f, ggnn_file_find(&f, "counters")), sizeof counters);
    ggnn_file_close(&f);
    *epochs = (int)counters[0];
    return counters[1] == 1;
}

/* Nearly all of its time is evaluation's. */
TEST(a_run_that_was_stopped_in_an_evaluation_begins_with_it_again)
{
    static const char options[] = "--data slow.ggnn --fanout 2,2 --batch 1000 --hidden 32";
    int stopped = 0, done = 0;
    finish(start("ggnn-data", "generate planted slow.ggnn --nodes 4000 --edges 40000 --classes 3 --features 16 --train .01"));
    for (int i = 0; i < 4; i++) {
        stopped += interrupt_evaluation(options, &done);
        CHECK_EQ(trainf("--data slow.ggnn --resume c --epochs %d --log part", done + 2), 0);
        CHECK_EQ(trainf("%s --epochs %d --log whole", options, done + 2), 0);
        read_log(&first, "whole", "epoch");
        read_log(&second, "part", "epoch");
        CHECK(same_records(&first, &second));
    }
    CHECK(stopped > 0);
}

TEST(a_run_killed_while_saving_leaves_a_whole_checkpoint)
{
    const char* options = "--data planted.ggnn --fanout 2,2 --hidden 700 --batch 400 --eval-every 0 --save c";
    CHECK_EQ(trainf("%s --epochs 1", options), 0);
    for (int i = 0; i < 12; i++) {
        char line[256];
        snprintf(line, sizeof line, "%s --epochs 100000", options);
        pid_t child = start("ggnn-train", line);
        nap(0.05 + 0.1 * (double)test_below(1000) / 1000);
        kill(child, SIGKILL);
        CHECK_EQ(finish(child), 1000 + SIGKILL);
        CHECK(whole_file("c"));
    }
    ggnn_file f;
    CHECK(ggnn_file_open(&f, "c"));
    int64_t epochs = ((const int64_t*)ggnn_file_data(&f, ggnn_file_find(&f, "counters")))[0];
    ggnn_file_close(&f);
    CHECK_EQ(trainf("--data planted.ggnn --resume c --epochs %d --save c", (int)epochs + 1), 0);
    CHECK(says("resumed from c"));
    CHECK(whole_file("c"));
}

/* ==== errors ==================================================================================================== */

TEST(wrong_usage_exits_with_2_and_names_the_option)
{
    static const char* const wrong[][2] = {
        {"", "--data"},
        {"--data planted.ggnn --hiden 5", "--hidden"},
        {"--data planted.ggnn --model gnc", "gcn"},
        {"--data planted.ggnn --layers 0", "--layers 0"},
        {"--data planted.ggnn --layers 9", "--layers 9"},
        {"--data planted.ggnn --dropout 1", "--dropout 1"},
        {"--data planted.ggnn --lr nan", "--lr"},
        {"--data planted.ggnn --epochs", "--epochs"},
        {"--data planted.ggnn --fanout 5,x", "--fanout"},
        {"--data planted.ggnn --fanout 5,5 --layers 3", "--fanout 5,5: 2 values for --layers 3"},
        {"--data planted.ggnn --fanout 1,1,1,1,1,1,1,1,1", "--fanout"},
        {"--data planted.ggnn --fanout -2", "--fanout"},
        {"--data planted.ggnn --model gat --hidden 30 --heads 4", "--heads 4 does not divide --hidden 30"},
        {"--data planted.ggnn --aggregator importance --model gat", "--aggregator importance: has no effect without --model sage"},
        {"--data planted.ggnn --aggregator importance --sampler weighted", "--aggregator importance: needs --sampler walk, whose visits are its weights"},
        {"--data planted.ggnn --aggregator importance --eval full", "--eval full takes all neighbours and has no visits"},
        {"--data planted.ggnn --aggregator importance --fanout -1", "--fanout full samples nothing, so there are no visits"},
        {"--data planted.ggnn --precision tf32", "--precision tf32: needs --backend cuda"},
        {"--data planted.ggnn --fanout full --eval sampled", "--eval sampled"},
        {"--data planted.ggnn --patience 3 --eval-every 0", "--patience"},
        {"--data planted.ggnn more", "more"},
        {"--data planted.ggnn --save ./planted.ggnn", "that is the data"},
        {"--data planted.ggnn --log planted.ggnn", "that is the data"},
        {"--data planted.ggnn --log new --save new", "--log new: --save writes there"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK_EQ(train(wrong[i][0]), 2);
        CHECK(says(wrong[i][1]));
        CHECK(strncmp(output, "ggnn-train: ", 12) == 0);
    }
    CHECK_EQ(train("--help"), 0);
    CHECK(says("--attention-dropout") && says("[fisher-yates]"));
}

TEST(a_backend_that_is_not_built_is_an_error_that_says_how)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/ggnn-train-cuda", build);
    if (access(path, X_OK) == 0) return; /* it is built */
    CHECK_EQ(train("--data planted.ggnn --backend cuda"), 1);
    CHECK(says("ggnn-train-cuda: not there; make gpu builds it"));
}

TEST(files_that_cannot_be_trained_on_are_errors_that_say_why)
{
    CHECK_EQ(train("--data nosuch.ggnn"), 1);
    CHECK(says("nosuch.ggnn"));
    copy_file("planted.ggnn", "cut.ggnn", 20000, -1);
    CHECK_EQ(train("--data cut.ggnn"), 1);
    CHECK(says("cut.ggnn"));
    CHECK_EQ(train("--data planted.ggnn --split 7"), 1);
    CHECK(says("number 7"));
    CHECK_EQ(finish(start("ggnn-data", "generate path bare.ggnn --nodes 10")), 0);
    CHECK_EQ(train("--data bare.ggnn"), 1);
    CHECK(says("'feat'"));
    CHECK_EQ(train("--data planted.ggnn --loss bce"), 1);
    CHECK(says("--loss bce"));
    CHECK_EQ(train("--data planted.ggnn --log nowhere/log"), 1);
    CHECK(says("nowhere/log"));
    CHECK_EQ(train("--data planted.ggnn --epochs 1 --hidden 8 --save nowhere/c"), 1);
    CHECK(says("nowhere/c") && !strstr(output, "epoch 1")); /* before any work is done */
}

/* A copy of planted.ggnn whose nodes have real targets in place of labels; node 9 has `other`. */
static void make_targets(const char* path, float other)
{
    static const float of[] = {0, .25f, .5f, 1};
    ggnn_file f;
    ggnn_file_writer w;
    CHECK(ggnn_file_open(&f, "planted.ggnn") && ggnn_file_create(&w, path));
    for (int32_t i = 0; i < f.num_sections; i++) {
        const ggnn_file_section* s = &f.section[i];
        const bool label = strcmp(s->name, "label") == 0;
        float* data = ggnn_file_reserve(&w, s->name, label ? GGNN_FILE_F32 : (ggnn_file_type)s->type, (int32_t)s->num_dims, s->dim);
        memcpy(data, ggnn_file_data(&f, s), (size_t)s->bytes); /* a label has four bytes, too */
        for (int64_t v = 0; label && v < s->dim[0]; v++) data[v] = v == 9 ? other : of[v % 4];
    }
    CHECK(ggnn_file_commit(&w));
    ggnn_file_close(&f);
}

/* A target of .5 and above counts as the second class. */
TEST(real_targets_are_trained_on_and_those_that_are_no_probability_are_named)
{
    static const float wrong[] = {1.5f, 1.001f, -.001f};
    static task t;
    static config c;
    error why = {""};
    char* words[] = {"ggnn-train", "--data", "real.ggnn"};
    for (int i = 0; i < 3; i++) {
        char said[100];
        make_targets("real.ggnn", wrong[i]);
        CHECK_EQ(train("--data real.ggnn --hidden 4 --epochs 1"), 1);
        snprintf(said, sizeof said, "real.ggnn: node 9 has target %g: only targets within 0 and 1", (double)wrong[i]);
        CHECK(says(said));
    }
    make_targets("real.ggnn", NAN); /* no target */
    CHECK_EQ(train("--data real.ggnn --hidden 4 --epochs 1 --loss ce"), 1);
    CHECK(says("--loss ce: real.ggnn has real targets, no classes"));
    poison_of("real.ggnn", "last.ggnn", "label", 599, &wrong[0], sizeof *wrong);
    CHECK_EQ(train("--data last.ggnn --hidden 4 --epochs 1"), 1);
    CHECK(says("last.ggnn: node 599 has target 1.5: only targets within 0 and 1"));
    CHECK(config_parse(&c, 3, words, &why) == OPTIONS_GOOD && task_open(&t, &c, &why));
    for (int v = 0; v < 8; v++) CHECK_EQ(task_class(&t, v), v % 4 >= 2);
    task_close(&t);
    const char* common = "--data real.ggnn --layers 2 --hidden 8 --dropout 0 --epochs 3 --log a";
    CHECK_EQ(trainf("%s --fanout -1,-1 --batch 10000", common), 0);
    read_log(&first, "a", "epoch");
    CHECK_EQ(trainf("%s --fanout full", common), 0);
    read_log(&second, "a", "epoch");
    CHECK(first.count == 3 && second.count == 3);
    for (int i = 0; i < 3; i++) {
        CHECK_NEAR(number(first.line[i], "loss"), number(second.line[i], "loss"), 1e-3);
        CHECK_NEAR(number(first.line[i], "val_agreement"), number(second.line[i], "val_agreement"), .02);
        CHECK_NEAR(number(first.line[i], "val_roc_auc"), number(second.line[i], "val_roc_auc"), .01);
    }
    CHECK(!strstr(second.line[2], "accuracy") && isfinite(last_number("a", "final", "test_agreement")));
    CHECK(says("val agreement at 1/2 ") && says("\ntest: agreement at 1/2 ") && !strstr(output, "accuracy")); /* they are no classes */
}

TEST(what_is_not_finite_or_out_of_range_is_named)
{
    float nan = NAN;
    ggnn_node far = 1000;
    poison("nan.ggnn", "feat", 34 * 5 + 7, &nan, sizeof nan);
    CHECK_EQ(train("--data nan.ggnn --fanout full --epochs 3"), 1);
    CHECK(says("epoch 1, step 1") && says("feature 7 of node 5 is nan"));
    poison("nan.ggnn", "feat", 34 * 34 - 1, &nan, sizeof nan); /* the last of the last node */
    CHECK_EQ(train("--data nan.ggnn --fanout full --epochs 3"), 1);
    CHECK(says("feature 33 of node 33 is nan"));
    CHECK_EQ(train("--data planted.ggnn --lr 1e6 --fanout 2,2,2,2,2,2,2,2 --hidden 8 --epochs 3"), 1);
    CHECK(says("epoch 1, step ") && says("; a smaller --lr may help\n"));
    poison("far.ggnn", "indices", 0, &far, sizeof far);
    CHECK_EQ(train("--data far.ggnn --fanout -1,-1,-1 --epochs 3"), 1);
    CHECK(says("sampling the neighbours of node 0"));
    CHECK_EQ(train("--data far.ggnn --fanout full --epochs 3"), 1);
    CHECK(says("far.ggnn: ") && says("outside [0, num_nodes), node 0, edge 0"));
}

TEST(a_checkpoint_that_contradicts_options_or_data_is_an_error)
{
    CHECK_EQ(train("--data planted.ggnn --fanout 4,3 --hidden 16 --epochs 1 --save c"), 0);
    CHECK_EQ(train("--data planted.ggnn --resume c --hidden 32"), 2);
    CHECK(says("--hidden 32") && says("--hidden 16"));
    CHECK_EQ(train("--data planted.ggnn --resume c --residual"), 2);
    CHECK(says("--residual true") && says("--residual false"));
    CHECK_EQ(train("--data planted.ggnn --resume c --fanout 4,4"), 2);
    CHECK(says("4,3"));
    CHECK_EQ(train("--data planted.ggnn --resume c --layers 3"), 2);
    CHECK_EQ(train("--data planted.ggnn --resume c --hidden 16 --epochs 2"), 0); /* the same again is none */
    CHECK_EQ(train("--data karate.ggnn --resume c"), 1);
    CHECK(says("checksum") && says("karate.ggnn"));
    CHECK_EQ(train("--data planted.ggnn --fanout 4,3 --hidden 16 --epochs 4 --lr-schedule cosine --save d"), 0);
    CHECK_EQ(train("--data planted.ggnn --resume d --epochs 5"), 2);
    CHECK(says("--epochs 5") && says("--epochs 4"));
    CHECK_EQ(train("--data planted.ggnn --resume planted.ggnn"), 1);
    CHECK(says("planted.ggnn: not a checkpoint: it has no section 'options'\n"));
}

TEST(broken_checkpoints_are_errors)
{
    CHECK_EQ(train("--data karate.ggnn --fanout 4,3 --hidden 4 --epochs 1 --save c"), 0);
    int64_t bytes = file_bytes("c");
    for (int i = 0; i < 20; i++) {
        copy_file("c", "broken", -1, test_below(bytes));
        CHECK_EQ(train("--data karate.ggnn --resume broken"), 1);
        copy_file("c", "broken", test_below(bytes), -1);
        CHECK_EQ(train("--data karate.ggnn --resume broken"), 1);
        CHECK(says("broken"));
    }
}

/* Every allocation of every part of the program fails once. */
static void fail_everywhere(const char* line)
{
    char n[16];
    int status = 1;
    for (int i = 1; status == 1 && i < 200; i++) {
        snprintf(n, sizeof n, "%d", i);
        fail_allocation = n;
        status = train(line);
        fail_allocation = NULL;
        if (status == 1) CHECK(says("out of memory"));
    }
    CHECK_EQ(status, 0);
}

TEST(an_allocation_that_fails_is_an_error_wherever_it_is)
{
    fail_everywhere("--data karate.ggnn --fanout 4,3 --hidden 4 --epochs 1 --threads 2 --save c");
    fail_everywhere("--data karate.ggnn --fanout full --layers 2 --hidden 4 --epochs 1");
    fail_everywhere("--data karate.ggnn --fanout 4,3 --model gat --hidden 4 --epochs 1 --eval sampled");
    fail_everywhere("--data karate.ggnn --resume c --epochs 2");
}

TEST(a_full_disk_is_an_error_and_the_old_checkpoint_stays)
{
    CHECK_EQ(train("--data karate.ggnn --fanout 4,3 --hidden 64 --epochs 1 --save c"), 0);
    file_limit = 20000;
    CHECK_EQ(train("--data karate.ggnn --fanout 4,3 --hidden 64 --epochs 2 --save c"), 1);
    CHECK(says("ggnn-train: c: "));
    CHECK_EQ(train("--data planted.ggnn --fanout 4,3 --hidden 64 --epochs 2 --eval-memory 0"), 1);
    CHECK(says("--eval-memory"));
    file_limit = RLIM_INFINITY;
    CHECK(whole_file("c"));
    if (access("/dev/full", W_OK) == 0) {
        CHECK_EQ(train("--data karate.ggnn --fanout 4,3 --hidden 4 --epochs 1 --log /dev/full"), 1);
        CHECK(says("/dev/full"));
    }
}

TEST(the_profile_accounts_for_the_time)
{
    CHECK_EQ(train("--data planted.ggnn --fanout 4,3 --hidden 16 --epochs 2 --profile"), 0);
    CHECK(says("sample") && says("gather") && says("forward: gemm") && says("backward: aggregate"));
    CHECK(says("optimizer") && says("evaluation") && says("100.0 %"));
    CHECK(says("times are measured; bytes and operations are counted"));
}

/* ==== the scene ================================================================================================= */

/* Gigabytes that the profile says of the row "sample". */
static double sampled_gigabytes(const char* how)
{
    double bytes = -1;
    CHECK_EQ(trainf("--data planted.ggnn --fanout -1,-1 --hidden 2 --batch 300 --epochs 400 --eval sampled --profile %s", how), 0);
    const char* row = strstr(output, "\n  sample ");
    CHECK(row && sscanf(row, " sample %*f %*f %% %*f %lf", &bytes) == 1);
    return bytes;
}

/* A batch of one part is the batch. */
TEST(the_profile_counts_what_evaluation_samples_apart)
{
    const double alone = sampled_gigabytes("--eval-every 0");
    CHECK(alone > .03);
    CHECK_NEAR(sampled_gigabytes("--eval-every 1"), alone, 0);
    CHECK_NEAR(sampled_gigabytes("--eval-every 1 --parallel split"), alone, 0);
}

/* A copy of `from` in which of every 100 nodes 2 train, and one or most of the others validate; the rest test. */
static void split_unevenly(const char* from, const char* path, bool many_validate)
{
    ggnn_file f;
    ggnn_file_writer w;
    if (!CHECK(ggnn_file_open(&f, from) && ggnn_file_create(&w, path))) return;
    for (int32_t i = 0; i < f.num_sections; i++) {
        const ggnn_file_section* s = &f.section[i];
        uint8_t* data = ggnn_file_reserve(&w, s->name, (ggnn_file_type)s->type, (int32_t)s->num_dims, s->dim);
        memcpy(data, ggnn_file_data(&f, s), (size_t)s->bytes);
        for (int64_t v = 0; !strcmp(s->name, "split") && v < s->bytes; v++)
            data[v] = (uint8_t)(v % 50 == 0 ? SPLIT_TRAIN : (v % 100 == 7) == many_validate ? SPLIT_TEST : SPLIT_VAL);
    }
    CHECK(ggnn_file_commit(&w));
    ggnn_file_close(&f);
}

/* At a rate of 0: the few, or the many, that validate have the scores that they have as those that test. */
TEST(a_split_may_be_as_large_as_it_likes_beside_the_other)
{
    static const char* const how[] = {"--eval full", "--fanout full"};
    static const char* const keys[] = {"loss", "accuracy", "macro_f1", "roc_auc"};
    CHECK_EQ(finish(start("ggnn-data", "generate planted two.ggnn --nodes 4000 --edges 9000 --classes 2 --features 4")), 0);
    split_unevenly("two.ggnn", "few.ggnn", false);
    split_unevenly("two.ggnn", "many.ggnn", true);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(trainf("--data few.ggnn --layers 1 --hidden 4 --lr 0 --epochs 1 --threads 2 %s %s --log few", i < 1 ? "--fanout 2" : "", how[i]), 0);
        CHECK_EQ(trainf("--data many.ggnn --layers 1 --hidden 4 --lr 0 --epochs 1 --threads 2 %s %s --log many", i < 1 ? "--fanout 2" : "", how[i]), 0);
        for (int k = 0; k < 4; k++) {
            char val[32], test[32];
            snprintf(val, sizeof val, "val_%s", keys[k]);
            snprintf(test, sizeof test, "test_%s", keys[k]);
            CHECK_NEAR(last_number("few", "epoch", val), last_number("many", "final", test), 0);
            CHECK_NEAR(last_number("many", "epoch", val), last_number("few", "final", test), 0);
        }
    }
}

/* The array of an object in a record; returns its sum. */
static double sum_in(const char* line, const char* object, const char* key, int ranks)
{
    double sum = 0;
    for (int r = 0; r < ranks; r++) sum += element(line, object, key, r);
    return sum;
}

/* Reads of the first layer's input in a training of two evaluations and a test score: GraphSAGE reads each target's row and one an edge,
   GAT transforms each row once. */
TEST(rows_that_evaluation_reads_are_counted_apart)
{
    static const char* const where[] = {"cache", "own", "peer", "host"};
    static const struct {
        const char* options;
        int ranks;
    } how[] = {{"--devices 2 --store parts", 2}, {"--cache degree --cache-ratio .3", 1}, {"--devices 3 --store-graph .5 --store-features .5", 3}, {"--store-graph .2 --store-features .4 --cache random --cache-ratio .1", 1}};
    for (size_t i = 0; i < sizeof how / sizeof *how; i++)
        for (int gat = 0; gat < 2; gat++)
            for (int sampled = 0; sampled < 2; sampled++) {
                double read = 0;
                const char* const keys[] = {"\"rows\":{", "\"bytes\":{", "\"lists\":{", "\"list_bytes\":{"};
                const char* common = "--data planted.ggnn --layers 2 --hidden 4 --fanout 4,3 --batch 100 --epochs 2 --threads 1";
                if (sampled && (int)(i % 2) != gat) continue;
                CHECK_EQ(trainf("%s %s %s --eval-every 0 --log a", common, how[i].options, gat ? "--model gat" : ""), 0);
                read_log(&second, "a", "ranks");
                CHECK_EQ(trainf("%s %s %s --eval-every 1 --log a %s", common, how[i].options, gat ? "--model gat" : "", sampled ? "--eval sampled" : ""), 0);
                read_log(&first, "a", "ranks");
                const char *none = second.line[0], *line = first.line[0];
                for (int w = 0; w < 4; w++) {
                    for (int k = 0; k < 4; k++)
                        for (int r = 0; r < how[i].ranks; r++) CHECK_EQ(element(line, keys[k], where[w], r), element(none, keys[k], where[w], r));
                    read += sum_in(line, "\"evaluation_rows\":{", where[w], how[i].ranks);
                    CHECK_EQ(sum_in(none, "\"evaluation_rows\":{", where[w], how[i].ranks), 0);
                }
                const char *from = strstr(line, "\"rows_from\":["), *other = strstr(none, "\"rows_from\":[");
                CHECK(from && other && strncmp(from, other, strcspn(other, "s") + strcspn(strchr(other, ':'), "s")) == 0);
                read_log(&second, "a", "start");
                const double nodes = number(second.line[0], "nodes"), edges = number(second.line[0], "edges");
                if (!sampled) CHECK_EQ(read, 3 * (gat ? nodes : nodes + edges));
                else CHECK(read > 0);
                if (test_errors) {
                    printf("  %s %d %d\n", how[i].options, gat, sampled);
                    return;
                }
            }
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    test_seed(5);
    if (!train_tool_begin()) return 1;
    RUN(communities_are_learnt_better_than_features_allow);
    RUN(pinsage_by_its_defaults_comes_within_two_points_of_graphsage);
    RUN_SLOW(pinsage_by_its_defaults_is_near_graphsage_where_visits_as_weights_beat_none);
    RUN(importance_turns_on_walks_and_sampled_evaluation);
    RUN(every_model_and_sampler_learns_the_karate_club);
    RUN(gcn_under_samplers_that_prefer_neighbours_is_warned_of_once);
    RUN(evaluation_by_layers_equals_one_pass_over_the_graph);
    RUN_SLOW(evaluation_by_layers_of_many_nodes_equals_that_by_batches);
    RUN(evaluation_of_any_number_of_layers_equals_one_pass_over_the_graph);
    RUN(full_batch_trains_as_a_batch_of_all_training_nodes_does);
    RUN(the_test_score_is_that_of_the_least_validation_loss);
    RUN(evaluations_are_after_every_so_many_epochs_and_the_last);
    RUN(patience_ends_training);
    RUN(every_epoch_has_an_order_of_its_own);
    RUN(every_option_of_a_net_changes_what_it_learns);
    RUN(one_class_is_learnt_beside_one_that_no_node_has);
    RUN(every_batch_is_sampled_at_a_step_of_its_own);
    RUN(what_is_not_given_is_as_the_help_says);
    RUN(rates_follow_their_schedules);
    RUN(steps_are_made_at_the_rate_of_the_schedule);
    RUN(runs_of_one_seed_write_one_log_for_any_number_of_threads);
    RUN(a_resumed_run_goes_on_bit_for_bit_after_every_epoch);
    RUN(a_run_resumed_after_worse_epochs_scores_its_best_weights);
    RUN(an_interrupted_run_goes_on_bit_for_bit_within_an_epoch);
    RUN(a_run_that_was_stopped_in_an_evaluation_begins_with_it_again);
    RUN(a_run_killed_while_saving_leaves_a_whole_checkpoint);
    RUN(wrong_usage_exits_with_2_and_names_the_option);
    RUN(a_backend_that_is_not_built_is_an_error_that_says_how);
    RUN(files_that_cannot_be_trained_on_are_errors_that_say_why);
    RUN(real_targets_are_trained_on_and_those_that_are_no_probability_are_named);
    RUN(what_is_not_finite_or_out_of_range_is_named);
    RUN(a_checkpoint_that_contradicts_options_or_data_is_an_error);
    RUN(broken_checkpoints_are_errors);
    RUN(an_allocation_that_fails_is_an_error_wherever_it_is);
    RUN(a_full_disk_is_an_error_and_the_old_checkpoint_stays);
    RUN(the_profile_accounts_for_the_time);
    RUN(a_split_may_be_as_large_as_it_likes_beside_the_other);
    RUN(rows_that_evaluation_reads_are_counted_apart);
    RUN_SLOW(the_profile_counts_what_evaluation_samples_apart);
    folder_remove();
    return test_finish();
}
