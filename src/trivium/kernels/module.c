/* The inner loops of a search as a Python module.
 *
 * Each has a twin in __init__.py, in NumPy, which it must equal to the bit; a property test holds
 * the two against each other. They are here because they let other threads run while they work,
 * which a dozen NumPy calls in a row do not, and because a pass over half-bytes is not to be had
 * from NumPy at all.
 *
 * Buffers come from files of a cache, so every row number is looked at before it is used. Products
 * are never fused with sums (-ffp-contract=off): the same bytes on every machine.
 */
#include "kernels.h"
#ifdef __GLIBC__
#include <malloc.h>
#endif

void
let_go(Py_buffer *buffers, int count)
{
    for (int i = 0; i < count; i++)
        if (buffers[i].obj)
            PyBuffer_Release(&buffers[i]);
}

PyObject *
finished(Py_buffer *buffers, int count, const char *reason)
{
    let_go(buffers, count);
    if (reason) {
        PyErr_SetString(PyExc_ValueError, reason);
        return NULL;
    }
    Py_RETURN_NONE;
}

/* A heap whose top is the least: lets the value at the top sink to its place. */
void
heap_sink(double *heap, Py_ssize_t size)
{
    Py_ssize_t at = 0;
    double value = heap[0];
    for (;;) {
        Py_ssize_t child = 2 * at + 1;
        if (child >= size)
            break;
        if (child + 1 < size && heap[child + 1] < heap[child])
            child++;
        if (heap[child] >= value)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = value;
}

/* Lets the value at a place rise to its own. */
void
heap_rise(double *heap, Py_ssize_t at)
{
    double value = heap[at];
    for (; at && heap[(at - 1) / 2] > value; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = value;
}

/* give_back(): returns to the system what was freed, where the C library keeps it otherwise. */
static PyObject *
give_back(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(nothing))
{
#ifdef __GLIBC__
    Py_BEGIN_ALLOW_THREADS
    malloc_trim(0);
    Py_END_ALLOW_THREADS
#endif
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"instructions", instructions, METH_VARARGS, NULL},
    {"use_processors", use_processors, METH_O, NULL},
    {"byte_products", byte_products, METH_VARARGS, NULL},
    {"float_products", float_products, METH_VARARGS, NULL},
    {"exact_products", exact_products, METH_VARARGS, NULL},
    {"coded", coded, METH_VARARGS, NULL},
    {"sums", sums, METH_VARARGS, NULL},
    {"nearest", nearest, METH_VARARGS, NULL},
    {"begin_nearest", begin_nearest, METH_VARARGS, NULL},
    {"end_nearest", end_nearest, METH_O, NULL},
    {"score_rows", score_rows, METH_VARARGS, NULL},
    {"tally", tally, METH_VARARGS, NULL},
    {"lower_bound", lower_bound, METH_VARARGS, NULL},
    {"rows_of", rows_of, METH_VARARGS, NULL},
    {"beside", beside, METH_VARARGS, NULL},
    {"chunk_ids", chunk_ids, METH_VARARGS, NULL},
    {"first_units", first_units, METH_VARARGS, NULL},
    {"vocabulary", vocabulary, METH_VARARGS, NULL},
    {"numbered", numbered, METH_VARARGS, NULL},
    {"spans", spans, METH_VARARGS, NULL},
    {"sorted_words", sorted_words, METH_VARARGS, NULL},
    {"forms_together", forms_together, METH_O, NULL},
    {"inverted", inverted, METH_VARARGS, NULL},
    {"positions_together", positions_together, METH_VARARGS, NULL},
    {"postings_together", postings_together, METH_VARARGS, NULL},
    {"give_back", give_back, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_native", NULL, 0, functions, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC
PyInit__native(void)
{
    choose_instructions(WIDEST);
    choose_letters();
    return PyModule_Create(&definition);
}
