/* ggnn-data: generators, statistics, verify, export, and how the tool fails. */
#include "datasets/generate.h"
#include "datasets/statistics.h"
#include "tests/chi_square.h"
#include "tests/folder.h"
#include "tests/test.h"
#include "tests/tool.h"

static char target[600];

/* ---- helpers -------------------------------------------------------------------------------------------------- */

static int count_files(void)
{
    int count = 0;
    DIR* list = opendir(folder);
    for (struct dirent* entry; (entry = readdir(list));) count += entry->d_name[0] != '.';
    closedir(list);
    return count;
}

static generate_options options_of(generate_kind kind, int64_t nodes, int64_t edges)
{
    generate_options how = {kind, 1, nodes, edges, -1, -1, .5, -1, 0, NULL, false, 0, 0, TRAIN_EVENLY};
    return how;
}

static bool make(const generate_options* how, generate_report* report)
{
    generate_options complete = *how;
    error why = {""};
    bool good = generate_complete(&complete, &why) && generate(target, &complete, report, &why);
    if (!good) printf("  %s\n", why.text);
    return good;
}

/* Generates, opens, and checks what every generated graph has: both directions once, no self-loops, sorted lists. */
static bool make_and_open(const generate_options* how, dataset* d, graph_statistics* s)
{
    generate_report report;
    error why = {""};
    if (!CHECK(make(how, &report))) return false;
    if (!CHECK(dataset_open(d, target, &why)) || !CHECK(ggnn_file_verify(&d->file))) return false;
    if (!CHECK(statistics_compute(s, d, &why))) return false;
    CHECK_EQ(s->one_way, 0);
    CHECK_EQ(s->self_loops, 0);
    CHECK_EQ(s->duplicates, 0);
    CHECK(s->sorted);
    CHECK_EQ(report.num_edges, d->num_edges);
    return true;
}

static void done(dataset* d, graph_statistics* s)
{
    statistics_free(s);
    dataset_close(d);
}

static int64_t in_degree(const dataset* d, int64_t v) { return d->csc.indptr[v + 1] - d->csc.indptr[v]; }

/* ---- generators ----------------------------------------------------------------------------------------------- */

TEST(random_kinds_have_exactly_the_edges_asked_for)
{
    static const int64_t wanted[][2] = {{1, 0}, {2, 0}, {2, 2}, {50, 98}, {300, 5000}, {1000, 2}, {4097, 40000}};
    for (int kind = KIND_PLANTED; kind <= KIND_RMAT; kind++)
        for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
            generate_options how = options_of((generate_kind)kind, wanted[i][0], wanted[i][1]);
            dataset d;
            graph_statistics s;
            how.classes = wanted[i][0] < 8 ? 1 : 8;
            if (kind == KIND_RMAT && wanted[i][0] == 300) how.edges = 3000; /* its corner is full earlier */
            if (!make_and_open(&how, &d, &s)) return;
            CHECK_EQ(d.num_nodes, how.nodes);
            CHECK_EQ(d.num_edges, how.edges);
            done(&d, &s);
        }
}

/* Some pairs of the larger one are found in the second round of further candidates or later. */
TEST(a_complete_graph_can_be_asked_for)
{
    for (int64_t nodes = 20; nodes <= 200; nodes *= 10) {
        generate_options how = options_of(KIND_PLANTED, nodes, nodes * (nodes - 1));
        dataset d;
        graph_statistics s;
        if (!make_and_open(&how, &d, &s)) return;
        for (int64_t v = 0; v < nodes; v++) CHECK_EQ(in_degree(&d, v), nodes - 1);
        done(&d, &s);
    }
}

TEST(planted_communities_are_equal_and_attract_edges)
{
    generate_options how = options_of(KIND_PLANTED, 4001, 80000);
    dataset d;
    graph_statistics s;
    for (int percent = 0; percent <= 100; percent += 25) {
        how.homophily = percent / 100.0;
        if (!make_and_open(&how, &d, &s)) return;
        for (int32_t c = 0; c < 8; c++) CHECK(s.class_size[c] == 500 + (c == 0));
        /* 40,000 edges: five deviations are at most .0125, and dropped duplicates cost a little more */
        CHECK_NEAR(s.edge_homophily, how.homophily, .02);
        CHECK_NEAR(s.adjusted_homophily, (how.homophily - .125) / .875, .025);
        done(&d, &s);
    }
}

/* Where communities are not of one size, too: a node is as often the first as any other; the second is as often any of its community as
   another one, and any node of the other communities that edges go to. */
TEST(planted_candidates_reach_every_node_as_often_as_its_community_says)
{
    enum { N = 11, DRAWS = 44000 };
    static const double homophily[] = {0, .3, 1};
    for (int64_t classes = 1; classes <= N; classes += classes == 1 ? 3 : classes == 4 ? 1 : 6)
        for (int h = 0; h < 3; h++) {
            generate_options how = options_of(KIND_PLANTED, N, 20);
            generate_shape s;
            error why = {""};
            int64_t first[N] = {0}, second[N] = {0}, size[N] = {0}, within = 0;
            how.classes = classes;
            how.homophily = homophily[h];
            if (!CHECK(generate_complete(&how, &why) && generate_shape_open(&s, &how, &why))) return;
            for (int v = 0; v < N; v++) size[s.group[v]]++;
            for (int64_t c = 0; c < classes; c++) CHECK_EQ(size[c], N / classes + (c < N % classes));
            for (int64_t i = 0; i < DRAWS; i++) {
                int64_t u, v;
                generate_draw(&s, i, &u, &v);
                first[u]++;
                second[v]++;
                within += s.group[u] == s.group[v];
            }
            const double chance = classes == 1 ? 1 : how.homophily;
            CHECK_NEAR((double)within, chance * DRAWS, 5 * sqrt(DRAWS * chance * (1 - chance)) + .5);
            for (int v = 0; v < N; v++) {
                const double own = (double)size[s.group[v]] / N, other = classes == 1 ? 0 : (1 - own) / (double)(classes - 1);
                const double expected = DRAWS * (chance * own + (1 - chance) * other) / (double)size[s.group[v]];
                CHECK_NEAR((double)first[v], DRAWS / (double)N, 5 * sqrt(DRAWS / (double)N));
                CHECK_NEAR((double)second[v], expected, 5 * sqrt(expected));
            }
            generate_shape_close(&s);
        }
}

static void draw_means_again(float* mean, int64_t width, const ggnn_rng* rng, int32_t stream)
{
    for (int64_t c = 0; c < 8; c++) {
        generate_row(mean + c * width, width, NULL, rng, stream, c);
        for (int64_t i = 0; i < width; i++) mean[c * width + i] *= (float)(1.5 / sqrt((double)width));
    }
}

/* Class means drawn again, and both rules in plain loops: the features' own, and that of the neighbours' mean, which
   loses (1 - homophily) of a community's signal and nearly all of the noise. */
static void judge_again(const dataset* d, const generate_options* how, double* own, double* neighbours)
{
    const float* x = d->feat.rows;
    int64_t width = d->feat.width, right = 0, right_beside = 0, count = 0;
    float mean[8][32];
    ggnn_rng rng = {how->seed, 0, GGNN_PURPOSE_GENERATE};
    draw_means_again(mean[0], width, &rng, STREAM_MEANS);
    for (int64_t v = 0; v < d->num_nodes; v++) {
        int best = -1, best_beside = -1;
        double least = 0, least_beside = 0;
        if (d->split[v] != SPLIT_TEST) continue;
        for (int c = 0; c < 8; c++) {
            double distance = 0, beside = 0;
            for (int64_t i = 0; i < width; i++) {
                double sum = 0;
                for (int64_t e = d->csc.indptr[v]; e < d->csc.indptr[v + 1]; e++)
                    sum += (double)x[d->csc.indices[e] * width + i];
                sum = sum / (double)(in_degree(d, v) + (in_degree(d, v) == 0)) - .43 * (double)mean[c][i];
                distance +=
                    ((double)x[v * width + i] - (double)mean[c][i]) * ((double)x[v * width + i] - (double)mean[c][i]);
                beside += sum * sum;
            }
            if (best < 0 || distance < least) best = c, least = distance;
            if (best_beside < 0 || beside < least_beside) best_beside = c, least_beside = beside;
        }
        count++;
        right += best == d->label[v];
        right_beside += best_beside == d->label[v];
    }
    *own = (double)right / (double)count;
    *neighbours = (double)right_beside / (double)count;
}

TEST(planted_features_alone_do_not_suffice_and_what_they_reach_is_printed)
{
    generate_options how = options_of(KIND_PLANTED, 4000, 80000);
    generate_report report;
    dataset d;
    error why = {""};
    double own, neighbours;
    const ggnn_file_section* kept;
    how.features = 32;
    if (!CHECK(make(&how, &report)) || !CHECK(dataset_open(&d, target, &why))) return;
    judge_again(&d, &how, &own, &neighbours);
    CHECK_EQ(report.judged, 1000);
    CHECK_NEAR(report.features_only, own, 1e-12);
    CHECK(neighbours > own + .15);
    kept = ggnn_file_need(&d.file, "features_only", GGNN_FILE_F64, 1);
    CHECK(kept && *(const double*)ggnn_file_data(&d.file, kept) == report.features_only);
    dataset_close(&d);
}

enum { MANY = 50000, FEW = 3 }; /* nodes, features */

/* Rows are drawn 16,384 at a time. */
TEST(every_row_of_features_is_the_mean_of_its_class_and_its_own_noise)
{
    generate_options how = options_of(KIND_PLANTED, MANY, MANY);
    generate_report report;
    dataset d;
    error why = {""};
    float mean[8 * FEW];
    const ggnn_rng rng = {how.seed, 0, GGNN_PURPOSE_GENERATE};
    for (int width = 1; width <= FEW; width += FEW - 1) {
        how.features = width;
        if (!CHECK(make(&how, &report)) || !CHECK(dataset_open(&d, target, &why))) return;
        draw_means_again(mean, width, &rng, STREAM_MEANS);
        for (int64_t v = 0; v < MANY; v++) {
            float row[FEW];
            generate_row(row, width, mean + d.label[v] * width, &rng, STREAM_FEATURES, v);
            CHECK(memcmp(row, (const float*)d.feat.rows + v * width, (size_t)width * sizeof *row) == 0);
        }
        dataset_close(&d);
    }
}

/* And nothing else of the file is changed by them. A direction has a row of its own. */
TEST(every_row_of_an_edge_is_the_mean_of_its_sources_class_and_its_own_noise)
{
    generate_options how = options_of(KIND_PLANTED, 4000, MANY);
    generate_report report;
    dataset without, d;
    error why = {""};
    float mean[8 * FEW];
    const ggnn_rng rng = {how.seed, 0, GGNN_PURPOSE_GENERATE};
    if (!CHECK(make(&how, &report)) || !CHECK(dataset_open(&without, target, &why))) return;
    CHECK_EQ(report.num_edge_features, 0);
    for (int width = 1; width <= FEW; width += FEW - 1) {
        how.edge_features = width;
        if (!CHECK(make(&how, &report)) || !CHECK(dataset_open(&d, target, &why))) return;
        CHECK(d.edge_feat.width == width && d.edge_feat.type == GGNN_F32 && report.num_edge_features == width);
        CHECK_EQ(dataset_graph_crc(&d), dataset_graph_crc(&without));
        CHECK_EQ(dataset_section_crc(&d, "feat"), dataset_section_crc(&without, "feat"));
        CHECK_EQ(dataset_section_crc(&d, "label"), dataset_section_crc(&without, "label"));
        draw_means_again(mean, width, &rng, STREAM_EDGE_MEANS);
        for (int64_t e = 0; e < MANY; e++) {
            float row[FEW];
            generate_row(row, width, mean + d.label[d.csc.indices[e]] * width, &rng, STREAM_EDGE_FEATURES, e);
            CHECK(memcmp(row, (const float*)d.edge_feat.rows + e * width, (size_t)width * sizeof *row) == 0);
        }
        dataset_close(&d);
    }
    dataset_close(&without);
}

/* Of 25,000 every second is enough. Pieces of nodes count anew, so that one more of each of 64 may be judged. */
TEST(of_more_than_20000_test_nodes_evenly_some_are_judged)
{
    generate_options how = options_of(KIND_PLANTED, MANY, MANY);
    generate_report report;
    dataset d;
    error why = {""};
    double own, neighbours;
    how.features = 32;
    how.train = 1e-9;
    if (!CHECK(make(&how, &report) && dataset_open(&d, target, &why))) return;
    CHECK_EQ(report.count[SPLIT_TEST], 25000);
    CHECK(12500 <= report.judged && report.judged <= 12500 + 64);
    judge_again(&d, &how, &own, &neighbours); /* all of them: half a point is 1.6 deviations of a half */
    CHECK_NEAR(report.features_only, own, .015);
    dataset_close(&d);
    for (int more = 0; more < 2; more++) { /* the most of which all are, and one more */
        how = options_of(KIND_PLANTED, 40001 + more, 2);
        how.features = 1;
        how.train = 1e-9;
        if (!CHECK(make(&how, &report))) return;
        CHECK_EQ(report.count[SPLIT_TEST], 20000 + more);
        CHECK(more ? 10000 <= report.judged && report.judged <= 10000 + 64 : report.judged == 20000);
    }
}

TEST(citation_labels_are_one_field_and_training_comes_before_testing)
{
    generate_options how = options_of(KIND_CITATION, 20000, 200000);
    dataset d;
    graph_statistics s;
    int64_t count[4], last_train = -1, first_val = -1, last_val = -1, first_test = -1;
    error why = {""};
    if (!make_and_open(&how, &d, &s)) return;
    CHECK_NEAR((double)s.labelled, 20000 / 16.0, 5 * 35); /* binomial: deviation 34 */
    CHECK_EQ(d.num_classes, 16);
    CHECK(dataset_split(&d, 0, count, &why) != NULL);
    CHECK_EQ(count[SPLIT_TRAIN] + count[SPLIT_VAL] + count[SPLIT_TEST], s.labelled);
    CHECK_NEAR((double)count[SPLIT_TRAIN], .78 * (double)s.labelled, 1);
    for (int64_t v = 0; v < d.num_nodes; v++) {
        CHECK_EQ(d.label[v] >= 0, d.split[v] != SPLIT_NONE);
        if (d.split[v] == SPLIT_TRAIN) last_train = v;
        if (d.split[v] == SPLIT_VAL && first_val < 0) first_val = v;
        if (d.split[v] == SPLIT_VAL) last_val = v;
        if (d.split[v] == SPLIT_TEST && first_test < 0) first_test = v;
    }
    CHECK(0 <= last_train && last_train < first_val && last_val < first_test);
    CHECK(s.in.most > 10 * 10); /* a heavy tail: ten times the mean */
    CHECK(s.edge_homophily > .7);
    done(&d, &s);
}

/* Both shares are rounded up, whatever is labelled; then 22 % to divide among those that do not train. */
TEST(citation_trains_78_and_validates_8_of_a_hundred_rounded_up)
{
    for (int64_t n = 40; n < 80; n += 6) {
        generate_options how = options_of(KIND_CITATION, n, 40);
        generate_report r;
        how.classes = 1;
        how.features = 0;
        if (!CHECK(make(&how, &r))) return;
        const int64_t labelled = n - r.count[SPLIT_NONE];
        CHECK_EQ(r.count[SPLIT_TRAIN], (int64_t)ceil((double)labelled * 78 / 100));
        CHECK_EQ(r.count[SPLIT_TRAIN] + r.count[SPLIT_VAL], (int64_t)ceil((double)labelled * 86 / 100));
    }
}

/* 100,000 candidates: the first level's quadrants, deviations below 160. */
TEST(rmat_fills_quadrants_as_its_four_chances_say)
{
    generate_options how = options_of(KIND_RMAT, 1024, 2000);
    generate_shape s;
    error why = {""};
    int32_t position[1024];
    int64_t quadrant[4] = {0};
    CHECK(generate_complete(&how, &why));
    if (!CHECK(generate_shape_open(&s, &how, &why))) return;
    for (int32_t p = 0; p < 1024; p++) position[s.order[p]] = p;
    for (int64_t i = 0; i < 100000; i++) {
        int64_t u, v;
        generate_draw(&s, i, &u, &v);
        quadrant[2 * (position[u] >= 512) + (position[v] >= 512)]++;
    }
    CHECK_NEAR((double)quadrant[0], 57000, 800);
    CHECK_NEAR((double)quadrant[1], 19000, 650);
    CHECK_NEAR((double)quadrant[2], 19000, 650);
    CHECK_NEAR((double)quadrant[3], 5000, 350);
    generate_shape_close(&s);
}

TEST(directed_papers_receive_from_those_that_they_cite)
{
    generate_options how = options_of(KIND_CITATION, 5000, 40001);
    generate_report report;
    dataset d;
    error why = {""};
    how.directed = true;
    if (!CHECK(make(&how, &report)) || !CHECK(dataset_open(&d, target, &why))) return;
    CHECK_EQ(d.num_edges, 40001);
    for (int64_t v = 0; v < 5000; v++)
        for (int64_t e = d.csc.indptr[v]; e < d.csc.indptr[v + 1]; e++) {
            CHECK(d.csc.indices[e] < v);
            CHECK(e == d.csc.indptr[v] || d.csc.indices[e - 1] < d.csc.indices[e]);
        }
    dataset_close(&d);
    how = options_of(KIND_GRID, 100, -1);
    how.directed = true;
    CHECK(!generate_complete(&how, &why));
    CHECK(strstr(why.text, "--directed"));
}

