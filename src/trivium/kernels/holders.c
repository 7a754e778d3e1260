/* Who holds which word, of several segments brought together. */
#include "together.h"

#define COLUMN_BITS 3 /* WIDTH columns fit */
#define COUNT_BITS 30 /* what is left of a number beside a row and a column */

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
           offsets_fit(part->offsets, part->lists, part->size) &&
           offsets_fit(part->extra_offsets, part->lists, part->extra_size);
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
        empty_runs(postings);
        empty_runs(extras);
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
    int64_t most = 0, most_extras = 0;
    for (Py_ssize_t i = 0; i < all.count; i++) {
        fits = fits && postings_fit(all.parts + i);
        most += all.parts[i].size;
        most_extras += all.parts[i].extra_size;
    }
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
