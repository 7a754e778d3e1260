/* The lists of several segments brought together: those of one word follow each other, then are one. */
#include "kernels.h"
#include <stdlib.h>
#include <string.h>

#define STRETCH 5     /* as in together.py */
#define COLUMN_BITS 3 /* WIDTH columns fit */
#define COUNT_BITS 30 /* what is left of a number beside a row and a column */

#define FIELDS 9 /* at most, of a part */

/* A segment's lists; which of these there are depends on what is brought together. */
typedef struct {
    Py_buffer all[FIELDS];
    int fields;
    Py_ssize_t lists, at; /* how many, and the next one */
    const int64_t *offsets, *extra_offsets, *numbers;
    const int64_t *place, *shift, *ends, *stretches;
    Py_ssize_t rows, marks;
    int64_t base, extra_base, size, extra_size;
} Part;

/* Ascending runs of numbers on their way to be one. */
typedef struct {
    uint64_t *values, *other; /* room for as many as there are at most */
    int64_t count;
    int64_t *begins; /* of each run, and where the last one ends */
    Py_ssize_t runs;
} Runs;

typedef struct {
    Part *parts;
    Py_ssize_t count;
} Parts;

/* What was added from here on is a run, unless it goes on where the last one ends: often all do. */
static void
end_run(Runs *all, int64_t begin)
{
    if (begin == all->count || (begin && all->values[begin - 1] < all->values[begin]))
        return;
    all->begins[all->runs++] = begin;
}

/* Two ascending runs as one; the next number is chosen without a branch, which none could foresee. */
static void
two_as_one(const uint64_t *one, const uint64_t *end, const uint64_t *other, const uint64_t *last,
           uint64_t *to)
{
    while (one < end && other < last) {
        uint64_t a = *one, b = *other;
        int first = a <= b;
        *to++ = first ? a : b;
        one += first;
        other += !first;
    }
    memcpy(to, one, (size_t)(end - one) * sizeof *to);
    memcpy(to + (end - one), other, (size_t)(last - other) * sizeof *to);
}

/* All runs as one, neighbours first, then what became of them. */
static void
as_one(Runs *all)
{
    while (all->runs > 1) {
        Py_ssize_t made = 0;
        all->begins[all->runs] = all->count;
        for (Py_ssize_t i = 0; i < all->runs; i += 2) {
            int64_t begin = all->begins[i], middle = all->begins[i + 1];
            int64_t end = i + 1 < all->runs ? all->begins[i + 2] : middle;
            two_as_one(all->values + begin, all->values + middle, all->values + middle,
                       all->values + end, all->other + begin);
            all->begins[made++] = begin;
        }
        uint64_t *values = all->values;
        all->values = all->other;
        all->other = values;
        all->runs = made;
    }
}

static void
empty(Runs *all)
{
    all->count = 0;
    all->runs = 0;
}

/* Room for so many numbers of so many parts; 0 if there is none. */
static int
room_for(Runs *all, int64_t most, Py_ssize_t parts)
{
    memset(all, 0, sizeof *all);
    all->values = malloc(((size_t)most + 1) * sizeof *all->values);
    all->other = malloc(((size_t)most + 1) * sizeof *all->other);
    all->begins = malloc(((size_t)parts + 2) * sizeof *all->begins);
    return all->values && all->other && all->begins;
}

static void
free_runs(Runs *all)
{
    free(all->values);
    free(all->other);
    free(all->begins);
}

static void
free_parts(Parts *all)
{
    for (Py_ssize_t i = 0; i < all->count; i++)
        let_go(all->parts[i].all, all->parts[i].fields);
    free(all->parts);
}

/* Takes so many buffers of each part; 0 with an exception set. */
static int
take_parts(PyObject *given, int fields, Parts *all)
{
    Py_ssize_t count = PyTuple_Size(given);
    memset(all, 0, sizeof *all);
    if (count < 0)
        return 0;
    all->parts = calloc((size_t)count + 1, sizeof *all->parts);
    if (!all->parts) {
        PyErr_NoMemory();
        return 0;
    }
    for (; all->count < count; all->count++) {
        Part *part = all->parts + all->count;
        PyObject *one = PyTuple_GetItem(given, all->count);
        if (!one || !PyTuple_Check(one) || PyTuple_Size(one) != fields) {
            PyErr_SetString(PyExc_ValueError, "a part has other arrays");
            break;
        }
        for (; part->fields < fields; part->fields++)
            if (PyObject_GetBuffer(PyTuple_GetItem(one, part->fields), part->all + part->fields,
                                   PyBUF_SIMPLE))
                break;
        if (part->fields < fields) {
            let_go(part->all, part->fields);
            break;
        }
    }
    if (all->count == count)
        return 1;
    free_parts(all);
    return 0;
}

