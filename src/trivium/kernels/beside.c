/* Words that stand side by side. */
#include "numbers.h"
#include "vectors.h"

#ifdef WITH_AVX2
#include <immintrin.h>
#endif

#define MUCH_LONGER 16 /* times as many numbers: then each of the few is looked for by itself */
#define EIGHT 8 /* numbers that are held against eight others at a time */

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

#ifdef WITH_AVX2
/* Whose number is next after any of the eight before: each is held against each. */
AVX2 static inline unsigned
next_after(const uint32_t *first, const uint32_t *second)
{
    const __m256i turn = _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 7, 0);
    __m256i before = _mm256_loadu_si256((const __m256i *)first), met = _mm256_setzero_si256();
    __m256i after = _mm256_loadu_si256((const __m256i *)second);
    before = _mm256_add_epi32(before, _mm256_set1_epi32(1));
    for (int i = 0; i < EIGHT; i++) {
        met = _mm256_or_si256(met, _mm256_cmpeq_epi32(before, after));
        before = _mm256_permutevar8x32_epi32(before, turn);
    }
    return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(met));
}

/* The same for two lists of like length, in blocks of eight; what is left goes the usual way. Lists that do
 * not ascend would find more than there is room for: no more than `room` is written. */
AVX2 static Py_ssize_t
beside_32_avx2(const uint32_t *first, Py_ssize_t count, const uint32_t *second, Py_ssize_t length,
               int64_t *out, Py_ssize_t room)
{
    Py_ssize_t written = 0, i = 0, at = 0;
    count -= count && first[count - 1] == UINT32_MAX; /* there is no number after that */
    while (i + EIGHT <= count && at + EIGHT <= length) {
        unsigned met = next_after(first + i, second + at);
        for (int place = 0; met; place++, met >>= 1)
            if (met & 1 && written < room)
                out[written++] = second[at + place];
        uint32_t reached = first[i + EIGHT - 1] + 1, last = second[at + EIGHT - 1];
        i += reached <= last ? EIGHT : 0;
        at += last <= reached ? EIGHT : 0;
    }
    first += i, count -= i, second += at, length -= at, out += written, room -= written;
    if (length < count)
        return written + beside_32(second, length < room ? length : room, first, count, 1, out);
    return written + beside_32(first, count < room ? count : room, second, length, 0, out);
}
#endif

/* beside(first, second, size, out int64) → how many numbers of the second are next after one of the
 * first; they are in `out`, which has room for one block and one more than the shorter holds. Both ascend, and have
 * numbers of `size` bytes. */
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
        ITEMS(all[2], int64_t) < few->len / size + EIGHT + 1)
        return finished(all, 3, "beside: the arrays do not fit each other");
    Py_ssize_t count = few->len / size, length = many->len / size;
    int64_t *out = all[2].buf;
    Py_BEGIN_ALLOW_THREADS
    if (!count)
        written = 0; /* nor is there room for a number that turns out not to be one */
#ifdef WITH_AVX2
    else if (size == 4 && length / MUCH_LONGER < count && uses_avx2)
        written = beside_32_avx2(all[0].buf, before ? length : count, all[1].buf,
                                 before ? count : length, out, ITEMS(all[2], int64_t));
#endif
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
