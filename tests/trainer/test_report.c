/* trainer/report.h: every number of every record and line against what was handed in, each of them another one. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/capture.h"
#include "tests/folder.h"
#include "tests/test.h"
#include "tests/fixture.h"
#include "trainer/report.h"
#include "trainer/trace.h"

/* ==== helpers =================================================================================================== */

static const char* printed; /* between capture() and captured() */
static char log_path[600], logged[1 << 15];
static device quiet;

/* Of a run of ten epochs of eight mini-batches, which writes a log. */
static report begin(void)
{
    static config c;
    report r;
    error why = {""};
    c.epochs = 10;
    c.log = log_path;
    report_begin(&r, &c);
    r.terminal = false;
    r.batches = 8;
    quiet.most_bytes = 0;
    r.device = &quiet;
    CHECK(report_open(&r, &c, &why));
    return r;
}

/* Closes it; its log is then in `logged`. */
static void end(report* r)
{
    error why = {""};
    CHECK(report_close(r, &why));
    FILE* in = fopen(log_path, "rb");
    logged[in ? fread(logged, 1, sizeof logged - 1, in) : 0] = 0;
    if (in) fclose(in);
}

/* Bytes of memory of this process, by a line of /proc/self/status. */
static int64_t memory_by(const char* title)
{
    char line[256];
    long long kib = 0;
    FILE* status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (strncmp(line, title, strlen(title)) == 0) kib = strtoll(line + strlen(title), NULL, 10);
    if (status) fclose(status);
    return (int64_t)kib << 10;
}

static int64_t peak(void) { return memory_by("VmHWM:"); }     /* at most so far */
static int64_t resident(void) { return memory_by("VmRSS:"); } /* now */
static double least_peak; /* as it was before the report */

/* Takes `"seconds":X` and `"peak_memory_bytes":N` out of the log, of which they were the last two; X is at least that. */
static void cut_measured(double seconds)
{
    char* at = strstr(logged, "\"seconds\":");
    if (!CHECK(at != NULL)) return;
    CHECK(strtod(at + 10, NULL) >= seconds && strtod(at + 10, NULL) < seconds + 100);
    char* rest = at + strcspn(at, ",}");
    if (!strncmp(rest, ",\"peak_memory_bytes\":", 21)) {
        CHECK(strtod(rest + 21, NULL) >= least_peak && strtod(rest + 21, NULL) <= (double)peak());
        rest++;
        rest += strcspn(rest, ",}");
    }
    memmove(at, rest, strlen(rest) + 1);
}

static const score some = {.known = 7, .broken = -1, .loss = 1.25, .metrics = {.5, .375, .8125}};

/* ==== epochs and ends =========================================================================================== */

TEST(an_epochs_line_and_record_have_its_numbers)
{
    static const score unknown = {.known = 0, .broken = -1, .loss = NAN, .metrics = {NAN, NAN, NAN}};
    static const struct {
        const score* val;
        bool best;
        int64_t rows;
        const char *line, *record;
        bool real;
    } epoch[] = {
        {&some, true, 4, "epoch 3/10  loss 2.2500  val loss 1.2500  val agreement at 1/2 50.00 %  best  ",
         "\"loss\":2.25,\"val_loss\":1.25,\"val_agreement\":0.5,\"val_macro_f1\":0.375,\"val_roc_auc\":0.8125,\"best\":true", true},
        {&some, true, 4, "epoch 3/10  loss 2.2500  val loss 1.2500  val accuracy 50.00 %  best  ",
         "\"loss\":2.25,\"val_loss\":1.25,\"val_accuracy\":0.5,\"val_macro_f1\":0.375,\"val_roc_auc\":0.8125,\"best\":true", false},
        {&some, false, 4, "epoch 3/10  loss 2.2500  val loss 1.2500  val accuracy 50.00 %  ",
         "\"loss\":2.25,\"val_loss\":1.25,\"val_accuracy\":0.5,\"val_macro_f1\":0.375,\"val_roc_auc\":0.8125,\"best\":false", false},
        {NULL, false, 4, "epoch 3/10  loss 2.2500  ", "\"loss\":2.25,\"val_loss\":null,\"val_accuracy\":null,\"val_macro_f1\":null,\"val_roc_auc\":null,\"best\":false", false},
        {&unknown, true, 0, "epoch 3/10  loss nan  ", "\"loss\":null,\"val_loss\":null,\"val_accuracy\":null,\"val_macro_f1\":null,\"val_roc_auc\":null,\"best\":true", false},
    };
    const train_state at = {.epoch = 3, .batch = 5, .step = 21, .loss_rows = 4, .loss_sum = 9, .best_epoch = 2, .best_loss = 8};
    for (size_t i = 0; i < sizeof epoch / sizeof *epoch; i++) {
        train_state now = at;
        char record[400];
        double seconds = -1;
        now.loss_rows = epoch[i].rows;
        report r = begin();
        r.real = epoch[i].real;
        report_epoch_begin(&r);
        CHECK(r.epoch_start >= r.start && r.epoch_start < r.start + 100);
        r.epoch_start -= 5;
        capture();
        report_epoch(&r, &now, .1f, epoch[i].val, epoch[i].best);
        printed = captured();
        end(&r);
        cut_measured(5);
        snprintf(record, sizeof record, "{\"event\":\"epoch\",\"epoch\":3,\"step\":21,\"learning_rate\":0.1,%s,}\n", epoch[i].record);
        CHECK_STR(logged, record);
        const size_t length = strlen(epoch[i].line);
        if (!CHECK(strncmp(printed, epoch[i].line, length) == 0)) printf("  %s", printed);
        CHECK(sscanf(printed + length, "%lf s\n", &seconds) == 1 && seconds >= 5 && strstr(printed, " s\n"));
        CHECK_EQ(strchr(printed, '\n')[1], 0);
    }
}

/* On a terminal a bar, which has the last validation's loss. */
TEST(the_bar_says_where_the_training_is)
{
    report r = begin();
    report_step(&r, &(train_state){.epoch = 3}, .125);
    CHECK_STR(r.bar.note, "");
    r.terminal = true;
    report_step(&r, &(train_state){.epoch = 3}, .125);
    CHECK_STR(r.bar.note, "epoch 4/10  loss 0.1250  val nan");
    capture();
    report_epoch(&r, &(train_state){.epoch = 4, .loss_rows = 1}, 1, &some, false);
    printed = captured();
    CHECK_STR(printed, "");
    report_epoch(&r, &(train_state){.epoch = 5, .loss_rows = 1}, 1, NULL, false);
    report_step(&r, &(train_state){.epoch = 5}, 2);
    CHECK_STR(r.bar.note, "epoch 6/10  loss 2.0000  val 1.2500");
    r.terminal = false;
    end(&r);
}

