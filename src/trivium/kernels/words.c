/* Scores of words over the rows of a segment. */
#include "kernels.h"
#include <stdlib.h>
#include <string.h>

#define FINE 1048576.0          /* a millionth, as a power of two */
#define WHOLE 4503599627370496.0 /* 2^52: what is added to it has no fraction any more */

/* A number of the smallest type that holds all of its array. */
static inline uint64_t
number_at(const void *numbers, Py_ssize_t at, Py_ssize_t size)
{
    switch (size) {
    case 1:
        return ((const uint8_t *)numbers)[at];
    case 2:
        return ((const uint16_t *)numbers)[at];
    case 4:
        return ((const uint32_t *)numbers)[at];
    default:
        return ((const uint64_t *)numbers)[at];
    }
}

/* Whether numbers of so many bytes can be read. */
static int
is_whole(Py_ssize_t size)
{
    return size == 1 || size == 2 || size == 4 || size == 8;
}

/* How often each posting holds the term, each column counted by its weight; 0 if the arrays do not
 * fit. `all` are body, extra posting, extra column, extra count, weights. */
static int
count_often(Py_buffer *all, Py_ssize_t count, double *often)
{
    Py_ssize_t extras = ITEMS(all[1], int32_t);
    Py_ssize_t size = count ? all[0].len / count : 1, extra_size = extras ? all[3].len / extras : 1;
    if (!is_whole(size) || !is_whole(extra_size) || size * count != all[0].len || extra_size * extras != all[3].len ||
        all[2].len != extras || ITEMS(all[4], double) != WIDTH)
        return 0;
    const int32_t *posting = all[1].buf;
    const uint8_t *column = all[2].buf;
    const double *weights = all[4].buf;
    for (Py_ssize_t i = 0; i < count; i++)
        often[i] = (double)number_at(all[0].buf, i, size) * weights[BODY];
    for (Py_ssize_t i = 0; i < extras; i++) {
        if (posting[i] < 0 || posting[i] >= count || column[i] >= WIDTH)
            return 0;
        often[posting[i]] += (double)number_at(all[3].buf, i, extra_size) * weights[column[i]];
    }
    return 1;
}

/* add_term(scores, norm, rows int32, body, extra posting int32, extra column uint8, extra count,
 * weights, k1 + 1, worth): adds to the scores of the rows that hold the term. */
PyObject *
add_term(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer all[8]; /* scores, norm, rows, and what count_often takes */
    double k1_and_1, worth;
    if (!PyArg_ParseTuple(args, "w*y*y*y*y*y*y*y*dd", &all[0], &all[1], &all[2], &all[3], &all[4],
                          &all[5], &all[6], &all[7], &k1_and_1, &worth))
        return NULL;
    Py_ssize_t known = ITEMS(all[0], double), count = ITEMS(all[2], int32_t);
    double *scores = all[0].buf, *often = malloc((size_t)(count + 1) * sizeof(double));
    const double *norm = all[1].buf;
    const int32_t *rows = all[2].buf;
    int fits = often && all[1].len == all[0].len;
    Py_BEGIN_ALLOW_THREADS
    fits = fits && count_often(all + 3, count, often);
    for (Py_ssize_t i = 0; fits && i < count; i++) {
        if (rows[i] < 0 || rows[i] >= known)
            fits = 0;
        else if (often[i] > 0)
            scores[rows[i]] += worth * (often[i] * k1_and_1 / (often[i] + norm[rows[i]]));
    }
    Py_END_ALLOW_THREADS
    free(often);
    return finished(all, 8, fits ? NULL : "add_term: the arrays do not fit each other");
}

/* Adds up a run of scores in whole millionths, side by side: sums of whole numbers are the same in
 * any order. What is not allowed loses its score. */
static inline void
tally_run(double *scores, const uint8_t *allowed, double *totals, double *squares, int64_t *rows)
{
    if (allowed)
        for (int i = 0; i < RUN; i++)
            scores[i] = allowed[i] ? scores[i] : 0;
    for (int i = 0; i < RUN; i++) {
        double fine = scores[i] * FINE;
        totals[i] += fine + WHOLE - WHOLE;
        squares[i] += fine * scores[i] + WHOLE - WHOLE;
        rows[i] += scores[i] > 0;
    }
}

/* The same for whole runs, and for what is left over. */
WIDE static void
tally_all(double *scores, const uint8_t *allowed, Py_ssize_t count, double *totals, double *squares,
          int64_t *rows)
{
    Py_ssize_t whole = count - count % RUN, left = count - whole;
    for (Py_ssize_t i = 0; i < whole; i += RUN)
        tally_run(scores + i, allowed ? allowed + i : NULL, totals, squares, rows);
    double rest[RUN] = {0};
    uint8_t rest_allowed[RUN] = {0};
    memcpy(rest, scores + whole, (size_t)left * sizeof(double));
    if (allowed)
        memcpy(rest_allowed, allowed + whole, (size_t)left);
    tally_run(rest, allowed ? rest_allowed : NULL, totals, squares, rows);
    memcpy(scores + whole, rest, (size_t)left * sizeof(double));
}

