/* The tools in bad company: hostile names and files, closed descriptors, outputs that are no files. */
#include <signal.h>

#include "datasets/dataset.h"
#include "tests/test.h"
#include "tests/tool.h"

static char path[600];

static void write_text(const char* name, const char* text) { write_file(folder_path(path, name), text, strlen(text)); }

/* Runs a shell line in the test's folder, where $B is the folder of the programs. Returns the exit code. */
static int shell_line(const char* command)
{
    char line[8192], here[4096];
    if (!realpath(tool, here)) return -1;
    *strrchr(here, '/') = 0;
    snprintf(line, sizeof line, "B='%s'; cd '%s' && %s", here, folder, command);
    int status = system(line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ---- what reaches the terminal -------------------------------------------------------------------------------- */

static bool only_printable(const char* which)
{
    const char* text = printed(which);
    for (const char* p = text; *p; p++)
        if (((unsigned char)*p < 0x20 && *p != '\n') || (unsigned char)*p >= 0x7F) {
            printf("  %s holds byte %02x\n", which, (unsigned char)*p);
            return false;
        }
    return true;
}

/* arguments: a shell line, in which $ESC is a name that clears the screen and is no UTF-8. */
static void check_escaped(const char* arguments, int exit_code, const char* words)
{
    CHECK_EQ(run("ESC=$(printf '\\033[2J\\377');", arguments), exit_code);
    if (!CHECK(prints("err", words) && only_printable("err") && only_printable("out"))) printf("  %s\n", arguments);
}

TEST(hostile_arguments_reach_the_terminal_escaped)
{
    check_escaped("\"$ESC\"", 2, "'\\x1b[2J\\xff' is not a command");
    check_escaped("generate \"$ESC\" OUT", 2, "generate: \\x1b[2J\\xff: not one of");
    check_escaped("generate star OUT --nodes \"$ESC\"", 2, "--nodes '\\x1b[2J\\xff': not an integer");
    check_escaped("generate star OUT --\"$ESC\"", 2, "--\\x1b[2J\\xff: no such option");
    check_escaped("info \"$ESC\"", 1, "\\x1b[2J\\xff: ");
    check_escaped("verify \"$ESC\"", 1, "\\x1b[2J\\xff: ");
    check_escaped("convert \"$ESC\" OUT", 1, "\\x1b[2J\\xff: ");
}

TEST(hostile_names_of_good_files_reach_the_terminal_escaped)
{
    char line[2048];
    snprintf(line, sizeof line, "generate star \"%s/$ESC\" --nodes 5", folder);
    check_escaped(line, 0, "");
    snprintf(line, sizeof line, "info \"%s/$ESC\"", folder);
    check_escaped(line, 0, "");
    snprintf(line, sizeof line, "export \"%s/$ESC\" %s/star.mtx --format mtx", folder, folder);
    check_escaped(line, 0, "");
    snprintf(line, sizeof line, "convert \"%s/$ESC\" %s/again.ggnn", folder, folder);
    check_escaped(line, 1, "is a .ggnn file already");
}

TEST(the_trainer_prints_names_of_files_escaped)
{
    char line[1024];
    snprintf(line, sizeof line, "generate planted \"%s/$ESC\" --nodes 50 --edges 100 --features 4 --classes 2", folder);
    check_escaped(line, 0, "");
    CHECK_EQ(shell_line("e=$(printf '\033[2J\377'); $B/ggnn-train --data \"$e\" --epochs 1 --hidden 4 --save ck >out 2>err"), 0);
    CHECK(prints("out", "\\x1b[2J\\xff: 50 nodes") && only_printable("out") && only_printable("err"));
    CHECK_EQ(shell_line("e=$(printf '\033[2J\377'); mv ck \"$e.ck\"; $B/ggnn-train --data \"$e\" --resume \"$e.ck\" --epochs 2 >out 2>err"), 0);
    CHECK(prints("out", "resumed from \\x1b[2J\\xff.ck after") && only_printable("out"));
    CHECK_EQ(shell_line("e=$(printf '\033[2J\377'); rm \"$e\" \"$e.ck\""), 0);
}

TEST(hostile_text_files_reach_the_terminal_escaped)
{
    static const char* const bad[] = {"%%MatrixMarket \033[2J\377 coordinate\n1 1 0\n", "% \033[2J\377\n1 2\n",
                                      "1,2\n\033[2J\377,3\n", "# c\n1 \033[2J\377\n"};
    for (int i = 0; i < 4; i++) {
        char line[2048];
        write_text("bad.txt", bad[i]);
        snprintf(line, sizeof line, "convert %s/bad.txt %s/out.ggnn", folder, folder);
        check_escaped(line, 1, "bad.txt: line ");
    }
}

/* ---- closed descriptors --------------------------------------------------------------------------------------- */

static int shell_with(const char* command, const char* redirected)
{
    char line[512];
    snprintf(line, sizeof line, "%s %s", command, redirected);
    return shell_line(line);
}

TEST(a_closed_descriptor_never_ends_up_inside_an_output_file)
{
    static const struct {
        const char* descriptors;
        bool prints; /* standard output is there */
    } form[] = {{"<&- >out 2>err", true}, {">&- 2>err", false}, {"2>&- >out", true}, {"<&- >&- 2>&-", false}};
    CHECK_EQ(shell_line("$B/ggnn-data generate planted whole.ggnn --nodes 100 --edges 400 --features 4 --classes 2 >out"), 0);
    CHECK_EQ(shell_line("$B/ggnn-data export whole.ggnn whole.mtx --format mtx"), 0);
    for (int i = 0; i < 4; i++) {
        const char* closed = form[i].descriptors;
        CHECK_EQ(shell_with("$B/ggnn-data generate planted part.ggnn --nodes 100 --edges 400 --features 4 --classes 2", closed),
                 form[i].prints ? 0 : 1);
        CHECK_EQ(shell_line("cmp whole.ggnn part.ggnn"), 0);
        CHECK_EQ(shell_with("$B/ggnn-data export whole.ggnn part.mtx --format mtx", closed), 0);
        CHECK_EQ(shell_line("cmp whole.mtx part.mtx"), 0);
        shell_with("$B/ggnn-train --data whole.ggnn --epochs 1 --log part.jsonl --save part.ckpt", closed);
        CHECK_EQ(shell_line("$B/ggnn-data verify part.ckpt >out"), 0);
        CHECK_EQ(shell_line("! grep -v '^{.*}$' part.jsonl"), 0);
        CHECK_EQ(shell_line("rm part.*"), 0);
        if (form[i].prints || shell_line("[ -x $B/ggnn-bench ]") != 0) continue; /* not built by make alone */
        shell_with("$B/ggnn-bench gemm --quick --min-time 0 --reps 1 --json bench.json", closed);
        CHECK_EQ(shell_line("head -c 1 bench.json | grep -q '{' && tail -n 1 bench.json | grep -qx '}'"), 0);
    }
}

TEST(what_cannot_be_printed_on_a_closed_output_is_an_error)
{
    CHECK_EQ(shell_line("$B/ggnn-data generate star star.ggnn --nodes 5 >out"), 0);
    CHECK_EQ(shell_line("$B/ggnn-data info star.ggnn >&- 2>err"), 1);
    CHECK(prints("err", "cannot write to standard output"));
}

/* ---- outputs that are no files -------------------------------------------------------------------------------- */

/* All of them by links of our own: a tool that replaced one would harm nobody. */

/* Makes the graph f.ggnn and what exporting it gives, f.mtx. */
static void make_graph(void)
{
    CHECK_EQ(shell_line("$B/ggnn-data generate planted f.ggnn --nodes 100 --edges 400 --features 4 --classes 2 >out"), 0);
    CHECK_EQ(shell_line("rm -f f.mtx; $B/ggnn-data export f.ggnn f.mtx --format mtx"), 0);
}

static void check_shell(const char* command, int exit_code)
{
    if (!CHECK_EQ(shell_line(command), exit_code)) printf("  %s\n  %s", command, printed("err"));
}

TEST(an_output_that_is_a_link_stays_one_and_its_target_is_written)
{
    make_graph();
    check_shell("mkdir deep && ln -s deep/real link && ln -s ../there deep/real && ln -s none.ggnn dangling", 0);
    check_shell("$B/ggnn-data export f.ggnn link --format mtx && cmp f.mtx there", 0);
    check_shell("$B/ggnn-data export f.ggnn link --format mtx && cmp f.mtx deep/real", 0); /* now that it is there */
    check_shell("[ -h link ] && [ -h deep/real ] && [ ! -h there ]", 0);
    check_shell("$B/ggnn-data generate star dangling --nodes 9 >out && [ -h dangling ] && $B/ggnn-data verify none.ggnn >out", 0);
    check_shell("$B/ggnn-data convert f.mtx dangling >out && [ -h dangling ] && $B/ggnn-data verify none.ggnn >out", 0);
    check_shell("mkdir empty && ln -s empty folder && $B/ggnn-data export f.ggnn folder && [ -h folder ] && [ -f empty/indptr.npy ]", 0);
    check_shell("ln -s loop loop; $B/ggnn-data generate star loop 2>err", 1);
    CHECK(prints("err", "loop: cannot follow the link: Too many"));
    check_shell("ls -A . deep | grep tmp", 1);
    check_shell("rm -r deep empty link folder dangling none.ggnn loop there", 0);
}

TEST(a_file_that_is_replaced_keeps_its_permissions)
{
    make_graph();
    check_shell("touch o.ggnn o.mtx && chmod 600 o.ggnn o.mtx", 0);
    check_shell("$B/ggnn-data generate star o.ggnn >out && [ $(stat -c %a o.ggnn) = 600 ]", 0);
    check_shell("$B/ggnn-data convert f.mtx o.ggnn >out && [ $(stat -c %a o.ggnn) = 600 ]", 0);
    check_shell("$B/ggnn-data export f.ggnn o.mtx --format mtx && [ $(stat -c %a o.mtx) = 600 ]", 0);
    check_shell("chmod 6767 o.ggnn o.mtx && $B/ggnn-data convert f.mtx o.ggnn >out && $B/ggnn-data export f.ggnn o.mtx --format mtx", 0);
    check_shell("[ $(stat -c %a o.ggnn) = 767 ] && [ $(stat -c %a o.mtx) = 767 ]", 0); /* but no rights of its owner's */
    check_shell("rm o.ggnn o.mtx; umask 027; $B/ggnn-data generate star o.ggnn >out && [ $(stat -c %a o.ggnn) = 640 ]", 0);
    check_shell("rm o.ggnn", 0);
}

TEST(a_file_that_may_not_be_written_is_not_replaced)
{
    const char* other = geteuid() == 0 ? "setpriv --reuid 65534 --regid 65534 --clear-groups" : "env";
    char line[512];
    make_graph();
    check_shell("chmod 777 . && cp $B/ggnn-data . && echo mine >o.ggnn && cp o.ggnn o.mtx && chmod 444 o.ggnn o.mtx", 0);
    snprintf(line, sizeof line, "%s ./ggnn-data --version >out 2>err", other);
    if (shell_line(line) != 0) SKIP("another user's rights cannot be taken (setpriv)");
    static const char* const command[] = {"generate star o.ggnn", "convert f.mtx o.ggnn", "export f.ggnn o.mtx --format mtx"};
    for (int c = 0; c < 3; c++) {
        snprintf(line, sizeof line, "%s ./ggnn-data %s >out 2>err", other, command[c]);
        check_shell(line, 1);
        CHECK(prints("err", c < 2 ? "o.ggnn: cannot write: Permission denied" : "o.mtx: cannot write: Permission denied"));
    }
    check_shell("grep -q mine o.ggnn && grep -q mine o.mtx && rm -f o.ggnn o.mtx ggnn-data", 0);
}

TEST(matrix_market_goes_into_a_pipe_or_a_device_and_leaves_it_there)
{
    make_graph();
    check_shell("mkfifo pipe && (timeout -k 5 20 cat pipe >got & timeout -k 5 20 $B/ggnn-data export f.ggnn pipe --format mtx; s=$?; wait; exit $s)", 0);
    check_shell("[ -p pipe ] && cmp f.mtx got", 0);
    check_shell("ln -s /dev/null null && $B/ggnn-data export f.ggnn null --format mtx && [ -h null ] && [ -c null ]", 0);
    check_shell("ln -s /proc/self/fd/1 stdout && ln -s /proc/self/fd/3 third", 0); /* as /dev/stdout, /dev/fd/3 */
    check_shell("$B/ggnn-data export f.ggnn stdout --format mtx | cmp f.mtx -", 0);
    check_shell("{ echo a; $B/ggnn-data export f.ggnn stdout --format mtx; echo b; } >got; { echo a; cat f.mtx; echo b; } | cmp got -", 0);
    check_shell("$B/ggnn-data export f.ggnn third --format mtx 3>>got; { echo a; cat f.mtx; echo b; cat f.mtx; } | cmp got -", 0);
    if (access("/dev/full", W_OK) == 0) {
        check_shell("ln -s /dev/full full; $B/ggnn-data export f.ggnn full --format mtx 2>err", 1);
        CHECK(prints("err", "full: cannot write: No space left"));
    }
    check_shell("rm -f pipe null full got stdout third", 0);
}

/* Here the descriptor itself does not append: its name is opened once more. */
TEST(what_stands_in_an_open_file_stays_in_front_of_a_matrix)
{
    make_graph();
    check_shell("ln -s /proc/self/fd/3 third; { echo a >&3; $B/ggnn-data export f.ggnn third --format mtx; } 3>got; { echo a; cat f.mtx; } | cmp got -", 0);
    check_shell("ln -s /proc/self/fd/2 second; { echo a >&2; $B/ggnn-data export f.ggnn second --format mtx; } 2>got; { echo a; cat f.mtx; } | cmp got -", 0);
    check_shell("rm -f got second third", 0);
}

TEST(what_cannot_be_written_as_a_stream_is_refused_and_left_as_it_is)
{
    static const char* const command[] = {"generate star %s", "convert f.mtx %s", "export f.ggnn %s", "export f.ggnn %s --format csv"};
    static const char* const place[] = {"pipe", "null", "folder", "stdout"};
    make_graph();
    check_shell("mkfifo pipe && ln -s /dev/null null && ln -s /proc/self/fd/1 stdout && mkdir folder && touch folder/file", 0);
    for (int c = 0; c < 4; c++)
        for (int p = 0; p < 4; p++) {
            char arguments[128], line[256];
            snprintf(arguments, sizeof arguments, command[c], place[p]);
            snprintf(line, sizeof line, "timeout -k 5 20 $B/ggnn-data %s 2>err | cat >out; grep -q 'ggnn-data: %s: ' err", arguments, place[p]);
            check_shell(line, 0);
        }
    check_shell("$B/ggnn-data generate star pipe 2>err", 1);
    CHECK(prints("err", "pipe: is a pipe, no file can be put there"));
    check_shell("$B/ggnn-data export f.ggnn pipe 2>err", 1);
    CHECK(prints("err", "pipe: cannot put the output there: it is no folder"));
    check_shell("$B/ggnn-data export f.ggnn folder --format mtx 2>err", 1);
    CHECK(prints("err", "folder: is a folder, no file can be put there"));
    check_shell("[ -p pipe ] && [ -c null ] && [ -h null ] && [ -h stdout ] && [ -f folder/file ] && ! ls -A | grep tmp", 0);
    check_shell("rm -r pipe null stdout folder", 0);
}

TEST(a_folder_may_be_named_with_a_slash_at_its_end)
{
    make_graph();
    check_shell("$B/ggnn-data export f.ggnn new/ && [ -f new/indptr.npy ]", 0);
    check_shell("$B/ggnn-data export f.ggnn newer/// && [ -f newer/indptr.npy ] && rm -r newer", 0);
    check_shell("mkdir here && cd here && $B/ggnn-data export ../f.ggnn ./ --format csv 2>../err", 1);
    CHECK(prints("err", "./: cannot put the output there: it is the current folder"));
    check_shell("rm -r new here", 0);
}

/* ---- inputs that are no files --------------------------------------------------------------------------------- */

TEST(an_input_that_is_a_pipe_a_device_or_a_folder_is_refused_at_once)
{
    static const char* const command[] = {"ggnn-data info %s", "ggnn-data verify %s", "ggnn-data stats %s", "ggnn-data sample %s --seeds 0 --fanout 2",
                                          "ggnn-data export %s o.mtx --format mtx", "ggnn-data convert %s o.ggnn", "ggnn-data convert --from edges %s o.ggnn",
                                          "ggnn-data convert --from npz %s o.ggnn", "ggnn-train --data %s", "ggnn-train --data f.ggnn --resume %s"};
    make_graph();
    check_shell("mkfifo pipe && ln -s /dev/null null && mkdir folder", 0);
    for (size_t c = 0; c < sizeof command / sizeof *command; c++)
        for (int p = 0; p < 3; p++) {
            char arguments[128], line[256];
            snprintf(arguments, sizeof arguments, command[c], p == 0 ? "pipe" : p == 1 ? "null" : "folder");
            snprintf(line, sizeof line, "timeout -k 5 20 $B/%s >out 2>err", arguments);
            check_shell(line, 1);
            if (!CHECK(prints("err", p == 0 ? "pipe" : p == 1 ? "null" : "folder"))) printf("  %s\n", line);
        }
    check_shell("mkfifo folder/edges.npy; timeout -k 5 20 $B/ggnn-data convert folder o.ggnn 2>err >out", 1);
    CHECK(prints("err", "folder/edges.npy: is a pipe"));
    check_shell("rm -r pipe null folder", 0);
}

/* Of ggnn-bench, which make alone does not build. */
TEST(a_benchs_inputs_are_files_and_stay_what_they_are)
{
    static const char* const name[] = {"--data in", "--inputs in", "--topology in", "--check in"};
    if (shell_line("[ -x $B/ggnn-bench ]") != 0) SKIP("ggnn-bench is not built");
    check_shell("echo old >in && mkfifo pipe && ln -s /dev/null null", 0);
    for (int i = 0; i < 4; i++) {
        char line[256];
        snprintf(line, sizeof line, "$B/ggnn-bench gemm --quick --min-time 0 --reps 1 %s --json ./in >out 2>err", name[i]);
        check_shell(line, 2);
        CHECK(prints("err", "--json ./in: that is "));
        snprintf(line, sizeof line, "$B/ggnn-bench scale %s --markdown in >out 2>err", name[i]);
        check_shell(line, 2);
        CHECK(prints("err", "--markdown in: that is "));
    }
    check_shell("$B/ggnn-bench scale --json new --markdown ./new >out 2>err", 2);
    CHECK(prints("err", "--markdown ./new: --json writes there"));
    check_shell("echo old | cmp - in && [ ! -e new ]", 0);
    check_shell("timeout -k 5 20 $B/ggnn-bench scale --inputs pipe >out 2>err", 1);
    CHECK(prints("err", "pipe: is a pipe, a file is needed"));
    check_shell("timeout -k 5 20 $B/ggnn-bench gemm --quick --min-time 0 --reps 1 --check pipe >out 2>err", 1);
    CHECK(prints("err", "pipe: is a pipe, a file is needed"));
    check_shell("timeout -k 5 20 $B/ggnn-bench gemm --quick --min-time 0 --reps 1 --check null >out 2>err", 1);
    CHECK(prints("err", "null: is a device"));
    check_shell("rm in pipe null", 0);
}

TEST(errors_stand_after_what_was_printed_before_them)
{
    make_graph();
    check_shell("echo 0,1,2,x >bad.csv; $B/ggnn-data convert bad.csv o.ggnn >err 2>&1", 1);
    CHECK(strncmp(printed("err"), "reading    bad.csv", 18) == 0);
    check_shell("mkdir -p d/raw && cd d/raw && echo 2 >num-node-list.csv && echo 1 >num-edge-list.csv && echo 0,1 >edge.csv && echo 9,x >node-feat.csv", 0);
    check_shell("$B/ggnn-data convert d o.ggnn >err 2>&1", 1);
    CHECK(strstr(printed("err"), "ggnn-data: ") > strstr(printed("err"), "\nin-degree  mean"));
    check_shell("rm -r d bad.csv", 0);
}

TEST(a_long_path_does_not_hide_what_is_said_of_it)
{
    check_shell("p=$(printf 'a/%.0s' $(seq 1000)); $B/ggnn-data info ${p}x 2>err", 1);
    CHECK(prints("err", "a/x: cannot open: No such file or directory\n"));
    check_shell("p=$(printf 'a/%.0s' $(seq 1000)); $B/ggnn-data convert ${p}x o.ggnn 2>err", 1);
    CHECK(prints("err", "a/x: No such file or directory\n"));
}

TEST(sampling_by_weights_that_are_not_there_is_said)
{
    make_graph();
    check_shell("$B/ggnn-data sample f.ggnn --seeds 1 --fanout 2 --sampler weighted >out 2>err", 0);
    CHECK(prints("err", "warning: --sampler weighted: f.ggnn has no edge weights"));
    check_shell("printf '0,1,2\\n1,2,3\\n' >w.csv; $B/ggnn-data convert w.csv w.ggnn >out && "
                "$B/ggnn-data sample w.ggnn --seeds 1 --fanout 2 --sampler weighted >out 2>err", 0);
    CHECK(!printed("err")[0]);
    check_shell("$B/ggnn-data sample f.ggnn --seeds 1 --fanout 2 >out 2>err && rm w.csv w.ggnn", 0);
    CHECK(!printed("err")[0]);
}

/* ---- values --------------------------------------------------------------------------------------------------- */

TEST(labels_of_a_text_file_that_cannot_be_are_refused_by_file_line_and_value)
{
    check_shell("mkdir -p ogb/raw && cd ogb/raw && echo 3 >num-node-list.csv && echo 2 >num-edge-list.csv && printf '0,1\\n1,2\\n' >edge.csv && "
                "printf '.5\\n-inf\\n0\\n' >node-label.csv", 0);
    check_shell("$B/ggnn-data convert ogb o.ggnn >out 2>err", 1);
    CHECK(prints("err", "ogb/raw/node-label.csv: line 2, byte 1: a label is finite, or nan where unknown: \"-inf\""));
    check_shell("printf '.5\\n7\\n1e39\\n' >ogb/raw/node-label.csv; $B/ggnn-data convert ogb o.ggnn >out 2>err", 1);
    CHECK(prints("err", "line 3, byte 1: a label is finite, or nan where unknown: \"1e39\""));
    check_shell("printf '0\\n\\n3000000000\\n-1\\n' >ogb/raw/node-label.csv; $B/ggnn-data convert ogb o.ggnn >out 2>err", 1);
    CHECK(prints("err", "ogb/raw/node-label.csv: line 3: label 3000000000 of node 1 is no class"));
    check_shell("printf '.5\\nnan\\n1e38\\n' >ogb/raw/node-label.csv; $B/ggnn-data convert ogb o.ggnn >out && $B/ggnn-data verify o.ggnn >out", 0);
    check_shell("rm -r ogb o.ggnn", 0);
}

/* Two nodes, an edge each way, and a section of rows that are 0 wide. */
static void write_narrow(const char* section, int64_t rows)
{
    static const int64_t indptr[] = {0, 1, 2};
    static const ggnn_node indices[] = {1, 0};
    static const int32_t label[] = {0, 1};
    static const uint8_t split[] = {1, 2};
    int64_t one = 3, two = 2, matrix[2] = {rows, 0}, splits[2] = {1, 2};
    ggnn_file_writer w;
    CHECK(ggnn_file_create(&w, folder_path(path, "narrow.ggnn")) && ggnn_file_append(&w, "indptr", GGNN_FILE_I64, 1, &one, indptr) &&
          ggnn_file_append(&w, "indices", DATASET_NODE, 1, &two, indices) && ggnn_file_append(&w, section, GGNN_FILE_F32, 2, matrix, NULL) &&
          ggnn_file_append(&w, "label", GGNN_FILE_I32, 1, &two, label) && ggnn_file_append(&w, "split", GGNN_FILE_U8, 2, splits, split) &&
          ggnn_file_commit(&w));
}

TEST(features_of_width_0_are_refused_by_every_program)
{
    static const char* const command[] = {"ggnn-data info narrow.ggnn", "ggnn-data verify narrow.ggnn", "ggnn-data stats narrow.ggnn",
                                          "ggnn-data export narrow.ggnn o.csv --format csv", "ggnn-data export narrow.ggnn o.npy",
                                          "ggnn-data sample narrow.ggnn --seeds 0 --fanout 2", "ggnn-train --data narrow.ggnn --epochs 1"};
    for (size_t c = 0; c < sizeof command / sizeof *command; c++)
        for (int edges = 0; edges < 2; edges++) {
            char line[256];
            write_narrow(edges ? "edge_feat" : "feat", 2);
            snprintf(line, sizeof line, "$B/%s >out 2>err", command[c]);
            check_shell(line, 1);
            CHECK(prints("err", edges ? "narrow.ggnn: section 'edge_feat' is 0 wide, not 1 to" : "narrow.ggnn: section 'feat' is 0 wide, not 1 to"));
        }
    check_shell("$B/ggnn-data generate star o.ggnn --nodes 5 --features 0 >out && $B/ggnn-data verify o.ggnn >out", 0);
    check_shell("$B/ggnn-train --data o.ggnn 2>err >out", 1);
    CHECK(prints("err", "o.ggnn: "));
    check_shell("rm narrow.ggnn o.ggnn; ls -A | grep '^o[.]'", 1);
}

/* ---- full disks, interrupts ----------------------------------------------------------------------------------- */

TEST(help_and_version_that_cannot_be_printed_are_errors)
{
    static const char* const word[] = {"ggnn-data --help", "ggnn-data --version", "ggnn-data info --help", "ggnn-train --help",
                                       "ggnn-train --version", "ggnn-bench --help", "ggnn-bench --version", "ggnn-bench gemm --quick --reps 1"};
    for (int i = 0; i < 8; i++) {
        char line[128];
        if (strstr(word[i], "bench") && shell_line("[ -x $B/ggnn-bench ]") != 0) continue;
        snprintf(line, sizeof line, "$B/%s >&- 2>err", word[i]);
        check_shell(line, 1);
        CHECK(prints("err", "cannot write to standard output"));
    }
}

TEST(where_a_file_is_too_large_the_error_names_the_output_and_nothing_is_left)
{
    make_graph();
    check_shell("ulimit -f 2; $B/ggnn-data export f.ggnn o.mtx --format mtx 2>err", 1);
    CHECK(prints("err", "ggnn-data: o.mtx: cannot write: File too large"));
    check_shell("ulimit -f 2; $B/ggnn-data export f.ggnn o.npy 2>err", 1);
    CHECK(prints("err", "ggnn-data: o.npy/indices.npy: cannot write: File too large"));
    check_shell("ulimit -f 2; $B/ggnn-data export f.ggnn o.csv --format csv 2>err", 1);
    CHECK(prints("err", "ggnn-data: o.csv/edges.csv: cannot write: File too large"));
    check_shell("ulimit -f 100; $B/ggnn-data generate rmat o.ggnn 2>err", 1);
    CHECK(prints("err", "ggnn-data: o.ggnn: no room for"));
    check_shell("ulimit -f 100; $B/ggnn-data convert f.mtx o.ggnn --random-features 1000 2>err >out", 1);
    CHECK(prints("err", "ggnn-data: o.ggnn: no room for"));
    check_shell("$B/ggnn-data generate planted wide.ggnn --nodes 50 --edges 100 --features 200 >out", 0); /* small but for its features */
    check_shell("ulimit -f 8; $B/ggnn-data export wide.ggnn o.csv --format csv 2>err", 1);
    CHECK(prints("err", "ggnn-data: o.csv/features.csv: cannot write: File too large"));
    check_shell("ulimit -f 8; $B/ggnn-data export wide.ggnn o.npy 2>err", 1);
    CHECK(prints("err", "ggnn-data: o.npy/feat.npy: cannot write: File too large"));
    check_shell("mkdir kept; ulimit -f 8; $B/ggnn-data export wide.ggnn kept 2>err", 1);
    CHECK(prints("err", "ggnn-data: kept/feat.npy: cannot write: File too large"));
    check_shell("rmdir kept && rm wide.ggnn && ! ls -A | grep tmp", 0);
    check_shell("ls -A | grep '^o[.]'", 1);
}

TEST(a_folder_that_is_converted_keeps_its_files)
{
    make_graph();
    check_shell("$B/ggnn-data export f.ggnn d && cp -r d kept", 0);
    check_shell("$B/ggnn-data convert d d/feat.npy 2>err", 2);
    CHECK(prints("err", "convert: d/feat.npy: OUT is a file of IN"));
    check_shell("cd d && $B/ggnn-data convert . label.npy 2>err", 2);
    check_shell("$B/ggnn-data convert / d/feat.npy 2>err", 2); /* the root's name ends with its slash */
    CHECK(prints("err", "convert: d/feat.npy: OUT is a file of IN"));
    check_shell("mkdir d2 && touch d2/old && $B/ggnn-data convert d d2/old >out && $B/ggnn-data verify d2/old >out && rm -r d2", 0);
    check_shell("$B/ggnn-data convert d d/new.ggnn >out && $B/ggnn-data convert d d/new.ggnn >out && rm d/new.ggnn d/err", 0);
    check_shell("diff -r d kept && rm -r d kept", 0);
}

static bool has_temporary(void)
{
    bool found = false;
    DIR* list = opendir(folder);
    for (struct dirent* entry; list && (entry = readdir(list));) found = found || strstr(entry->d_name, ".tmp");
    if (list) closedir(list);
    return found;
}

/* Starts the tool, waits for its temporary file, interrupts it. Returns the signal that ended it; 0: it ended before. */
static int interrupt(char* const* arguments, int signal_number)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        if (chdir(folder) != 0 || !freopen("/dev/null", "w", stdout)) _exit(9);
        signal(signal_number, SIG_DFL); /* a shell's background job ignores some, and its children with it */
        execv(arguments[0], arguments);
        _exit(9);
    }
    while (!has_temporary() && waitpid(child, &status, WNOHANG) == 0) usleep(1000);
    usleep(10000); /* it is to know of its file, too */
    kill(child, signal_number);
    if (waitpid(child, &status, 0) == child && WIFSIGNALED(status)) return WTERMSIG(status);
    return 0;
}