/* Whether offsets tell apart lists of so many values, which begin at the first offset. */
static int
fit(const int64_t *offsets, Py_ssize_t lists, int64_t values)
{
    if (offsets[lists] - offsets[0] != values)
        return 0;
    for (Py_ssize_t i = 0; i < lists; i++)
        if (offsets[i] > offsets[i + 1])
            return 0;
    return 1;
}

static int
positions_fit(Part *part)
{
    Py_buffer *all = part->all;
    part->offsets = all[0].buf;
    part->numbers = all[1].buf;
    part->place = all[3].buf;
    part->shift = all[4].buf;
    part->ends = all[5].buf;
    part->stretches = all[6].buf;
    part->lists = ITEMS(all[1], int64_t);
    part->rows = ITEMS(all[3], int64_t);
    part->marks = ITEMS(all[6], int64_t);
    return ITEMS(all[0], int64_t) == part->lists + 1 && ITEMS(all[4], int64_t) == part->rows &&
           ITEMS(all[5], int64_t) == part->rows &&
           fit(part->offsets, part->lists, ITEMS(all[2], uint32_t));
}

/* Adds the living positions of a list, moved; 0 if one is in no row, or would be nowhere. */
static int
moved(const Part *part, Py_ssize_t list, Runs *to)
{
    const uint32_t *values = part->all[2].buf;
    int64_t at = part->offsets[list] - part->offsets[0];
    int64_t end = part->offsets[list + 1] - part->offsets[0];
    int64_t begin = to->count;
    for (; at < end; at++) {
        int64_t value = values[at], mark = value >> STRETCH;
        if (mark >= part->marks)
            return 0;
        int64_t row = part->stretches[mark];
        while (row >= 0 && row < part->rows && value >= part->ends[row])
            row++;
        if (row < 0 || row >= part->rows)
            return 0;
        if (part->place[row] < 0)
            continue;
        value += part->shift[row];
        if (value < 0 || value > UINT32_MAX)
            return 0;
        to->values[to->count++] = (uint64_t)value;
    }
    end_run(to, begin);
    return 1;
}

/* How many positions were written; -1 if the arrays do not fit each other. */
static int64_t
all_positions(Parts *all, int64_t first, int64_t last, Runs *runs, uint32_t *to)
{
    int64_t written = 0;
    for (int64_t number = first; number < last; number++) {
        empty(runs);
        for (Py_ssize_t i = 0; i < all->count; i++) {
            Part *part = all->parts + i;
            /* a list without a number of its own has nothing that lives */
            for (; part->at < part->lists && part->numbers[part->at] <= number; part->at++) {
                if (!moved(part, part->at, runs) || runs->runs > i + 1)
                    return -1;
            }
        }
        as_one(runs);
        for (int64_t i = 0; i < runs->count; i++)
            to[written + i] = (uint32_t)runs->values[i];
        written += runs->count;
    }
    return written;
}

static int64_t
most_of(const Parts *all, int extra)
{
    int64_t most = 0;
    for (Py_ssize_t i = 0; i < all->count; i++)
        most += extra ? all->parts[i].extra_size : all->parts[i].size;
    return most;
}

/* positions_together(parts, first, last, to uint32) → how many were written: the living positions of
 * the forms from first to last, by form and ascending. A part is (offsets int64, numbers int64,
 * positions uint32, place int64, shift int64, ends int64, stretches int64). */