TEST(the_last_line_and_record_have_the_test_score_and_the_best_epoch)
{
    static const score no_curve = {.known = 2, .broken = -1, .loss = 3.5, .metrics = {.25, .75, NAN}};
    static const score unknown = {.known = 0, .broken = -1, .loss = NAN, .metrics = {NAN, NAN, NAN}};
    static const struct {
        const score* test;
        int64_t has_best, validated, device_bytes;
        const char *line, *record, *memory;
        bool real;
    } of[] = {
        {&some, 1, 30, 0, "test: agreement at 1/2 50.00 %, macro-F1 37.50 %, ROC-AUC 81.25 %  (epoch 6, val loss 0.7500)\n",
         "\"best_epoch\":6,\"val_loss\":0.75,\"test_loss\":1.25,\"test_agreement\":0.5,\"test_macro_f1\":0.375,\"test_roc_auc\":0.8125", "\n", true},
        {&some, 1, 30, 0, "test: accuracy 50.00 %, macro-F1 37.50 %, ROC-AUC 81.25 %  (epoch 6, val loss 0.7500)\n",
         "\"best_epoch\":6,\"val_loss\":0.75,\"test_loss\":1.25,\"test_accuracy\":0.5,\"test_macro_f1\":0.375,\"test_roc_auc\":0.8125", "\n", false},
        {&no_curve, 1, 30, 2500000, "test: accuracy 25.00 %, macro-F1 75.00 %  (epoch 6, val loss 0.7500)\n",
         "\"best_epoch\":6,\"val_loss\":0.75,\"test_loss\":3.5,\"test_accuracy\":0.25,\"test_macro_f1\":0.75,\"test_roc_auc\":null", ", of the device 2.50 MB\n", false},
        {&unknown, 1, 30, 0, "test: no labelled nodes  (epoch 6, val loss 0.7500)\n",
         "\"best_epoch\":6,\"val_loss\":0.75,\"test_loss\":null,\"test_accuracy\":null,\"test_macro_f1\":null,\"test_roc_auc\":null", "\n", false},
        {&some, 1, 0, 0, "test: accuracy 50.00 %, macro-F1 37.50 %, ROC-AUC 81.25 %\n",
         "\"best_epoch\":6,\"val_loss\":0.75,\"test_loss\":1.25,\"test_accuracy\":0.5,\"test_macro_f1\":0.375,\"test_roc_auc\":0.8125", "\n", false},
        {NULL, 0, 30, 0, "test: not evaluated\n",
         "\"best_epoch\":0,\"val_loss\":null,\"test_loss\":null,\"test_accuracy\":null,\"test_macro_f1\":null,\"test_roc_auc\":null", "\n", false},
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        const train_state at = {.epoch = 9, .batch = 5, .step = 77, .has_best = of[i].has_best, .best_epoch = 6, .stale = 3, .best_loss = .75, .loss_sum = 4};
        static task t;
        char record[500], end_of_line[100] = "";
        double seconds = -1;
        t.count[SPLIT_VAL] = of[i].validated;
        report r = begin();
        r.real = of[i].real;
        quiet.most_bytes = of[i].device_bytes;
        r.start -= 50;
        least_peak = (double)peak();
        capture();
        report_final(&r, &t, &at, of[i].test);
        printed = captured();
        end(&r);
        cut_measured(50);
        snprintf(record, sizeof record, "{\"event\":\"final\",\"epochs\":9,\"steps\":77,%s,,\"device_memory_bytes\":%lld}\n", of[i].record, (long long)of[i].device_bytes);
        CHECK_STR(logged, record);
        if (!CHECK(strncmp(printed, of[i].line, strlen(of[i].line)) == 0)) printf("  %s", printed);
        CHECK(sscanf(printed + strlen(of[i].line), "%lf s, peak memory %*f %*c%99[^@]", &seconds, end_of_line) == 2 && seconds >= 50);
        CHECK(end_of_line[0] == 'B');
        CHECK_STR(end_of_line + 1, of[i].memory);
    }
}

TEST(an_interrupted_run_says_where_and_whether_it_is_saved)
{
    const train_state at = {.epoch = 3, .batch = 5, .step = 29};
    static config c;
    for (int saved = 0; saved < 2; saved++) {
        report r = begin();
        c.data = "a b";
        c.save = saved ? "c" : NULL;
        capture();
        report_interrupted(&r, &c, &at);
        printed = captured();
        end(&r);
        CHECK_STR(logged, saved ? "{\"event\":\"interrupted\",\"epoch\":4,\"step\":29,\"saved\":\"c\"}\n" : "{\"event\":\"interrupted\",\"epoch\":4,\"step\":29,\"saved\":null}\n");
        CHECK_STR(printed, saved ? "interrupted in epoch 4 after step 29; saved, go on with --data 'a b' --resume c --save c\n"
                                 : "interrupted in epoch 4 after step 29; nothing saved (--save FILE would)\n");
    }
}

/* Memory that is given back before the report: 64 MiB more than there are then. Another look at the same line of
   /proc/self/status, as the system counts pages a little late. */
