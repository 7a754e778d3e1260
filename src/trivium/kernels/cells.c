/* From positions in the stream of words to the rows that they are in. */
#include "kernels.h"
#include <stdlib.h>

/* The last cell that begins at or before a position, from `at` on: guessed by how far the position is,
 * because texts are much of a length, then in steps that double, then between the last two. */
static Py_ssize_t
cell_of(const int64_t *starts, Py_ssize_t cells, Py_ssize_t at, int64_t position)
{
    double first = (double)starts[0], share = ((double)position - first) / ((double)starts[cells] - first);
    Py_ssize_t low = share < 1 ? (Py_ssize_t)(share * (double)cells) : cells - 1, high, step = 1;
    low = low < at ? at : low;
    if (starts[low] <= position) {
        for (high = low + 1; high < cells && starts[high] <= position; step *= 2) {
            low = high;
            high = low + step;
        }
        high = high < cells ? high : cells;
    } else {
        for (high = low; low > at && starts[low] > position; step *= 2) {
            high = low;
            low = low - step > at ? low - step : at;
        }
    }
    while (high - low > 1) {
        Py_ssize_t middle = low + (high - low) / 2;
        if (starts[middle] <= position)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* rows_of(positions int64, starts int64, weights) → (rows int64, how often, each column counted by its
 * weight) as bytes: the rows that hold these positions, which ascend, in columns of positive weight. */
PyObject *
rows_of(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer all[3]; /* positions, starts, weights */
    if (!PyArg_ParseTuple(args, "y*y*y*", &all[0], &all[1], &all[2]))
        return NULL;
    const int64_t *positions = all[0].buf, *starts = all[1].buf;
    const double *weights = all[2].buf;
    Py_ssize_t count = ITEMS(all[0], int64_t), cells = ITEMS(all[1], int64_t) - 1, held = 0, cell = 0;
    int64_t *rows = malloc((size_t)(count + 1) * sizeof *rows);
    double *often = malloc((size_t)(count + 1) * sizeof *often);
    int has_room = rows && often;
    int fits = has_room && ITEMS(all[2], double) == WIDTH && (!count || cells > 0);
    if (fits && count)
        fits = starts[0] < starts[cells] && positions[0] >= starts[0];
    for (Py_ssize_t i = 0, next; fits && i < count; i = next) {
        fits = positions[i] < starts[cells];
        if (!fits)
            break;
        cell = cell_of(starts, cells, cell, positions[i]);
        for (next = i + 1; next < count && positions[next] < starts[cell + 1]; next++)
            fits = fits && positions[next] >= positions[next - 1];
        fits = fits && (next == count || positions[next] >= positions[next - 1]);
        double given = (double)(next - i) * weights[cell % WIDTH];
        if (!(given > 0))
            continue;
        if (held && rows[held - 1] == cell / WIDTH) {
            often[held - 1] += given;
        } else {
            rows[held] = cell / WIDTH;
            often[held++] = given;
        }
    }
    PyObject *found = NULL;
    if (!has_room)
        PyErr_NoMemory();
    else if (!fits)
        PyErr_SetString(PyExc_ValueError, "rows_of: the arrays do not fit each other");
    else
        found = Py_BuildValue("y#y#", (char *)rows, held * (Py_ssize_t)sizeof *rows, (char *)often,
                              held * (Py_ssize_t)sizeof *often);
    free(rows);
    free(often);
    let_go(all, 3);
    return found;
}