/* In one direction, or in both by chance; as many as there can be, too. */
TEST(directed_edges_are_distinct_and_join_two_nodes)
{
    static const int64_t size[][2] = {{2, 2}, {7, 42}, {300, 5001}};
    for (int kind = KIND_PLANTED; kind <= KIND_RMAT; kind++)
        for (size_t k = 0; k < sizeof size / sizeof *size; k++) {
            generate_options how = options_of((generate_kind)kind, size[k][0], size[k][1]);
            generate_report report;
            dataset d;
            error why = {""};
            how.directed = true;
            how.classes = k < 2 ? 1 : 4;
            how.features = 0;
            if (kind == KIND_CITATION && k < 2) how.edges = size[k][0] * (size[k][0] - 1) / 2; /* later papers cite earlier ones */
            if (kind == KIND_RMAT && k == 1) how.edges = 30;
            if (!CHECK(make(&how, &report)) || !CHECK(dataset_open(&d, target, &why))) return;
            CHECK(d.num_nodes == how.nodes && d.num_edges == how.edges && report.num_edges == how.edges && d.csc.indptr[how.nodes] == how.edges);
            for (int64_t v = 0; v < d.num_nodes; v++)
                for (int64_t e = d.csc.indptr[v]; e < d.csc.indptr[v + 1]; e++) {
                    CHECK(d.csc.indices[e] != v && (kind != KIND_CITATION || d.csc.indices[e] < v));
                    CHECK(e == d.csc.indptr[v] || d.csc.indices[e - 1] < d.csc.indices[e]);
                }
            dataset_close(&d);
        }
}

TEST(the_share_that_trains_is_the_one_asked_for)
{
    generate_report report, standard;
    for (int kind = KIND_PLANTED; kind <= KIND_RMAT; kind++) {
        generate_options how = options_of((generate_kind)kind, 4011, 16000); /* 5 % of 4,011 are 200.55 */
        if (!CHECK(make(&how, &standard))) continue;
        const int64_t labelled = 4011 - standard.count[SPLIT_NONE];
        how.train = .05;
        CHECK(make(&how, &report));
        CHECK_EQ(report.count[SPLIT_TRAIN], (labelled * 5 + 50) / 100);
        CHECK_EQ(report.count[SPLIT_NONE], standard.count[SPLIT_NONE]);
        const int64_t others = labelled - report.count[SPLIT_TRAIN];
        CHECK_EQ(report.count[SPLIT_VAL], kind == KIND_CITATION ? others * 8 / 22 : others / 2);
        CHECK_EQ(report.count[SPLIT_TEST], others - report.count[SPLIT_VAL]);
        how.train = 1e-9;
        CHECK(make(&how, &report));
        CHECK_EQ(report.count[SPLIT_TRAIN], 1);
        how.train = 1;
        CHECK(make(&how, &report));
        CHECK_EQ(report.count[SPLIT_TRAIN], labelled);
    }
}

typedef struct {
    double key; /* Efraimidis & Spirakis: -log2(u) / in-degree, the least are drawn */
    int64_t node;
} train_key;

static int by_key(const void* a, const void* b)
{
    const train_key *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : (x->node > y->node) - (x->node < y->node);
}

/* 4,011 nodes, of which directed R-MAT leaves some without in-neighbours; all who have some, where more are asked for. The others keep the
   order of the uniform split. */
TEST(nodes_train_in_proportion_to_in_degree_by_the_least_keys)
{
    static const double share[] = {0, .05, 1e-9, 1};
    for (int k = 0; k < 4; k++)
        for (int kind = KIND_PLANTED; kind <= KIND_RMAT; kind += 2) {
            generate_options how = options_of((generate_kind)kind, 4011, 16000);
            generate_report report;
            dataset d;
            error why = {""};
            static train_key of[4011];
            int64_t some = 0, rest = 0;
            how.seed = 7;
            how.directed = kind == KIND_RMAT;
            how.train_by = TRAIN_PROPORTIONAL;
            how.train = share[k];
            if (!CHECK(make(&how, &report)) || !CHECK(dataset_open(&d, target, &why))) return;
            const ggnn_rng rng = {7, 0, GGNN_PURPOSE_GENERATE};
            for (int64_t v = 0; v < 4011; v++) {
                const int64_t degree = d.csc.indptr[v + 1] - d.csc.indptr[v];
                const uint64_t draw = ggnn_draw(ggnn_random(&rng, STREAM_TRAIN, 0, (uint32_t)(v / 2)), v);
                if (degree > 0) of[some++] = (train_key){(double)ggnn_neg_log2(draw) / (double)degree, v};
            }
            qsort(of, (size_t)some, sizeof of[0], by_key);
            CHECK(kind == KIND_PLANTED || some < 4011);
            const int64_t asked = k == 0 ? 2005 : k == 1 ? 201 : k == 2 ? 1 : 4011, train = asked < some ? asked : some;
            const int64_t val = k == 0 ? 4011 / 4 : (4011 - train) / 2;
            CHECK_EQ(report.count[SPLIT_TRAIN], train);
            for (int64_t i = 0; i < some; i++) CHECK_EQ(d.split[of[i].node] == SPLIT_TRAIN, i < train);
            const uint64_t key = ggnn_draw(ggnn_random(&rng, STREAM_KEYS, 1, 0), 0);
            for (int64_t i = 0; i < 4011; i++) {
                const uint8_t split = d.split[ggnn_shuffle(key, 0, i, 4011)];
                if (split != SPLIT_TRAIN) CHECK_EQ(split, rest++ < val ? SPLIT_VAL : SPLIT_TEST);
            }
            CHECK_EQ(rest, 4011 - train);
            dataset_close(&d);
        }
}

/* One of a star's nodes: the middle, to which 8 of 16 edges lead, by half of 400 seeds. */
TEST(the_chance_to_train_is_the_share_of_in_edges)
{
    int64_t count[9] = {0};
    double expected[9];
    for (int seed = 0; seed < 400; seed++) {
        generate_options how = options_of(KIND_STAR, 9, -1);
        generate_report report;
        dataset d;
        error why = {""};
        how.seed = (uint64_t)seed;
        how.classes = 1;
        how.train = 1e-9;
        how.train_by = TRAIN_PROPORTIONAL;
        if (!CHECK(make(&how, &report)) || !CHECK(dataset_open(&d, target, &why))) return;
        for (int v = 0; v < 9; v++) count[v] += d.split[v] == SPLIT_TRAIN;
        dataset_close(&d);
    }
    for (int v = 0; v < 9; v++) expected[v] = v ? 25 : 200;
    CHECK(chi_square(count, expected, 9) < chi_square_bound(8));
}

/* Labels of kinds without communities: the commonest group among the neighbours, told here by a histogram. */
TEST(labels_of_other_kinds_are_the_majority_of_the_neighbours)
{
    generate_options how = options_of(KIND_RMAT, 500, 3000);
    generate_shape s;
    dataset d;
    graph_statistics statistics;
    error why = {""};
    how.classes = 5;
    CHECK(generate_complete(&how, &why));
    if (!make_and_open(&how, &d, &statistics) || !CHECK(generate_shape_open(&s, &how, &why))) return;
    for (int64_t v = 0; v < 500; v++) {
        int count[5] = {0}, best = s.group[v];
        for (int64_t e = d.csc.indptr[v]; e < d.csc.indptr[v + 1]; e++) count[s.group[d.csc.indices[e]]]++;
        for (int i = 1; i < 5; i++)
            if (count[(s.group[v] + i) % 5] > count[best]) best = (s.group[v] + i) % 5;
        CHECK_EQ(d.label[v], best);
    }
    generate_shape_close(&s);
    done(&d, &statistics);
}

/* One class, two, and so on: each has its share of the nodes that have a label. */
TEST(every_class_has_its_share_of_the_nodes_however_few_there_are)
{
    for (int kind = KIND_PLANTED; kind <= KIND_RMAT; kind++)
        for (int32_t classes = 1; classes <= 4; classes++) {
            generate_options how = options_of((generate_kind)kind, 4000, 8000);
            dataset d;
            graph_statistics s;
            how.classes = classes;
            how.features = 0;
            if (!make_and_open(&how, &d, &s)) return;
            CHECK_EQ(d.num_classes, classes);
            if (kind == KIND_CITATION) CHECK_NEAR((double)s.labelled, 250, 5 * sqrt(250));
            else CHECK_EQ(s.labelled, 4000);
            for (int32_t c = 0; c < classes; c++) CHECK_NEAR((double)s.class_size[c] * classes, (double)s.labelled, .4 * (double)s.labelled);
            done(&d, &s);
        }
}

static bool has_edge(const dataset* d, int64_t u, int64_t v)
{
    for (int64_t e = d->csc.indptr[v]; e < d->csc.indptr[v + 1]; e++)
        if (d->csc.indices[e] == u) return true;
    return false;
}

TEST(grid_star_and_path_join_whom_they_should)
{
    for (int kind = KIND_GRID; kind <= KIND_PATH; kind++)
        for (int64_t n = 1; n <= 31; n += n < 6 ? 1 : 5) {
            generate_options how = options_of((generate_kind)kind, n, -1);
            dataset d;
            graph_statistics s;
            int64_t width = (int64_t)ceil(sqrt((double)n));
            if (!make_and_open(&how, &d, &s)) return;
            CHECK(d.label == NULL && d.feat.rows == NULL && d.split == NULL);
            for (int64_t u = 0; u < n; u++)
                for (int64_t v = 0; v < n; v++) {
                    bool joined = kind == KIND_PATH ? llabs(u - v) == 1
                                  : kind == KIND_STAR
                                      ? (u == 0) != (v == 0)
                                      : llabs(u / width - v / width) + llabs(u % width - v % width) == 1;
                    CHECK_EQ(has_edge(&d, u, v), joined);
                }
            CHECK_EQ(s.components, 1);
            done(&d, &s);
        }
}

TEST(karate_is_zacharys_club)
{
    generate_options how = options_of(KIND_KARATE, -1, -1);
    dataset d;
    graph_statistics s;
    int64_t triangles = 0;
    if (!make_and_open(&how, &d, &s)) return;
    CHECK_EQ(d.num_nodes, 34);
    CHECK_EQ(d.num_edges, 156);
    CHECK_EQ(in_degree(&d, 0), 16);
    CHECK_EQ(in_degree(&d, 32), 12);
    CHECK_EQ(in_degree(&d, 33), 17);
    CHECK(d.label[0] == 0 && d.label[33] == 1);
    CHECK(s.class_size[0] == 17 && s.class_size[1] == 17);
    for (int64_t u = 0; u < 34; u++)
        for (int64_t v = 0; v < u; v++)
            for (int64_t w = 0; w < v; w++)
                triangles += has_edge(&d, u, v) && has_edge(&d, v, w) && has_edge(&d, u, w);
    CHECK_EQ(triangles, 45); /* as is well known */
    for (int64_t i = 0; i < 34 * 34; i++) CHECK(((const float*)d.feat.rows)[i] == (float)(i / 34 == i % 34));
    CHECK(d.split[0] == SPLIT_TRAIN && d.split[33] == SPLIT_TRAIN);
    done(&d, &s);
}

/* What is not asked for: as the help has it, and fewer edges where there are few nodes. */
TEST(each_kind_has_its_own_defaults)
{
    static const struct {
        generate_kind kind;
        int64_t asked, nodes, edges, features, classes;
        double separation;
        bool help;
    } of[] = {{KIND_PLANTED, -1, 20000, 400000, 32, 8, 1.5, true},     {KIND_CITATION, -1, 100000, 1200000, 64, 16, 1.5, true},
              {KIND_RMAT, -1, 65536, 1048576, 64, 16, 4, true},        {KIND_GRID, -1, 10000, 39600, 0, 0, 4, false},
              {KIND_STAR, -1, 1000, 1998, 0, 0, 4, false},             {KIND_PATH, -1, 1000, 1998, 0, 0, 4, false},
              {KIND_KARATE, -1, 34, 156, 34, 2, 1.5, false},             {KIND_PLANTED, 10, 10, 44, 32, 8, 1.5, false},
              {KIND_PLANTED, 41, 41, 820, 32, 8, 1.5, false},          {KIND_PLANTED, 42, 42, 840, 32, 8, 1.5, false},
              {KIND_CITATION, 25, 25, 300, 64, 16, 1.5, false},        {KIND_CITATION, 24, 24, 276, 64, 16, 1.5, false},
              {KIND_RMAT, 33, 33, 528, 64, 16, 4, false},              {KIND_RMAT, 34, 34, 544, 64, 16, 4, false},
              {KIND_GRID, 1, 1, 0, 0, 0, 4, false},                    {KIND_GRID, 7, 7, 16, 0, 0, 4, false},
              {KIND_STAR, 1, 1, 0, 0, 0, 4, false},                    {KIND_PATH, 5, 5, 8, 0, 0, 4, false}};
    CHECK_EQ(run("", "generate --help"), 0);
    CHECK(prints("out", "(10000, 1000, 1000)"));
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        generate_options how = options_of(of[k].kind, of[k].asked, -1);
        error why = {""};
        char words[80];
        CHECK(generate_complete(&how, &why));
        CHECK_EQ(how.nodes, of[k].nodes);
        CHECK_EQ(how.edges, of[k].edges);
        CHECK_EQ(how.features, of[k].features);
        CHECK_EQ(how.classes, of[k].classes);
        CHECK(how.separation == of[k].separation);
        snprintf(words, sizeof words, "(%d, %d, %d, %d)", (int)how.nodes, (int)how.edges, (int)how.features, (int)how.classes);
        if (of[k].help) CHECK(prints("out", words));
    }
}

TEST(what_a_kind_cannot_be_is_said)
{
    static const struct {
        const char *arguments, *words;
    } of[] = {{"karate OUT --train .5", "generate: --train: karate's two leaders train"},
              {"karate OUT --train-by proportional", "generate: --train-by proportional: karate's two leaders train"},
              {"citation OUT --train-by proportional", "generate: --train-by proportional: of citation the earliest papers train"},
              {"rmat OUT --train-by out", "--train-by out: not one of uniform|proportional"},
              {"karate OUT --nodes 34", "generate: karate has 34 nodes, 34 features, 2 classes: --nodes, --features, --classes do not apply"},
              {"karate OUT --features 0", "generate: karate has 34 nodes"},
              {"karate OUT --classes 2", "generate: karate has 34 nodes"},
              {"karate OUT --edges 154", "generate: --edges 154: 34 nodes of this kind have 156 edges"},
              {"karate OUT --directed", "generate: --directed: this kind has every edge in both directions"},
              {"grid OUT --directed", "generate: --directed: this kind"},
              {"star OUT --directed", "generate: --directed: this kind"},
              {"path OUT --directed", "generate: --directed: this kind"},
              {"star OUT --nodes 5 --edges 10", "generate: --edges 10: 5 nodes of this kind have 8 edges"},
              {"path OUT --nodes 5 --edges 0", "generate: --edges 0: 5 nodes of this kind have 8 edges"},
              {"rmat OUT --nodes 20 --edges 381 --directed", "generate: --edges 381: 20 nodes have at most 380"},
              {"rmat OUT --nodes 20 --edges 382", "generate: --edges 382: 20 nodes have at most 380"},
              {"rmat OUT --edges 7", "generate: --edges 7: must be even, as every edge has its reverse"},
              {"star OUT --nodes 3 --classes 4", "generate: --classes 4: more than the nodes (3) or than 1048576"},
              {"star OUT --nodes 2000000 --classes 1048577", "--classes 1048577: must be between 0 and 1048576"},
              {"planted OUT --classes 0", "generate: --classes 0: this kind is made of classes"},
              {"rmat OUT --nodes 2147483648", "--nodes 2147483648: must be between 1 and 2147483647"},
              {"rmat OUT --features 16777217", "--features 16777217: must be between 0 and 16777216"},
              {"rmat OUT --edge-features 16777217", "--edge-features 16777217: must be between 0 and 16777216"},
              {"planted OUT --train 0", "--train 0: must be between 1e-09 and 1"},
              {"planted OUT --train 1.1", "--train 1.1: must be between 1e-09 and 1"},
              {"planted OUT --homophily -.1", "--homophily -.1: must be between 0 and 1"},
              {"planted OUT --separation -1", "--separation -1: must be between 0 and"},
              {"planted OUT --memory 1023K", "--memory 1023K: must be"}};
    static const struct {
        const char *arguments, *words;
    } full[] = {{"--edges 12", "--edges 12: only 4 distinct ones among 1114112 drawn: too many for 4 nodes of this kind\n"},
                {"--edges 12 --directed", "--edges 12: only 4 distinct ones among 1114112 drawn: too many for 4 nodes of this kind\n"},
                {"--edges 6", "--edges 6: only 4 distinct ones among 1114112 drawn: too many for 4 nodes of this kind\n"}, /* one pair is missing */
                {"--nodes 200 --classes 100 --edges 2050", /* 64 for each pair that is wanted, and 2^20, in rounds of 2^16 */
                 "--edges 2050: only 200 distinct ones among 1179648 drawn: too many for 200 nodes of this kind\n"}};
    char line[2048], path[600];
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        const char* out = strstr(of[k].arguments, "OUT");
        snprintf(line, sizeof line, "generate %.*s%s%s", (int)(out - of[k].arguments), of[k].arguments, folder_path(path, "refused"), out + 3);
        CHECK_EQ(run("", line), 2);
        if (!CHECK(prints("err", of[k].words) && access(path, F_OK) != 0)) printf("  %s\n", line);
        remove(path);
    }
    for (size_t k = 0; k < sizeof full / sizeof *full; k++) { /* two communities of two nodes, no edge between them */
        snprintf(line, sizeof line, "generate planted %s/full --nodes 4 --classes 2 --homophily 1 %s", folder, full[k].arguments);
        CHECK_EQ(run("", line), 1);
        CHECK(prints("err", full[k].words));
    }
    CHECK_EQ(temporaries(), 0);
}