TEST(the_peak_is_the_most_that_there_was_and_not_what_there_is)
{
    enum { MORE = 64 << 20 };
    const train_state at = {.epoch = 1};
    static task t;
    char words[40], amount[16];
    char* more = mmap(NULL, MORE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(more != MAP_FAILED);
    memset(more, 1, MORE);
    munmap(more, MORE);
    const int64_t before = peak();
    if (!before) SKIP("no peak in /proc/self/status");
    CHECK(before - resident() > MORE / 2);
    report r = begin();
    capture();
    report_final(&r, &t, &at, NULL);
    printed = captured();
    end(&r);
    const char* logged_peak = strstr(logged, "\"peak_memory_bytes\":");
    const double is = logged_peak ? strtod(logged_peak + 20, NULL) : 0;
    CHECK(is >= (double)before && is <= (double)peak() && is - (double)resident() > MORE / 2);
    snprintf(words, sizeof words, " s, peak memory %sB\n", progress_amount(amount, is));
    CHECK(strstr(printed, words) != NULL);
}

/* ==== the start ================================================================================================= */

/* On one device and on two of six of another host's; with a partition, owners and a checkpoint, and without. */
TEST(the_first_lines_and_records_have_what_is_trained_and_on_what)
{
    static int64_t bound[] = {0, 300, 500, 700};
    char words[400], expected[2000];
    error why = {""};
    fixture* f = fixture_new();
    task* t = &f->task;
    device* d = device_open_cpu(2, &why);
    const net_config how = {.device = d, .model = NET_SAGE, .layers = 2, .hidden = 16, .outputs = CLASSES, .full_batch = true};
    net* n = net_create(&how, &f->data, NULL, NULL, &why);
    if (!CHECK(n != NULL)) return;
    const int64_t parameters = 2 * WIDTH * 16 + 16 + 2 * 16 * CLASSES + CLASSES;
    t->set = (dataset){.num_nodes = NODES, .num_edges = 81234, .feat = {.width = WIDTH}};
    static ggnn_file_section section[] = {{.name = "indptr", .crc = 1}, {.name = "indices"}};
    t->set.file = (ggnn_file){.path = "the data", .section = section, .num_sections = 2};
    while (ggnn_file_graph_crc(&t->set.file) <= INT32_MAX) section[1].crc++;
    t->count[SPLIT_TRAIN] = 466, t->count[SPLIT_VAL] = 31, t->count[SPLIT_TEST] = 17;
    for (int several = 0; several < 2; several++) {
        const train_state at = {.epoch = several ? 2 : 0, .step = several ? 19 : 0};
        comm with;
        comm_open_alone(&with, &(volatile sig_atomic_t){0});
        config c = config_of(words, several ? "--precision fp32" : "");
        c.epochs = 10;
        c.fanout_text = c.plain_fanout; /* of this copy */
        if (several) {
            with.ranks = 6, with.locals = 2, with.machines = 3;
            c.resume = "a\nb";
            snprintf(d->name, sizeof d->name, "Some Device");
            t->division = (division){.parts = 3, .hops = 1, .num_ids = 466, .trained = {156, 155, 155}, .held = {500, 480, 510}, .touched = 596, .limit = 77, .cut = 5, .crc = 4000000000u};
            t->owners = (node_owners){.at = {.parts = 3}, .method = "metis", .most = 300, .bound = bound, .crc = 3000000000u};
        }
        report r = begin();
        r.batches = -1;
        capture();
        report_start(&r, &c, t, n, &with, several ? 4 : 1, several ? 8 : 1, &at);
        printed = captured();
        snprintf(expected, sizeof expected, "the data: 700 nodes, 81.2 k edges, 12 features, 5 classes; 466 to train, 31 to validate, 17 to test\n"
                 "2 layers, %d parameters; %s%s", (int)parameters, several ? "8 mini-batches an epoch, 6 devices, 4 threads\n" : "1 mini-batch an epoch, 1 thread\n",
                 several ? "on cpu: Some Device\npartition: 155 to 156 training nodes a device (balance 1.004), 480 to 510 nodes within 1 hops of them (replication 2.500), counted\n"
                           "5 training nodes reach more than 77 nodes: --closure-limit cut them where it chose their devices\n"
                           "owners by metis: 200 to 300 nodes a device\nresumed from a\\x0ab after epoch 2, step 19\n" : "");
        CHECK_STR(printed, expected);
        CHECK_EQ(r.batches, several ? 8 : 1);
        CHECK_EQ(r.bar.total, several ? 10 * 8 - 19 : 10);
        CHECK(!strcmp(r.bar.what, "training") && !strcmp(r.bar.unit, "steps") && r.device == d);
        end(&r);
        char *from = strstr(logged, "\"options\":{"), *to = strstr(logged, "},\"data\":");
        if (CHECK(from && to)) memmove(from, to + 2, strlen(to + 2) + 1);
        snprintf(expected, sizeof expected, "{\"event\":\"start\",\"version\":\"" GGNN_VERSION "\",\"data\":{\"file\":\"the data\",\"nodes\":700,\"edges\":81234,\"features\":12,"
                 "\"classes\":5,\"outputs\":5,\"train\":466,\"val\":31,\"test\":17,\"graph_crc\":%lld},\"parameters\":%d,\"batches\":%d,\"run\":{\"devices\":%d,\"threads\":%d,"
                 "\"backend\":\"cpu\",\"device\":\"%s\",\"precision\":\"fp32\",\"gemm\":\"%s\",\"compiler\":\"%s\",", (long long)ggnn_file_graph_crc(&t->set.file),
                 (int)parameters, several ? 8 : 1, several ? 6 : 1, several ? 4 : 1, several ? "Some Device" : "", d->gemm[0], __VERSION__);
        if (!CHECK(strncmp(logged, expected, strlen(expected)) == 0)) printf("  %s\n  %s\n", expected, logged);
        const char* rest = strstr(logged, "\"resumed_epoch\"");
        CHECK_STR(rest ? rest : logged,
                  several ? "\"resumed_epoch\":2,\"resumed_step\":19}}\n"
                            "{\"event\":\"partition\",\"parts\":3,\"hops\":1,\"closure_limit\":77,\"closures_cut\":5,\"trained\":[156,155,155],\"held\":[500,480,510],"
                            "\"balance\":1.0042918454935623,\"replication\":2.5,\"crc\":4000000000}\n"
                            "{\"event\":\"owners\",\"parts\":3,\"method\":\"metis\",\"most\":300,\"nodes\":[300,200,200],\"crc\":3000000000}\n"
                          : "\"resumed_epoch\":0,\"resumed_step\":0}}\n");
    }
    net_free(n);
    device_close(d);
    fixture_free(f);
}

/* ==== a terminal ================================================================================================ */

static int screen, kept; /* the terminal's other end; what was at its descriptor */

/* Descriptor `at` is a terminal from here on. */
static bool put_terminal(int at)
{
    screen = posix_openpt(O_RDWR | O_NOCTTY);
    if (screen < 0 || grantpt(screen) || unlockpt(screen)) return false;
    const int slave = open(ptsname(screen), O_RDWR | O_NOCTTY);
    fflush(NULL);
    kept = dup(at);
    dup2(slave, at);
    close(slave);
    return true;
}

/* What was written to it. */
static const char* take_terminal(int at)
{
    static char text[2048];
    size_t length = 0;
    fflush(NULL);
    dup2(kept, at);
    close(kept);
    while (length < sizeof text - 1 && read(screen, text + length, 1) == 1) length++;
    close(screen);
    text[length] = 0;
    return text;
}

TEST(the_bar_is_drawn_where_standard_error_is_a_terminal)
{
    static config c;
    report r;
    for (int at = STDOUT_FILENO; at <= STDERR_FILENO; at++) {
        if (!put_terminal(at)) SKIP("no pseudo-terminal");
        report_begin(&r, &c);
        take_terminal(at);
        CHECK_EQ(r.terminal, at == STDERR_FILENO);
    }
    report_begin(&r, &c);
    CHECK(!r.terminal || isatty(STDERR_FILENO));
}

/* Steps since the run was resumed: 8 of 59. */
TEST(the_bar_begins_where_the_run_was_resumed)
{
    report r = begin();
    if (!put_terminal(STDERR_FILENO)) SKIP("no pseudo-terminal");
    r.terminal = true;
    progress_begin(&r.bar, "training", "steps", 10 * 8 - 21);
    r.bar.start -= 1e6;
    r.bar.drawn -= 1;
    report_step(&r, &(train_state){.epoch = 3, .step = 29}, .125);
    r.terminal = false;
    const char* text = take_terminal(STDERR_FILENO);
    CHECK(strstr(text, "\rtraining [###---------------------]  14%  8 steps  ") == text);
    end(&r);
}

enum { RANKS = 3 };

/* Whatever is printed beside it, and at the end. */
TEST(the_bar_is_taken_away_before_anything_else_is_printed)
{
    static config c;
    static task t;
    static tier_plan plan;
    static rank_cost all[RANKS];
    static net traced;
    error why = {""};
    for (int what = 0; what < 8; what++)
        for (int terminal = 0; terminal < 2; terminal++) {
            report r = begin();
            r.terminal = terminal;
            capture();
            if (!put_terminal(STDERR_FILENO)) {
                captured();
                SKIP("no pseudo-terminal");
            }
            if (what == 0) report_make_room(&r);
            if (what == 1) report_interrupted(&r, &c, &(train_state){.epoch = 1});
            if (what == 2) report_final(&r, &t, &(train_state){.epoch = 1}, NULL);
            if (what == 3) report_tiers(&r, all, RANKS, &plan, 0, 0);
            if (what == 4) report_print_ranks(&r, all, RANKS);
            if (what == 5) report_close(&r, &why);
            if (what == 7) report_print_busy(&r, all, RANKS);
            if (what == 6) trace_begin(&(trace){.report = &r, .net = &traced, .step = 8}, &(train_state){.step = 7});
            captured();
            CHECK_STR(take_terminal(STDERR_FILENO), terminal ? "\r\033[K" : "");
            r.terminal = false;
            report_close(&r, &why);
        }
}

/* Once, and on a terminal in a line of its own. */
TEST(a_log_that_cannot_be_written_is_said_beside_the_bar_and_at_the_end)
{
    if (access("/dev/full", W_OK)) SKIP("no /dev/full");
    for (int terminal = 0; terminal < 2; terminal++) {
        static config c;
        report r;
        error why = {""};
        c.log = "/dev/full";
        report_begin(&r, &c);
        CHECK(report_open(&r, &c, &why));
        if (!put_terminal(STDERR_FILENO)) SKIP("no pseudo-terminal");
        r.terminal = terminal;
        report_ranks(&r, NULL, 0);
        report_ranks(&r, NULL, 0);
        r.terminal = false;
        const char* text = take_terminal(STDERR_FILENO);
        CHECK_STR(text, terminal ? "\r\033[Kggnn-train: warning: /dev/full: cannot write the log: No space left on device; training goes on without it\r\n"
                                 : "ggnn-train: warning: /dev/full: cannot write the log: No space left on device; training goes on without it\r\n");
        CHECK(!report_close(&r, &why));
        CHECK_STR(why.text, "/dev/full: cannot write the log: No space left on device");
    }
}

/* ==== a log that is a pipe ====================================================================================== */

enum { PIPED = 30000 };
static char piped[2 * PIPED];
static size_t piped_bytes;

/* Reads slowly, and begins late. */
static void* read_pipe(void* context)
{
    const int in = *(const int*)context;
    usleep(10000);
    for (ssize_t n; (n = read(in, piped + piped_bytes, 2000)) > 0; usleep(1000)) piped_bytes += (size_t)n;
    return NULL;
}

static int interruptions;
static void interrupt(int signal_number) { (void)signal_number, interruptions++; }

/* Signals interrupt it as long as it waits. */
TEST(a_log_that_is_a_pipe_waits_for_its_reader)
{
    static char words[PIPED + 1], wanted[PIPED + 100];
    const struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    struct sigaction on = {.sa_handler = interrupt}, before;
    sigset_t alarm;
    pthread_t reader;
    char path[600];
    log_file l;
    json j;
    error why = {""};
    CHECK_EQ(mkfifo(folder_path(path, "pipe"), 0600), 0);
    const int in = open(path, O_RDONLY | O_NONBLOCK);
    CHECK(in >= 0 && fcntl(in, F_SETPIPE_SZ, 4096) >= 4096 && fcntl(in, F_SETFL, 0) == 0);
    CHECK(log_open(&l, path, false, &why));
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm, NULL); /* the reader's reads are not interrupted */
    CHECK_EQ(pthread_create(&reader, NULL, read_pipe, (void*)(uintptr_t)&in), 0);
    sigaction(SIGALRM, &on, &before);
    pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
    memset(words, 'x', PIPED);
    setitimer(ITIMER_REAL, &often, NULL);
    CHECK(log_begin(&l, &j, "long"));
    json_string(&j, "words", words);
    CHECK(log_end(&l, &j));
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &before, NULL);
    CHECK(log_close(&l, &why));
    CHECK_STR(why.text, "");
    pthread_join(reader, NULL);
    close(in);
    snprintf(wanted, sizeof wanted, "{\"event\":\"long\",\"words\":\"%s\"}\n", words);
    CHECK(piped_bytes == strlen(wanted) && memcmp(piped, wanted, piped_bytes) == 0 && interruptions > 0);
}

