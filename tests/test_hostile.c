/* The tools in bad company: hostile names and files, closed descriptors, outputs that are no files. */
#include "tests/test.h"
#include "tests/tool.h"

static char path[600];

static void write_text(const char* name, const char* text) { write_file(folder_path(path, name), text, strlen(text)); }

/* ---- what reaches the terminal -------------------------------------------------------------------------------- */

static bool only_printable(const char* which)
{
    const char* text = output(which);
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
    if (!CHECK(says("err", words) && only_printable("err") && only_printable("out"))) printf("  %s\n", arguments);
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

/* Runs a shell line in the test's folder, where $B is the folder of the programs. Returns the exit code. */
static int shell(const char* command)
{
    char line[8192], here[4096];
    if (!realpath(tool, here)) return -1;
    *strrchr(here, '/') = 0;
    snprintf(line, sizeof line, "B='%s'; cd '%s' && %s", here, folder, command);
    int status = system(line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int shell_with(const char* command, const char* redirected)
{
    char line[512];
    snprintf(line, sizeof line, "%s %s", command, redirected);
    return shell(line);
}

TEST(a_closed_descriptor_never_ends_up_inside_an_output_file)
{
    static const struct {
        const char* descriptors;
        bool prints; /* standard output is there */
    } form[] = {{"<&- >out 2>err", true}, {">&- 2>err", false}, {"2>&- >out", true}, {"<&- >&- 2>&-", false}};
    CHECK_EQ(shell("$B/ggnn-data generate planted whole.ggnn --nodes 100 --edges 400 --features 4 --classes 2 >out"), 0);
    CHECK_EQ(shell("$B/ggnn-data export whole.ggnn whole.mtx --format mtx"), 0);
    for (int i = 0; i < 4; i++) {
        const char* closed = form[i].descriptors;
        CHECK_EQ(shell_with("$B/ggnn-data generate planted part.ggnn --nodes 100 --edges 400 --features 4 --classes 2", closed),
                 form[i].prints ? 0 : 1);
        CHECK_EQ(shell("cmp whole.ggnn part.ggnn"), 0);
        CHECK_EQ(shell_with("$B/ggnn-data export whole.ggnn part.mtx --format mtx", closed), 0);
        CHECK_EQ(shell("cmp whole.mtx part.mtx"), 0);
        shell_with("$B/ggnn-train --data whole.ggnn --epochs 1 --log part.jsonl --save part.ckpt", closed);
        CHECK_EQ(shell("$B/ggnn-data verify part.ckpt >out"), 0);
        CHECK_EQ(shell("! grep -v '^{.*}$' part.jsonl"), 0);
        if (shell("[ -x $B/ggnn-bench ]") != 0) continue; /* not built by make alone */
        shell_with("$B/ggnn-bench gemm --quick --min-time 0 --reps 1 --json part.json", closed);
        CHECK_EQ(shell("head -c 1 part.json | grep -q '{' && tail -n 1 part.json | grep -qx '}'"), 0);
        CHECK_EQ(shell("rm part.*"), 0);
    }
}

TEST(what_cannot_be_printed_on_a_closed_output_is_an_error)
{
    CHECK_EQ(shell("$B/ggnn-data generate star star.ggnn --nodes 5 >out"), 0);
    CHECK_EQ(shell("$B/ggnn-data info star.ggnn >&- 2>err"), 1);
    CHECK(says("err", "cannot write to standard output"));
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    tool_find(argv[0]);
    folder_make();
    RUN(hostile_arguments_reach_the_terminal_escaped);
    RUN(hostile_names_of_good_files_reach_the_terminal_escaped);
    RUN(hostile_text_files_reach_the_terminal_escaped);
    RUN(a_closed_descriptor_never_ends_up_inside_an_output_file);
    RUN(what_cannot_be_printed_on_a_closed_output_is_an_error);
    folder_remove();
    return test_finish();
}