PyObject *
positions_together(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *given;
    long long first, last, written = -1;
    Py_buffer to;
    Parts all;
    Runs runs;
    if (!PyArg_ParseTuple(args, "O!LLw*", &PyTuple_Type, &given, &first, &last, &to))
        return NULL;
    if (!take_parts(given, 7, &all)) {
        PyBuffer_Release(&to);
        return NULL;
    }
    int fits = 1;
    for (Py_ssize_t i = 0; i < all.count; i++) {
        fits = fits && positions_fit(all.parts + i);
        all.parts[i].size = ITEMS(all.parts[i].all[2], uint32_t);
    }
    int64_t most = most_of(&all, 0);
    int has_room = room_for(&runs, most, all.count);
    if (has_room && fits && ITEMS(to, uint32_t) >= most) {
        Py_BEGIN_ALLOW_THREADS
        written = all_positions(&all, first, last, &runs, to.buf);
        Py_END_ALLOW_THREADS
    }
    free_runs(&runs);
    free_parts(&all);
    PyBuffer_Release(&to);
    if (!has_room)
        return PyErr_NoMemory();
    if (written < 0) {
        PyErr_SetString(PyExc_ValueError, "positions_together: the arrays do not fit each other");
        return NULL;
    }
    return PyLong_FromLongLong(written);
}

static int
postings_fit(Part *part)
{
    Py_buffer *all = part->all;
    part->offsets = all[0].buf;
    part->extra_offsets = all[1].buf;
    part->numbers = all[2].buf;
    part->place = all[8].buf;
    part->lists = ITEMS(all[2], int64_t);
    part->rows = ITEMS(all[8], int64_t);
    part->size = ITEMS(all[3], int32_t);
    part->extra_size = ITEMS(all[5], int32_t);
    return ITEMS(all[0], int64_t) == part->lists + 1 && ITEMS(all[1], int64_t) == part->lists + 1 &&
           ITEMS(all[4], uint32_t) == part->size && all[6].len == part->extra_size &&
           ITEMS(all[7], uint32_t) == part->extra_size &&
           fit(part->offsets, part->lists, part->size) &&
           fit(part->extra_offsets, part->lists, part->extra_size);
}

/* Where a row is now: -1 if it is dead, -2 if there is none. */
static int64_t
place_of(const Part *part, int64_t posting)
{
    int32_t row = ((const int32_t *)part->all[3].buf)[posting];
    if (row < 0 || row >= part->rows || part->place[row] > INT32_MAX)
        return -2;
    return part->place[row] < 0 ? -1 : part->place[row];
}

/* Adds a list's living postings, row and count in one number; 0 if the arrays do not fit. */
static int
postings_of(const Part *part, Py_ssize_t list, Runs *to)
{
    const uint32_t *body = part->all[4].buf;
    int64_t at = part->offsets[list] - part->offsets[0];
    int64_t end = part->offsets[list + 1] - part->offsets[0];
    int64_t begin = to->count;
    for (; at < end; at++) {
        int64_t row = place_of(part, at);
        if (row < -1)
            return 0;
        if (row >= 0)
            to->values[to->count++] = (uint64_t)row << 32 | body[at];
    }
    end_run(to, begin);
    return 1;
}

/* The same for what is beyond the body: row, column and count in one number. */
static int
extras_of(const Part *part, Py_ssize_t list, Runs *to)
{
    const int32_t *posting = part->all[5].buf;
    const uint8_t *column = part->all[6].buf;
    const uint32_t *count = part->all[7].buf;
    int64_t start = part->offsets[list] - part->offsets[0];
    int64_t size = part->offsets[list + 1] - part->offsets[list];
    int64_t at = part->extra_offsets[list] - part->extra_offsets[0];
    int64_t end = part->extra_offsets[list + 1] - part->extra_offsets[0];
    int64_t begin = to->count;
    for (; at < end; at++) {
        if (posting[at] < 0 || posting[at] >= size)
            return 0;
        int64_t row = place_of(part, start + posting[at]);
        if (row < -1 || (row >= 0 && (column[at] >= WIDTH || count[at] >> COUNT_BITS)))
            return 0;
        uint64_t cell = (uint64_t)row << COLUMN_BITS | column[at];
        if (row >= 0)
            to->values[to->count++] = cell << COUNT_BITS | count[at];
    }
    end_run(to, begin);
    return 1;
}

typedef struct {
    int64_t *counts, *extra_counts; /* of each term */
    int32_t *rows, *extra_posting;
    uint32_t *body, *extra_count;
    uint8_t *extra_column;
    int64_t written, extra_written;
} Postings;

