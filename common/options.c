#include "options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ggnn.h"

/* ---- numbers -------------------------------------------------------------------------------------------------- */

/* Integers as such, "9000000000000000000"; else the shortest text that reads back equal: "0.999". */
static const char* limit_text(char text[40], double limit)
{
    int digits = 1;
    if (fabs(limit) < 1e19 && limit == floor(limit)) snprintf(text, 40, "%.0f", limit);
    else
        do snprintf(text, 40, "%.*g", digits, limit);
        while (digits++ < 17 && strtod(text, NULL) != limit);
    return text;
}

static bool out_of_range(const char* name, const char* text, double low, double high, error* why)
{
    char least[40], most[40];
    return error_set(why, "%s %s: must be between %s and %s", name, text, limit_text(least, low), limit_text(most, high));
}

static bool is_limited(double low, double high) { return low != 0 || high != 0; }

bool options_int(const char* name, const char* text, double low, double high, int64_t* value, error* why)
{
    char* end;
    long long number;
    errno = 0;
    number = strtoll(text, &end, 10);
    if (end == text || *end || strchr(" \t\n\v\f\r", text[0]))
        return error_set(why, "%s '%s': not an integer", name, text);
    if (errno == ERANGE) return error_set(why, "%s %s: does not fit 64 bits", name, text);
    if (is_limited(low, high) && ((double)number < low || (double)number > high))
        return out_of_range(name, text, low, high, why);
    *value = number;
    return true;
}

bool options_real(const char* name, const char* text, double low, double high, double* value, error* why)
{
    char* end;
    double number = strtod(text, &end);
    if (end == text || *end || strchr(" \t\n\v\f\r", text[0]) || !isfinite(number))
        return error_set(why, "%s '%s': not a finite number", name, text);
    if (is_limited(low, high) && (number < low || number > high)) return out_of_range(name, text, low, high, why);
    *value = number;
    return true;
}

bool options_bytes(const char* name, const char* text, double low, double high, int64_t* value, error* why)
{
    static const char suffix[] = "KMGT";
    char* end;
    double number = strtod(text, &end);
    const char* power = *end ? strchr(suffix, *end) : NULL;
    if (end == text || !isfinite(number) || strchr(" \t\n\v\f\r", text[0]))
        return error_set(why, "%s '%s': not a number of bytes", name, text);
    if (power) {
        number = ldexp(number, 10 * (int)(power - suffix + 1));
        end++;
        if (strcmp(end, "B") == 0 || strcmp(end, "iB") == 0) end += strlen(end);
    }
    if (*end) return error_set(why, "%s '%s': not a number of bytes (512, 64M, 1.5G)", name, text);
    if (number < 0 || number > 9e18) return error_set(why, "%s %s: does not fit 63 bits", name, text);
    if (is_limited(low, high) && (number < low || number > high)) return out_of_range(name, text, low, high, why);
    *value = (int64_t)number;
    return true;
}

bool options_ints(const char* name, const char* text, double low, double high, option_list* list, error* why)
{
    list->count = 0;
    for (const char* begin = text;;) {
        char item[32];
        size_t length = strcspn(begin, ",");
        if (length >= sizeof item) return error_set(why, "%s %s: not integers with commas between", name, text);
        if (list->count == OPTION_LIST_MAX) return error_set(why, "%s: more than %d values", name, OPTION_LIST_MAX);
        memcpy(item, begin, length);
        item[length] = 0;
        if (!options_int(name, item, low, high, &list->value[list->count++], why)) return false;
        if (!begin[length]) return true;
        begin += length + 1;
    }
}

/* ---- names ---------------------------------------------------------------------------------------------------- */

int options_choice(const char* choices, const char* text)
{
    size_t length = strlen(text);
    for (int which = 0;; which++) {
        size_t here = strcspn(choices, "|");
        if (here == length && memcmp(choices, text, length) == 0) return which;
        if (!choices[here]) return -1;
        choices += here + 1;
    }
}