TEST(an_interrupted_command_leaves_nothing_behind)
{
    static char program[4096], kind[] = "rmat", in[] = "in.ggnn", text[] = "in.mtx", out[] = "o.ggnn", mtx[] = "mtx", csv[] = "csv", format[] = "--format";
    static char generate[] = "generate", export[] = "export", convert[] = "convert", edges[] = "--edges", many[] = "1000000";
    char* const command[][7] = {{program, generate, kind, out, edges, many, NULL}, {program, convert, text, out, NULL},
                                {program, export, in, out, format, mtx, NULL}, {program, export, in, out, format, csv, NULL}};
    static const int number[] = {SIGINT, SIGTERM, SIGHUP, SIGINT};
    if (!CHECK(realpath(tool, program) != NULL)) return;
    check_shell("$B/ggnn-data generate rmat in.ggnn --edges 500000 >out && $B/ggnn-data export in.ggnn in.mtx --format mtx", 0);
    for (int c = 0; c < 4; c++) {
        CHECK_EQ(interrupt(command[c], number[c]), number[c]);
        check_shell("ls -A | grep -e tmp -e '^o[.]'", 1);
    }
    check_shell("rm in.ggnn in.mtx", 0);
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    tool_find();
    folder_make();
    RUN(hostile_arguments_reach_the_terminal_escaped);
    RUN(hostile_names_of_good_files_reach_the_terminal_escaped);
    RUN(the_trainer_prints_names_of_files_escaped);
    RUN(hostile_text_files_reach_the_terminal_escaped);
    RUN(a_closed_descriptor_never_ends_up_inside_an_output_file);
    RUN(what_cannot_be_printed_on_a_closed_output_is_an_error);
    RUN(an_output_that_is_a_link_stays_one_and_its_target_is_written);
    RUN(a_file_that_is_replaced_keeps_its_permissions);
    RUN(a_file_that_may_not_be_written_is_not_replaced);
    RUN(matrix_market_goes_into_a_pipe_or_a_device_and_leaves_it_there);
    RUN(what_stands_in_an_open_file_stays_in_front_of_a_matrix);
    RUN(what_cannot_be_written_as_a_stream_is_refused_and_left_as_it_is);
    RUN(a_folder_may_be_named_with_a_slash_at_its_end);
    RUN(an_input_that_is_a_pipe_a_device_or_a_folder_is_refused_at_once);
    RUN(a_benchs_inputs_are_files_and_stay_what_they_are);
    RUN(errors_stand_after_what_was_printed_before_them);
    RUN(a_long_path_does_not_hide_what_is_said_of_it);
    RUN(sampling_by_weights_that_are_not_there_is_said);
    RUN(labels_of_a_text_file_that_cannot_be_are_refused_by_file_line_and_value);
    RUN(features_of_width_0_are_refused_by_every_program);
    RUN(help_and_version_that_cannot_be_printed_are_errors);
    RUN(where_a_file_is_too_large_the_error_names_the_output_and_nothing_is_left);
    RUN(a_folder_that_is_converted_keeps_its_files);
    RUN(an_interrupted_command_leaves_nothing_behind);
    folder_remove();
    return test_finish();
}