/* Writes a term's postings and extras; 0 if there is an extra without its posting. */
static int
write_term(const Runs *postings, const Runs *extras, Postings *to)
{
    int32_t *rows = to->rows + to->written;
    for (int64_t i = 0; i < postings->count; i++) {
        rows[i] = (int32_t)(postings->values[i] >> 32);
        to->body[to->written + i] = (uint32_t)postings->values[i];
    }
    int64_t posting = 0;
    for (int64_t i = 0; i < extras->count; i++) {
        uint64_t value = extras->values[i];
        int64_t row = (int64_t)(value >> (COUNT_BITS + COLUMN_BITS));
        while (posting < postings->count && rows[posting] < row)
            posting++;
        if (posting == postings->count || rows[posting] != row)
            return 0;
        int64_t at = to->extra_written + i;
        to->extra_posting[at] = (int32_t)posting;
        to->extra_column[at] = (uint8_t)(value >> COUNT_BITS & ((1 << COLUMN_BITS) - 1));
        to->extra_count[at] = (uint32_t)(value & ((1u << COUNT_BITS) - 1));
    }
    to->written += postings->count;
    to->extra_written += extras->count;
    return 1;
}

static int
all_postings(Parts *all, int64_t first, int64_t last, Runs *postings, Runs *extras, Postings *to)
{
    for (int64_t number = first; number < last; number++) {
        empty(postings);
        empty(extras);
        for (Py_ssize_t i = 0; i < all->count; i++) {
            Part *part = all->parts + i;
            for (; part->at < part->lists && part->numbers[part->at] <= number; part->at++) {
                if (!postings_of(part, part->at, postings) || !extras_of(part, part->at, extras))
                    return 0;
                if (postings->runs > i + 1 || extras->runs > i + 1)
                    return 0;
            }
        }
        as_one(postings);
        as_one(extras);
        if (!write_term(postings, extras, to))
            return 0;
        to->counts[number - first] = postings->count;
        to->extra_counts[number - first] = extras->count;
    }
    return 1;
}

/* postings_together(parts, first, last, counts int64, extra counts int64, rows int32, body uint32,
 * extra posting int32, extra column uint8, extra count uint32) → (how many postings were written, how
 * many extras): what lives of the terms from first to last. A part is (offsets int64, extra offsets
 * int64, numbers int64, rows int32, body uint32, extra posting int32, extra column uint8, extra count
 * uint32, place int64). */
PyObject *
postings_together(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *given;
    long long first, last;
    Py_buffer out[7];
    Parts all;
    Runs postings, extras;
    if (!PyArg_ParseTuple(args, "O!LLw*w*w*w*w*w*w*", &PyTuple_Type, &given, &first, &last, out,
                          out + 1, out + 2, out + 3, out + 4, out + 5, out + 6))
        return NULL;
    if (!take_parts(given, 9, &all)) {
        let_go(out, 7);
        return NULL;
    }
    int fits = 1;
    for (Py_ssize_t i = 0; i < all.count; i++)
        fits = fits && postings_fit(all.parts + i);
    int64_t most = fits ? most_of(&all, 0) : 0, most_extras = fits ? most_of(&all, 1) : 0;
    fits = fits && first <= last && ITEMS(out[0], int64_t) == last - first &&
           ITEMS(out[1], int64_t) == last - first && ITEMS(out[2], int32_t) >= most &&
           ITEMS(out[3], uint32_t) >= most && ITEMS(out[4], int32_t) >= most_extras &&
           out[5].len >= most_extras && ITEMS(out[6], uint32_t) >= most_extras;
    int has_room = room_for(&postings, most, all.count);
    has_room = room_for(&extras, most_extras, all.count) && has_room;
    Postings to = {out[0].buf, out[1].buf, out[2].buf, out[4].buf, out[3].buf,
                   out[6].buf, out[5].buf, 0,          0};
    if (has_room && fits) {
        Py_BEGIN_ALLOW_THREADS
        fits = all_postings(&all, first, last, &postings, &extras, &to);
        Py_END_ALLOW_THREADS
    }
    free_runs(&postings);
    free_runs(&extras);
    free_parts(&all);
    let_go(out, 7);
    if (!has_room)
        return PyErr_NoMemory();
    if (!fits) {
        PyErr_SetString(PyExc_ValueError, "postings_together: the arrays do not fit each other");
        return NULL;
    }
    return Py_BuildValue("LL", (long long)to.written, (long long)to.extra_written);
}
