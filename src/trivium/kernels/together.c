/* The positions of several segments brought together: those of one word follow each other. */
#include "together.h"
#include <stdlib.h>
#include <string.h>

#define STRETCH 5 /* as in together.py */

void
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

void
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

void
empty_runs(Runs *all)
{
    all->count = 0;
    all->runs = 0;
}

int
room_for(Runs *all, int64_t most, Py_ssize_t parts)
{
    memset(all, 0, sizeof *all);
    all->values = malloc(((size_t)most + 1) * sizeof *all->values);
    all->other = malloc(((size_t)most + 1) * sizeof *all->other);
    all->begins = malloc(((size_t)parts + 2) * sizeof *all->begins);
    return all->values && all->other && all->begins;
}

void
free_runs(Runs *all)
{
    free(all->values);
    free(all->other);
    free(all->begins);
}

void
free_parts(Parts *all)
{
    for (Py_ssize_t i = 0; i < all->count; i++)
        let_go(all->parts[i].all, all->parts[i].fields);
    free(all->parts);
}

int
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

int
offsets_fit(const int64_t *offsets, Py_ssize_t lists, int64_t values)
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
           offsets_fit(part->offsets, part->lists, ITEMS(all[2], uint32_t));
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
        empty_runs(runs);
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
    int64_t most = 0;
    for (Py_ssize_t i = 0; i < all.count; i++) {
        fits = fits && positions_fit(all.parts + i);
        most += ITEMS(all.parts[i].all[2], uint32_t);
    }
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
