#include "npy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/memory.h"
#include "ggnn.h"

enum { PREFIX_BYTES = 8, HEADER_MAX = 64 << 10, CHUNK_BYTES = 32 << 10 };

/* ---- the header: a Python dictionary -------------------------------------------------------------------------- */

typedef struct {
    const char* at; /* the text ends with a zero */
    source* in;
    error* why;
    bool letters; /* text is expected, not numbers */
} header_text;

static bool header_fail(const header_text* t, const char* what)
{
    return error_set(t->why, "%s: .npy header: %s at \"%.40s\"", source_name(t->in), what, t->at);
}

static void skip_space(header_text* t) { t->at += strspn(t->at, " \t\r\n"); }

static bool take(header_text* t, char c)
{
    skip_space(t);
    if (*t->at != c) return false;
    t->at++;
    return true;
}

/* 'text' or "text" without escapes, which NumPy never writes here. */
static bool take_string(header_text* t, char* out, size_t room)
{
    skip_space(t);
    char quote = *t->at;
    const char* end = quote == '\'' || quote == '"' ? strchr(t->at + 1, quote) : NULL;
    if (!end || (size_t)(end - t->at) > room) return header_fail(t, "a short string is expected");
    size_t length = (size_t)(end - t->at - 1);
    memcpy(out, t->at + 1, length);
    out[length] = 0;
    t->at = end + 1;
    return true;
}

static bool take_number(header_text* t, int64_t* out)
{
    skip_space(t);
    if (*t->at < '0' || *t->at > '9') return header_fail(t, "a number >= 0 is expected");
    int64_t n = 0;
    for (; *t->at >= '0' && *t->at <= '9'; t->at++) {
        if (n > (INT64_MAX - 9) / 10) return header_fail(t, "a number that is too large");
        n = n * 10 + (*t->at - '0');
    }
    if (*t->at == 'L') t->at++; /* a long of Python 2 */
    *out = n;
    return true;
}

static bool take_shape(header_text* t, npy_header* h)
{
    h->num_dims = 0;
    if (!take(t, '(')) return header_fail(t, "the shape is no tuple");
    while (!take(t, ')')) {
        if (h->num_dims == NPY_MAX_DIMS) return header_fail(t, "more than 4 dimensions");
        if (!take_number(t, &h->shape[h->num_dims++])) return false;
        if (take(t, ',')) continue;
        if (take(t, ')')) break;
        return header_fail(t, "the shape is damaged");
    }
    return true;
}

static bool take_bool(header_text* t, bool* out)
{
    skip_space(t);
    *out = strncmp(t->at, "True", 4) == 0;
    if (!*out && strncmp(t->at, "False", 5) != 0) return header_fail(t, "True or False is expected");
    t->at += *out ? 4 : 5;
    return true;
}

static bool take_type(header_text* t, npy_header* h)
{
    char text[16];
    skip_space(t);
    if (*t->at == '[') return header_fail(t, "a table of named columns is no array of numbers");
    if (!take_string(t, text, sizeof text)) return false;
    int size = text[0] && text[1] >= 'A' && text[2] >= '1' && text[2] <= '8' && !text[3] ? text[2] - '0' : 0;
    h->kind = text[0] ? text[1] : 0;
    h->size = h->kind == 'U' ? 4 * size : size; /* UCS-4 */
    h->swapped = text[0] == '>' && h->size > 1;
    bool order = text[0] == '<' || text[0] == '>' || text[0] == '=' || (text[0] == '|' && size == 1);
    bool known = h->kind == 'b'                     ? size == 1
                 : h->kind == 'i' || h->kind == 'u' ? size == 1 || size == 2 || size == 4 || size == 8
                                                    : h->kind == 'f' && (size == 2 || size == 4 || size == 8);
    if (t->letters) {
        if (size && (h->kind == 'S' || h->kind == 'U')) return true;
        return error_set(t->why, "%s: elements of type '%s'; a text of up to %d characters is expected", source_name(t->in), text,
                         NPY_TEXT);
    }
    if (order && known) return true;
    return error_set(t->why, "%s: elements of type '%s'%s; bool, integers and floats of up to 8 bytes are read",
                     source_name(t->in), text, text[0] && text[1] == 'O' ? " (pickled Python objects)" : "");
}