/* 1,800 of 2,016 pairs, of which some are rare: each round of candidates goes on behind the one before. */
TEST(rounds_of_candidates_find_the_rarest_pairs)
{
    char line[1024];
    error why = {""};
    dataset d;
    snprintf(line, sizeof line, "generate rmat %s --nodes 64 --edges 3600", target);
    CHECK_EQ(run("", line), 0);
    if (!CHECK(dataset_open(&d, target, &why))) return;
    CHECK_EQ(d.num_edges, 3600);
    dataset_close(&d);
}

/* What a line of output says after a name and before a word, as a number. */
static double number_before(const char* words)
{
    const char* at = strstr(printed("out"), words);
    if (!CHECK(at != NULL)) return -1;
    while (at > printed("out") && at[-1] == ' ') at--;
    while (at > printed("out") && strchr("0123456789.-", at[-1])) at--;
    return atof(at);
}

static double number_after(const char* words)
{
    const char* at = strstr(printed("out"), words);
    return CHECK(at != NULL) ? atof(at + strlen(words)) : -1;
}

/* The same file, and what is said of it, as text and as JSON. */
TEST(each_option_of_generate_is_a_field_of_its_options)
{
    static const struct {
        const char* arguments;
        generate_options how;
    } of[] = {{"planted", {KIND_PLANTED, 1, 300, -1, -1, -1, .5, -1, 0, NULL, false, 0, 0, TRAIN_EVENLY}},
              {"planted --seed 9000000000 --homophily .9", {KIND_PLANTED, 9000000000, 300, -1, -1, -1, .9, -1, 0, NULL, false, 0, 0, TRAIN_EVENLY}},
              {"planted --edges 1000 --features 3 --classes 5", {KIND_PLANTED, 1, 300, 1000, 3, 5, .5, -1, 0, NULL, false, 0, 0, TRAIN_EVENLY}},
              {"citation --directed --edges 1001", {KIND_CITATION, 1, 300, 1001, -1, -1, .5, -1, 0, NULL, true, 0, 0, TRAIN_EVENLY}},
              {"citation --train .2 --separation 3", {KIND_CITATION, 1, 300, -1, -1, -1, .5, 3, 0, NULL, false, .2, 0, TRAIN_EVENLY}},
              {"rmat --train .99 --separation 0", {KIND_RMAT, 1, 300, -1, -1, -1, .5, 0, 0, NULL, false, .99, 0, TRAIN_EVENLY}},
              {"rmat --train .1 --train-by proportional", {KIND_RMAT, 1, 300, -1, -1, -1, .5, -1, 0, NULL, false, .1, 0, TRAIN_PROPORTIONAL}},
              {"planted --train-by uniform", {KIND_PLANTED, 1, 300, -1, -1, -1, .5, -1, 0, NULL, false, 0, 0, TRAIN_EVENLY}},
              {"rmat --train 1", {KIND_RMAT, 1, 300, -1, -1, -1, .5, -1, 0, NULL, false, 1, 0, TRAIN_EVENLY}},
              {"grid --classes 3 --features 2", {KIND_GRID, 1, 300, -1, 2, 3, .5, -1, 0, NULL, false, 0, 0, TRAIN_EVENLY}},
              {"star --classes 3", {KIND_STAR, 1, 300, -1, -1, 3, .5, -1, 0, NULL, false, 0, 0, TRAIN_EVENLY}},
              {"path --features 4 --seed 0", {KIND_PATH, 0, 300, -1, 4, -1, .5, -1, 0, NULL, false, 0, 0, TRAIN_EVENLY}},
              {"rmat --memory 1M --features 0 --classes 0", {KIND_RMAT, 1, 300, -1, 0, 0, .5, -1, 1 << 20, NULL, false, 0, 0, TRAIN_EVENLY}},
              {"rmat --edge-features 3 --edges 400", {KIND_RMAT, 1, 300, 400, -1, -1, .5, -1, 0, NULL, false, 0, 3, TRAIN_EVENLY}},
              {"karate --edge-features 1", {KIND_KARATE, 1, -1, -1, -1, -1, .5, -1, 0, NULL, false, 0, 1, TRAIN_EVENLY}},
              {"karate", {KIND_KARATE, 1, -1, -1, -1, -1, .5, -1, 0, NULL, false, 0, 0, TRAIN_EVENLY}}};
    char line[2048], path[600], words[1000];
    for (size_t k = 0; k < 2 * sizeof of / sizeof *of; k++) {
        static generate_report r; /* of the text and of the JSON */
        const generate_options* how = &of[k / 2].how;
        const bool labelled = (how->classes < 0 && (how->kind <= KIND_RMAT || how->kind == KIND_KARATE)) || how->classes > 0;
        snprintf(line, sizeof line, "generate %s %s%s%s", of[k / 2].arguments, folder_path(path, "told.ggnn"), how->nodes < 0 ? "" : " --nodes 300",
                 k % 2 ? " --json" : "");
        CHECK_EQ(run("", line), 0);
        CHECK(!printed("err")[0]); /* what takes little is not announced */
        if (k % 2 == 0 && !CHECK(make(how, &r))) continue;
        snprintf(line, sizeof line, "cmp %s %s", target, path);
        if (!CHECK_EQ(system(line), 0)) printf("  %s\n", of[k / 2].arguments);
        if (k % 2 == 0) {
            snprintf(words, sizeof words, "%s: %d nodes, %d directed edges, %d features, %d classes, ", path, (int)r.num_nodes, (int)r.num_edges, (int)r.num_features,
                     (int)r.num_classes);
            CHECK(strncmp(printed("out"), words, strlen(words)) == 0);
            CHECK(number_before(" s\n") >= 0 && number_before(" s\n") < 100);
            snprintf(words, sizeof words, "\nedges: %d features each\n", (int)r.num_edge_features);
            CHECK_EQ(strstr(printed("out"), words) != NULL, r.num_edge_features > 0);
            CHECK_EQ(r.num_edge_features, how->edge_features);
            snprintf(words, sizeof words, "\nsplit: %d train, %d val, %d test, %d none\n", (int)r.count[SPLIT_TRAIN], (int)r.count[SPLIT_VAL], (int)r.count[SPLIT_TEST],
                     (int)r.count[SPLIT_NONE]);
            CHECK_EQ(strstr(printed("out"), words) != NULL, labelled);
            snprintf(words, sizeof words, "\nbest features-only rule: %.2f%% test accuracy (nearest class mean, over %d test nodes)\n", 100 * r.features_only, (int)r.judged);
            CHECK_EQ(strstr(printed("out"), words) != NULL, !isnan(r.features_only));
            CHECK_EQ(strstr(printed("out"), "best features-only") != NULL, !isnan(r.features_only));
            continue;
        }
        CHECK_EQ((int64_t)number_after("\"seed\": "), (int64_t)how->seed);
        CHECK_EQ((int64_t)number_after("\"num_nodes\": "), r.num_nodes);
        CHECK_EQ((int64_t)number_after("\"num_edges\": "), r.num_edges);
        CHECK_EQ((int64_t)number_after("\"num_features\": "), r.num_features);
        CHECK_EQ((int64_t)number_after("\"num_edge_features\": "), r.num_edge_features);
        CHECK_EQ((int64_t)number_after("\"num_classes\": "), r.num_classes);
        CHECK_EQ((int64_t)number_after("\"none\": "), r.count[SPLIT_NONE]);
        CHECK_EQ((int64_t)number_after("\"train\": "), r.count[SPLIT_TRAIN]);
        CHECK_EQ((int64_t)number_after("\"val\": "), r.count[SPLIT_VAL]);
        CHECK_EQ((int64_t)number_after("\"test\": "), r.count[SPLIT_TEST]);
        if (isnan(r.features_only)) CHECK(prints("out", "\"features_only_accuracy\": null"));
        else CHECK_NEAR(number_after("\"features_only_accuracy\": "), r.features_only, 1e-6);
        CHECK(number_after("\"seconds\": ") >= 0 && number_after("\"seconds\": ") < 100);
        snprintf(words, sizeof words, "\"file\": \"%s\"", path);
        CHECK(prints("out", words));
    }
}

/* Half of the nodes trains and a quarter validates, both rounded down, by a permutation of all; labels of kinds without communities are
   the majority of the neighbours, the node's own group where it has none. */
TEST(splits_and_labels_on_request_are_those_of_rmat)
{
    for (int kind = KIND_RMAT; kind <= KIND_PATH; kind++)
        for (int64_t n = 3; n < 20; n += 7) {
            generate_options how = options_of((generate_kind)kind, n, kind == KIND_RMAT ? 2 : -1);
            generate_report report;
            generate_shape s;
            dataset d;
            error why = {""};
            int64_t count[4];
            how.classes = 3;
            how.features = 2;
            if (!CHECK(make(&how, &report)) || !CHECK(dataset_open(&d, target, &why))) return;
            CHECK(generate_complete(&how, &why) && generate_shape_open(&s, &how, &why));
            CHECK(dataset_split(&d, 0, count, &why) && d.num_splits == 1 && d.feat.width == 2);
            CHECK(count[SPLIT_TRAIN] == n / 2 && count[SPLIT_VAL] == n / 4 && count[SPLIT_TEST] == n - n / 2 - n / 4 && count[SPLIT_NONE] == 0);
            for (int i = 0; i < 4; i++) CHECK_EQ(report.count[i], count[i]);
            const uint64_t key = ggnn_draw(ggnn_random(&s.rng, STREAM_KEYS, 1, 0), 0);
            for (int64_t i = 0; i < n; i++) CHECK_EQ(d.split[ggnn_shuffle(key, 0, i, n)], i < n / 2 ? SPLIT_TRAIN : i < n / 2 + n / 4 ? SPLIT_VAL : SPLIT_TEST);
            for (int64_t v = 0; v < n; v++) {
                int of[3] = {0}, best = s.group[v];
                for (int64_t e = d.csc.indptr[v]; e < d.csc.indptr[v + 1]; e++) of[s.group[d.csc.indices[e]]]++;
                for (int i = 1; i < 3; i++)
                    if (of[(s.group[v] + i) % 3] > of[best]) best = (s.group[v] + i) % 3;
                CHECK_EQ(d.label[v], best);
            }
            generate_shape_close(&s);
            dataset_close(&d);
        }
}

/* The two leaders train, every fourth of the others validates. */
TEST(karates_split_is_the_leaders_and_every_fourth)
{
    generate_options how = options_of(KIND_KARATE, -1, -1);
    generate_report report;
    dataset d;
    error why = {""};
    static const char faction[] = "0000000001000011001010111111111111"; /* Zachary's table, the club joined */
    if (!CHECK(make(&how, &report)) || !CHECK(dataset_open(&d, target, &why))) return;
    for (int v = 0; v < 34; v++) {
        CHECK_EQ(d.split[v], v == 0 || v == 33 ? SPLIT_TRAIN : v % 4 == 0 ? SPLIT_VAL : SPLIT_TEST);
        CHECK_EQ(d.label[v], faction[v] - '0');
    }
    CHECK(report.count[SPLIT_TRAIN] == 2 && report.count[SPLIT_VAL] == 8 && report.count[SPLIT_TEST] == 24 && report.count[SPLIT_NONE] == 0);
    CHECK(isnan(report.features_only) && report.judged == 0 && !ggnn_file_find(&d.file, "features_only"));
    dataset_close(&d);
}

TEST(of_equally_near_means_the_first_is_the_guess)
{
    static const float mean[5][2] = {{3, 0}, {0, 1}, {1, 0}, {0, 1}, {-1, 0}}, row[2] = {0, 0}, right[2] = {2.5f, 0}, left[2] = {-9, 0};
    CHECK_EQ(generate_nearest(row, mean[0], 5, 2), 1);
    CHECK_EQ(generate_nearest(right, mean[0], 5, 2), 0);
    CHECK_EQ(generate_nearest(left, mean[0], 5, 2), 4);
    CHECK_EQ(generate_nearest(row, mean[2], 3, 2), 0);
    CHECK_EQ(generate_nearest(left, mean[0], 1, 2), 0);
    CHECK_EQ(generate_nearest(left, mean[0], 4, 1), 1); /* the first column alone: 3, 0, 0, 1 */
}

static uint32_t crc_of(const dataset* d, const char* section) { return ggnn_file_find(&d->file, section)->crc; }

/* Seeds must keep their graphs: changes of the generators show here. Floats are in it, as they
   too are the same everywhere. */
TEST(seeds_keep_their_graphs)
{
    static const uint32_t frozen[3][4] = {{0x51a064aa, 0xbb6cc7fa, 0x4c9ea1f1, 0x8331c4f6},
                                          {0xb1a88b82, 0x161fe04e, 0xf1c8a527, 0xe7abd587},
                                          {0x2f3512a9, 0xcaabd9a0, 0xb57a884f, 0x8331c4f6}};
    for (int kind = KIND_PLANTED; kind <= KIND_RMAT; kind++) {
        generate_options how = options_of((generate_kind)kind, 500, 5000);
        generate_report report;
        dataset d;
        error why = {""};
        how.seed = 12345;
        how.classes = 4;
        how.features = 7;
        if (!CHECK(make(&how, &report)) || !CHECK(dataset_open(&d, target, &why))) return;
        if (DATASET_NODE == GGNN_FILE_I32) CHECK_EQ(ggnn_file_graph_crc(&d.file), frozen[kind][0]);
        CHECK_EQ(crc_of(&d, "feat"), frozen[kind][1]);
        CHECK_EQ(crc_of(&d, "label"), frozen[kind][2]);
        CHECK_EQ(crc_of(&d, "split"), frozen[kind][3]);
        dataset_close(&d);
    }
}

TEST(the_same_seed_gives_the_same_file_for_any_number_of_threads)
{
    char first[1200], command[4096];
    for (int threads = 1; threads <= 5; threads += 2) {
        snprintf(command, sizeof command, "generate rmat %s/t%d --nodes 3000 --edges 50000 --features 9 --seed 7",
                 folder, threads);
        snprintf(first, sizeof first, "OMP_NUM_THREADS=%d", threads);
        CHECK_EQ(run(first, command), 0);
    }
    snprintf(command, sizeof command, "cmp %s/t1 %s/t3 && cmp %s/t1 %s/t5", folder, folder, folder, folder);
    CHECK_EQ(system(command), 0);
    snprintf(command, sizeof command, "generate rmat %s/t3 --nodes 3000 --edges 50000 --features 9 --seed 8", folder);
    CHECK_EQ(run("", command), 0);
    snprintf(command, sizeof command, "cmp -s %s/t1 %s/t3", folder, folder);
    CHECK(system(command) != 0);
}

/* ---- normal numbers ------------------------------------------------------------------------------------------- */

TEST(normals_equal_the_formula_and_have_its_moments)
{
    double sum = 0, squares = 0, fourth = 0, product = 0;
    int64_t n = 0, tail = 0, tried = 0;
    while (n < 200000) {
        uint64_t bits = test_random();
        double normal[2], a = (double)(int32_t)(bits >> 32), b = (double)(int32_t)bits,
                          s = (a * a + b * b) / 4611686018427387904.0;
        bool inside = generate_normals(normal, (uint32_t)(bits >> 32), (uint32_t)bits);
        tried++;
        CHECK_EQ(inside, s > 0 && s < 1);
        if (!inside) continue;
        /* the logarithm has 40 fractional bits: absolute error 2^-40 of a number that may be as small as that */
        CHECK_NEAR(normal[0], a / 2147483648.0 * sqrt(-2 * log(s) / s), 1e-12 / (1e-9 + sqrt(-log(s))) + 1e-9);
        CHECK_NEAR(normal[1] * a, normal[0] * b, 1e-15 * fabs(normal[0] * b) * 4);
        for (int i = 0; i < 2; i++) {
            double z = normal[i];
            sum += z, squares += z * z, fourth += z * z * z * z;
            tail += fabs(z) > 1.959963985;
        }
        product += normal[0] * normal[1];
        n += 2;
    }
    CHECK_NEAR((double)n / 2 / (double)tried, 0.785398163, .01); /* pi / 4 */
    CHECK_NEAR(sum / (double)n, 0, 5 / sqrt((double)n));
    CHECK_NEAR(squares / (double)n, 1, 5 * sqrt(2 / (double)n));
    CHECK_NEAR(fourth / (double)n, 3, 5 * sqrt(96 / (double)n));
    CHECK_NEAR((double)tail / (double)n, .05, 5 * sqrt(.0475 / (double)n));
    CHECK_NEAR(product / (double)n * 2, 0, 5 / sqrt((double)n / 2));
}

/* The disc is open, and its middle is not in it: of the points on an axis the first and the last one. */
TEST(normals_are_of_points_between_the_middle_and_the_rim)
{
    static const int64_t inside[] = {1, 2, 65536, 2147483646, 2147483647}, outside[] = {0, 2147483648};
    double normal[2];
    for (int swap = 0; swap < 2; swap++)
        for (int sign = -1; sign < 2; sign += 2) {
            for (int i = 0; i < 5; i++) {
                const double a = (double)inside[i] / 2147483648.0, z = sign * sqrt(-4 * log(a));
                const uint32_t word[2] = {(uint32_t)(sign * inside[i]), 0};
                if (!CHECK(generate_normals(normal, word[swap], word[!swap]))) continue;
                CHECK_NEAR(normal[swap], z, 1e-12 / (1e-9 + fabs(z)) + 1e-9);
                CHECK(normal[!swap] == 0);
            }
            for (int i = 0; i < 2; i++) {
                const uint32_t word[2] = {(uint32_t)(sign * outside[i]), 0};
                CHECK(!generate_normals(normal, word[swap], word[!swap]));
            }
        }
    CHECK(!generate_normals(normal, 0x80000000u, 1) && !generate_normals(normal, 0xffffffffu, 0x80000000u));
    CHECK(!generate_normals(normal, 0x80000000u, 0x80000000u) && !generate_normals(normal, 0x7fffffffu, 0x80000001u));
}

