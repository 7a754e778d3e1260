/* Who is nearest to a query: bounds by half-bytes, a closer look by bytes, exact cosines at last. */
#include "nearest.h"
#include <stdlib.h>

#define STRETCH 1024 /* numbers that are added up as float32 before they go to a sum in float64 */

/* The least of the highest values, of which there are `wanted`; `heap` has room for so many. */
static double
least_of_highest(const float *values, Py_ssize_t count, double *heap, Py_ssize_t wanted)
{
    for (Py_ssize_t i = 0; i < wanted; i++) {
        heap[i] = values[i];
        heap_rise(heap, i);
    }
    for (Py_ssize_t i = wanted; i < count; i++)
        if (values[i] > heap[0]) {
            heap[0] = values[i];
            heap_sink(heap, wanted);
        }
    return heap[0];
}

WIDE void
find_peaks(const float *values, Py_ssize_t count, float *peaks)
{
    for (Py_ssize_t start = 0; start < count; start += RUN) {
        Py_ssize_t end = start + RUN < count ? start + RUN : count;
        float peak = values[start];
#pragma omp simd reduction(max : peak)
        for (Py_ssize_t i = start; i < end; i++)
            peak = values[i] > peak ? values[i] : peak;
        *peaks++ = peak;
    }
}

WIDE void
add_up(const float *values, Py_ssize_t count, double *total, double *square)
{
    for (Py_ssize_t start = 0; start < count; start += STRETCH) {
        Py_ssize_t end = start + STRETCH < count ? start + STRETCH : count;
        float sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum, squares)
        for (Py_ssize_t i = start; i < end; i++) {
            sum += values[i];
            squares += values[i] * values[i];
        }
        *total += sum;
        *square += squares;
    }
}

/* sums(values float32) → (sum, sum of squares), about right: added up in any order. */
PyObject *
sums(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer values;
    double total = 0, square = 0;
    if (!PyArg_ParseTuple(args, "y*", &values))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    add_up(values.buf, ITEMS(values, float), &total, &square);
    Py_END_ALLOW_THREADS
    let_go(&values, 1);
    return Py_BuildValue("dd", total, square);
}

/* Instead of a number of rows: why there are none. */
#define NO_MEMORY (-1)
#define NO_BOUNDS (-2)

/* Makes room for one more run; whether there is any. */
static int
has_room(Looked *looked)
{
    if (looked->count + RUN <= looked->room)
        return 1;
    Py_ssize_t room = 2 * looked->room + 16 * RUN;
    int64_t *rows = realloc(looked->rows, (size_t)room * sizeof *rows);
    looked->rows = rows ? rows : looked->rows;
    float *middle = realloc(looked->middle, (size_t)room * sizeof *middle);
    looked->middle = middle ? middle : looked->middle;
    looked->room = rows && middle ? room : looked->room;
    return rows && middle;
}

/* Looks at the rows whose middle is at least as high as the cut: at least as many as are wanted, unless
 * a vector is no vector or the codes are not its own. Says how many, or why none. */
static Py_ssize_t
look(const Search *all, float cut, Looked *looked)
{
    looked->count = 0;
    for (Py_ssize_t start = 0; start < all->count; start += RUN) {
        Py_ssize_t end = start + RUN < all->count ? start + RUN : all->count;
        if (all->peaks[start / RUN] < cut)
            continue;
        if (!has_room(looked))
            return NO_MEMORY;
        for (Py_ssize_t i = start; i < end; i++)
            if (all->middle[i] >= cut)
                looked->rows[looked->count++] = i;
    }
    if (!all->fine.codes)
        for (Py_ssize_t i = 0; i < looked->count; i++)
            looked->middle[i] = all->middle[looked->rows[i]];
    for (Py_ssize_t i = 0; all->rows && i < looked->count; i++)
        looked->rows[i] = all->rows[looked->rows[i]];
    if (all->fine.codes) {
        Pass pass = all->fine;
        pass.rows = looked->rows;
        pass.count = looked->count;
        pass.out = looked->middle;
        pass_bytes(&pass);
    }
    return looked->count < all->wanted ? NO_BOUNDS : looked->count;
}