static bool take_dictionary(header_text* t, npy_header* h)
{
    bool type = false, order = false, shape = false;
    if (!take(t, '{')) return header_fail(t, "no dictionary");
    while (!take(t, '}')) {
        char key[16];
        if (!take_string(t, key, sizeof key)) return false;
        if (!take(t, ':')) return header_fail(t, "':' is missing");
        bool ok;
        if (!strcmp(key, "descr"))
            ok = type = take_type(t, h);
        else if (!strcmp(key, "fortran_order"))
            ok = order = take_bool(t, &h->fortran);
        else if (!strcmp(key, "shape"))
            ok = shape = take_shape(t, h);
        else
            ok = header_fail(t, "an unknown key");
        if (!ok) return false;
        if (take(t, ',')) continue;
        if (take(t, '}')) break;
        return header_fail(t, "',' or '}' is missing");
    }
    return (type && order && shape) || header_fail(t, "descr, fortran_order or shape is missing");
}

static bool check_length(npy_header* h, source* s, int64_t header_bytes, error* why)
{
    bool empty = false;
    h->count = 1;
    for (int i = 0; i < h->num_dims; i++) empty = empty || h->shape[i] == 0;
    for (int i = 0; i < h->num_dims && !empty; i++) {
        if (h->shape[i] > (INT64_MAX / 2) / h->size / h->count)
            return error_set(why, "%s: the shape holds more elements than a file can", source_name(s));
        h->count *= h->shape[i];
    }
    if (empty) h->count = 0;
    int64_t length = source_length(s), need = header_bytes + h->count * h->size;
    if (length >= 0 && length != need)
        return error_set(why, "%s: %lld bytes, but its shape needs %lld (truncated?)", source_name(s),
                         (long long)length, (long long)need);
    return true;
}

static bool read_header(npy_header* h, source* s, bool letters, error* why)
{
    unsigned char prefix[PREFIX_BYTES], size[4] = {0};
    memset(h, 0, sizeof *h);
    if (!source_read_all(s, prefix, PREFIX_BYTES, "the .npy header", why)) return false;
    if (memcmp(prefix, "\x93NUMPY", 6) != 0)
        return error_set(why, "%s: no .npy array (it does not begin with \\x93NUMPY)", source_name(s));
    if (prefix[6] < 1 || prefix[6] > 3)
        return error_set(why, "%s: .npy version %d.%d; 1, 2 and 3 are read", source_name(s), prefix[6], prefix[7]);
    int width = prefix[6] == 1 ? 2 : 4;
    if (!source_read_all(s, size, width, "the .npy header", why)) return false;
    uint32_t bytes = (uint32_t)size[0] | (uint32_t)size[1] << 8 | (uint32_t)size[2] << 16 | (uint32_t)size[3] << 24;
    if (bytes > HEADER_MAX) return error_set(why, "%s: a .npy header of %u bytes", source_name(s), bytes);
    char* text = memory_new((size_t)bytes + 1, "a .npy header", why);
    header_text t = {text, s, why, letters};
    bool ok = text && source_read_all(s, text, bytes, "the .npy header", why) && take_dictionary(&t, h);
    memory_free(text);
    h->fortran = h->fortran && h->num_dims > 1;
    return ok && check_length(h, s, PREFIX_BYTES + width + (int64_t)bytes, why);
}

bool npy_read_header(npy_header* h, source* s, error* why) { return read_header(h, s, false, why); }

bool npy_read_text(char out[NPY_TEXT + 1], source* s, error* why)
{
    unsigned char raw[4 * NPY_TEXT];
    npy_header h;
    int length = 0;
    if (!read_header(&h, s, true, why)) return false;
    if (h.count != 1) return error_set(why, "%s: %lld texts; one is expected", source_name(s), (long long)h.count);
    if (!source_read_all(s, raw, h.size, "the text", why)) return false;
    const int width = h.kind == 'U' ? 4 : 1, low = h.swapped ? width - 1 : 0;
    for (int at = 0; at < h.size && raw[at + low]; at += width) {
        bool ascii = raw[at + low] < 128;
        for (int i = 0; i < width; i++) ascii = ascii && (i == low || !raw[at + i]);
        out[length++] = (char)(ascii ? raw[at + low] : '?');
    }
    out[length] = 0;
    return source_at_end(s, "the text", why);
}

/* ---- elements ------------------------------------------------------------------------------------------------- */

static uint64_t load(const unsigned char* p, const npy_header* h)
{
    uint64_t bits = 0;
    if (h->swapped)
        for (int i = 0; i < h->size; i++) bits = bits << 8 | p[i];
    else
        for (int i = h->size; i-- > 0;) bits = bits << 8 | p[i];
    return bits;
}