/* The plain twin of generate_row, which takes words for 64 pairs at a time: two pairs of words a block, in turn. */
TEST(a_row_takes_the_pairs_of_all_blocks_in_turn)
{
    enum { WIDEST = 300 };
    const ggnn_rng rng = {3, 0, GGNN_PURPOSE_GENERATE};
    float row[WIDEST + 2], expected[WIDEST + 2];
    for (int64_t v = 0; v < 20; v++) {
        for (uint32_t half = 0, done = 0; done < WIDEST; half++) {
            const ggnn_words words = ggnn_random(&rng, STREAM_FEATURES, v, half / 2);
            double normal[2];
            if (!generate_normals(normal, words.word[half % 2 * 2], words.word[half % 2 * 2 + 1])) continue;
            for (int i = 0; i < 2; i++) expected[done++] = (float)normal[i];
        }
        for (int64_t n = 1; n <= WIDEST; n += n % 63 + 1) {
            row[n] = 7;
            generate_row(row, n, NULL, &rng, STREAM_FEATURES, v);
            CHECK(memcmp(row, expected, (size_t)n * sizeof *row) == 0 && row[n] == 7);
        }
    }
}

/* ---- statistics against brute force --------------------------------------------------------------------------- */

enum { SMALL = 24 };

/* A random directed graph with self-loops, duplicates and unsorted lists, on the first SMALL - 4 nodes. Returns its
   number of edges. */
static int64_t write_random_graph(int64_t degree, bool symmetric, bool sorted)
{
    const int64_t nodes = SMALL, nodes1 = SMALL + 1;
    int64_t count[SMALL][SMALL] = {{0}}, num_edges = 0;
    ggnn_file_writer w;
    int64_t* indptr;
    int32_t* label;
    ggnn_node* indices;
    for (int64_t i = 0; i < degree * SMALL; i++) {
        int64_t u = test_below(SMALL - 4), v = test_below(SMALL - 4);
        count[v][u]++, num_edges++;
        if (symmetric && u != v) count[u][v]++, num_edges++;
    }
    CHECK(ggnn_file_create(&w, target));
    indptr = ggnn_file_reserve(&w, "indptr", GGNN_FILE_I64, 1, &nodes1);
    indices = ggnn_file_reserve(&w, "indices", DATASET_NODE, 1, &num_edges);
    label = ggnn_file_reserve(&w, "label", GGNN_FILE_I32, 1, &nodes);
    for (int64_t v = 0, e = 0; v < SMALL; v++) {
        int64_t begin = e;
        for (ggnn_node u = 0; u < SMALL; u++)
            for (int64_t k = 0; k < count[v][u]; k++) indices[e++] = u;
        for (int64_t i = e - 1; !sorted && i > begin; i--) {
            int64_t j = begin + test_below(i - begin + 1);
            ggnn_node swap = indices[i];
            indices[i] = indices[j];
            indices[j] = swap;
        }
        indptr[v + 1] = e;
        label[v] = (int32_t)test_below(4) - 1;
    }
    CHECK(ggnn_file_commit(&w));
    return num_edges;
}

static void count_edges(const dataset* d, int64_t count[SMALL][SMALL])
{
    memset(count, 0, sizeof(int64_t) * SMALL * SMALL);
    for (int64_t v = 0; v < SMALL; v++)
        for (int64_t e = d->csc.indptr[v]; e < d->csc.indptr[v + 1]; e++) count[v][d->csc.indices[e]]++;
}

/* Components by spreading the least number until nothing changes. */
static void check_components(const graph_statistics* s, int64_t count[SMALL][SMALL])
{
    int64_t mark[SMALL], size[SMALL] = {0}, components = 0, largest = 0;
    bool changed = true;
    for (int64_t v = 0; v < SMALL; v++) mark[v] = v;
    while (changed) {
        changed = false;
        for (int64_t v = 0; v < SMALL; v++)
            for (int64_t u = 0; u < SMALL; u++)
                if ((count[v][u] || count[u][v]) && mark[u] > mark[v]) mark[u] = mark[v], changed = true;
    }
    for (int64_t v = 0; v < SMALL; v++) {
        components += mark[v] == v;
        if (++size[mark[v]] > largest) largest = size[mark[v]];
    }
    CHECK_EQ(s->components, components);
    CHECK_EQ(s->largest_component, largest);
}

static void check_homophily(const graph_statistics* s, const dataset* d, int64_t count[SMALL][SMALL])
{
    double same = 0, all = 0, nodes = 0, node_sum = 0, ends[3] = {0}, chance = 0;
    for (int64_t v = 0; v < SMALL; v++) {
        double own_same = 0, own = 0;
        for (int64_t u = 0; u < SMALL; u++) {
            double edges = (double)count[v][u];
            if (u == v || d->label[u] < 0 || d->label[v] < 0) continue;
            own += edges;
            own_same += d->label[u] == d->label[v] ? edges : 0;
            ends[d->label[u]] += edges;
            ends[d->label[v]] += edges;
        }
        all += own, same += own_same;
        if (own > 0) nodes++, node_sum += own_same / own;
    }
    int64_t labelled = 0, class_size[3] = {0};
    for (int64_t v = 0; v < SMALL; v++)
        if (d->label[v] >= 0) labelled++, class_size[d->label[v]]++;
    CHECK_EQ(s->labelled, labelled);
    CHECK(memcmp(s->class_size, class_size, (size_t)d->num_classes * sizeof *class_size) == 0);
    CHECK_EQ(s->labelled_edges, (int64_t)all);
    if (all == 0) CHECK(s->edge_homophily == 0 && s->node_homophily == 0 && s->adjusted_homophily == 0);
    if (all == 0) return;
    for (int c = 0; c < 3; c++) chance += ends[c] / (2 * all) * (ends[c] / (2 * all));
    CHECK_NEAR(s->edge_homophily, same / all, 1e-12);
    CHECK_NEAR(s->node_homophily, node_sum / nodes, 1e-12);
    if (chance < 1) CHECK_NEAR(s->adjusted_homophily, (same / all - chance) / (1 - chance), 1e-12);
}

/* The least degree that at least so many percent of the nodes do not exceed. */
static void check_quantile(int64_t value, const int64_t degree[SMALL], int64_t percent)
{
    int64_t below = 0, up_to = 0;
    for (int64_t v = 0; v < SMALL; v++) {
        below += degree[v] < value;
        up_to += degree[v] <= value;
    }
    CHECK(100 * up_to >= percent * SMALL && 100 * below < percent * SMALL && up_to > below);
}

static void check_degrees(const degree_statistics* s, int64_t count[SMALL][SMALL], bool in)
{
    int64_t degree[SMALL] = {0}, most = 0, least = INT64_MAX, zero = 0, sum = 0, bins = 0;
    for (int64_t v = 0; v < SMALL; v++) {
        for (int64_t u = 0; u < SMALL; u++) degree[v] += in ? count[v][u] : count[u][v];
        most = degree[v] > most ? degree[v] : most;
        least = degree[v] < least ? degree[v] : least;
        zero += degree[v] == 0;
        sum += degree[v];
    }
    check_quantile(s->median, degree, 50);
    check_quantile(s->p90, degree, 90);
    check_quantile(s->p99, degree, 99);
    for (int32_t bin = 0; bin < s->num_bins; bin++) {
        int64_t inside = 0;
        for (int64_t v = 0; v < SMALL; v++) inside += bin ? degree[v] >> (bin - 1) == 1 : degree[v] == 0;
        CHECK_EQ(s->bin[bin], inside);
        bins += inside;
    }
    CHECK(s->most == most && s->least == least && s->zero == zero && bins == SMALL && s->bin[s->num_bins - 1] > 0);
    CHECK_NEAR(s->mean, (double)sum / SMALL, 1e-12);
}

TEST(statistics_equal_brute_force)
{
    for (int trial = 0; trial < 30; trial++) {
        bool symmetric = trial % 3 == 0, sorted = trial % 2 == 0;
        int64_t num_edges = write_random_graph(trial % 5, symmetric, sorted), count[SMALL][SMALL];
        int64_t loops = 0, duplicates = 0, one_way = 0, isolated = 0;
        dataset d;
        graph_statistics s;
        error why = {""};
        if (!CHECK(dataset_open(&d, target, &why)) || !CHECK(statistics_compute(&s, &d, &why))) return;
        count_edges(&d, count);
        for (int64_t v = 0; v < SMALL; v++) {
            int64_t others = 0;
            for (int64_t u = 0; u < SMALL; u++) {
                loops += u == v ? count[v][u] : 0;
                duplicates += count[v][u] > 1 ? count[v][u] - 1 : 0;
                one_way += count[v][u] > count[u][v] ? count[v][u] - count[u][v] : 0;
                others += u == v ? 0 : count[v][u] + count[u][v];
            }
            isolated += others == 0;
        }
        CHECK_EQ(s.num_edges, num_edges);
        CHECK_EQ(s.self_loops, loops);
        CHECK_EQ(s.duplicates, duplicates);
        CHECK_EQ(s.one_way, one_way);
        CHECK_EQ(s.isolated, isolated);
        bool in_order = true;
        for (int64_t v = 0; v < SMALL; v++)
            for (int64_t e = d.csc.indptr[v] + 1; e < d.csc.indptr[v + 1]; e++)
                in_order = in_order && d.csc.indices[e - 1] <= d.csc.indices[e];
        CHECK_EQ(s.sorted, in_order);
        check_degrees(&s.in, count, true);
        check_degrees(&s.out, count, false);
        check_components(&s, count);
        check_homophily(&s, &d, count);
        done(&d, &s);
    }
}

/* A graph of in-lists, each of which ends with -1; label NULL: none. */
static void write_lists(int64_t nodes, const int* list, const int32_t* label)
{
    int64_t indptr[400] = {0}, rows = nodes + 1, edges = 0;
    ggnn_node* indices = malloc(sizeof *indices * 40000);
    ggnn_file_writer w;
    for (int64_t v = 0; v < nodes; v++, list++) {
        for (; *list >= 0; list++) indices[edges++] = *list;
        indptr[v + 1] = edges;
    }
    CHECK(ggnn_file_create(&w, target) && ggnn_file_append(&w, "indptr", GGNN_FILE_I64, 1, &rows, indptr) &&
          ggnn_file_append(&w, "indices", DATASET_NODE, 1, &edges, indices));
    if (label) CHECK(ggnn_file_append(&w, "label", GGNN_FILE_I32, 1, &nodes, label));
    CHECK(ggnn_file_commit(&w));
    free(indices);
}

/* Of n nodes of n degrees: node v's in-list are the v nodes before it. */
TEST(quantiles_are_the_degrees_of_nearest_rank)
{
    static const int64_t many[] = {1, 2, 3, 4, 7, 10, 11, 50, 99, 100, 101, 150, 199};
    static int lists[40000];
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
        const int64_t n = many[i];
        dataset d;
        graph_statistics s;
        error why = {""};
        for (int64_t v = 0, at = 0; v < n; v++, at++) {
            for (int u = 0; u < v; u++) lists[at++] = u;
            lists[at] = -1;
        }
        write_lists(n, lists, NULL);
        if (!CHECK(dataset_open(&d, target, &why)) || !CHECK(statistics_compute(&s, &d, &why))) return;
        CHECK(s.in.median == (n + 1) / 2 - 1 && s.in.p90 == (9 * n + 9) / 10 - 1 && s.in.p99 == (99 * n + 99) / 100 - 1);
        CHECK(s.out.median == s.in.median && s.out.p90 == s.in.p90 && s.out.p99 == s.in.p99);
        done(&d, &s);
    }
}

static void stats_prints(const char* options, const char* text)
{
    char command[2048];
    snprintf(command, sizeof command, "stats %s %s", target, options);
    CHECK_EQ(run("", command), 0);
    expect(NULL);
    if (options[0]) expect("{\n  \"file\": \"%s\",\n", target);
    expect("%s", text);
    CHECK(prints_what_is_expected());
}

/* By hand: unsorted lists with loops, duplicates and nodes without label; both directions, no labels; nothing. */
TEST(stats_prints_all_that_it_counts)
{
    static const int mixed[] = {3, 1, 1, 0, -1, 0, 7, 8, -1, 0, 3, 4, -1, 0, 2, -1, 0, -1, 5, -1, -1, 8, 0, -1, 7, 7, 7, -1,
                                0, 1, 2, 3, 7, 8, 10, -1, 0, 9, -1, -1, -1},
                     both[] = {1, 2, -1, 0, 2, -1, 0, 1, -1, 4, -1, 3, -1}, none[] = {-1, -1};
    static const int32_t label[] = {0, 1, 1, -1, 2, 0, 2, 1, 1, 1, -1, 0, 1}, alone[] = {1, -1};
    write_lists(13, mixed, label);
    stats_prints("", "nodes                13\nedges                28, directed\nwithout reverse      16 (57.1%)\n"
                     "in-degree            min 0, median 2, mean 2.15, 90% 4, 99% 7, max 7; zero: 3 nodes\n"
                     "out-degree           min 0, median 1, mean 2.15, 90% 5, 99% 8, max 8; zero: 3 nodes\n"
                     "isolated nodes       4 (30.8%)\nself-loops           2\nduplicate edges      3\nlists                not sorted\n"
                     "components           5, the largest with 9 nodes (69.2%)\nlabelled             11 nodes in 3 classes: 3 6 2\n"
                     "homophily            edge 0.5556, node 0.4238, adjusted -0.1206 (over 18 edges)\n\nin-degree           nodes\n"
                     "  0                         3   23.1%  #########\n  1                         2   15.4%  ######\n"
                     "  2..3                      6   46.2%  ##################\n  4..7                      2   15.4%  ######\n");
    stats_prints("--json", "  \"num_nodes\": 13,\n  \"num_edges\": 28,\n  \"one_way_edges\": 16,\n"
                           "  \"in_degree\": {\n    \"min\": 0,\n    \"median\": 2,\n    \"mean\": 2.1538461538461537,\n    \"p90\": 4,\n"
                           "    \"p99\": 7,\n    \"max\": 7,\n    \"zero\": 3,\n    \"bins\": [3, 2, 6, 2]\n  },\n"
                           "  \"out_degree\": {\n    \"min\": 0,\n    \"median\": 1,\n    \"mean\": 2.1538461538461537,\n    \"p90\": 5,\n"
                           "    \"p99\": 8,\n    \"max\": 8,\n    \"zero\": 3,\n    \"bins\": [3, 4, 4, 1, 1]\n  },\n"
                           "  \"isolated_nodes\": 4,\n  \"self_loops\": 2,\n  \"duplicate_edges\": 3,\n  \"sorted\": false,\n"
                           "  \"components\": 5,\n  \"largest_component\": 9,\n  \"labelled_nodes\": 11,\n  \"labelled_edges\": 18,\n"
                           "  \"edge_homophily\": 0.5555555555555556,\n  \"node_homophily\": 0.4238095238095238,\n"
                           "  \"adjusted_homophily\": -0.12062256809338519,\n  \"class_sizes\": [3, 6, 2]\n}\n");
    write_lists(5, both, NULL);
    stats_prints("", "nodes                5\nedges                8, undirected: each has its reverse\n"
                     "in-degree            min 1, median 2, mean 1.60, 90% 2, 99% 2, max 2; zero: 0 nodes\n"
                     "out-degree           min 1, median 2, mean 1.60, 90% 2, 99% 2, max 2; zero: 0 nodes\n"
                     "isolated nodes       0 (0.0%)\nself-loops           0\nduplicate edges      0\nlists                sorted by id\n"
                     "components           2, the largest with 3 nodes (60.0%)\n\nin-degree           nodes\n"
                     "  0                         0    0.0%  \n  1                         2   40.0%  ################\n"
                     "  2..3                      3   60.0%  ########################\n");
    write_lists(2, none, alone);
    stats_prints("", "nodes                2\nedges                0, undirected: each has its reverse\n"
                     "in-degree            min 0, median 0, mean 0.00, 90% 0, 99% 0, max 0; zero: 2 nodes\n"
                     "out-degree           min 0, median 0, mean 0.00, 90% 0, 99% 0, max 0; zero: 2 nodes\n"
                     "isolated nodes       2 (100.0%)\nself-loops           0\nduplicate edges      0\nlists                sorted by id\n"
                     "components           2, the largest with 1 nodes (50.0%)\nlabelled             1 nodes in 2 classes: 0 1\n"
                     "homophily            edge 0.0000, node 0.0000, adjusted 0.0000 (over 0 edges)\n\nin-degree           nodes\n"
                     "  0                         2  100.0%  ########################################\n");
    static const int32_t of_one[] = {1, 1, 1, -1, 0};
    write_lists(5, both, of_one); /* labelled edges join nodes of one class: chance would, too */
    stats_prints("", "nodes                5\nedges                8, undirected: each has its reverse\n"
                     "in-degree            min 1, median 2, mean 1.60, 90% 2, 99% 2, max 2; zero: 0 nodes\n"
                     "out-degree           min 1, median 2, mean 1.60, 90% 2, 99% 2, max 2; zero: 0 nodes\n"
                     "isolated nodes       0 (0.0%)\nself-loops           0\nduplicate edges      0\nlists                sorted by id\n"
                     "components           2, the largest with 3 nodes (60.0%)\nlabelled             4 nodes in 2 classes: 1 3\n"
                     "homophily            edge 1.0000, node 1.0000, adjusted 0.0000 (over 6 edges)\n\nin-degree           nodes\n"
                     "  0                         0    0.0%  \n  1                         2   40.0%  ################\n"
                     "  2..3                      3   60.0%  ########################\n");
    write_lists(0, NULL, NULL);
    stats_prints("--json", "  \"num_nodes\": 0,\n  \"num_edges\": 0,\n  \"one_way_edges\": 0,\n"
                           "  \"in_degree\": {\n    \"min\": 0,\n    \"median\": 0,\n    \"mean\": 0,\n    \"p90\": 0,\n"
                           "    \"p99\": 0,\n    \"max\": 0,\n    \"zero\": 0,\n    \"bins\": []\n  },\n"
                           "  \"out_degree\": {\n    \"min\": 0,\n    \"median\": 0,\n    \"mean\": 0,\n    \"p90\": 0,\n"
                           "    \"p99\": 0,\n    \"max\": 0,\n    \"zero\": 0,\n    \"bins\": []\n  },\n"
                           "  \"isolated_nodes\": 0,\n  \"self_loops\": 0,\n  \"duplicate_edges\": 0,\n  \"sorted\": true,\n"
                           "  \"components\": 0,\n  \"largest_component\": 0\n}\n");
}