/* A limit that is gone again leaves no gap: what could not be written is the end. */
TEST(no_record_follows_one_that_could_not_be_written)
{
    char path[600], words[2000], text[4000] = "";
    log_file l;
    json j;
    error why = {""};
    struct rlimit before, less;
    CHECK(log_open(&l, folder_path(path, "limited"), false, &why));
    CHECK(log_begin(&l, &j, "first") && log_end(&l, &j));
    memset(words, 'x', sizeof words);
    words[sizeof words - 1] = 0;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    CHECK_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    less = before;
    less.rlim_cur = 1000;
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &less), 0);
    CHECK(log_begin(&l, &j, "second"));
    json_string(&j, "words", words);
    const bool wrote = log_end(&l, &j);
    CHECK_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    CHECK(!wrote && strstr(l.failed.text, "limited: cannot write the log: "));
    CHECK(!log_begin(&l, &j, "third"));
    CHECK(!log_close(&l, &why) && strstr(why.text, "limited: cannot write the log: "));
    FILE* in = fopen(path, "r");
    if (CHECK(in != NULL)) CHECK_EQ(fread(text, 1, sizeof text - 1, in), strlen("{\"event\":\"first\"}\n"));
    if (in) fclose(in);
    CHECK_STR(text, "{\"event\":\"first\"}\n");
}