static int least(int a, int b) { return a < b ? a : b; }

/* How many letters must be inserted, dropped, changed or swapped with their neighbour to turn a into b (Damerau 1964,
   each place once), by rows; texts of 63 characters at most. */
static int edit_distance(const char* a, size_t a_length, const char* b, size_t b_length)
{
    int rows[3][64]; /* of i - 2, i - 1, i, in turn */
    for (size_t j = 0; j <= b_length; j++) rows[0][j] = (int)j;
    for (size_t i = 1; i <= a_length; i++) {
        int *row = rows[i % 3], *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        row[0] = (int)i;
        for (size_t j = 1; j <= b_length; j++) {
            row[j] = least(above[j - 1] + (a[i - 1] != b[j - 1]), least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], before[j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

/* Another word for what one of ours names: no letters tell. */
static bool is_synonym(const char* name, size_t length, const char* text)
{
    return strcmp(text, "gpu") == 0 && length == 4 && memcmp(name, "cuda", 4) == 0;
}

/* Keeps the name in nearest where it is closer than best; returns the smaller distance. A beginning counts as close;
   a short word that begins with another letter is another word, as gpu is not cpu. */
static int consider(const char* name, size_t length, const char* text, int best, char nearest[64])
{
    size_t text_length = strlen(text);
    int distance;
    if (length > 63 || text_length > 63) return best;
    distance = edit_distance(name, length, text, text_length);
    if (text_length <= 3 && name[0] != text[0]) distance = best;
    if (text_length >= 3 && text_length < length && memcmp(name, text, text_length) == 0) distance = 1;
    if (is_synonym(name, length, text)) distance = 0;
    if (distance >= best) return best;
    memcpy(nearest, name, length);
    nearest[length] = 0;
    return distance;
}

/* A third of the letters may be wrong; of short names one. */
static int farthest(const char* text)
{
    int length = (int)strlen(text);
    return (length > 5 ? length / 3 : 1) + 1;
}

bool options_nearest(const char* choices, const char* text, char nearest[64])
{
    int limit = farthest(text), best = limit;
    for (;;) {
        size_t length = strcspn(choices, "|");
        best = consider(choices, length, text, best, nearest);
        if (!choices[length]) return best < limit;
        choices += length + 1;
    }
}

static bool nearest_option(const option* table, const char* text, char nearest[64])
{
    int limit = farthest(text), best = limit;
    for (const option* o = table; o->name; o++) best = consider(o->name, strlen(o->name), text, best, nearest);
    return best < limit;
}

static bool unknown_option(const option* table, const char* name, size_t length, error* why)
{
    char text[64], nearest[64];
    snprintf(text, sizeof text, "%.*s", (int)(length < 63 ? length : 63), name);
    if (nearest_option(table, text, nearest)) return error_set(why, "--%s: no such option; is --%s meant?", text, nearest);
    return error_set(why, "--%s: no such option", text);
}

/* "-o", "-epochs=3": says which options begin so, or which is near. o is --out's alone, as everywhere. */
static bool one_dash(const option* table, const char* word, error* why)
{
    char meant[256] = "", text[64], nearest[64];
    size_t used = 0, length = strcspn(word + 1, "=");
    bool several = false;
    snprintf(text, sizeof text, "%.*s", (int)(length < 63 ? length : 63), word + 1);
    if (strcmp(text, "o") == 0) strcpy(text, "out");
    for (const option* o = table; o->name; o++) {
        if (!o->help || strncmp(o->name, text, strlen(text)) != 0 || used + strlen(o->name) + 5 > sizeof meant) continue;
        several = used > 0;
        used += (size_t)snprintf(meant + used, sizeof meant - used, "%s--%s", used ? ", " : "", o->name);
    }
    if (!used && length > 1 && nearest_option(table, text, nearest)) snprintf(meant, sizeof meant, "--%s", nearest);
    if (!meant[0]) return error_set(why, "%s: options begin with two dashes%s", word, strcmp(text, "out") == 0 ? ", and there is no --out" : "");
    return error_set(why, "%s: options begin with two dashes; is %s%s meant?", word, several ? "one of " : "", meant);
}

static bool choose(const option* o, const char* name, const char* text, error* why)
{
    char nearest[64];
    int which = options_choice(o->choices, text);
    if (which >= 0) {
        *(int*)o->value = which;
        return true;
    }
    if (options_nearest(o->choices, text, nearest))
        return error_set(why, "%s %s: not one of %s; is %s meant?", name, text, o->choices, nearest);
    return error_set(why, "%s %s: not one of %s", name, text, o->choices);
}

/* ---- the command line ----------------------------------------------------------------------------------------- */

bool options_set(const option* o, const char* text, error* why)
{
    char name[80];
    snprintf(name, sizeof name, "--%s", o->name);
    switch (o->kind) {
    case OPTION_FLAG:
        *(bool*)o->value = true;
        return true;
    case OPTION_INT:
        return options_int(name, text, o->low, o->high, (int64_t*)o->value, why);
    case OPTION_REAL:
        return options_real(name, text, o->low, o->high, (double*)o->value, why);
    case OPTION_BYTES:
        return options_bytes(name, text, o->low, o->high, (int64_t*)o->value, why);
    case OPTION_CHOICE:
        return choose(o, name, text, why);
    case OPTION_LIST:
        return options_ints(name, text, o->low, o->high, (option_list*)o->value, why);
    case OPTION_TEXT:
        break;
    }
    *(const char**)o->value = text;
    return true;
}

static void list_text(const option_list* list, char* text, size_t size)
{
    size_t used = 0;
    for (int32_t i = 0; i < list->count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%lld", i ? "," : "", (long long)list->value[i]);
}

void options_text(const option* o, char* text, size_t size)
{
    const char* choice = o->choices;
    text[0] = 0;
    switch (o->kind) {
    case OPTION_FLAG:
        snprintf(text, size, "%s", *(const bool*)o->value ? "true" : "false");
        break;
    case OPTION_INT:
    case OPTION_BYTES:
        snprintf(text, size, "%lld", (long long)*(const int64_t*)o->value);
        break;
    case OPTION_REAL: /* 0.1 rather than 0.10000000000000001, where that reads back equal */
        snprintf(text, size, "%.15g", *(const double*)o->value);
        if (strtod(text, NULL) != *(const double*)o->value) snprintf(text, size, "%.17g", *(const double*)o->value);
        break;
    case OPTION_CHOICE:
        for (int i = 0; i < *(const int*)o->value; i++) choice += strcspn(choice, "|") + 1;
        if (*(const int*)o->value >= 0) snprintf(text, size, "%.*s", (int)strcspn(choice, "|"), choice);
        break;
    case OPTION_LIST:
        list_text((const option_list*)o->value, text, size);
        break;
    case OPTION_TEXT:
        if (*(const char* const*)o->value) snprintf(text, size, "%s", *(const char* const*)o->value);
        break;
    }
}

static bool take(const option* o, const char* text, error* why)
{
    if (o->given) *o->given = true;
    return options_set(o, text, why);
}

static const option* find_option(const option* table, const char* name, size_t length)
{
    for (const option* o = table; o->name; o++)
        if (strlen(o->name) == length && memcmp(o->name, name, length) == 0) return o;
    return NULL;
}

/* Takes the option at argv[*at] and moves *at to its last word. */
static bool parse_option(const option* table, int argc, char** argv, int* at, error* why)
{
    const char* name = argv[*at] + 2;
    size_t length = strcspn(name, "=");
    const option* o = find_option(table, name, length);
    if (!o) return unknown_option(table, name, length, why);
    if (o->kind == OPTION_FLAG) {
        if (name[length]) return error_set(why, "--%s: takes no value", name);
        return take(o, NULL, why);
    }
    if (name[length]) return take(o, name + length + 1, why);
    if (*at + 1 == argc) return error_set(why, "--%s: needs a value", name);
    return take(o, argv[++*at], why);
}

options_result options_parse(const option* table, int argc, char** argv, const char** argument, int* num_arguments,
                             int min, int max, error* why)
{
    bool options = true;
    *num_arguments = 0;
    for (int at = 1; at < argc; at++) {
        const char* word = argv[at];
        if (options && strcmp(word, "--") == 0) {
            options = false;
        } else if (options && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)) {
            return OPTIONS_HELP;
        } else if (options && word[0] == '-' && word[1] == '-') {
            if (!parse_option(table, argc, argv, &at, why)) return OPTIONS_WRONG;
        } else if (options && word[0] == '-' && word[1]) {
            one_dash(table, word, why);
            return OPTIONS_WRONG;
        } else if (*num_arguments == max) {
            error_set(why, max ? "'%s': one argument too many" : "'%s': only options are expected, --NAME VALUE", word);
            return OPTIONS_WRONG;
        } else {
            argument[(*num_arguments)++] = word;
        }
    }
    if (*num_arguments >= min) return OPTIONS_GOOD;
    error_set(why, "%d argument%s expected, %d given", min, min == 1 ? "" : "s", *num_arguments);
    return OPTIONS_WRONG;
}

bool options_version(const char* program, int argc, char** argv)
{
    if (argc < 2 || strcmp(argv[1], "--version") != 0) return false;
    printf("%s %s\n", program, GGNN_VERSION);
    return true;
}

/* ---- help ----------------------------------------------------------------------------------------------------- */

/* A default outside the limits stands for "not given", and is not shown. */
static bool is_allowed(const option* o, double value)
{
    return !is_limited(o->low, o->high) || (value >= o->low && value <= o->high);
}

/* " [64]"; of a flag, and of what has no value that may be given, nothing. */
static void print_default(const option* o, char* text, size_t size)
{
    const bool whole = o->kind == OPTION_INT || o->kind == OPTION_BYTES;
    const double number = whole ? (double)*(const int64_t*)o->value : o->kind == OPTION_REAL ? *(const double*)o->value : 0;
    text[0] = 0;
    if (o->kind == OPTION_FLAG || ((whole || o->kind == OPTION_REAL) && !is_allowed(o, number))) return;
    options_text(o, text + 2, size - 2);
    if (!text[2]) return;
    memcpy(text, " [", 2);
    if (strlen(text) + 1 < size) strcat(text, "]");
}

/* Prints text from column on, breaking lines between words after 100 columns. */
static void print_wrapped(FILE* out, const char* text, int column)
{
    int at = column;
    while (*text) {
        int length = (int)strcspn(text, " ");
        bool first = at == column;
        if (at + length > 100 && !first) {
            fprintf(out, "\n%*s", column, "");
            at = column;
            first = true;
        }
        fprintf(out, "%s%.*s", first ? "" : " ", length, text);
        at += length + !first;
        text += length + (text[length] == ' ');
    }
    fprintf(out, "\n");
}

void options_help(const option* table, FILE* out)
{
    enum { column = 28 };
    for (const option* o = table; o->name; o++) {
        static const char* const value[] = {"", "N", "X", "BYTES", "TEXT", "", "N,N,..."};
        char left[256], text[1024], standard[256];
        if (!o->help) continue;
        snprintf(left, sizeof left, "  --%s %s", o->name, o->choices ? o->choices : value[o->kind]);
        print_default(o, standard, sizeof standard);
        snprintf(text, sizeof text, "%s%s", o->help, standard);
        if (strlen(left) < column)
            fprintf(out, "%-*s", column, left);
        else
            fprintf(out, "%s\n%*s", left, column, "");
        print_wrapped(out, text, column);
    }
}