/* Names of the bins of a degree of six digits. */
TEST(stats_names_the_bins_of_large_degrees)
{
    char command[2048];
    snprintf(command, sizeof command, "generate star %s --nodes 140000", target);
    CHECK_EQ(run("", command), 0);
    snprintf(command, sizeof command, "stats %s", target);
    CHECK_EQ(run("", command), 0);
    CHECK(prints("out", "\n  1                    139999  100.0%  ########################################\n"));
    CHECK(prints("out", "\n  65536..131071             0    0.0%  \n  131072..262143            1    0.0%  \n"));
}

/* ---- verify --------------------------------------------------------------------------------------------------- */

typedef struct { /* a graph of 3 nodes and 4 edges with everything, in which one thing is wrong */
    int64_t indptr[4];
    ggnn_node indices[4];
    float weight[4], feat[6], edge_feat[4];
    uint16_t half[6];
    int32_t label[3];
    float target[3];
    uint8_t split[6];
    int64_t crc, external_id[3];
    bool real; /* labels are real, features are halves */
} contents;

static const contents good_contents = {{0, 2, 3, 4},
                                       {1, 2, 0, 0},
                                       {1, 2, 3, 0},
                                       {1, 2, 3, 4, 5, 6},
                                       {1, 2, 3, 4},
                                       {0, 1, 0x3c00, 0xfbff, 0x7bff, 2},
                                       {0, -1, 1},
                                       {0.5f, -1, NAN},
                                       {0, 1, 2, 3, 0, 0},
                                       -1,
                                       {7, -7, 0},
                                       false};

static void write_contents(const contents* c)
{
    const int64_t one = 1, three = 3, four = 4, feat[2] = {3, 2}, edge_feat[2] = {4, 1}, split[2] = {2, 3};
    ggnn_file_writer w;
    bool good = ggnn_file_create(&w, target) && ggnn_file_append(&w, "indptr", GGNN_FILE_I64, 1, &four, c->indptr) &&
                ggnn_file_append(&w, "indices", DATASET_NODE, 1, &four, c->indices) &&
                ggnn_file_append(&w, "weight", GGNN_FILE_F32, 1, &four, c->weight) &&
                ggnn_file_append(&w, "edge_feat", GGNN_FILE_F32, 2, edge_feat, c->edge_feat) &&
                ggnn_file_append(&w, "split", GGNN_FILE_U8, 2, split, c->split) &&
                ggnn_file_append(&w, "external_id", GGNN_FILE_I64, 1, &three, c->external_id);
    if (c->real)
        good = good && ggnn_file_append(&w, "feat", GGNN_FILE_F16, 2, feat, c->half) &&
               ggnn_file_append(&w, "label", GGNN_FILE_F32, 1, &three, c->target);
    else
        good = good && ggnn_file_append(&w, "feat", GGNN_FILE_F32, 2, feat, c->feat) &&
               ggnn_file_append(&w, "label", GGNN_FILE_I32, 1, &three, c->label);
    if (c->crc >= 0) good = good && ggnn_file_append(&w, "graph_crc", GGNN_FILE_I64, 1, &one, &c->crc);
    CHECK(good && ggnn_file_commit(&w));
}

static int verify(const char* options)
{
    char command[2048];
    snprintf(command, sizeof command, "verify %s %s", target, options);
    return run("", command);
}

static void check_verify_finds(const contents* c, const char* words)
{
    write_contents(c);
    CHECK_EQ(verify(""), 1);
    CHECK(prints("err", words) && prints("out", "WRONG"));
    CHECK_EQ(verify("--json"), 1);
    CHECK(prints("out", "\"ok\": false") && prints("out", words));
}

TEST(verify_passes_what_is_right)
{
    contents c = good_contents;
    for (int real = 0; real < 2; real++) {
        c.real = real;
        write_contents(&c);
        CHECK_EQ(verify(""), 0);
        CHECK(strstr(printed("out"), "WRONG") == NULL && !printed("err")[0]);
        CHECK_EQ(verify("--json"), 0);
        CHECK(prints("out", "\"ok\": true") && !strstr(printed("out"), "false"));
    }
}

TEST(verify_finds_what_is_wrong)
{
    contents c = good_contents;
    c.indptr[1] = 4;
    check_verify_finds(&c, "indptr decreases");
    c = good_contents, c.indptr[3] = 5;
    check_verify_finds(&c, "node 2");
    c = good_contents, c.indptr[0] = 1;
    check_verify_finds(&c, "node 0");
    c = good_contents, c.indices[2] = 3;
    check_verify_finds(&c, "id is outside [0, num_nodes), node 1, edge 2");
    c = good_contents, c.indices[0] = -1;
    check_verify_finds(&c, "node 0, edge 0");
    c = good_contents, c.weight[3] = -1;
    check_verify_finds(&c, "weight is negative or not finite, node 2, edge 3");
    c = good_contents, c.weight[1] = NAN;
    check_verify_finds(&c, "node 0, edge 1");
    c = good_contents, c.feat[5] = INFINITY;
    check_verify_finds(&c, "section 'feat': row 2, column 1 is not finite");
    c = good_contents, c.feat[0] = NAN;
    check_verify_finds(&c, "section 'feat': row 0, column 0 is not finite");
    c = good_contents, c.real = true, c.half[3] = 0xfc00;
    check_verify_finds(&c, "section 'feat': row 1, column 1 is not finite");
    c = good_contents, c.edge_feat[2] = NAN;
    check_verify_finds(&c, "section 'edge_feat': row 2, column 0 is not finite");
    c = good_contents, c.edge_feat[3] = NAN; /* of more edges than nodes */
    check_verify_finds(&c, "section 'edge_feat': row 3, column 0 is not finite");
    c = good_contents, c.label[1] = -2;
    check_verify_finds(&c, "node 1 has label -2");
    c = good_contents, c.label[2] = 1 << 20;
    check_verify_finds(&c, "node 2 has label 1048576");
    c = good_contents, c.real = true, c.target[1] = -INFINITY;
    check_verify_finds(&c, "node 1 has an infinite label");
    c = good_contents, c.split[4] = 4;
    check_verify_finds(&c, "node 1 has value 4 in split 1");
    c = good_contents, c.crc = 5;
    check_verify_finds(&c, "section 'graph_crc' is 00000005");
    c = good_contents, c.external_id[2] = 7;
    check_verify_finds(&c, "section 'external_id': 7 names more than one node");
    c = good_contents, c.external_id[2] = -7; /* the least */
    check_verify_finds(&c, "section 'external_id': -7 names more than one node");
}

/* All rows: what is checked where all is right, and the reason where it is not. The first that is wrong goes to standard error. */
static void verify_prints(const char* const reason[9], int rows, const char* first)
{
    static const char* const name[] = {"sections", "checksums", "graph", "identity", "features", "preprocess", "labels", "splits", "ids"};
    static const char* const what[] = {"table and shapes agree with each other",
                                       "the CRC-32C of every section, zeros between sections",
                                       "lists in order, ids of nodes, weights finite and not negative",
                                       "the graph is the one that the file names",
                                       "every value is finite",
                                       "preprocessed features are of this graph and these features",
                                       "every label is a class or unknown",
                                       "every node is in none, train, val or test",
                                       "no two nodes have one external id or name"};
    bool good = true;
    char line[1400] = "";
    expect(NULL);
    for (int i = 0; i < rows; i++) {
        if (!reason[i]) expect("%-10s ok      %s\n", name[i], what[i]);
        else expect("%-10s WRONG   %s: %s\n", name[i], target, reason[i]);
        good = good && !reason[i];
    }
    CHECK_EQ(verify(""), good ? 0 : 1);
    CHECK(prints_what_is_expected());
    if (!good) snprintf(line, sizeof line, "ggnn-data: %s: %s\n", target, first);
    CHECK_STR(printed("err"), line);
    expect(NULL);
    expect("{\n  \"file\": \"%s\",\n  \"checks\": [\n", target);
    for (int i = 0; i < rows; i++) {
        expect("    {\n      \"check\": \"%s\",\n      \"ok\": %s", name[i], reason[i] ? "false" : "true");
        if (reason[i]) expect(",\n      \"error\": \"%s: %s\"", target, reason[i]);
        expect("\n    }%s\n", i + 1 < rows ? "," : "");
    }
    expect("  ],\n  \"ok\": %s\n}\n", good ? "true" : "false");
    CHECK_EQ(verify("--json"), good ? 0 : 1);
    CHECK(prints_what_is_expected());
    CHECK_STR(printed("err"), line);
}

/* A file that names a graph names it by one number of 64 bits. */
TEST(verify_wants_the_identity_as_one_number)
{
    const int64_t rows = 2, none = 0, indptr[2] = {0, 0};
    int64_t crc[2] = {0, 0};
    for (int form = 0; form < 5; form++) { /* to learn it; right; two, none, or of another type */
        const int64_t many = form == 2 ? 2 : form != 3;
        ggnn_file_writer w;
        ggnn_file f;
        CHECK(ggnn_file_create(&w, target) && ggnn_file_append(&w, "indptr", GGNN_FILE_I64, 1, &rows, indptr) &&
              ggnn_file_append(&w, "indices", DATASET_NODE, 1, &none, indptr) &&
              (form == 0 || ggnn_file_append(&w, "graph_crc", form == 4 ? GGNN_FILE_F64 : GGNN_FILE_I64, 1, &many, crc)) && ggnn_file_commit(&w));
        CHECK_EQ(verify(""), form > 1);
        if (form > 1) CHECK(prints("err", ": section 'graph_crc' is not i64 (1)\n"));
        CHECK(ggnn_file_open(&f, target));
        if (form == 0) crc[0] = crc[1] = ggnn_file_graph_crc(&f);
        ggnn_file_close(&f);
    }
}

TEST(verify_says_of_every_check_whether_it_holds)
{
    const int64_t two = 2;
    const double state[2] = {1, 2};
    const char* reason[9] = {NULL};
    contents c = good_contents;
    ggnn_file_writer w;
    write_contents(&c);
    verify_prints(reason, 9, NULL);
    c.weight[1] = -1;
    c.feat[3] = NAN;
    c.label[0] = -3;
    c.split[0] = 9;
    c.external_id[0] = c.external_id[1];
    c.crc = 5;
    write_contents(&c);
    char identity[100];
    ggnn_file f;
    CHECK(ggnn_file_open(&f, target));
    snprintf(identity, sizeof identity, "section 'graph_crc' is 00000005, the graph's identity is %08llx",
             (unsigned long long)ggnn_file_graph_crc(&f));
    ggnn_file_close(&f);
    reason[2] = "sections 'indptr' and 'indices' and 'weight': a weight is negative or not finite, node 0, edge 1";
    reason[3] = identity;
    reason[4] = "section 'feat': row 1, column 1 is not finite";
    reason[6] = "section 'label': node 0 has label -3, not within -1 and 1048575";
    reason[7] = "section 'split': node 0 has value 9 in split 0, not within 0 and 3";
    reason[8] = "section 'external_id': -7 names more than one node";
    verify_prints(reason, 9, reason[2]);
    memset(reason, 0, sizeof reason);
    CHECK(ggnn_file_create(&w, target) && ggnn_file_append(&w, "adam_m", GGNN_FILE_F64, 1, &two, state) && ggnn_file_commit(&w));
    verify_prints(reason, 2, NULL); /* no graph */
    CHECK(ggnn_file_create(&w, target) && ggnn_file_append(&w, "indptr", GGNN_FILE_F64, 1, &two, state) && ggnn_file_commit(&w));
    reason[0] = "section 'indptr' at offset 8192 is f64 with 1 dimensions, not i64 with 1";
    verify_prints(reason, 1, reason[0]);
}

/* Values at the ends of what is finite; ids in ascending order but for a pair. */
TEST(verify_knows_the_last_right_value_from_the_first_wrong_one)
{
    static const uint32_t wrong[] = {0x7f800000, 0xff800000, 0x7f800001, 0xffffffff}, right[] = {0x7f7fffff, 0xff7fffff, 1, 0x80000000};
    static const uint16_t wrong_half[] = {0x7c00, 0xfc00, 0x7c01, 0xffff}, right_half[] = {0x7bff, 0xfbff, 1, 0x8000};
    for (int i = 0; i < 4; i++) {
        contents c = good_contents;
        memcpy(&c.feat[4], &right[i], 4);
        memcpy(&c.edge_feat[0], &right[i], 4);
        write_contents(&c);
        CHECK_EQ(verify(""), 0);
        memcpy(&c.feat[4], &wrong[i], 4);
        check_verify_finds(&c, "section 'feat': row 2, column 0 is not finite");
        c = good_contents, c.real = true, c.half[1] = right_half[i];
        write_contents(&c);
        CHECK_EQ(verify(""), 0);
        c.half[1] = wrong_half[i];
        check_verify_finds(&c, "section 'feat': row 0, column 1 is not finite");
    }
    contents c = good_contents;
    c.real = true;
    c.target[0] = INFINITY;
    check_verify_finds(&c, "section 'label': node 0 has an infinite label");
    for (int i = 0; i < 2; i++) {
        c = good_contents, c.external_id[0] = 7, c.external_id[1] = 7 + i, c.external_id[2] = 8;
        check_verify_finds(&c, i ? "section 'external_id': 8 names" : "section 'external_id': 7 names");
    }
    c = good_contents, c.label[2] = (1 << 20) - 1;
    write_contents(&c);
    CHECK_EQ(verify(""), 0);
}

/* Values are looked at in pieces, by any number of threads. */
TEST(verify_names_the_first_of_several_wrong_values)
{
    static const char* const threads[] = {"", "OMP_NUM_THREADS=1", "OMP_NUM_THREADS=3"};
    contents c = good_contents;
    c.feat[2] = c.feat[4] = c.feat[5] = NAN;
    write_contents(&c);
    for (int i = 0; i < 3; i++) {
        char command[2048];
        snprintf(command, sizeof command, "verify %s", target);
        CHECK_EQ(run(threads[i], command), 1);
        CHECK(prints("err", "section 'feat': row 1, column 0 is not finite"));
    }
}

/* Of 400 values each piece has 6 or 7: all from 15 on are wrong. */
TEST(verify_names_the_first_wrong_value_of_a_piece)
{
    const int64_t rows = 41, none = 0, wide[2] = {40, 10};
    int64_t indptr[41] = {0};
    ggnn_file_writer w;
    for (int half = 0; half < 2; half++) {
        float value[400];
        uint16_t small[400];
        for (int i = 0; i < 400; i++) {
            value[i] = i < 15 ? 1 : NAN;
            small[i] = i < 15 ? 1 : 0x7c00;
        }
        CHECK(ggnn_file_create(&w, target) && ggnn_file_append(&w, "indptr", GGNN_FILE_I64, 1, &rows, indptr) &&
              ggnn_file_append(&w, "indices", DATASET_NODE, 1, &none, indptr) &&
              ggnn_file_append(&w, "feat", half ? GGNN_FILE_F16 : GGNN_FILE_F32, 2, wide, half ? (const void*)small : value) &&
              ggnn_file_commit(&w));
        CHECK_EQ(verify(""), 1);
        CHECK(prints("err", "section 'feat': row 1, column 5 is not finite\n"));
    }
}

/* External ids whose last 32 bits are equal, or whose difference 63 bits do not hold, are several. */
TEST(verify_tells_large_external_ids_apart)
{
    static const int64_t distinct[][3] = {{(INT64_C(1) << 32) + 1, 1, (INT64_C(1) << 33) + 1}, {INT64_MAX, INT64_MIN, 0}, {0, INT64_MAX, INT64_MIN}};
    static const int64_t same[][3] = {{1, (INT64_C(1) << 32) + 1, 1}, {INT64_MAX, INT64_MIN, INT64_MAX}, {INT64_MIN, INT64_MAX, INT64_MIN}};
    for (int i = 0; i < 3; i++) {
        contents c = good_contents;
        char words[100];
        memcpy(c.external_id, distinct[i], sizeof distinct[i]);
        write_contents(&c);
        CHECK_EQ(verify(""), 0);
        memcpy(c.external_id, same[i], sizeof same[i]);
        snprintf(words, sizeof words, "section 'external_id': %lld names more than one node", (long long)same[i][0]);
        check_verify_finds(&c, words);
    }
}

TEST(verify_finds_a_flipped_byte_and_goes_on)
{
    FILE* file;
    write_contents(&good_contents);
    file = fopen(target, "r+b");
    fseek(file, 8192 + 8, SEEK_SET);
    fputc(77, file); /* indptr[1] */
    fclose(file);
    CHECK_EQ(verify(""), 1);
    CHECK(prints("out", "checksums  WRONG") && prints("out", "graph      WRONG") && prints("out", "splits     ok"));
    CHECK(prints("err", "damaged section 'indptr'"));
}

/* ---- info, stats, export -------------------------------------------------------------------------------------- */

#define NO_GAIN "  \"old_ids\": false,\n  \"gain_by_degree\": [\n    {\n      \"features\": 32,\n      \"gain\": 1\n    },\n" \
                "    {\n      \"features\": 128,\n      \"gain\": 1\n    }\n  ],\n"