static double as_real(uint64_t bits, const npy_header* h)
{
    uint32_t low = (uint32_t)bits;
    float f;
    double d;
    if (h->kind == 'i') return (double)((int64_t)(bits << (64 - 8 * h->size)) >> (64 - 8 * h->size));
    if (h->kind != 'f') return (double)bits;
    if (h->size == 2) return (double)ggnn_half_to_float((uint16_t)bits);
    if (h->size == 4) {
        memcpy(&f, &low, 4);
        return (double)f;
    }
    memcpy(&d, &bits, 8);
    return d;
}

static float as_float(uint64_t bits, const npy_header* h)
{
    if (h->size == 8 && h->kind == 'i') return (float)(int64_t)bits; /* one rounding, not two */
    if (h->size == 8 && h->kind == 'u') return (float)bits;
    return (float)as_real(bits, h);
}

static bool as_int(int64_t* out, uint64_t bits, const npy_header* h, source* s, int64_t index, error* why)
{
    if (h->kind == 'u' && h->size == 8 && bits > INT64_MAX)
        return error_set(why, "%s: element %lld: %llu does not fit 64 bits with a sign", source_name(s),
                         (long long)index, (unsigned long long)bits);
    if (h->kind == 'i' || h->kind == 'u' || h->kind == 'b') {
        *out = h->kind == 'i' ? (int64_t)(bits << (64 - 8 * h->size)) >> (64 - 8 * h->size) : (int64_t)bits;
        return true;
    }
    double real = as_real(bits, h);
    if (real != floor(real) || fabs(real) >= 9223372036854775808.0) /* NaN differs from its floor */
        return error_set(why, "%s: element %lld: %g is no 64-bit integer", source_name(s), (long long)index, real);
    *out = (int64_t)real;
    return true;
}

bool npy_read_floats(float* out, int64_t count, const npy_header* h, source* s, error* why)
{
    unsigned char chunk[CHUNK_BYTES];
    if (h->kind == 'f' && h->size == 4 && !h->swapped) return source_read_all(s, out, count * 4, "the array", why);
    for (int64_t done = 0, some; done < count; done += some) {
        some = count - done < CHUNK_BYTES / h->size ? count - done : CHUNK_BYTES / h->size;
        if (!source_read_all(s, chunk, some * h->size, "the array", why)) return false;
        for (int64_t i = 0; i < some; i++) out[done + i] = as_float(load(chunk + i * h->size, h), h);
    }
    return true;
}

bool npy_read_doubles(double* out, int64_t count, const npy_header* h, source* s, error* why)
{
    unsigned char chunk[CHUNK_BYTES];
    for (int64_t done = 0, some; done < count; done += some) {
        some = count - done < CHUNK_BYTES / h->size ? count - done : CHUNK_BYTES / h->size;
        if (!source_read_all(s, chunk, some * h->size, "the array", why)) return false;
        for (int64_t i = 0; i < some; i++) out[done + i] = as_real(load(chunk + i * h->size, h), h);
    }
    return true;
}

bool npy_read_ints(int64_t* out, int64_t count, const npy_header* h, source* s, int64_t first, error* why)
{
    unsigned char chunk[CHUNK_BYTES];
    if (h->kind == 'i' && h->size == 8 && !h->swapped) return source_read_all(s, out, count * 8, "the array", why);
    for (int64_t done = 0, some; done < count; done += some) {
        some = count - done < CHUNK_BYTES / h->size ? count - done : CHUNK_BYTES / h->size;
        if (!source_read_all(s, chunk, some * h->size, "the array", why)) return false;
        for (int64_t i = 0; i < some; i++)
            if (!as_int(&out[done + i], load(chunk + i * h->size, h), h, s, first + done + i, why)) return false;
    }
    return true;
}

/* ---- written -------------------------------------------------------------------------------------------------- */

size_t npy_write_header(char header[NPY_WRITTEN_MAX], const char* type, int32_t num_dims, const int64_t* shape)
{
    char sizes[22 * NPY_MAX_DIMS + 1] = "";
    size_t used = 0, length;
    for (int32_t i = 0; i < num_dims && i < NPY_MAX_DIMS; i++)
        used += (size_t)snprintf(sizes + used, sizeof sizes - used, "%s%lld%s", i ? ", " : "", (long long)shape[i], num_dims == 1 ? "," : "");
    memcpy(header, "\x93NUMPY\1", 8); /* and the 0 of version 1.0 */
    length = 10 + (size_t)snprintf(header + 10, NPY_WRITTEN_MAX - 10, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", type, sizes);
    while ((length + 1) % 64) header[length++] = ' ';
    header[length++] = '\n';
    header[8] = (char)((length - 10) & 255);
    header[9] = (char)((length - 10) >> 8);
    return length;
}