/* ==== ranks ===================================================================================================== */

/* A number for each member of each rank, far from all others: 10,000,000 r + 100,000 a + b. */
static int64_t number_of(int r, int of, int member) { return 10000000 * (r + 1) + 100000 * of + member; }
static tiers_reads reads_of(int r, int of)
{
    return (tiers_reads){number_of(r, of, 1), number_of(r, of, 2), number_of(r, of, 3), number_of(r, of, 4)};
}
static tiers_count count_of(int r, int of) { return (tiers_count){reads_of(r, of), reads_of(r, of + 1), reads_of(r, of + 2), reads_of(r, of + 3)}; }
static double seconds_of(int r, int member) { return (double)(r + 1) + (double)member / 64; }

static void fill(rank_cost all[RANKS], bool split, bool sliced)
{
    memset(all, 0, RANKS * sizeof *all);
    for (int r = 0; r < RANKS; r++) {
        rank_cost* k = &all[r];
        k->rows = count_of(r, 1);
        k->lists = count_of(r, 5);
        k->evaluated = reads_of(r, 9);
        for (int i = 0; i < RANKS; i++) k->from[i] = number_of(r, 10, i);
        k->sent = number_of(r, 11, 0);
        if (sliced) k->sampled = number_of(r, 12, 0);
        if (sliced) k->trained = number_of(r, 12, 1);
        if (sliced) k->marked = number_of(r, 12, 2);
        k->split = split;
        if (split)
            k->parts = (rank_parts){number_of(r, 13, 0), number_of(r, 13, 1), number_of(r, 13, 2), number_of(r, 13, 3), number_of(r, 13, 4), number_of(r, 13, 5)};
        double* const seconds[] = {&k->seconds, &k->sample, &k->mark, &k->copy, &k->extract, &k->train, &k->batch, &k->evaluation, &k->comm, &k->waited};
        for (int i = 0; i < 10; i++) *seconds[i] = seconds_of(r, i);
    }
}

static char expected[1 << 14];
static size_t used;
#define EXPECT(...) (used += (size_t)snprintf(expected + used, sizeof expected - used, __VA_ARGS__))

static void expect_array(const char* key, int of, int member)
{
    EXPECT("\"%s\":[", key);
    for (int r = 0; r < RANKS; r++) EXPECT("%s%lld", r ? "," : "", (long long)number_of(r, of, member));
    EXPECT("]");
}

static void expect_reads(const char* key, int of)
{
    static const char* const where[] = {"cache", "own", "peer", "host"};
    EXPECT(",\"%s\":{", key);
    for (int i = 0; i < 4; i++) {
        if (i) EXPECT(",");
        expect_array(where[i], of, 1 + i);
    }
    EXPECT("}");
}

static void expect_object(const char* key, int of, const char* const* member, int count)
{
    EXPECT(",\"%s\":{", key);
    for (int i = 0; i < count; i++) {
        if (i) EXPECT(",");
        expect_array(member[i], of, i);
    }
    EXPECT("}");
}

static void expect_seconds(void)
{
    static const char* const name[] = {"training", "sample", "mark", "copy", "extract", "train", "batch", "evaluation", "comm", "waited"};
    EXPECT(",\"seconds\":{");
    for (int i = 0; i < 10; i++) {
        EXPECT("%s\"%s\":[", i ? "," : "", name[i]);
        for (int r = 0; r < RANKS; r++) EXPECT("%s%.17g", r ? "," : "", seconds_of(r, i));
        EXPECT("]");
    }
    EXPECT("}");
}

TEST(the_record_of_ranks_has_what_each_did_by_its_name)
{
    static const char *const slices[] = {"sampled", "trained", "marked"}, *const split[] = {"targets", "edges", "loaded", "own", "peer", "bytes"};
    for (int kind = 0; kind < 3; kind++) {
        rank_cost all[RANKS];
        fill(all, kind == 1, kind == 2);
        report r = begin();
        report_ranks(&r, all, RANKS);
        end(&r);
        used = 0;
        EXPECT("{\"event\":\"ranks\"");
        expect_reads("rows", 3);
        expect_reads("bytes", 4);
        expect_reads("lists", 7);
        expect_reads("list_bytes", 8);
        expect_reads("evaluation_rows", 9);
        EXPECT(",\"rows_from\":[");
        for (int k = 0; k < RANKS; k++) EXPECT("%s[%lld,%lld,%lld]", k ? "," : "", (long long)number_of(k, 10, 0), (long long)number_of(k, 10, 1), (long long)number_of(k, 10, 2));
        EXPECT("],");
        expect_array("sent_bytes", 11, 0);
        if (kind == 2) expect_object("slices", 12, slices, 3);
        if (kind == 1) expect_object("split", 13, split, 6);
        expect_seconds();
        EXPECT("}\n");
        CHECK_STR(logged, expected);
    }
}

/* One rank that sampled all, or trained on all, has slices; so has a last one alone. */
TEST(slices_are_those_of_a_run_in_which_any_rank_had_one)
{
    for (int i = 0; i < 4; i++) {
        rank_cost all[RANKS];
        fill(all, false, false);
        if (i < 2) *(i ? &all[2].sampled : &all[0].sampled) = 5;
        else *(i > 2 ? &all[2].trained : &all[0].trained) = 5;
        report r = begin();
        report_ranks(&r, all, RANKS);
        end(&r);
        static const char* const should[] = {"{\"sampled\":[5,0,0],\"trained\":[0,0,0],\"marked\":[0,0,0]}", "{\"sampled\":[0,0,5],\"trained\":[0,0,0],\"marked\":[0,0,0]}",
                                             "{\"sampled\":[0,0,0],\"trained\":[5,0,0],\"marked\":[0,0,0]}", "{\"sampled\":[0,0,0],\"trained\":[0,0,5],\"marked\":[0,0,0]}"};
        const char* at = strstr(logged, ",\"slices\":");
        CHECK(at && strncmp(at + 10, should[i], strlen(should[i])) == 0);
    }
}