void
find_nearest(const Search *all, Room *room)
{
    Looked *looked = &room->looked;
    double *heap = room->heap, *exact;
    float margin = all->fine_spread + all->room, spread = all->spread;
    Py_ssize_t runs = (all->count + RUN - 1) / RUN;
    /* those that look best show how good the nearest are at least; then who may be as good */
    double first = runs < all->wanted
                       ? least_of_highest(all->middle, all->count, heap, all->wanted)
                       : least_of_highest(all->peaks, runs, heap, all->wanted);
    if ((room->held = look(all, (float)first, looked)) < 0)
        return;
    float sure = (float)least_of_highest(looked->middle, looked->count, heap, all->wanted) - margin;
    if ((room->held = look(all, sure - spread - all->room, looked)) < 0)
        return;
    float surer = (float)least_of_highest(looked->middle, looked->count, heap, all->wanted) - margin;
    Py_ssize_t left = 0;
    for (Py_ssize_t i = 0; i < looked->count; i++)
        if (looked->middle[i] >= surer - margin)
            looked->rows[left++] = looked->rows[i];
    exact = room->exact = malloc((size_t)left * sizeof *exact);
    room->held = left < all->wanted ? NO_BOUNDS : exact ? left : NO_MEMORY;
    if (room->held < 0)
        return;
    add_exactly(all->matrix, looked->rows, left, all->query, all->width, exact);
    for (Py_ssize_t i = 0; i < left; i++) {
        exact[i] = exact[i] < -1 ? -1 : exact[i] > 1 ? 1 : exact[i];
        looked->middle[i] = (float)exact[i]; /* rounding keeps the order: a cut that is below */
    }
    double cut = least_of_highest(looked->middle, left, heap, all->wanted);
    Py_ssize_t held = 0;
    for (Py_ssize_t i = 0; i < left; i++)
        if (looked->middle[i] >= cut) {
            looked->rows[held] = looked->rows[i];
            exact[held++] = exact[i];
        }
    room->held = held;
}

int
make_room(Search *search, Room *room)
{
    room->heap = malloc((size_t)search->wanted * sizeof(double));
    room->peaks = malloc(((size_t)search->count / RUN + 1) * sizeof(float));
    search->peaks = room->peaks;
    return room->heap && room->peaks;
}

void
free_room(Room *room)
{
    free(room->looked.rows);
    free(room->looked.middle);
    free(room->exact);
    free(room->heap);
    free(room->peaks);
}

PyObject *
pair_of(const Room *room)
{
    if (room->held == NO_MEMORY)
        return PyErr_NoMemory();
    if (room->held == NO_BOUNDS) {
        PyErr_SetString(PyExc_ValueError, "nearest: vectors hold NaN, or codes are not theirs");
        return NULL;
    }
    return Py_BuildValue("y#y#", (char *)room->looked.rows, room->held * (Py_ssize_t)sizeof(int64_t),
                         (char *)room->exact, room->held * (Py_ssize_t)sizeof(double));
}

int
prepared(const Asked *asked, Search *search)
{
    search->middle = asked->middle.buf;
    search->count = ITEMS(asked->middle, float);
    search->rows = asked->rows.buf;
    search->matrix = asked->matrix.buf;
    search->query = asked->query.buf;
    search->width = ITEMS(asked->query, double);
    Py_ssize_t known = search->width ? ITEMS(asked->matrix, float) / search->width : 0;
    if (search->wanted <= 0 || search->wanted > search->count ||
        !exist(&asked->rows, known, search->count))
        return 0;
    if (!asked->codes.buf)
        return 1;
    search->fine = (Pass){asked->codes.buf, asked->steps.buf, NULL, 0, search->width,
                          asked->coded.buf, 1,                0,    asked->scale, NULL};
    return ITEMS(asked->coded, int16_t) == search->width && asked->codes.len == known * search->width &&
           ITEMS(asked->steps, float) == known;
}

/* nearest(middle float32, spread, rows or None, wanted, codes int8 or None, steps float32 or None,
 * query of codes or None, scale, fine spread, room, matrix float32, query float64) → (rows int64,
 * cosines float64) as bytes: the nearest rows, ascending, at least as many as wanted. */
PyObject *
nearest(PyObject *Py_UNUSED(module), PyObject *args)
{
    Asked asked;
    Search search = {0};
    Room room = {0};
    if (!PyArg_ParseTuple(args, "y*fz*nz*z*z*fffy*y*", &asked.middle, &search.spread, &asked.rows,
                          &search.wanted, &asked.codes, &asked.steps, &asked.coded, &asked.scale,
                          &search.fine_spread, &search.room, &asked.matrix, &asked.query))
        return NULL;
    PyObject *found = NULL;
    if (!prepared(&asked, &search)) {
        PyErr_SetString(PyExc_ValueError, "nearest: the arrays do not fit each other");
    } else if (!make_room(&search, &room)) {
        PyErr_NoMemory();
    } else {
        Py_BEGIN_ALLOW_THREADS
        find_peaks(search.middle, search.count, room.peaks);
        find_nearest(&search, &room);
        Py_END_ALLOW_THREADS
        found = pair_of(&room);
    }
    free_room(&room);
    let_go(&asked.middle, 7);
    return found;
}