TEST(files_without_a_graph_have_info_and_checksums)
{
    const int64_t two = 2;
    const double state[2] = {1, 2};
    char command[2048];
    ggnn_file_writer w;
    CHECK(ggnn_file_create(&w, target) && ggnn_file_append(&w, "adam_m", GGNN_FILE_F64, 1, &two, state) &&
          ggnn_file_commit(&w));
    snprintf(command, sizeof command, "info %s", target);
    CHECK_EQ(run("", command), 0);
    CHECK(prints("out", "adam_m"));
    CHECK_EQ(verify(""), 0);
    snprintf(command, sizeof command, "stats %s", target);
    CHECK_EQ(run("", command), 1);
    CHECK(prints("err", "it has no section 'indptr'"));
}

/* The rest of what info prints: a row a section, as the file has them. */
static void expect_sections(const ggnn_file* f, bool json)
{
    if (json) expect("  \"sections\": [\n");
    else expect("\nsection          type     shape                             bytes         offset  CRC-32C\n");
    for (int32_t i = 0; i < f->num_sections; i++) {
        const ggnn_file_section* s = &f->section[i];
        char shape[100] = "";
        for (uint32_t k = 0; k < s->num_dims; k++)
            sprintf(shape + strlen(shape), "%s%lld", k == 0 ? "" : json ? ", " : " x ", (long long)s->dim[k]);
        if (json)
            expect("    {\n      \"name\": \"%s\",\n      \"type\": \"%s\",\n      \"shape\": [%s],\n      \"offset\": %lld,\n      \"bytes\": %lld,\n"
                   "      \"crc32c\": %lld\n    }%s\n", s->name, ggnn_file_type_name(s->type), shape, (long long)s->offset,
                       (long long)s->bytes,
                   (long long)s->crc, i + 1 < f->num_sections ? "," : "\n  ]\n}");
        else
            expect("%-16s %-8s %-24s %14lld %14lld  %08x\n", s->name, ggnn_file_type_name(s->type), shape, (long long)s->bytes,
                   (long long)s->offset,
                   (unsigned)s->crc);
    }
}

/* What stands before that; %s in it stands for the file's name. */
static void info_prints(const char* text, const char* json)
{
    for (int i = 0; i < 2; i++) {
        char command[2048];
        ggnn_file f;
        CHECK(ggnn_file_open(&f, target));
        const long long crc = ggnn_file_graph_crc(&f);
        snprintf(command, sizeof command, "info %s %s", target, i ? "--json" : "");
        CHECK_EQ(run("", command), 0);
        expect(NULL);
        if (i) expect("{\n  \"file\": \"%s\",\n  \"bytes\": %lld,\n  \"graph_crc\": ", target, (long long)f.bytes);
        if (i && crc < 0) expect("null,\n%s", json);
        else if (i) expect("%lld,\n%s", crc, json);
        else expect("file             %s, %.*f kB\n%s", target, f.bytes < 99950 ? 1 : 0, (double)f.bytes / 1000, text);
        if (!i && crc >= 0) expect("graph identity   %08llx\n", (unsigned long long)crc);
        expect_sections(&f, i);
        CHECK(prints_what_is_expected());
        ggnn_file_close(&f);
    }
}

TEST(info_prints_all_that_a_file_holds)
{
    static const int path[] = {1, -1, 0, 2, -1, 1, -1};
    const int64_t two = 2;
    const double state[2] = {1, 2};
    contents c = good_contents;
    ggnn_file_writer w;
    write_contents(&c);
    info_prints("nodes            3\nedges            4 directed, weighted, 1.33 a node\nfeatures         2 a row, fp32\n"
                "edge features    1 a row, fp32\nlabels           2 classes\nsplit 0          1 train, 1 val, 0 test, 1 none\n"
                "split 1          0 train, 0 val, 1 test, 2 none\nexternal ids     kept, section external_id\n",
                "  \"num_nodes\": 3,\n  \"num_edges\": 4,\n  \"weighted\": true,\n  \"features\": {\n    \"width\": 2,\n    \"type\": \"f32\"\n  },\n"
                "  \"edge_features\": {\n    \"width\": 1,\n    \"type\": \"f32\"\n  },\n  \"preprocessed\": null,\n  \"labels\": \"classes\",\n"
                "  \"num_classes\": 2,\n  \"splits\": [\n    {\n      \"none\": 1,\n      \"train\": 1,\n      \"val\": 1,\n      \"test\": 0\n    },\n"
                "    {\n      \"none\": 2,\n      \"train\": 0,\n      \"val\": 0,\n      \"test\": 1\n    }\n  ],\n  \"external_ids\": true,\n  \"external_names\": false,\n" NO_GAIN);
    c.real = true;
    write_contents(&c);
    info_prints("nodes            3\nedges            4 directed, weighted, 1.33 a node\nfeatures         2 a row, fp16\n"
                "edge features    1 a row, fp32\nlabels           real numbers\nsplit 0          1 train, 1 val, 0 test, 1 none\n"
                "split 1          0 train, 0 val, 1 test, 2 none\nexternal ids     kept, section external_id\n",
                "  \"num_nodes\": 3,\n  \"num_edges\": 4,\n  \"weighted\": true,\n  \"features\": {\n    \"width\": 2,\n    \"type\": \"f16\"\n  },\n"
                "  \"edge_features\": {\n    \"width\": 1,\n    \"type\": \"f32\"\n  },\n  \"preprocessed\": null,\n  \"labels\": \"real\",\n"
                "  \"num_classes\": 0,\n  \"splits\": [\n    {\n      \"none\": 1,\n      \"train\": 1,\n      \"val\": 1,\n      \"test\": 0\n    },\n"
                "    {\n      \"none\": 2,\n      \"train\": 0,\n      \"val\": 0,\n      \"test\": 1\n    }\n  ],\n  \"external_ids\": true,\n  \"external_names\": false,\n" NO_GAIN);
    static const char nothing[] = "  \"weighted\": false,\n  \"features\": {\n    \"width\": 0,\n    \"type\": null\n  },\n"
                                  "  \"edge_features\": {\n    \"width\": 0,\n    \"type\": null\n  },\n  \"preprocessed\": null,\n  \"labels\": null,\n"
                                  "  \"num_classes\": 0,\n  \"splits\": [],\n  \"external_ids\": false,\n  \"external_names\": false,\n" NO_GAIN;
    char json[1000];
    for (int nodes = 3; nodes >= 0; nodes -= 3) {
        write_lists(nodes, path, NULL);
        snprintf(json, sizeof json, "  \"num_nodes\": %d,\n  \"num_edges\": %d,\n%s", nodes, nodes ? 4 : 0, nothing);
        info_prints(nodes ? "nodes            3\nedges            4 directed, 1.33 a node\n"
                    : "nodes            0\nedges            0 directed, 0.00 a node\n", json);
    }
    CHECK(ggnn_file_create(&w, target) && ggnn_file_append(&w, "adam_m", GGNN_FILE_F64, 1, &two, state) && ggnn_file_commit(&w));
    info_prints("", "");
    const int64_t one = 1, of[2] = {5, 6};
    for (int k = 0; k < 3; k++) { /* the graph that a ranking or a checkpoint is of; another type, and two, are none */
        CHECK(ggnn_file_create(&w, target) && ggnn_file_append(&w, "graph_crc", k == 1 ? GGNN_FILE_I32 : GGNN_FILE_I64, 1, k == 2 ? &two : &one, of) && ggnn_file_commit(&w));
        info_prints(k ? "" : "of the graph     00000005\n", k ? "" : "  \"of_graph\": 5,\n");
    }
}

TEST(info_and_stats_print_text_and_json)
{
    char command[2048];
    write_contents(&good_contents);
    snprintf(command, sizeof command, "info %s", target);
    CHECK_EQ(run("", command), 0);
    CHECK(prints("out", "4 directed, weighted") && prints("out", "1 train, 1 val, 0 test, 1 none") &&
          prints("out", "2 classes"));
    CHECK(prints("out", "0 train, 0 val, 1 test, 2 none"));
    snprintf(command, sizeof command, "info %s --json", target);
    CHECK_EQ(run("", command), 0);
    CHECK(prints("out", "\"num_edges\": 4,") && prints("out", "\"shape\": [2, 3]"));
    snprintf(command, sizeof command, "stats %s", target);
    CHECK_EQ(run("", command), 0);
    CHECK(prints("out", "undirected") && prints("out", "\n  2..3  "));
    snprintf(command, sizeof command, "stats %s --json", target);
    CHECK_EQ(run("", command), 0);
    CHECK(prints("out", "\"class_sizes\": [1, 1]") && prints("out", "\"bins\": [0, 2, 1]"));
}

/* Text names the sizes of 20 classes, JSON those of all. */
TEST(stats_counts_the_nodes_of_every_class)
{
    char command[2048];
    snprintf(command, sizeof command, "generate planted %s --nodes 42 --edges 84 --classes 21 --features 0", target);
    CHECK_EQ(run("", command), 0);
    snprintf(command, sizeof command, "stats %s", target);
    CHECK_EQ(run("", command), 0);
    CHECK(prints("out", "42 nodes in 21 classes: 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 ...\n"));
    snprintf(command, sizeof command, "stats %s --json", target);
    CHECK_EQ(run("", command), 0);
    CHECK(prints("out", "\"class_sizes\": [2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2]"));
    snprintf(command, sizeof command, "generate planted %s --nodes 40 --edges 80 --classes 20 --features 0", target);
    CHECK_EQ(run("", command), 0);
    snprintf(command, sizeof command, "stats %s", target);
    CHECK_EQ(run("", command), 0);
    CHECK(prints("out", "40 nodes in 20 classes: 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2\n"));
}

static void check_file(const char* name, const void* wanted, size_t size)
{
    char path[600], data[4096];
    FILE* in = fopen(folder_path(path, name), "rb");
    size_t length;
    if (!CHECK(in != NULL)) return;
    length = fread(data, 1, sizeof data, in);
    fclose(in);
    CHECK_EQ(length, size);
    if (!CHECK(length == size && memcmp(data, wanted, size) == 0)) printf("  %s: %.*s\n", name, (int)length, data);
}

static int export_to(const char* name, const char* format)
{
    char command[2048];
    snprintf(command, sizeof command, "export %s %s/%s --format %s", target, folder, name, format);
    return run("", command);
}

TEST(export_writes_matrix_market_and_csv)
{
    static const char mtx[] = "%%MatrixMarket matrix coordinate real general\n% row: source, column: target\n3 3 4\n"
                              "2 1 1\n3 1 2\n1 2 3\n1 3 0.1\n";
    static const char edges[] = "src,dst,weight\n1,0,1\n2,0,2\n0,1,3\n0,2,0.1\n";
    static const char nodes[] = "node,external_id,label,split_0,split_1\n0,7,0,none,test\n1,-7,-1,train,none\n2,0,1,val,none\n";
    static const char feat[] = "1,2\n3,4\n5,6\n", half[] = "0,5.9604645e-08\n1,-65504\n65504,1.1920929e-07\n";
    contents c = good_contents;
    c.weight[3] = .1f;
    write_contents(&c);
    CHECK_EQ(export_to("g.mtx", "mtx"), 0);
    check_file("g.mtx", mtx, sizeof mtx - 1);
    CHECK_EQ(export_to("g.mtx", "mtx"), 0); /* a file is replaced */
    CHECK_EQ(export_to("csv", "csv"), 0);
    check_file("csv/edges.csv", edges, sizeof edges - 1);
    check_file("csv/nodes.csv", nodes, sizeof nodes - 1);
    check_file("csv/features.csv", feat, sizeof feat - 1);
    check_file("csv/edge_features.csv", "1\n2\n3\n4\n", 8);
    CHECK_EQ(export_to("csv", "csv"), 1); /* a folder with something in it is not */
    CHECK(prints("err", "a folder that is not empty"));
    check_file("csv/edges.csv", edges, sizeof edges - 1);
    c.real = true;
    write_contents(&c);
    CHECK_EQ(export_to("csv2", "csv"), 0);
    check_file("csv2/features.csv", half, sizeof half - 1);
    CHECK_EQ(export_to("none/csv", "csv"), 1);
    CHECK(prints("err", "cannot create"));
}

/* Nodes have a file where anything is known of them, and none where nothing is. */
TEST(export_writes_nodes_of_which_one_thing_is_known)
{
    static const struct {
        const char* section;
        const char* lines;
    } of[] = {{"external_id", "node,external_id\n0,7\n1,-7\n2,0\n"}, {"label", "node,label\n0,0\n1,-1\n2,1\n"},
              {"target", "node,label\n0,0.5\n1,nan\n2,-1\n"}, {"split", "node,split_0\n0,none\n1,train\n2,val\n"}, {NULL, NULL}};
    static const int64_t indptr[] = {0, 1, 1, 2}, external_id[] = {7, -7, 0}, three = 3, four = 4, two = 2, split[2] = {1, 3};
    static const ggnn_node indices[] = {1, 0};
    static const int32_t label[] = {0, -1, 1};
    static const float target_of[] = {.5f, NAN, -1};
    static const uint8_t part[] = {SPLIT_NONE, SPLIT_TRAIN, SPLIT_VAL};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        ggnn_file_writer w;
        char name[20], file[40];
        const char* section = of[i].section;
        CHECK(ggnn_file_create(&w, target) && ggnn_file_append(&w, "indptr", GGNN_FILE_I64, 1, &four, indptr) &&
              ggnn_file_append(&w, "indices", DATASET_NODE, 1, &two, indices));
        if (i == 0) CHECK(ggnn_file_append(&w, section, GGNN_FILE_I64, 1, &three, external_id));
        if (i == 1) CHECK(ggnn_file_append(&w, section, GGNN_FILE_I32, 1, &three, label));
        if (i == 2) CHECK(ggnn_file_append(&w, "label", GGNN_FILE_F32, 1, &three, target_of));
        if (i == 3) CHECK(ggnn_file_append(&w, section, GGNN_FILE_U8, 2, split, part));
        CHECK(ggnn_file_commit(&w));
        snprintf(name, sizeof name, "nodes%d", (int)i);
        snprintf(file, sizeof file, "nodes%d/nodes.csv", (int)i);
        CHECK_EQ(export_to(name, "csv"), 0);
        if (of[i].lines) check_file(file, of[i].lines, strlen(of[i].lines));
        else CHECK(access(folder_path((char[600]){0}, file), F_OK) != 0);
    }
}