/* Of seventeen ranks the rows that came from the first sixteen. */
TEST(rows_come_from_sixteen_ranks_at_most)
{
    static rank_cost all[GGNN_DEVICES_MAX + 1];
    for (int ranks = GGNN_DEVICES_MAX - 1; ranks <= GGNN_DEVICES_MAX + 1; ranks++) {
        report r = begin();
        for (int k = 0; k < ranks; k++)
            for (int i = 0; i < GGNN_DEVICES_MAX; i++) all[k].from[i] = number_of(k, 10, i);
        report_ranks(&r, all, ranks);
        end(&r);
        used = 0;
        EXPECT(",\"rows_from\":[");
        for (int k = 0; k < ranks; k++)
            for (int i = 0; i < GGNN_DEVICES_MAX && i < ranks; i++)
                EXPECT("%s%lld%s", i ? "," : k ? ",[" : "[", (long long)number_of(k, 10, i), i + 1 == GGNN_DEVICES_MAX || i + 1 == ranks ? "]" : "");
        EXPECT("],\"sent_bytes\":[");
        CHECK(strstr(logged, expected) != NULL);
    }
}

TEST(the_tables_of_ranks_have_all_columns_of_each_and_their_sums)
{
    rank_cost all[RANKS];
    fill(all, true, false);
    report r = begin();
    capture();
    report_print_ranks(&r, all, RANKS);
    printed = captured();
    end(&r);
    const char *line = strstr(printed, "\n  device       cache         own        peer        host     cache       own      peer      host   sample     mark     copy  "
                                       "extract    train evaluate  waiting   MB sent\n");
    if (!CHECK(line != NULL)) return;
    line = strchr(line + 1, '\n') + 1;
    for (int k = 0; k <= RANKS; k++, line = strchr(line, '\n') + 1) { /* the last one: all */
        double should[16] = {0};
        char text[400], name[16] = "all";
        for (int i = 0; i < RANKS; i++) {
            if (k < RANKS && i != k) continue;
            for (int m = 0; m < 4; m++) should[m] += (double)number_of(i, 3, 1 + m);
            for (int m = 0; m < 4; m++) should[4 + m] += 1e-6 * (double)number_of(i, 4, 1 + m);
            for (int m = 0; m < 5; m++) should[8 + m] += seconds_of(i, 1 + m);
            should[13] += seconds_of(i, 7);
            should[14] += seconds_of(i, 6) + seconds_of(i, 9);
            should[15] += 1e-6 * (double)number_of(i, 11, 0);
        }
        if (k < RANKS) snprintf(name, sizeof name, "%d", k);
        int length = snprintf(text, sizeof text, "  %-6s", name);
        for (int m = 0; m < 4; m++) length += snprintf(text + length, sizeof text - (size_t)length, " %11.0f", should[m]);
        for (int m = 4; m < 8; m++) length += snprintf(text + length, sizeof text - (size_t)length, " %9.2f", should[m]);
        for (int m = 8; m < 15; m++) length += snprintf(text + length, sizeof text - (size_t)length, " %8.2f", should[m]);
        length += snprintf(text + length, sizeof text - (size_t)length, " %9.2f\n", should[15]);
        if (!CHECK(strncmp(line, text, (size_t)length) == 0)) printf("%s%.*s\n", text, (int)strcspn(line, "\n"), line);
    }
    line = strstr(line, "\n  device     targets       edges    features         own        peer  MB moved\n");
    if (!CHECK(line != NULL)) return;
    line = strchr(line + 1, '\n') + 1;
    for (int k = 0; k <= RANKS; k++, line = strchr(line, '\n') + 1) {
        int64_t should[6] = {0};
        char text[200], name[16] = "all";
        for (int i = 0; i < RANKS; i++)
            for (int m = 0; m < 6; m++) should[m] += k < RANKS && i != k ? 0 : number_of(i, 13, m);
        if (k < RANKS) snprintf(name, sizeof name, "%d", k);
        int length = snprintf(text, sizeof text, "  %-6s", name);
        for (int m = 0; m < 5; m++) length += snprintf(text + length, sizeof text - (size_t)length, " %11lld", (long long)should[m]);
        length += snprintf(text + length, sizeof text - (size_t)length, " %9.2f\n", 1e-6 * (double)should[5]);
        if (!CHECK(strncmp(line, text, (size_t)length) == 0)) printf("%s%.*s\n", text, (int)strcspn(line, "\n"), line);
    }
    CHECK_EQ(*line, 0);
}

TEST(measured_slopes_have_their_points_and_their_line)
{
    static tier_plan plan;
    rank_cost all[RANKS];
    report r = begin();
    fill(all, false, false);
    plan.measured = true;
    plan.slopes = (slopes_times){.hit = {{0, .25, .5, .75, 1}, {.125, .125, .125, .125, .125}}, .ms = {{10, 8.5, 6, 4, 2}, {1, 2, 3, 4, 5}},
                           .fit = {{8000000, 1250000, .875, true}, {0, NAN, NAN, false}}};
    for (int flat = 0; flat < 3; flat++) {
        if (flat) plan.slopes.fit[TIERS_FEATURES] = (slopes_fit){-2000000, 3000000, flat == 1 ? .125 : NAN, false};
        capture();
        report_tiers(&r, all, 1, &plan, 0, 0);
        printed = captured();
        used = 0;
        EXPECT("times of lists an epoch (measured): 10 ms at 0.0%% hits, 8.5 ms at 25.0%% hits, 6 ms at 50.0%% hits, 4 ms at 75.0%% hits, 2 ms at "
               "100.0%% hits; all hits save 8 ms, standard error 1.2: the line explains 87.5%% of the spread\n");
        EXPECT("times of rows an epoch (measured): 1 ms at 12.5%% hits, 2 ms at 12.5%% hits, 3 ms at 12.5%% hits, 4 ms at 12.5%% hits, 5 ms at "
               "12.5%% hits; %s\n", flat == 0   ? "all hit ratios are equal: no line goes through them"
                                     : flat == 1 ? "all hits save -2 ms, standard error 3: the line explains 12.5% of the spread, no saving above noise"
                                                 : "all times are equal");
        CHECK(strncmp(printed, expected, used) == 0);
    }
    plan.slopes.fit[TIERS_FEATURES] = (slopes_fit){0, NAN, NAN, false};
    capture();
    report_tiers(&r, all, 1, &plan, 0, 0);
    captured();
    end(&r);
    used = 0;
    EXPECT(",\"slopes\":{\"lists\":{\"hits\":[0,0.25,0.5,0.75,1],\"ms\":[1e+01,8.5,6,4,2],\"line\":8000000,\"error\":1.25e+06,\"explained\":0.875,"
           "\"clear\":true},\"rows\":{\"hits\":[0.125,0.125,0.125,0.125,0.125],\"ms\":[1,2,3,4,5],\"line\":0,\"error\":null,\"explained\":null,"
           "\"clear\":false}}}\n");
    if (!CHECK(strlen(logged) > used && strcmp(logged + strlen(logged) - used, expected) == 0)) printf("  %s  %s", expected, logged);
}

