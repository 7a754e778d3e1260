/* Who is nearest to a query: bounds by half-bytes, a closer look by bytes, exact cosines at last. */
#include "pool.h"
#include "vectors.h"
#include <stdlib.h>
#include <string.h>

#define STRETCH 1024 /* numbers that are added up as float32 before they go to a sum in float64 */
#define PIECE 4096   /* rows that a thread passes over at a time; a multiple of STRETCH and RUN */

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

/* The highest value of each run, by which most are passed over. */
WIDE static void
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

/* Adds up the values and their squares, in any order: as float32 for a stretch, then in float64. */
WIDE static void
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

/* What is asked of a pass: who is among the nearest, of rows whose cosines lie within `spread` of
 * their `middle`. `rows` are those of the block, where not all were passed over. Without codes
 * `spread` is that of float32. */
typedef struct {
    const float *middle, *peaks;
    const int64_t *rows;
    Py_ssize_t count;
    float spread, fine_spread, room;
    Pass fine;
    const float *matrix;
    const double *query;
    Py_ssize_t wanted, width;
} Search;

/* Rows that are being looked at: their middles by the codes. */
typedef struct {
    int64_t *rows;
    float *middle;
    Py_ssize_t count, room;
} Looked;

/* Instead of a number of rows: why there are none. */
#define NO_MEMORY (-1)
#define NO_BOUNDS (-2)

/* Where a search works, and what it has found: `held` rows in `looked` with their `exact` cosines. */
typedef struct {
    Looked looked;
    double *heap, *exact;
    float *peaks;
    Py_ssize_t held;
} Room;

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

/* Finds the nearest, and all that equal the last. */
static void
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

/* Room to begin in; whether there is any. */
static int
make_room(Search *search, Room *room)
{
    room->heap = malloc((size_t)search->wanted * sizeof(double));
    room->peaks = malloc(((size_t)search->count / RUN + 1) * sizeof(float));
    search->peaks = room->peaks;
    return room->heap && room->peaks;
}

static void
free_room(Room *room)
{
    free(room->looked.rows);
    free(room->looked.middle);
    free(room->exact);
    free(room->heap);
    free(room->peaks);
}

/* The pair of bytes that Python is given. */
static PyObject *
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

/* What is searched: a matrix with its query, and how it is looked at more closely, if by codes. */
typedef struct {
    Py_buffer middle, rows, codes, steps, coded, matrix, query;
    float scale;
} Asked;

/* Fills in the search; whether the arrays fit each other. */
static int
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

#define UNDER_WAY "trivium.kernels.under_way"

/* A search that is under way: first the pass, in pieces, then who is nearest. */
typedef struct {
    Work work; /* the first, so that a work is one of these */
    Pass pass;
    Search search;
    Room room;
    double *sums; /* of each piece: of its middles and of their squares */
    Asked asked;
    Py_buffer halves, halved; /* the codes that are passed over, and the query for them */
} UnderWay;

static void
pass_piece(Work *work, Py_ssize_t number)
{
    UnderWay *all = (UnderWay *)work;
    Pass pass = all->pass;
    Py_ssize_t start = number * PIECE;
    pass.count = pass.count - start < PIECE ? pass.count - start : PIECE;
    pass.out += start;
    if (pass.rows) {
        pass.rows += start;
    } else {
        pass.codes += start * pass.width;
        pass.steps += start;
    }
    pass_halves(&pass);
    find_peaks(pass.out, pass.count, all->room.peaks + start / RUN);
    add_up(pass.out, pass.count, all->sums + 2 * number, all->sums + 2 * number + 1);
}

static void
then_nearest(Work *work)
{
    UnderWay *all = (UnderWay *)work;
    find_nearest(&all->search, &all->room);
}

static void
forget(UnderWay *all)
{
    free_room(&all->room);
    free(all->sums);
    let_go(&all->asked.middle, 7);
    let_go(&all->halves, 1);
    let_go(&all->halved, 1);
    free(all);
}

