/* A stream of words, row after row and column after column, turned round: who holds which word. */
#include "kernels.h"
#include <stdlib.h>
#include <string.h>

typedef struct {
    const int32_t *stream, *terms;
    const int64_t *starts;
    Py_ssize_t length, cells, forms, count;
    /* how many of each there are, then where the next one goes */
    int64_t *form_ends, *posting_ends, *extra_ends;
    int32_t *last; /* the row and column where each term was met last, and its posting there */
    int64_t *posting;
} Inversion;

typedef struct {
    uint32_t *positions, *body, *extra_count;
    int32_t *rows, *extra_posting;
    uint8_t *extra_column;
} Found;

/* Counts what there will be; 0 if the arrays do not fit each other. */
static int
counted(Inversion *all)
{
    for (Py_ssize_t i = 0; i < all->forms; i++)
        if (all->terms[i] < 0 || all->terms[i] >= all->count)
            return 0;
    for (Py_ssize_t cell = 0; cell < all->cells; cell++) {
        int64_t first = all->starts[cell], end = all->starts[cell + 1];
        if (first < 0 || first > end || end > all->length)
            return 0;
        for (int64_t at = first; at < end; at++) {
            int32_t form = all->stream[at];
            if (form == -1)
                continue;
            if (form < 0 || form >= all->forms)
                return 0;
            int32_t term = all->terms[form], last = all->last[term];
            all->form_ends[form + 1]++;
            if (last == (int32_t)cell)
                continue;
            all->last[term] = (int32_t)cell;
            all->posting_ends[term + 1] += last < 0 || last / WIDTH != (int32_t)cell / WIDTH;
            all->extra_ends[term + 1] += cell % WIDTH != BODY;
        }
    }
    return 1;
}

static void
summed_up(int64_t *ends, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++)
        ends[i + 1] += ends[i];
}

/* Writes down what was counted; `form_ends` and the others hold where each list begins, and end as
 * where it ends. */
static void
filled(Inversion *all, Found to, const int64_t *begins)
{
    for (Py_ssize_t i = 0; i < all->count; i++)
        all->last[i] = -1;
    for (Py_ssize_t cell = 0; cell < all->cells; cell++)
        for (int64_t at = all->starts[cell]; at < all->starts[cell + 1]; at++) {
            int32_t form = all->stream[at];
            if (form == -1)
                continue;
            int32_t term = all->terms[form], last = all->last[term];
            to.positions[all->form_ends[form]++] = (uint32_t)at;
            if (last < 0 || last / WIDTH != (int32_t)cell / WIDTH) {
                int64_t posting = all->posting[term] = all->posting_ends[term]++;
                to.rows[posting] = (int32_t)cell / WIDTH;
                to.body[posting] = 0;
            }
            if (cell % WIDTH == BODY) {
                to.body[all->posting[term]]++;
            } else if (last != (int32_t)cell) {
                int64_t extra = all->extra_ends[term]++;
                to.extra_posting[extra] = (int32_t)(all->posting[term] - begins[term]);
                to.extra_column[extra] = (uint8_t)(cell % WIDTH);
                to.extra_count[extra] = 1;
            } else {
                to.extra_count[all->extra_ends[term] - 1]++;
            }
            all->last[term] = (int32_t)cell;
        }
}

static PyObject *
room(int64_t items, size_t size, void *at)
{
    PyObject *made = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)items * (Py_ssize_t)size);
    if (made) {
        char *start = PyBytes_AsString(made);
        memcpy(at, &start, sizeof start);
    }
    return made;
}

static PyObject *
offsets(const int64_t *ends, Py_ssize_t count)
{
    return PyBytes_FromStringAndSize((const char *)ends, (count + 1) * (Py_ssize_t)sizeof *ends);
}

static PyObject *
written(Inversion *all, int64_t *begins)
{
    Found to = {0};
    PyObject *made[9] = {
        offsets(all->form_ends, all->forms),
        offsets(all->posting_ends, all->count),
        offsets(all->extra_ends, all->count),
        room(all->form_ends[all->forms], 4, &to.positions),
        room(all->posting_ends[all->count], 4, &to.rows),
        room(all->posting_ends[all->count], 4, &to.body),
        room(all->extra_ends[all->count], 4, &to.extra_posting),
        room(all->extra_ends[all->count], 1, &to.extra_column),
        room(all->extra_ends[all->count], 4, &to.extra_count),
    };
    int well = 1;
    for (int i = 0; i < 9; i++)
        well = well && made[i];
    if (well) {
        Py_BEGIN_ALLOW_THREADS
        memcpy(begins, all->posting_ends, (size_t)all->count * sizeof *begins);
        filled(all, to, begins);
        Py_END_ALLOW_THREADS
    }
    PyObject *found = well ? PyTuple_Pack(9, made[0], made[1], made[2], made[3], made[4], made[5],
                                          made[6], made[7], made[8])
                           : NULL;
    for (int i = 0; i < 9; i++)
        Py_XDECREF(made[i]);
    return found;
}

/* inverted(stream int32, starts int64, terms int32, count) → offsets int64 of positions by form, of
 * postings and of extras by term; positions uint32, rows int32 and body uint32 of postings; posting
 * int32, column uint8 and count uint32 of extras. `starts` are those of columns, row after row;
 * `terms` the term of each form, of which there are `count`. */
PyObject *
inverted(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer given[3]; /* stream, starts, terms */
    Py_ssize_t count;
    if (!PyArg_ParseTuple(args, "y*y*y*n", &given[0], &given[1], &given[2], &count))
        return NULL;
    Inversion all = {.stream = given[0].buf, .terms = given[2].buf, .starts = given[1].buf,
                     .length = ITEMS(given[0], int32_t), .cells = ITEMS(given[1], int64_t) - 1,
                     .forms = ITEMS(given[2], int32_t), .count = count};
    PyObject *found = NULL;
    int fits = count >= 0 && all.cells >= 0 && count <= INT32_MAX && all.forms <= INT32_MAX &&
               all.cells <= INT32_MAX && all.length <= INT32_MAX;
    size_t lists = fits ? (size_t)count + 1 : 1, forms = fits ? (size_t)all.forms + 1 : 1;
    all.form_ends = calloc(forms, sizeof(int64_t));
    all.posting_ends = calloc(lists, sizeof(int64_t));
    all.extra_ends = calloc(lists, sizeof(int64_t));
    all.posting = calloc(2 * lists, sizeof(int64_t));
    all.last = malloc(lists * sizeof(int32_t));
    int room_for_it = all.form_ends && all.posting_ends && all.extra_ends && all.posting && all.last;
    if (fits && room_for_it) {
        Py_BEGIN_ALLOW_THREADS
        memset(all.last, 255, lists * sizeof(int32_t)); /* -1 */
        fits = counted(&all);
        summed_up(all.form_ends, all.forms);
        summed_up(all.posting_ends, count);
        summed_up(all.extra_ends, count);
        Py_END_ALLOW_THREADS
        if (fits)
            found = written(&all, all.posting + lists);
    }
    free(all.form_ends);
    free(all.posting_ends);
    free(all.extra_ends);
    free(all.posting);
    free(all.last);
    let_go(given, 3);
    if (!room_for_it)
        return PyErr_NoMemory();
    if (!fits)
        PyErr_SetString(PyExc_ValueError, "inverted: the arrays do not fit each other");
    return found;
}
