/* Scores of words over the rows of a segment. */
#include "kernels.h"
#include <stdlib.h>
#include <string.h>

#define FINE 1048576.0          /* a millionth, as a power of two */
#define FAR 16 /* postings whose scores are asked for before their turn */
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

/* The postings of all terms one after the other, those of each ending where the next one's begin;
 * and beside them what is not in the body, told by posting, column and count. */
typedef struct {
    const int64_t *ends, *extra_ends;
    const int32_t *rows, *extra_posting;
    const uint8_t *extra_column;
    const void *body, *extra_count;
    Py_ssize_t terms, count, extras, body_size, extra_size;
} Lists;

/* Reads offsets, extra offsets, rows, body, extra posting, extra column and extra count; 0 if they do
 * not fit each other. */
static int
read_lists(const Py_buffer *all, Lists *lists)
{
    Py_ssize_t count = ITEMS(all[2], int32_t), extras = ITEMS(all[4], int32_t);
    *lists = (Lists){all[0].buf, all[1].buf, all[2].buf, all[4].buf, all[5].buf, all[3].buf, all[6].buf,
                     ITEMS(all[0], int64_t) - 1, count, extras,
                     count ? all[3].len / count : 1, extras ? all[6].len / extras : 1};
    return lists->terms >= 0 && all[1].len == all[0].len && is_whole(lists->body_size) &&
           is_whole(lists->extra_size) && lists->body_size * count == all[3].len &&
           lists->extra_size * extras == all[6].len && all[5].len == extras;
}

/* Adds what a term is worth to the scores of the rows that hold it, each column counted by its
 * weight; `often` has room for its postings. 0 if the arrays do not fit each other. */
static int
add_one(const Lists *lists, int64_t term, const double *weights, double *often, double *scores,
        const double *norm, Py_ssize_t known, double k1_and_1, double worth)
{
    int64_t first = lists->ends[term], count = lists->ends[term + 1] - first;
    int64_t begin = lists->extra_ends[term], end = lists->extra_ends[term + 1];
    const int32_t *rows = lists->rows + first;
    for (int64_t i = 0; i < count; i++)
        often[i] = (double)number_at(lists->body, first + i, lists->body_size) * weights[BODY];
    for (int64_t i = begin; i < end; i++) {
        int32_t posting = lists->extra_posting[i];
        if (posting < 0 || posting >= count || lists->extra_column[i] >= WIDTH)
            return 0;
        often[posting] += (double)number_at(lists->extra_count, i, lists->extra_size) *
                          weights[lists->extra_column[i]];
    }
    for (int64_t i = 0; i < count; i++) {
        if (rows[i] < 0 || rows[i] >= known)
            return 0;
        if (i + FAR < count)
            FETCH(scores + rows[i + FAR]);
        if (often[i] > 0)
            scores[rows[i]] += worth * (often[i] * k1_and_1 / (often[i] + norm[rows[i]]));
    }
    return 1;
}

/* The longest list of these terms; -1 if one does not exist. */
static int64_t
longest(const Lists *lists, const int64_t *terms, Py_ssize_t count)
{
    int64_t most = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        int64_t term = terms[i];
        if (term < 0 || term >= lists->terms)
            return -1;
        int64_t first = lists->ends[term], end = lists->ends[term + 1];
        int64_t begin = lists->extra_ends[term], finish = lists->extra_ends[term + 1];
        if (first < 0 || first > end || end > lists->count || begin < 0 || begin > finish ||
            finish > lists->extras)
            return -1;
        most = end - first > most ? end - first : most;
    }
    return most;
}

/* add_terms(scores, norm, offsets int64, extra offsets int64, rows int32, body, extra posting int32,
 * extra column uint8, extra count, terms int64, worths, weights, k1 + 1): adds to the scores of the
 * rows that hold the terms, one term after the other. */
PyObject *
add_terms(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer all[12]; /* scores, norm, what read_lists takes, terms, worths, weights */
    double k1_and_1, *often = NULL;
    if (!PyArg_ParseTuple(args, "w*y*y*y*y*y*y*y*y*y*y*y*d", &all[0], &all[1], &all[2], &all[3],
                          &all[4], &all[5], &all[6], &all[7], &all[8], &all[9], &all[10], &all[11],
                          &k1_and_1))
        return NULL;
    Lists lists;
    const int64_t *terms = all[9].buf;
    const double *worths = all[10].buf;
    Py_ssize_t known = ITEMS(all[0], double), count = ITEMS(all[9], int64_t);
    int fits = read_lists(all + 2, &lists) && all[1].len == all[0].len &&
               ITEMS(all[10], double) == count && ITEMS(all[11], double) == WIDTH;
    int64_t most = fits ? longest(&lists, terms, count) : -1;
    fits = most >= 0 && (often = malloc((size_t)(most + 1) * sizeof(double)));
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t i = 0; fits && i < count; i++)
        fits = add_one(&lists, terms[i], all[11].buf, often, all[0].buf, all[1].buf, known, k1_and_1,
                       worths[i]);
    Py_END_ALLOW_THREADS
    free(often);
    return finished(all, 12, fits ? NULL : "add_terms: the arrays do not fit each other");
}