TEST(the_record_of_tiers_and_its_lines_have_what_lies_where)
{
    static tier_plan plan;
    rank_cost all[RANKS];
    fill(all, false, false);
    all[0].lists.placed = (tiers_reads){7, 0, 1200, 999};
    all[0].lists.placed_bytes = (tiers_reads){700, 5, 2500000, 3100};
    all[0].rows.placed = (tiers_reads){0, 5, 0, 0};
    for (int notes = 0; notes < 3; notes++) {
        memset(plan.note, 0, sizeof plan.note);
        plan.counted = notes ? "device" : NULL;
        for (int i = 0; i < (notes < 2 ? notes : TIER_NOTES_MAX); i++) snprintf(plan.note[i], sizeof plan.note[i], "note %d", i);
        for (int ranks = 1; ranks <= RANKS; ranks += 2) {
            report r = begin();
            capture();
            report_tiers(&r, all, ranks, &plan, 0, 0);
            printed = captured();
            end(&r);
            used = 0;
            for (int i = 0; i < TIER_NOTES_MAX && plan.note[i][0]; i++) EXPECT("note %d\n", i);
            EXPECT("lists%s: own cache 7 (700B), peers 1.20 k (2.50 MB), host 999 (3.10 kB)\n", ranks > 1 ? " of device 0" : "");
            EXPECT("rows%s: own part 5 (10.2 MB)\n", ranks > 1 ? " of device 0" : "");
            CHECK_STR(printed, expected);
        }
        used = 0;
        EXPECT("{\"event\":\"tiers\",\"notes\":[");
        for (int i = 0; i < TIER_NOTES_MAX && plan.note[i][0]; i++) EXPECT("%s\"note %d\"", i ? "," : "", i);
        EXPECT("],\"counted\":%s,\"rows\":{\"cache\":[0,%lld,%lld],\"own\":[5,", notes ? "\"device\"" : "null", (long long)number_of(1, 1, 1), (long long)number_of(2, 1, 1));
        if (!CHECK(strncmp(logged, expected, used) == 0)) printf("  %s  %s", expected, logged);
    }
    fill(all, false, false);
    report r = begin();
    capture();
    report_tiers(&r, all, RANKS, &plan, 0, 0);
    printed = captured();
    end(&r);
    used = 0;
    expect_reads("rows", 1);
    expect_reads("row_bytes", 2);
    expect_reads("lists", 5);
    expect_reads("list_bytes", 6);
    EXPECT("}\n");
    const char* at = strstr(logged, ",\"rows\":");
    CHECK_STR(at ? at : logged, expected);
}

/* ==== the profile =============================================================================================== */

/* What a row of the profile says. A column that is empty: NAN. */
typedef struct { double seconds, share, step, gigabytes, rate, operations; } row;

static row row_of(const char* name)
{
    char begin[64];
    row is = {NAN, NAN, NAN, NAN, NAN, NAN};
    snprintf(begin, sizeof begin, "\n  %-22s ", name);
    const char* at = strstr(printed, begin);
    if (!at) return is;
    at += strlen(begin);
    const int length = (int)strcspn(at, "\n"); /* seconds 9, " %6.1f %%" 9, then 10, 10, 9, 10 columns */
    static const int from[] = {0, 10, 18, 28, 38, 47, 57};
    double* const to[] = {&is.seconds, &is.share, &is.step, &is.gigabytes, &is.rate, &is.operations};
    for (int i = 0; i < 6 && from[i] < length; i++) {
        char field[16] = "";
        snprintf(field, sizeof field, "%.*s", (length < from[i + 1] ? length : from[i + 1]) - from[i], at + from[i]);
        if (field[strspn(field, " ")]) *to[i] = strtod(field, NULL);
    }
    return is;
}

static bool same(double is, double should, double tolerance) { return isnan(should) ? isnan(is) : fabs(is - should) <= tolerance; }

static void check_row(const char* name, double seconds, double bytes, double operations, double total, double steps)
{
    const row is = row_of(name);
    const bool good = same(is.seconds, seconds, .0006) && same(is.share, 100 * seconds / total, .2)
                   && same(is.step, steps > 0 ? 1e3 * seconds / steps : (double)NAN, .006) && same(is.gigabytes, bytes > 0 ? 1e-9 * bytes : (double)NAN, .006)
                   && same(is.rate, bytes > 0 ? 1e-9 * bytes / seconds : (double)NAN, .06)
                   && same(is.operations, operations > 0 ? 1e-9 * operations / seconds : (double)NAN, .06);
    if (!CHECK(good)) printf("  %s: %g %g %g %g %g %g\n", name, is.seconds, is.share, is.step, is.gigabytes, is.rate, is.operations);
}

