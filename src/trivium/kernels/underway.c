/* Who is nearest, begun before anybody asks: a pass in pieces, then a search, by threads of the pool. */
#include "nearest.h"
#include "pool.h"
#include <stdlib.h>

#define PIECE 4096 /* rows that a thread passes over at a time; a multiple of STRETCH and RUN */
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