/* How many runs of one document there are among the rows that have a score. */
static Py_ssize_t
count_runs(const double *scores, const int32_t *documents, Py_ssize_t count)
{
    Py_ssize_t runs = 0;
    int64_t last = -1;
    for (Py_ssize_t i = 0; i < count; i++) {
        int scored = scores[i] > 0;
        runs += scored & (documents[i] != last);
        last = scored ? documents[i] : last;
    }
    return runs;
}

/* tally(scores, allowed bool or None, documents int32 or None) → (rows, runs, total, squares): what
 * is not allowed loses its score; counted are the rows that have one, runs of one document among
 * them, and their scores and squares in whole millionths. No score is below 0. */
PyObject *
tally(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer all[3]; /* scores, allowed, documents */
    if (!PyArg_ParseTuple(args, "w*z*z*", &all[0], &all[1], &all[2]))
        return NULL;
    Py_ssize_t count = ITEMS(all[0], double), runs;
    double *scores = all[0].buf;
    const uint8_t *allowed = all[1].buf;
    if ((allowed && all[1].len != count) || (all[2].buf && ITEMS(all[2], int32_t) != count))
        return finished(all, 3, "tally: the arrays do not fit each other");
    double totals[RUN] = {0}, squares[RUN] = {0};
    int64_t rows[RUN] = {0};
    Py_BEGIN_ALLOW_THREADS
    tally_all(scores, allowed, count, totals, squares, rows);
    for (int i = 1; i < RUN; i++) {
        totals[0] += totals[i];
        squares[0] += squares[i];
        rows[0] += rows[i];
    }
    runs = all[2].buf ? count_runs(scores, all[2].buf, count) : (Py_ssize_t)rows[0];
    Py_END_ALLOW_THREADS
    let_go(all, 3);
    return Py_BuildValue("Lndd", (long long)rows[0], runs, totals[0], squares[0]);
}

/* The first row from `at` on whose score is above `cut` (or as high, if `level`), or `count`. Few
 * are, so whole runs are passed over at once. */
WIDE static Py_ssize_t
next_above(const double *scores, Py_ssize_t at, Py_ssize_t count, double cut, int level)
{
    for (; at + RUN <= count; at += RUN) {
        int any = 0;
        for (int i = 0; i < RUN; i++)
            any |= level ? scores[at + i] >= cut : scores[at + i] > cut;
        if (any)
            break;
    }
    while (at < count && !(scores[at] > cut || (level && scores[at] == cut)))
        at++;
    return at;
}

/* The rows of the highest scores above 0, at most `wanted`, ascending; of equal ones the first. */
static Py_ssize_t
best_rows(const double *scores, Py_ssize_t count, double *heap, Py_ssize_t wanted, int64_t *rows)
{
    Py_ssize_t held = 0, level = 0, written = 0, at = 0;
    for (; held < wanted && at < count; at++)
        if (scores[at] > 0) {
            heap[held] = scores[at];
            heap_rise(heap, held++);
        }
    while (held && (at = next_above(scores, at, count, heap[0], 0)) < count) {
        heap[0] = scores[at++];
        heap_sink(heap, held);
    }
    for (Py_ssize_t i = 0; i < held; i++)
        level += heap[i] == heap[0]; /* so many of those that equal the cut are among the best */
    for (at = 0; written < held; at++) {
        at = next_above(scores, at, count, heap[0], 1);
        if (at == count)
            break;
        if (scores[at] > heap[0] || level-- > 0)
            rows[written++] = at;
    }
    return written;
}

/* best(scores, out int64) → how many of the highest there are; their rows are in `out`. */
PyObject *
best(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer all[2]; /* scores, out */
    if (!PyArg_ParseTuple(args, "y*w*", &all[0], &all[1]))
        return NULL;
    Py_ssize_t wanted = ITEMS(all[1], int64_t), written = 0;
    double *heap = malloc((size_t)(wanted + 1) * sizeof(double));
    if (heap && wanted) {
        Py_BEGIN_ALLOW_THREADS
        written = best_rows(all[0].buf, ITEMS(all[0], double), heap, wanted, all[1].buf);
        Py_END_ALLOW_THREADS
    }
    let_go(all, 2);
    if (!heap)
        return PyErr_NoMemory();
    free(heap);
    return PyLong_FromSsize_t(written);
}

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