/* Sums of scores in whole millionths: those of whole numbers are the same in any order. */
typedef struct {
    double total, squares;
    int64_t rows;
} Sums;

/* Adds up the scores, run by run; `peaks` gets the highest of each. What is not allowed loses its
 * score. */
WIDE static void
tally_all(double *scores, const uint8_t *allowed, Py_ssize_t count, Sums *sums, double *peaks)
{
    for (Py_ssize_t start = 0; start < count; start += RUN) {
        Py_ssize_t size = count - start < RUN ? count - start : RUN;
        double *run = scores + start, total = 0, squares = 0, peak = 0;
        int64_t rows = 0;
        for (Py_ssize_t i = 0; allowed && i < size; i++)
            run[i] = allowed[start + i] ? run[i] : 0;
#pragma omp simd reduction(+ : total, squares, rows) reduction(max : peak)
        for (Py_ssize_t i = 0; i < size; i++) {
            double fine = run[i] * FINE;
            total += fine + WHOLE - WHOLE;
            squares += fine * run[i] + WHOLE - WHOLE;
            rows += run[i] > 0;
            peak = run[i] > peak ? run[i] : peak;
        }
        sums->total += total;
        sums->squares += squares;
        sums->rows += rows;
        *peaks++ = peak;
    }
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

/* Scores with the highest of each run of them: few runs have one of the best, so most are passed
 * over. */
typedef struct {
    const double *scores, *peaks;
    Py_ssize_t count;
} Heights;

#define RUNS(count) (((count) + RUN - 1) / RUN)

/* The rows of the highest scores above 0, at most `wanted`, ascending; of equal ones the first. */
static Py_ssize_t
best_rows(const Heights *all, double *heap, Py_ssize_t wanted, int64_t *rows)
{
    Py_ssize_t held = 0, level = 0, written = 0;
    const double *scores = all->scores;
    for (Py_ssize_t run = 0; run < RUNS(all->count); run++) {
        Py_ssize_t end = (run + 1) * RUN < all->count ? (run + 1) * RUN : all->count;
        if (!(all->peaks[run] > (held < wanted ? 0 : heap[0])))
            continue;
        for (Py_ssize_t i = run * RUN; i < end; i++)
            if (held < wanted && scores[i] > 0) {
                heap[held] = scores[i];
                heap_rise(heap, held++);
            } else if (held == wanted && scores[i] > heap[0]) {
                heap[0] = scores[i];
                heap_sink(heap, held);
            }
    }
    for (Py_ssize_t i = 0; i < held; i++)
        level += heap[i] == heap[0]; /* so many of those that equal the cut are among the best */
    for (Py_ssize_t run = 0; written < held; run++) {
        Py_ssize_t end = (run + 1) * RUN < all->count ? (run + 1) * RUN : all->count;
        for (Py_ssize_t i = run * RUN; all->peaks[run] >= heap[0] && i < end; i++)
            if (scores[i] > heap[0] || (scores[i] == heap[0] && level-- > 0))
                rows[written++] = i;
    }
    return written;
}

/* tally(scores, allowed bool or None, documents int32 or None, out int64) → (rows, runs, total,
 * squares, best): what is not allowed loses its score; counted are the rows that have one, runs of
 * one document among them, and their scores and squares in whole millionths. No score is below 0.
 * The rows of the highest are in `out`, `best` of them, ascending; of equal ones the first. */
PyObject *
tally(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer all[4]; /* scores, allowed, documents, out */
    if (!PyArg_ParseTuple(args, "w*z*z*w*", &all[0], &all[1], &all[2], &all[3]))
        return NULL;
    Py_ssize_t count = ITEMS(all[0], double), wanted = ITEMS(all[3], int64_t), runs = 0, written = 0;
    double *scores = all[0].buf;
    const uint8_t *allowed = all[1].buf;
    if ((allowed && all[1].len != count) || (all[2].buf && ITEMS(all[2], int32_t) != count))
        return finished(all, 4, "tally: the arrays do not fit each other");
    Sums sums = {0};
    double *peaks = malloc((size_t)(RUNS(count) + wanted) * sizeof(double));
    if (peaks) {
        Py_BEGIN_ALLOW_THREADS
        tally_all(scores, allowed, count, &sums, peaks);
        runs = all[2].buf ? count_runs(scores, all[2].buf, count) : (Py_ssize_t)sums.rows;
        Heights heights = {scores, peaks, count};
        if (wanted)
            written = best_rows(&heights, peaks + RUNS(count), wanted, all[3].buf);
        Py_END_ALLOW_THREADS
    }
    free(peaks);
    let_go(all, 4);
    if (!peaks)
        return PyErr_NoMemory();
    return Py_BuildValue("Lnddn", (long long)sums.rows, runs, sums.total, sums.squares, written);
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