/* Of each stage and half other seconds, bytes and operations; a part of them is evaluation's, and is in its row alone. */
TEST(the_rows_of_the_profile_are_training_evaluation_and_the_rest_and_add_up)
{
    static const char* const name[2][NET_NUM_STAGES] = {
        {"gather", "forward: aggregate", "forward: gemm", "forward: elementwise", "forward: loss", "optimizer", "forward: shuffle"},
        {"gather", "backward: aggregate", "backward: gemm", "backward: elementwise", "backward: loss", "optimizer", "backward: shuffle"}};
    enum { STEPS = 40, TOTAL = 1000 };
    net_profile all = {.flops = {9000000000000, 5000000000000}};
    counted_cost apart = {.seconds = 100, .net = {.flops = {2000000000000, 0}}, .loader = {.bytes = 7000000000, .seconds = 3}};
    const loader_cost batches = {.seconds = 60, .sample = 30, .mark = 4, .extract = 6, .copy = 1000, .bytes = 11000000000};
    double rest = TOTAL - 100 - 60, evaluated = 7e9;
    for (int half = 0; half < 2; half++)
        for (int s = 0; s < NET_NUM_STAGES; s++) {
            if (half ? s == NET_GATHER || s == NET_LOSS : s == NET_OPTIMIZER) continue; /* each is of one half alone */
            all.seconds[half][s] = 20 + 10 * half + 2 * s;
            all.bytes[half][s] = INT64_C(100000000000) + INT64_C(10000000000) * half + INT64_C(1000000000) * s;
            if (half) continue;
            apart.net.seconds[half][s] = 1 + s;
            apart.net.bytes[half][s] = INT64_C(500000000) * (1 + s);
        }
    report r = begin();
    r.start -= TOTAL;
    capture();
    report_profile(&r, STEPS, &(worker_costs){.batches = batches, .evaluation = &apart, .net = &all});
    printed = captured();
    end(&r);
    CHECK(strstr(printed, "\n  times are measured; bytes and operations are counted\n  stage                    seconds    share   ms/step        GB     GB/s   GFLOP/s\n"));
    check_row("sample", 45, 11e9, 0, TOTAL, STEPS); /* 30 of 40 seconds of stages */
    check_row("extract", 15, 0, 0, TOTAL, STEPS);
    for (int half = 0; half < 2; half++)
        for (int s = 0; s < NET_NUM_STAGES; s++) {
            const double seconds = all.seconds[half][s] - apart.net.seconds[half][s];
            evaluated += (double)apart.net.bytes[half][s];
            rest -= seconds;
            if (seconds > 0) check_row(name[half][s], seconds, (double)(all.bytes[half][s] - apart.net.bytes[half][s]), s == NET_GEMM ? half ? 5e12 : 7e12 : 0, TOTAL, STEPS);
        }
    check_row("evaluation", 100, evaluated, 2e12, TOTAL, 0);
    const row other = row_of("other"), total = row_of("total");
    CHECK(other.seconds >= rest - .001 && other.seconds < rest + 100 && isnan(other.step) && isnan(other.gigabytes) && isnan(other.operations));
    CHECK(total.seconds >= TOTAL - .001 && total.seconds < TOTAL + 100 && total.share == 100 && isnan(total.step) && isnan(total.gigabytes));
    CHECK_NEAR(total.seconds - other.seconds, TOTAL - rest, .002);
    CHECK(!strstr(printed, "backward: loss") && !strstr(printed, "forward: optimizer"));
}

/* Without batches to sample, or an evaluation, no such row. */
TEST(a_profile_has_no_rows_of_what_took_no_time)
{
    net_profile all = {.seconds = {{[NET_GEMM] = 2}, {0}}, .flops = {7000000000, 0}};
    counted_cost apart = {0};
    report r = begin();
    r.start -= 10;
    capture();
    report_profile(&r, 0, &(worker_costs){.evaluation = &apart, .net = &all});
    printed = captured();
    end(&r);
    int rows = 0;
    for (const char* at = strstr(printed, "GFLOP/s"); at; at = strchr(at + 1, '\n')) rows++;
    CHECK_EQ(rows, 5); /* of the title, of three rows, and of the end */
    CHECK(isnan(row_of("sample").seconds) && isnan(row_of("evaluation").seconds) && row_of("forward: gemm").seconds == 2 && isnan(row_of("forward: gemm").step));
    const char *title = strstr(printed, "  stage "), *gemm = strstr(printed, "  forward: gemm ");
    CHECK(title && gemm && strcspn(gemm, "\n") == strcspn(title, "\n") && strncmp(gemm + strcspn(gemm, "\n") - 4, " 3.5", 4) == 0);
}

/* Evaluation is no part of an epoch; a device that did nothing has no share. */
TEST(the_share_in_which_a_step_computes_is_of_training_without_evaluation)
{
    const rank_cost all[3] = {{.seconds = 10, .evaluation = 4, .train = 3, .sample = 5, .batch = 2},
                              {.seconds = 20, .evaluation = 0, .train = 19.999, .comm = 7}, {.seconds = 2, .evaluation = 2}};
    for (int ranks = 1; ranks <= 3; ranks += 2) {
        report r = begin();
        capture();
        report_print_busy(&r, all, ranks);
        printed = captured();
        end(&r);
        CHECK_STR(strchr(printed + 1, ':') ? strchr(printed + 1, ':') : "", ranks == 1 ? ": 50.0 %\n" : ": 50.0 % 100.0 % -\n");
    }
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    folder_make();
    folder_path(log_path, "log");
    RUN(an_epochs_line_and_record_have_its_numbers);
    RUN(the_bar_says_where_the_training_is);
    RUN(the_last_line_and_record_have_the_test_score_and_the_best_epoch);
    RUN(an_interrupted_run_says_where_and_whether_it_is_saved);
    RUN(the_peak_is_the_most_that_there_was_and_not_what_there_is);
    RUN(the_first_lines_and_records_have_what_is_trained_and_on_what);
    RUN(the_bar_is_drawn_where_standard_error_is_a_terminal);
    RUN(the_bar_begins_where_the_run_was_resumed);
    RUN(the_bar_is_taken_away_before_anything_else_is_printed);
    RUN(a_log_that_cannot_be_written_is_said_beside_the_bar_and_at_the_end);
    RUN(a_log_that_is_a_pipe_waits_for_its_reader);
    RUN(no_record_follows_one_that_could_not_be_written);
    RUN(the_record_of_ranks_has_what_each_did_by_its_name);
    RUN(slices_are_those_of_a_run_in_which_any_rank_had_one);
    RUN(rows_come_from_sixteen_ranks_at_most);
    RUN(the_tables_of_ranks_have_all_columns_of_each_and_their_sums);
    RUN(measured_slopes_have_their_points_and_their_line);
    RUN(the_record_of_tiers_and_its_lines_have_what_lies_where);
    RUN(the_rows_of_the_profile_are_training_evaluation_and_the_rest_and_add_up);
    RUN(a_profile_has_no_rows_of_what_took_no_time);
    RUN(the_share_in_which_a_step_computes_is_of_training_without_evaluation);
    folder_remove();
    return test_finish();
}
