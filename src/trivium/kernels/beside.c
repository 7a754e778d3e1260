/* Words that stand side by side. */
#include "numbers.h"

/* The first place from `at` on whose number is at least `wanted`, or `count`: in steps that double,
 * then between the last two. */
static Py_ssize_t
seek(const void *ascending, Py_ssize_t at, Py_ssize_t count, Py_ssize_t size, uint64_t wanted)
{
    Py_ssize_t step = 1, end;
    while (at + step < count && number_at(ascending, at + step, size) < wanted) {
        at += step;
        step *= 2;
    }
    for (end = at + step < count ? at + step + 1 : count; at < end;) {
        Py_ssize_t middle = at + (end - at) / 2;
        if (number_at(ascending, middle, size) < wanted)
            at = middle + 1;
        else
            end = middle;
    }
    return at;
}

/* beside(first, second, size, out int64) → how many numbers of the second are next after one of the
 * first; they are in `out`. Both ascend, and have numbers of `size` bytes. */
PyObject *
beside(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer all[3]; /* first, second, out */
    Py_ssize_t size, written = 0, at = 0;
    if (!PyArg_ParseTuple(args, "y*y*nw*", &all[0], &all[1], &size, &all[2]))
        return NULL;
    int swapped = all[1].len < all[0].len;
    const Py_buffer *few = &all[swapped], *many = &all[!swapped];
    if (!is_whole(size) || few->len % size || many->len % size ||
        ITEMS(all[2], int64_t) < few->len / size)
        return finished(all, 3, "beside: the arrays do not fit each other");
    Py_ssize_t count = many->len / size;
    int64_t *out = all[2].buf;
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t i = 0; i < few->len / size && at < count; i++) {
        uint64_t number = number_at(few->buf, i, size), wanted = swapped ? number - 1 : number + 1;
        if (swapped && !number)
            continue;
        at = seek(many->buf, at, count, size, wanted);
        if (at < count && number_at(many->buf, at, size) == wanted)
            out[written++] = (int64_t)(swapped ? number : wanted);
    }
    Py_END_ALLOW_THREADS
    let_go(all, 3);
    return PyLong_FromSsize_t(written);
}
