/* Words that stand side by side. */
#include "numbers.h"

#define MUCH_LONGER 16 /* times as many numbers: then each of the few is looked for by itself */

/* Numbers of a type. Of two ascending lists those of the second that are next after one of the first:
 * `few` is one of the lists, and what is looked for in the other is `shift` away. */
#define BESIDE(name, type)                                                                         \
    static Py_ssize_t name(const type *few, Py_ssize_t count, const type *many, Py_ssize_t length, \
                           int before, int64_t *out)                                               \
    {                                                                                              \
        Py_ssize_t written = 0, at = 0, i = 0;                                                     \
        while (before && i < count && !few[i]) /* nothing stands before the first */               \
            i++;                                                                                   \
        if (length / MUCH_LONGER < count) {                                                        \
            while (i < count && at < length) {                                                     \
                uint64_t wanted = before ? (uint64_t)few[i] - 1 : (uint64_t)few[i] + 1;            \
                uint64_t met = many[at];                                                           \
                out[written] = (int64_t)(before ? few[i] : wanted);                                \
                written += met == wanted;                                                          \
                i += met >= wanted;                                                                \
                at += met <= wanted;                                                               \
            }                                                                                      \
            return written;                                                                        \
        }                                                                                          \
        for (; i < count && at < length; i++) {                                                    \
            uint64_t wanted = before ? (uint64_t)few[i] - 1 : (uint64_t)few[i] + 1;                \
            Py_ssize_t step = 1, end;                                                              \
            for (; at + step < length && many[at + step] < wanted; step *= 2)                      \
                at += step; /* in steps that double, then between the last two */                  \
            for (end = at + step < length ? at + step + 1 : length; at < end;) {                   \
                Py_ssize_t middle = at + (end - at) / 2;                                           \
                if (many[middle] < wanted)                                                         \
                    at = middle + 1;                                                               \
                else                                                                               \
                    end = middle;                                                                  \
            }                                                                                      \
            if (at < length && many[at] == wanted)                                                 \
                out[written++] = (int64_t)(before ? few[i] : wanted);                              \
        }                                                                                          \
        return written;                                                                            \
    }

BESIDE(beside_8, uint8_t)
BESIDE(beside_16, uint16_t)
BESIDE(beside_32, uint32_t)
BESIDE(beside_64, uint64_t)

/* beside(first, second, size, out int64) → how many numbers of the second are next after one of the
 * first; they are in `out`. Both ascend, and have numbers of `size` bytes. */
PyObject *
beside(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer all[3]; /* first, second, out */
    Py_ssize_t size, written = 0;
    if (!PyArg_ParseTuple(args, "y*y*nw*", &all[0], &all[1], &size, &all[2]))
        return NULL;
    int before = all[1].len < all[0].len;
    const Py_buffer *few = &all[before], *many = &all[!before];
    if (!is_whole(size) || few->len % size || many->len % size ||
        ITEMS(all[2], int64_t) < few->len / size)
        return finished(all, 3, "beside: the arrays do not fit each other");
    Py_ssize_t count = few->len / size, length = many->len / size;
    int64_t *out = all[2].buf;
    Py_BEGIN_ALLOW_THREADS
    if (!count)
        written = 0; /* nor is there room for a number that turns out not to be one */
    else if (size == 1)
        written = beside_8(few->buf, count, many->buf, length, before, out);
    else if (size == 2)
        written = beside_16(few->buf, count, many->buf, length, before, out);
    else if (size == 4)
        written = beside_32(few->buf, count, many->buf, length, before, out);
    else
        written = beside_64(few->buf, count, many->buf, length, before, out);
    Py_END_ALLOW_THREADS
    let_go(all, 3);
    return PyLong_FromSsize_t(written);
}