/* Whether it came to an end. What a thread was at that a child process does not have is left where it
 * is: it may have been moving at that moment. */
static int
end(UnderWay *all)
{
    int is_done = work_end(&all->work);
    if (!is_done)
        all->room = (Room){0};
    return is_done;
}

/* Of what nobody has asked the end of. */
static void
give_up(PyObject *capsule)
{
    UnderWay *all = PyCapsule_GetPointer(capsule, UNDER_WAY);
    end(all);
    forget(all);
}

/* begin_nearest(halves uint8, halved query int8, factor, shift, scale, middle float32, spread, rows or
 * None, wanted, codes int8, steps float32, query of codes, scale, fine spread, room, matrix float32,
 * query float64) → what `end_nearest` is to be asked with. The middles are written meanwhile: those of
 * all rows, or of the given ones, as by byte_products. */
PyObject *
begin_nearest(PyObject *Py_UNUSED(module), PyObject *args)
{
    UnderWay *all = calloc(1, sizeof *all);
    if (!all)
        return PyErr_NoMemory();
    Asked *asked = &all->asked;
    Search *search = &all->search;
    long long factor, shift;
    float scale;
    if (!PyArg_ParseTuple(args, "y*y*LLfw*fz*ny*y*y*fffy*y*", &all->halves, &all->halved, &factor,
                          &shift, &scale, &asked->middle, &search->spread, &asked->rows,
                          &search->wanted, &asked->codes, &asked->steps, &asked->coded,
                          &asked->scale, &search->fine_spread, &search->room, &asked->matrix,
                          &asked->query)) {
        free(all); /* the buffers were given back */
        return NULL;
    }
    Py_ssize_t width = all->halved.len / 2, pieces;
    int fits = prepared(asked, search) && width &&
               all->halves.len == ITEMS(asked->steps, float) * width;
    pieces = (search->count + PIECE - 1) / PIECE;
    all->sums = calloc(2 * (size_t)(fits ? pieces : 1), sizeof(double));
    if (!fits)
        PyErr_SetString(PyExc_ValueError, "begin_nearest: the arrays do not fit each other");
    else if (!all->sums || !make_room(search, &all->room))
        PyErr_NoMemory();
    PyObject *capsule = PyErr_Occurred() ? NULL : PyCapsule_New(all, UNDER_WAY, give_up);
    if (!capsule) {
        forget(all);
        return NULL;
    }
    all->pass = (Pass){all->halves.buf,  asked->steps.buf, search->rows, search->count, width,
                       all->halved.buf, factor,           shift,        scale,         asked->middle.buf};
    all->work.piece = pass_piece;
    all->work.last = then_nearest;
    all->work.pieces = pieces;
    work_begin(&all->work);
    return capsule;
}

/* end_nearest(what begin_nearest gave) → (rows int64, cosines float64) as bytes, as by nearest; the
 * sum of the middles and that of their squares. To be asked once. None in a child process, if it was
 * begun by its parent. */
PyObject *
end_nearest(PyObject *Py_UNUSED(module), PyObject *capsule)
{
    UnderWay *all = PyCapsule_GetPointer(capsule, UNDER_WAY);
    if (!all || PyCapsule_SetDestructor(capsule, NULL) < 0 || PyCapsule_SetName(capsule, "ended") < 0)
        return NULL;
    double total = 0, square = 0;
    int is_done;
    Py_BEGIN_ALLOW_THREADS
    is_done = end(all);
    Py_END_ALLOW_THREADS
    if (!is_done) {
        forget(all);
        Py_RETURN_NONE;
    }
    for (Py_ssize_t i = 0; i < all->work.pieces; i++) {
        total += all->sums[2 * i];
        square += all->sums[2 * i + 1];
    }
    PyObject *pair = pair_of(&all->room);
    PyObject *found = pair ? Py_BuildValue("Odd", pair, total, square) : NULL;
    Py_XDECREF(pair);
    forget(all);
    return found;
}