/* A .npy file: its header's words and its data. */
static void check_npy(const char* name, const char* type, const char* shape, const void* wanted, size_t size)
{
    char path[600], data[4096], words[200];
    FILE* in = fopen(folder_path(path, name), "rb");
    size_t length, header;
    if (!CHECK(in != NULL)) return;
    length = fread(data, 1, sizeof data, in);
    fclose(in);
    CHECK(length > 10 && memcmp(data, "\x93NUMPY\1\0", 8) == 0);
    header = 10 + (size_t)(unsigned char)data[8] + 256 * (size_t)(unsigned char)data[9];
    CHECK(header % 64 == 0 && data[header - 1] == '\n' && length == header + size);
    snprintf(words, sizeof words, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", type, shape);
    CHECK(strncmp(data + 10, words, strlen(words)) == 0);
    CHECK(memcmp(data + header, wanted, size) == 0);
}

TEST(export_writes_npy)
{
    static const uint8_t train[6] = {0, 1, 0, 0, 0, 0}, test[6] = {0, 0, 0, 1, 0, 0};
    const contents* c = &good_contents;
    write_contents(c);
    CHECK_EQ(export_to("npy", "npy"), 0);
    check_npy("npy/indptr.npy", "<i8", "4,", c->indptr, sizeof c->indptr);
    check_npy("npy/indices.npy", sizeof(ggnn_node) == 4 ? "<i4" : "<i8", "4,", c->indices, sizeof c->indices);
    check_npy("npy/weight.npy", "<f4", "4,", c->weight, sizeof c->weight);
    check_npy("npy/feat.npy", "<f4", "3, 2", c->feat, sizeof c->feat);
    check_npy("npy/label.npy", "<i4", "3,", c->label, sizeof c->label);
    check_npy("npy/train.npy", "|b1", "2, 3", train, sizeof train);
    check_npy("npy/test.npy", "|b1", "2, 3", test, sizeof test);
}

TEST(export_writes_halves_and_real_labels_as_npy)
{
    contents c = good_contents;
    c.real = true;
    write_contents(&c);
    CHECK_EQ(export_to("halves", "npy"), 0);
    check_npy("halves/feat.npy", "<f2", "3, 2", c.half, sizeof c.half);
    check_npy("halves/label.npy", "<f4", "3,", c.target, sizeof c.target);
}

TEST(export_writes_the_masks_of_every_split)
{
    static const int64_t indptr[] = {0, 1, 2}, three = 3, two = 2, dim[] = {4, 2};
    static const ggnn_node indices[] = {1, 0};
    static const uint8_t split[4][2] = {{1, 2}, {0, 3}, {3, 1}, {2, 1}};
    static const uint8_t train[] = {1, 0, 0, 0, 0, 1, 0, 1}, val[] = {0, 1, 0, 0, 0, 0, 1, 0};
    ggnn_file_writer w;
    CHECK(ggnn_file_create(&w, target) && ggnn_file_append(&w, "indptr", GGNN_FILE_I64, 1, &three, indptr) &&
          ggnn_file_append(&w, "indices", DATASET_NODE, 1, &two, indices) &&
          ggnn_file_append(&w, "split", GGNN_FILE_U8, 2, dim, split) && ggnn_file_commit(&w));
    CHECK_EQ(export_to("masks", "npy"), 0);
    check_npy("masks/train.npy", "|b1", "4, 2", train, sizeof train);
    check_npy("masks/val.npy", "|b1", "4, 2", val, sizeof val);
}

TEST(export_and_convert_give_the_same_arrays_back)
{
    static const char* const section[] = {"indptr", "indices", "feat", "label", "split"};
    generate_options how = options_of(KIND_CITATION, 2000, 20000);
    generate_report report;
    char command[2048], path[600];
    dataset before, after;
    error why = {""};
    if (!CHECK(make(&how, &report))) return;
    CHECK_EQ(export_to("round", "npy"), 0);
    snprintf(command, sizeof command, "convert %s/round %s/back.ggnn", folder, folder);
    CHECK_EQ(run("", command), 0);
    if (!CHECK(dataset_open(&before, target, &why) && dataset_open(&after, folder_path(path, "back.ggnn"), &why)))
        return;
    for (int i = 0; i < 5; i++) CHECK_EQ(crc_of(&before, section[i]), crc_of(&after, section[i]));
    dataset_close(&before);
    dataset_close(&after);
}

/* Which files there are, in the order of their names. */
static void check_names(const char* name, const char* wanted)
{
    char command[2048];
    snprintf(command, sizeof command, "ls -A %s/%s | tr '\\n' ' ' >%s/out", folder, name, folder);
    CHECK_EQ(system(command), 0);
    CHECK_STR(printed("out"), wanted);
}

/* All files of each format, of a graph with everything, of halves and real labels, and of a bare one. */
TEST(export_writes_all_that_is_there_and_nothing_else)
{
    static const char mtx[] = "%%MatrixMarket matrix coordinate real general\n% row: source, column: target\n3 3 4\n2 1 1\n3 1 2\n1 2 3\n1 3 0\n";
    static const char bare_mtx[] = "%%MatrixMarket matrix coordinate pattern general\n% row: source, column: target\n3 3 2\n2 1\n1 3\n";
    static const char nodes[] = "node,external_id,label,split_0,split_1\n0,7,0.5,none,test\n1,-7,-1,train,none\n2,0,nan,val,none\n";
    static const uint8_t train[6] = {0, 1, 0, 0, 0, 0}, val[6] = {0, 0, 1, 0, 0, 0}, test[6] = {0, 0, 0, 1, 0, 0};
    static const int64_t indptr[] = {0, 1, 1, 2}, four = 4, two = 2;
    static const ggnn_node indices[] = {1, 0};
    const char* id = sizeof(ggnn_node) == 4 ? "<i4" : "<i8";
    contents c = good_contents;
    ggnn_file_writer w;
    for (int real = 0; real < 2; real++) {
        c.real = real;
        write_contents(&c);
        CHECK_EQ(export_to(real ? "n1" : "n0", "npy"), 0);
        CHECK(!printed("err")[0] && !printed("out")[0]);
        check_names(real ? "n1" : "n0", "edge_feat.npy external_id.npy feat.npy indices.npy indptr.npy label.npy test.npy train.npy val.npy weight.npy ");
        check_npy(real ? "n1/edge_feat.npy" : "n0/edge_feat.npy", "<f4", "4, 1", c.edge_feat, sizeof c.edge_feat);
        check_npy(real ? "n1/external_id.npy" : "n0/external_id.npy", "<i8", "3,", c.external_id, sizeof c.external_id);
        check_npy(real ? "n1/indices.npy" : "n0/indices.npy", id, "4,", c.indices, sizeof c.indices);
        check_npy(real ? "n1/indptr.npy" : "n0/indptr.npy", "<i8", "4,", c.indptr, sizeof c.indptr);
        check_npy(real ? "n1/weight.npy" : "n0/weight.npy", "<f4", "4,", c.weight, sizeof c.weight);
        check_npy(real ? "n1/train.npy" : "n0/train.npy", "|b1", "2, 3", train, sizeof train);
        check_npy(real ? "n1/val.npy" : "n0/val.npy", "|b1", "2, 3", val, sizeof val);
        check_npy(real ? "n1/test.npy" : "n0/test.npy", "|b1", "2, 3", test, sizeof test);
        CHECK_EQ(export_to(real ? "c1" : "c0", "csv"), 0);
        check_names(real ? "c1" : "c0", "edge_features.csv edges.csv features.csv nodes.csv ");
    }
    check_npy("n0/feat.npy", "<f4", "3, 2", c.feat, sizeof c.feat);
    check_npy("n1/feat.npy", "<f2", "3, 2", c.half, sizeof c.half);
    check_npy("n0/label.npy", "<i4", "3,", c.label, sizeof c.label);
    check_npy("n1/label.npy", "<f4", "3,", c.target, sizeof c.target);
    check_file("c1/nodes.csv", nodes, sizeof nodes - 1);
    CHECK_EQ(export_to("all.mtx", "mtx"), 0);
    check_file("all.mtx", mtx, sizeof mtx - 1);
    CHECK(ggnn_file_create(&w, target) && ggnn_file_append(&w, "indptr", GGNN_FILE_I64, 1, &four, indptr) &&
          ggnn_file_append(&w, "indices", DATASET_NODE, 1, &two, indices) && ggnn_file_commit(&w));
    CHECK_EQ(export_to("n2", "npy"), 0);
    check_names("n2", "indices.npy indptr.npy ");
    CHECK_EQ(export_to("c2", "csv"), 0);
    check_names("c2", "edges.csv ");
    check_file("c2/edges.csv", "src,dst\n1,0\n0,2\n", 16);
    CHECK_EQ(export_to("bare.mtx", "mtx"), 0);
    check_file("bare.mtx", bare_mtx, sizeof bare_mtx - 1);
}

/* A value that is no part is in no mask, and a question mark in text. */
/* Sections that are there are there, though they hold nothing, or nothing that is known. */
TEST(a_graph_without_edges_has_weights_and_one_without_classes_has_labels)
{
    static const char mtx[] = "%%MatrixMarket matrix coordinate real general\n% row: source, column: target\n2 2 0\n";
    static const int64_t indptr[3] = {0, 0, 0}, three = 3, none = 0, two = 2, wide[2] = {0, 3};
    static const int32_t label[2] = {-1, -1};
    ggnn_file_writer w;
    char command[1200];
    CHECK(ggnn_file_create(&w, target) && ggnn_file_append(&w, "indptr", GGNN_FILE_I64, 1, &three, indptr) &&
          ggnn_file_append(&w, "indices", DATASET_NODE, 1, &none, indptr) && ggnn_file_append(&w, "weight", GGNN_FILE_F32, 1, &none, indptr) &&
          ggnn_file_append(&w, "edge_feat", GGNN_FILE_F32, 2, wide, indptr) && ggnn_file_append(&w, "label", GGNN_FILE_I32, 1, &two, label) && ggnn_file_commit(&w));
    CHECK_EQ(export_to("e1", "csv"), 0);
    check_names("e1", "edge_features.csv edges.csv nodes.csv ");
    check_file("e1/edges.csv", "src,dst,weight\n", 15);
    check_file("e1/edge_features.csv", "", 0);
    check_file("e1/nodes.csv", "node,label\n0,-1\n1,-1\n", 21);
    CHECK_EQ(export_to("e2", "npy"), 0);
    check_names("e2", "edge_feat.npy indices.npy indptr.npy label.npy weight.npy ");
    check_npy("e2/edge_feat.npy", "<f4", "0, 3", "", 0);
    check_npy("e2/weight.npy", "<f4", "0,", "", 0);
    CHECK_EQ(export_to("e3.mtx", "mtx"), 0);
    check_file("e3.mtx", mtx, sizeof mtx - 1);
    snprintf(command, sizeof command, "info %s --json", target);
    CHECK_EQ(run("", command), 0);
    CHECK(prints("out", "\"weighted\": true") && prints("out", "\"labels\": \"classes\",\n  \"num_classes\": 0"));
    CHECK(prints("out", "\"edge_features\": {\n    \"width\": 3,\n    \"type\": \"f32\""));
    snprintf(command, sizeof command, "info %s", target);
    CHECK_EQ(run("", command), 0);
    CHECK(prints("out", "0 directed, weighted, 0.00 a node\nedge features    3 a row, fp32\nlabels           0 classes\n"));
}

TEST(export_does_not_hide_a_part_that_there_is_not)
{
    static const char nodes[] = "node,external_id,label,split_0,split_1\n0,7,0,none,test\n1,-7,-1,?,none\n2,0,1,val,?\n";
    static const uint8_t train[6] = {0}, val[6] = {0, 0, 1, 0, 0, 0}, test[6] = {0, 0, 0, 1, 0, 0};
    contents c = good_contents;
    c.split[1] = 4;
    c.split[5] = 255;
    write_contents(&c);
    CHECK_EQ(export_to("odd-csv", "csv"), 0);
    check_file("odd-csv/nodes.csv", nodes, sizeof nodes - 1);
    CHECK_EQ(export_to("odd-npy", "npy"), 0);
    check_npy("odd-npy/train.npy", "|b1", "2, 3", train, sizeof train);
    check_npy("odd-npy/val.npy", "|b1", "2, 3", val, sizeof val);
    check_npy("odd-npy/test.npy", "|b1", "2, 3", test, sizeof test);
}

/* The masks of one split are vectors. */
TEST(export_writes_the_masks_of_one_split_as_vectors)
{
    static const int64_t indptr[] = {0, 1, 2, 2}, four = 4, two = 2, dim[] = {1, 3};
    static const ggnn_node indices[] = {1, 0};
    static const uint8_t split[] = {3, 1, 2};
    ggnn_file_writer w;
    CHECK(ggnn_file_create(&w, target) && ggnn_file_append(&w, "indptr", GGNN_FILE_I64, 1, &four, indptr) &&
          ggnn_file_append(&w, "indices", DATASET_NODE, 1, &two, indices) && ggnn_file_append(&w, "split", GGNN_FILE_U8, 2, dim, split) &&
          ggnn_file_commit(&w));
    CHECK_EQ(export_to("mask", "npy"), 0);
    check_names("mask", "indices.npy indptr.npy test.npy train.npy val.npy ");
    check_npy("mask/train.npy", "|b1", "3,", "\0\1\0", 3);
    check_npy("mask/val.npy", "|b1", "3,", "\0\0\1", 3);
    check_npy("mask/test.npy", "|b1", "3,", "\1\0\0", 3);
}

TEST(export_refuses_a_graph_that_is_broken_and_an_output_that_cannot_be)
{
    static const char* const format[] = {"csv", "mtx", "npy"};
    char command[2048], path[600];
    contents c = good_contents;
    c.indices[2] = 3;
    for (int k = 0; k < 6; k++) {
        if (k == 3) c = good_contents, c.weight[1] = -1;
        write_contents(&c);
        CHECK_EQ(export_to("refused", format[k % 3]), 1);
        CHECK(prints("err", k < 3 ? "a.ggnn: sections 'indptr' and 'indices' and 'weight': a neighbour's id is outside [0, num_nodes), node 1, edge 2\n"
                                : "weight is negative or not finite, node 0, edge 1\n"));
        CHECK(access(folder_path(path, "refused"), F_OK) != 0);
    }
    write_contents(&good_contents);
    CHECK_EQ(symlink("nowhere", folder_path(path, "dangling")), 0);
    for (int k = 0; k < 3; k += 2) {
        CHECK_EQ(export_to("dangling", format[k]), 1);
        CHECK(prints("err", "dangling: cannot put the output there: it links to nothing\n"));
        CHECK_EQ(export_to("dangling/", format[k]), 1);
        CHECK_EQ(export_to("a.ggnn/in", format[k]), 1);
        CHECK(prints("err", "a.ggnn/in: cannot create: Not a directory\n"));
        snprintf(command, sizeof command, "export %s '' --format %s", target, format[k]);
        CHECK_EQ(run("", command), 1);
        CHECK(prints("err", "ggnn-data: : cannot create: No such file or directory\n"));
    }
    CHECK_EQ(temporaries(), 0);
    remove(path);
}

/* A byte of each section in turn: of a graph alone the sections behind it are not read. */
TEST(export_writes_no_damaged_section)
{
    static const char* const format[] = {"csv", "mtx", "npy"};
    ggnn_file f;
    char words[80], path[600];
    write_contents(&good_contents);
    if (!CHECK(ggnn_file_open(&f, target))) return;
    unsigned char* whole = malloc((size_t)f.bytes);
    memcpy(whole, f.base, (size_t)f.bytes);
    CHECK_EQ(f.num_sections, 8);
    for (int32_t i = 0; i < f.num_sections; i++)
        for (int k = 0; k < 3; k++) {
            const bool of_graph = !strcmp(f.section[i].name, "indptr") || !strcmp(f.section[i].name, "indices") || !strcmp(f.section[i].name, "weight");
            const int64_t at = f.section[i].offset + f.section[i].bytes - 1;
            whole[at] ^= 1;
            write_file(target, whole, (size_t)f.bytes);
            whole[at] ^= 1;
            snprintf(words, sizeof words, "damaged section '%s'", f.section[i].name);
            CHECK_EQ(export_to("copy", format[k]), k == 1 && !of_graph ? 0 : 1);
            CHECK(k == 1 && !of_graph ? !printed("err")[0] : prints("err", words) && access(folder_path(path, "copy"), F_OK) != 0);
            if (k == 1) remove(folder_path(path, "copy"));
        }
    CHECK_EQ(temporaries(), 0);
    free(whole);
    ggnn_file_close(&f);
}

/* The names of folders of processes of this number that were killed: of a thousand one is free, and then none. */
TEST(export_tries_a_thousand_temporary_names)
{
    for (int k = 0; k < 4; k++) {
        char command[4096];
        write_contents(&good_contents);
        snprintf(command, sizeof command, "mkdir %s/names && mkdir $(seq -f %s/names/x.$$.%%g.tmp 0 %d) && exec %s export %s %s/names/x --format %s 2>%s/err", folder, folder,
                 998 + k % 2, tool, target, folder, k < 2 ? "npy" : "mtx", folder);
        const int status = system(command);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == k % 2);
        CHECK(k % 2 ? prints("err", "names/x: cannot create: File exists") : access(folder_path((char[600]){0}, "names/x"), F_OK) == 0);
        snprintf(command, sizeof command, "ls %s/names | wc -l >%s/out && rm -r %s/names", folder, folder, folder);
        CHECK(system(command) == 0 && atoi(printed("out")) == 1000);
    }
}

/* ---- failures ------------------------------------------------------------------------------------------------- */

static void check_usage(const char* arguments, const char* words)
{
    CHECK_EQ(run("", arguments), 2);
    if (!CHECK(prints("err", words))) printf("  %s\n", arguments);
    CHECK(access("OUT", F_OK) != 0);
}

TEST(wrong_usage_exits_with_2_and_says_why)
{
    check_usage("", "usage: ggnn-data COMMAND");
    check_usage("generat planted OUT", "'generat' is not a command; is generate meant?");
    check_usage("generate", "2 arguments expected, 0 given");
    check_usage("generate planed OUT",
                "generate: planed: not one of planted|citation|rmat|grid|star|path|karate; is meant: planted");
    check_usage("generate planted OUT --edgse 4", "--edgse: no such option; is --edges meant?");
    check_usage("generate planted OUT --edges 5", "--edges 5: must be even");
    check_usage("generate planted OUT --nodes 5 --classes 2 --edges 22", "--edges 22: 5 nodes have at most 20");
    check_usage("generate planted OUT --nodes 0", "--nodes 0: must be between 1");
    check_usage("generate planted OUT --nodes 4 --classes 5", "--classes 5: more than the nodes");
    check_usage("generate planted OUT --classes 0", "--classes 0");
    check_usage("generate citation OUT --classes 0", "--classes 0");
    check_usage("generate planted OUT --homophily 1.5", "--homophily 1.5: must be between 0 and 1");
    check_usage("generate grid OUT --nodes 9 --edges 26", "--edges 26: 9 nodes of this kind have 24 edges");
    check_usage("generate karate OUT --nodes 35", "karate has 34 nodes");
    check_usage("info", "1 argument expected");
    check_usage("place dgx1v -o plan", "-o: options begin with two dashes, and there is no --out");
    check_usage("rank a -o b", "-o: options begin with two dashes; is --out meant?");
    check_usage("partition a -o b", "is --out meant?");
    check_usage("preprocess a -o b", "is --out meant?");
    check_usage("export a b --format hdf5", "--format hdf5: not one of csv|mtx|npy");
}

