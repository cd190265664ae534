/* examples/train.c, compiled as its first lines say, beside ggnn-train on one graph: the same losses, as doubles. */
#include "tests/train_tool.h"

enum { EPOCHS = 3 };

/* 1,100 training nodes of 2,200 are two mini-batches; 260 features, and more targets than 256, are two segments of a
   sum. A training node has no label. */
static void make_graph(void)
{
    const int32_t unknown = -1;
    dataset d;
    error why = {{0}};
    ggnn_node train_id[2200];
    if (access("graph.ggnn", F_OK) == 0) return;
    CHECK_EQ(finish(start("ggnn-data", "generate planted whole.ggnn --nodes 2200 --edges 16000 --classes 5 --features 260")), 0);
    if (!CHECK(dataset_open(&d, "whole.ggnn", &why))) return;
    CHECK_EQ(dataset_split_ids(&d, 0, SPLIT_TRAIN, train_id), 1100);
    dataset_close(&d);
    poison_of("whole.ggnn", "graph.ggnn", "label", (int64_t)train_id[7], &unknown, sizeof unknown);
}

/* The form of train.c that rounds a multiply-add as this ggnn-train's products do, by its log; NULL: it was not built. */
static const char* train_like(const char* log)
{
    char program[4200];
    const bool once = shell("grep -q '\"event\":\"start\".*\"gemm\":\"avx' %s", log) == 0;
    snprintf(program, sizeof program, "%s/%s", build, once ? "train-fma" : "train");
    return access(program, X_OK) ? NULL : once ? "train-fma" : "train";
}

static void compare(const char* model)
{
    char arguments[100];
    make_graph();
    CHECK_EQ(trainf("--data graph.ggnn --model %s --layers 2 --hidden 64 --fanout 10,5 --eval sampled --epochs %d --log log", model, EPOCHS), 0);
    const char* program = train_like("log");
    if (!program) SKIP("the compiler knows no -mfma");
    snprintf(arguments, sizeof arguments, "graph.ggnn %s %d", model, EPOCHS);
    read_log(&second, "log", "epoch");
    CHECK_EQ(finish(start(program, arguments)), 0);
    CHECK_EQ(second.count, EPOCHS);
    const char* line = output;
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        double loss = NAN, accuracy = NAN;
        line = strstr(line, "\nepoch ");
        if (!CHECK(line && sscanf(++line, "epoch %*d loss %lf validation accuracy %lf", &loss, &accuracy) == 2)) return;
        if (!CHECK(loss == number(second.line[epoch], "loss")) || !CHECK(accuracy == number(second.line[epoch], "val_accuracy")))
            printf("  %s, epoch %d: %.17g, %.17g; ggnn-train: %s", program, epoch + 1, loss, accuracy, second.line[epoch]);
    }
}

TEST(train_c_has_the_losses_of_ggnn_train_for_gcn) { compare("gcn"); }
TEST(train_c_has_the_losses_of_ggnn_train_for_graphsage) { compare("sage"); }
TEST(train_c_has_the_losses_of_ggnn_train_for_gat) { compare("gat"); }

static int train_c(const char* arguments) { return finish(start("train", arguments)); }

TEST(train_c_says_what_is_wrong_and_where)
{
    const int32_t label = -5;
    const uint8_t part = 9;
    const float infinite = INFINITY;
    CHECK_EQ(train_c("--help"), 0);
    CHECK(says("usage: train F.ggnn gcn|sage|gat"));
    CHECK_EQ(train_c(""), 2);
    CHECK(says("usage: "));
    CHECK_EQ(train_c("karate.ggnn gin"), 1);
    CHECK(says("train: model 'gin': gcn, sage or gat\n"));
    CHECK_EQ(train_c("karate.ggnn gcn 3x"), 1);
    CHECK(says("train: epochs '3x': a whole number up to 1000000\n"));
    CHECK_EQ(train_c("none.ggnn gcn"), 1);
    CHECK(says("train: none.ggnn: cannot open: No such file or directory\n"));
    poison("p", "label", 3, &label, sizeof label);
    CHECK_EQ(train_c("p gcn"), 1);
    CHECK(says("train: p: node 3: label -5, split "));
    poison("p", "split", 4, &part, sizeof part);
    CHECK_EQ(train_c("p gcn"), 1);
    CHECK(says("train: p: node 4: label ") && says(", split 9\n"));
    poison("p", "feat", 0, &infinite, sizeof infinite);
    CHECK_EQ(train_c("p gcn"), 1);
    CHECK(says("train: epoch 1, step 1: the loss is ") );
}

TEST(train_c_refuses_a_graph_that_is_broken_or_has_no_training_nodes)
{
    const ggnn_node id = 34;
    const uint8_t unused[34] = {0};
    poison("p", "indices", 5, &id, sizeof id);
    CHECK_EQ(train_c("p sage"), 1);
    CHECK(says("train: p: node 0: a neighbour's id is outside [0, num_nodes)\n"));
    poison("p", "split", 0, unused, sizeof unused);
    CHECK_EQ(train_c("p sage"), 1);
    CHECK(says("train: p: there are no training nodes, or no labels\n"));
    CHECK_EQ(finish(start("ggnn-data", "generate path path.ggnn --nodes 9")), 0);
    CHECK_EQ(train_c("path.ggnn sage"), 1);
    CHECK(says("train: path.ggnn: ") && says("feat"));
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    if (!train_tool_begin()) return 1;
    RUN(train_c_has_the_losses_of_ggnn_train_for_gcn);
    RUN(train_c_has_the_losses_of_ggnn_train_for_graphsage);
    RUN(train_c_has_the_losses_of_ggnn_train_for_gat);
    RUN(train_c_says_what_is_wrong_and_where);
    RUN(train_c_refuses_a_graph_that_is_broken_or_has_no_training_nodes);
    folder_remove();
    return test_finish();
}