/* What is taken ends with "no such file": status 1. The file is looked for after the options. */
TEST(options_of_the_commands_are_taken_up_to_the_ends_of_their_ranges)
{
    static const struct {
        const char *command, *option;
        long long low, high;
    } of[] = {{"convert /none/x /none/y", "nodes", 0, 280000000000000},
              {"convert /none/x /none/y", "random-features", 0, 1 << 24},
              {"convert /none/x /none/y", "classes", 0, 1 << 20},
              {"convert /none/x /none/y", "seed", 0, 9000000000000000000},
              {"generate rmat /none/x --classes 0", "nodes", 1, 2147483647},
              {"generate rmat /none/x --nodes 2147483647 --directed", "edges", 0, 9000000000000000},
              {"generate rmat /none/x", "features", 0, 1 << 24},
              {"generate path /none/x --nodes 2000000", "classes", 0, 1 << 20},
              {"generate rmat /none/x", "seed", 0, 9000000000000000000},
              {"sample /none/x --fanout 1", "seeds", 0, 9000000000000000},
              {"sample /none/x --seeds 1", "fanout", -1, 2147483647},
              {"sample /none/x --seeds 1 --fanout 1", "seed", 0, 9000000000000000},
              {"sample /none/x --seeds 1 --fanout 1", "step", 0, (1 << 30) - 1},
              {"sample /none/x --seeds 1 --fanout 1", "walks", 1, 1 << 15},
              {"sample /none/x --seeds 1 --fanout 1", "length", 1, 1 << 15},
              {"sample /none/x --seeds 1 --fanout 1", "restart", 0, 1},
              {"rank /none/x", "presample-epochs", 1, 10000},
              {"rank /none/x", "fanout", -1, 1 << 20},
              {"rank /none/x", "batch", 1, 1 << 24},
              {"rank /none/x", "split", 0, 999},
              {"rank /none/x", "seed", 0, 9000000000000000000},
              {"rank /none/x", "cache-bytes", 0, 9000000000000000000},
              {"partition /none/x", "parts", 1, 64},
              {"partition /none/x", "presample-epochs", 1, 10000},
              {"partition /none/x", "fanout", -1, 1 << 20},
              {"partition /none/x", "batch", 1, 1 << 24},
              {"partition /none/x", "seed", 0, 9000000000000000000},
              {"partition /none/x", "hops", 0, 8},
              {"partition /none/x", "closure-limit", 0, 2147483647},
              {"partition /none/x", "passes", 1, 1000},
              {"partition /none/x", "slack", 0, 10000},
              {"partition /none/x", "split", 0, 999},
              {"place /none/x", "plans", 1, 9000000000000000},
              {"place /none/x", "devices", 1, 16},
              {"place /none/x", "device-list", 0, 15}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        for (int end = 0; end < 4; end++) {
            const long long value = end < 2 ? of[i].low - end : of[i].high + (of[i].high > 1000000000000000000 ? 2000 : 1) * (end - 2);
            char line[200], words[200];
            snprintf(line, sizeof line, "%s --%s=%lld", of[i].command, of[i].option, value);
            snprintf(words, sizeof words, "--%s %lld: must be between %lld and %lld\n", of[i].option, value, of[i].low, of[i].high);
            if (strcmp(of[i].option, "cache-bytes") == 0) snprintf(words, sizeof words, "--cache-bytes %lld: does not fit 63 bits\n", value);
            if (end == 0 || end == 2) strcpy(words, "/none/x: ");
            if (!CHECK_EQ(run("", line), end % 2 ? 2 : 1) || !CHECK(prints("err", words))) printf("  %s\n", line);
        }
}

/* A command's name may not be cut, and its options' neither. */
TEST(names_of_commands_and_options_are_whole_words)
{
    check_usage("inf x", "'inf' is not a command; is info meant?");
    check_usage("plac x", "'plac' is not a command; is place meant?");
    check_usage("x", "ggnn-data: 'x' is not a command\nusage: ggnn-data COMMAND ...\n");
    check_usage("'' x", "ggnn-data: '' is not a command\n");
    check_usage("rank a --presample 2", "--presample: no such option; is --presample-epochs meant?");
    check_usage("info -- --help x", "info: 'x': one argument too many\nusage: ggnn-data info FILE [options]     (--help says more)\n");
    CHECK_EQ(run("", "info -- --help"), 1); /* a file's name */
    CHECK(prints("err", "--help: cannot open"));
    CHECK_EQ(run("", "info --json --json -- -x"), 1);
    CHECK(prints("err", "-x: cannot open"));
    CHECK_EQ(run("", "info a b c --help"), 0);
}

/* What was printed before a failure stands before its message, where both go to one file. */
TEST(what_is_printed_stands_before_the_error_that_ended_it)
{
    contents c = good_contents;
    char line[2048];
    c.feat[0] = NAN;
    write_contents(&c);
    snprintf(line, sizeof line, "%s verify %s >%s/out 2>&1", tool, target, folder);
    CHECK(system(line) != 0);
    const char *row = strstr(printed("out"), "ids        ok"), *end = strstr(printed("out"), "ggnn-data: ");
    CHECK(row && end && row < end);
}

TEST(a_command_never_writes_over_what_it_reads)
{
    static const char* const command[] = {"convert %s/indptr.npy %s/link", "export %s/link %s/indptr.npy --format mtx"};
    char line[2048], path[600], link_path[600];
    write_file(folder_path(path, "indptr.npy"), "kept", 4);
    CHECK_EQ(link(path, folder_path(link_path, "link")), 0);
    for (int i = 0; i < 2; i++) {
        snprintf(line, sizeof line, command[i], folder, folder);
        CHECK_EQ(run("", line), 2);
        CHECK(prints("err", "are one file"));
        check_file("link", "kept", 4);
    }
    remove(path);
    remove(link_path);
}

TEST(help_exits_with_0_and_goes_to_standard_output)
{
    static const char* const command[] = {"--help",          "help",         "generate --help", "info --help",
                                          "verify x --help", "stats --help", "export --help",
                                          "-h",              "info -h"};
    for (int i = 0; i < 9; i++) {
        CHECK_EQ(run("", command[i]), 0);
        CHECK(prints("out", "usage: ggnn-data") && !printed("err")[0]);
    }
}

/* Each command is in the list, and its own help names it, whatever else is on its line. */
TEST(help_lists_every_command_and_each_has_its_own)
{
    static const char* const command[] = {"generate", "convert", "info", "verify", "stats", "sample", "export", "rank", "reorder",
                                          "preprocess", "place", "partition"};
    char line[200], words[100];
    const char* at;
    for (int i = 0; i < 12; i++) {
        snprintf(line, sizeof line, i % 2 ? "%s --help" : "%s --none a b c -h d", command[i]);
        CHECK_EQ(run("", line), 0);
        snprintf(words, sizeof words, "usage: ggnn-data %s ", command[i]);
        CHECK(strncmp(printed("out"), words, strlen(words)) == 0 && !printed("err")[0]);
        snprintf(line, sizeof line, "%s --none", command[i]);
        CHECK_EQ(run("", line), 2);
        snprintf(words, sizeof words, "ggnn-data: %s: --none: no such option", command[i]);
        CHECK(strncmp(printed("err"), words, strlen(words)) == 0);
        snprintf(words, sizeof words, "\nusage: ggnn-data %s ", command[i]);
        CHECK(prints("err", words) && prints("err", "     (--help says more)\n") && !printed("out")[0]);
    }
    CHECK_EQ(run("", "--help"), 0);
    for (int i = 0; i < 12; i++) {
        snprintf(words, sizeof words, "\n  %-10s ", command[i]);
        at = strstr(printed("out"), words);
        CHECK(at && at[strlen(words)] > ' ');
    }
    CHECK_EQ(run("", ""), 2);
    CHECK(prints("err", "usage: ggnn-data COMMAND ...\n\n  generate   make") && !printed("out")[0]);
}

/* All options of the commands that plan and look, each with what its help ends with. */
TEST(help_says_the_default_of_every_option)
{
    static const char* const of[][20] = {
        {"info", "--json", ""},
        {"verify", "--json", ""},
        {"stats", "--json", ""},
        {"sample", "--seeds", "", "--fanout", "", "--sampler", " [fisher-yates]", "--seed", " [1]", "--step", " [0]", "--walks",
         " [4]", "--length", " [3]", "--restart", " [0.5]"},
        {"rank", "--by", " [presc]", "--presample-epochs", " [1]", "--fanout", " [15,10,5]", "--sampler", " [fisher-yates]",
         "--batch", " [1024]", "--split", " [0]", "--seed", " [1]", "--cache-bytes", "",
         "--slopes", " [0,0]"},
        {"reorder", "--by", " [ranking]", "--ranking", "", "--of", " [rows]", "--json", ""},
        {"preprocess", "--model", " [sage]", "--out", "", "--json", ""},
        {"place", "--rule", " [best]", "--plans", " [16384]", "--devices", "", "--device-list", "", "--json", ""},
        {"partition", "--parts", " [4]", "--method", " [mincut]", "--balance", " [vertices]", "--presample-epochs", " [10]",
         "--fanout", " [15,10,5]", "--batch", " [1024]", "--seed", " [1]", "--hops", " [2]",
         "--closure-limit", " [100000]"},
        {"sample", "--table", " [auto]", "--backend", " [cpu]", "--trace", "", "--json", "", "--last-hop-global", ""},
        {"rank", "--from", "", "--out", "", "--json", ""},
        {"partition", "--from", "", "--passes", " [10]", "--slack", " [5]", "--split", " [0]", "--out", "", "--extract", "", "--json",
         ""}};
    static const struct {
        const char* command;
        int options;
    } all[] = {{"info", 1}, {"verify", 1}, {"stats", 1}, {"sample", 13}, {"rank", 12}, {"reorder", 4}, {"preprocess", 3},
               {"place", 5}, {"partition", 16}};
    char line[100];
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        snprintf(line, sizeof line, "%s --help", of[i][0]);
        CHECK_EQ(run("", line), 0);
        for (int k = 1; k < 20 && of[i][k]; k += 2) {
            char name[40];
            snprintf(name, sizeof name, "\n  %s ", of[i][k]);
            const char *at = strstr(printed("out"), name), *end = at ? strstr(at + 1, "\n  --") : NULL;
            if (at && !end) end = at + strlen(at) - 1;
            const size_t length = strlen(of[i][k + 1]);
            if (!CHECK(at && strncmp(end - length, of[i][k + 1], length) == 0 && (length || end[-1] != ']')))
                printf("  %s %s\n", of[i][0], of[i][k]);
        }
    }
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        int count = 0;
        snprintf(line, sizeof line, "%s --help", all[i].command);
        CHECK_EQ(run("", line), 0);
        for (const char* at = printed("out"); (at = strstr(at, "\n  --")); at++) count++;
        CHECK_EQ(count, all[i].options);
    }
    CHECK_EQ(run("", "convert a b --json"), 2); /* these two have no report in JSON */
    CHECK_EQ(run("", "export a b --json"), 2);
}

TEST(version_is_the_headers)
{
    CHECK_EQ(run("", "--version"), 0);
    CHECK_STR(printed("out"), "ggnn-data " GGNN_VERSION "\n");
    CHECK_EQ(run("", "--version --json info"), 0); /* the first word says it */
    CHECK_STR(printed("out"), "ggnn-data " GGNN_VERSION "\n");
    CHECK_EQ(run("", "info --version"), 2);
    CHECK_STR(printed("out"), "");
}

TEST(failures_exit_with_1_and_leave_no_file)
{
    static const char* const command[] = {"info /nonexistent", "verify /nonexistent", "stats /nonexistent",
                                          "export /nonexistent OUT"};
    char line[2048];
    int before;
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(run("", command[i]), 1);
        CHECK(prints("err", "/nonexistent: cannot open"));
    }
    before = count_files();
    snprintf(line, sizeof line, "generate rmat %s/new --nodes 64 --edges 4000", folder);
    CHECK_EQ(run("", line), 1);
    CHECK(prints("err", "distinct ones among"));
    CHECK_EQ(run("", "generate grid /nonexistent/new"), 1);
    CHECK(prints("err", "/nonexistent/new: cannot create"));
    snprintf(line, sizeof line, "generate planted %s/new", folder);
    CHECK_EQ(run("ulimit -f 1000;", line), 1); /* 1,000 blocks of 512 or 1,024 bytes stand for a full disk */
    CHECK(prints("err", "no room"));
    CHECK_EQ(count_files(), before);
    snprintf(line, sizeof line, "generate karate %s/karate", folder);
    CHECK_EQ(run("", line), 0);
    snprintf(line, sizeof line, "%s info %s/karate >/dev/full 2>%s/err", tool, folder, folder);
    CHECK(system(line) != 0);
    CHECK(prints("err", "cannot write to standard output: No space left"));
}

/* Runs the command with allocation 1 failing, then 2 ..., until none fails: each time exit code 1, the message, and
   the folder as before. */
static void check_allocations(const char* command, int least)
{
    int before = count_files(), failures = 0, code = 1;
    for (int n = 1; n < 100 && code == 1; n++) {
        char setting[64];
        snprintf(setting, sizeof setting, "GGNN_TEST_FAIL_ALLOCATION=%d", n);
        code = run(setting, command);
        if (code == 0) break;
        failures++;
        CHECK_EQ(code, 1);
        CHECK(prints("err", "ggnn-data: out of memory: ") && prints("err", " bytes for "));
        CHECK_EQ(count_files(), before);
    }
    CHECK_EQ(code, 0);
    if (!CHECK(failures >= least)) printf("  %s: %d allocations\n", command, failures);
}

TEST(every_allocation_that_fails_is_an_error_that_leaves_nothing_behind)
{
    static const struct {
        const char *before, *after; /* the folder's name */
        int least;
    } command[] = {{"generate planted ", "/new --nodes 50 --edges 200 --features 3", 4},
                   {"generate citation ", "/new --nodes 50 --edges 200 --features 3 --classes 2", 5},
                   {"generate rmat ", "/new --nodes 50 --edges 200 --features 3 --classes 2", 5},
                   {"generate rmat ", "/new --nodes 50 --edges 200 --features 3 --classes 2 --train-by proportional", 8},
                   {"generate karate ", "/new", 2},
                   {"generate path ", "/new --nodes 50 --edge-features 2", 3},
                   {"info ", "/karate", 1},
                   {"stats ", "/karate", 5}};
    char line[2048], path[600];
    snprintf(line, sizeof line, "generate karate %s/karate", folder);
    CHECK_EQ(run("", line), 0);
    for (size_t i = 0; i < sizeof command / sizeof *command; i++) {
        snprintf(line, sizeof line, "%s%s%s", command[i].before, folder, command[i].after);
        check_allocations(line, command[i].least);
        remove(folder_path(path, "new"));
    }
    write_random_graph(4, false, false); /* unsorted lists: stats sorts a copy */
    snprintf(line, sizeof line, "stats %s", target);
    check_allocations(line, 7);
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    test_seed(1);
    tool_find();
    folder_make();
    folder_path(target, "a.ggnn");
    RUN(random_kinds_have_exactly_the_edges_asked_for);
    RUN(a_complete_graph_can_be_asked_for);
    RUN(planted_communities_are_equal_and_attract_edges);
    RUN(planted_candidates_reach_every_node_as_often_as_its_community_says);
    RUN(planted_features_alone_do_not_suffice_and_what_they_reach_is_printed);
    RUN(every_row_of_features_is_the_mean_of_its_class_and_its_own_noise);
    RUN(every_row_of_an_edge_is_the_mean_of_its_sources_class_and_its_own_noise);
    RUN(of_more_than_20000_test_nodes_evenly_some_are_judged);
    RUN(citation_labels_are_one_field_and_training_comes_before_testing);
    RUN(citation_trains_78_and_validates_8_of_a_hundred_rounded_up);
    RUN(rmat_fills_quadrants_as_its_four_chances_say);
    RUN(directed_papers_receive_from_those_that_they_cite);
    RUN(directed_edges_are_distinct_and_join_two_nodes);
    RUN(the_share_that_trains_is_the_one_asked_for);
    RUN(nodes_train_in_proportion_to_in_degree_by_the_least_keys);
    RUN(the_chance_to_train_is_the_share_of_in_edges);
    RUN(labels_of_other_kinds_are_the_majority_of_the_neighbours);
    RUN(every_class_has_its_share_of_the_nodes_however_few_there_are);
    RUN(grid_star_and_path_join_whom_they_should);
    RUN(karate_is_zacharys_club);
    RUN(each_kind_has_its_own_defaults);
    RUN(what_a_kind_cannot_be_is_said);
    RUN(each_option_of_generate_is_a_field_of_its_options);
    RUN(splits_and_labels_on_request_are_those_of_rmat);
    RUN(karates_split_is_the_leaders_and_every_fourth);
    RUN(of_equally_near_means_the_first_is_the_guess);
    RUN(seeds_keep_their_graphs);
    RUN(the_same_seed_gives_the_same_file_for_any_number_of_threads);
    RUN(normals_equal_the_formula_and_have_its_moments);
    RUN(normals_are_of_points_between_the_middle_and_the_rim);
    RUN(a_row_takes_the_pairs_of_all_blocks_in_turn);
    RUN(statistics_equal_brute_force);
    RUN(quantiles_are_the_degrees_of_nearest_rank);
    RUN(stats_prints_all_that_it_counts);
    RUN(stats_names_the_bins_of_large_degrees);
    RUN(verify_says_of_every_check_whether_it_holds);
    RUN(verify_wants_the_identity_as_one_number);
    RUN(verify_knows_the_last_right_value_from_the_first_wrong_one);
    RUN(info_prints_all_that_a_file_holds);
    RUN(verify_passes_what_is_right);
    RUN(verify_finds_what_is_wrong);
    RUN(verify_names_the_first_of_several_wrong_values);
    RUN(verify_names_the_first_wrong_value_of_a_piece);
    RUN(verify_tells_large_external_ids_apart);
    RUN(verify_finds_a_flipped_byte_and_goes_on);
    RUN(files_without_a_graph_have_info_and_checksums);
    RUN(info_and_stats_print_text_and_json);
    RUN(stats_counts_the_nodes_of_every_class);
    RUN(export_writes_matrix_market_and_csv);
    RUN(export_writes_nodes_of_which_one_thing_is_known);
    RUN(export_writes_npy);
    RUN(export_writes_halves_and_real_labels_as_npy);
    RUN(export_writes_the_masks_of_every_split);
    RUN(export_and_convert_give_the_same_arrays_back);
    RUN(export_writes_all_that_is_there_and_nothing_else);
    RUN(a_graph_without_edges_has_weights_and_one_without_classes_has_labels);
    RUN(export_does_not_hide_a_part_that_there_is_not);
    RUN(export_writes_the_masks_of_one_split_as_vectors);
    RUN(export_refuses_a_graph_that_is_broken_and_an_output_that_cannot_be);
    RUN(rounds_of_candidates_find_the_rarest_pairs);
    RUN(export_writes_no_damaged_section);
    RUN(export_tries_a_thousand_temporary_names);
    RUN(wrong_usage_exits_with_2_and_says_why);
    RUN(options_of_the_commands_are_taken_up_to_the_ends_of_their_ranges);
    RUN(names_of_commands_and_options_are_whole_words);
    RUN(what_is_printed_stands_before_the_error_that_ended_it);
    RUN(a_command_never_writes_over_what_it_reads);
    RUN(help_exits_with_0_and_goes_to_standard_output);
    RUN(help_lists_every_command_and_each_has_its_own);
    RUN(help_says_the_default_of_every_option);
    RUN(version_is_the_headers);
    RUN(failures_exit_with_1_and_leave_no_file);
    RUN(every_allocation_that_fails_is_an_error_that_leaves_nothing_behind);
    folder_remove();
    return test_finish();
}
