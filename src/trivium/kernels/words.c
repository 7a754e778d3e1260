/* Scores of words over the rows of a segment. */
#include "numbers.h"
#include <stdlib.h>
#include <string.h>

#define FINE 1048576.0          /* a millionth, as a power of two */
#define AT_ONCE 64 /* postings whose gains are worked out together */
#define WHOLE 4503599627370496.0 /* 2^52: what is added to it has no fraction any more */

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

/* What is added to the scores of rows, which ascend, from one place on: what a term is worth, by how
 * `often` it occurs there, or what is `given`. */
typedef struct {
    const int32_t *held;  /* the rows of a term */
    const int64_t *named; /* or of what is given */
    const double *often, *given;
    double worth;
    int64_t next, count;
} Addition;

/* Numbers of a type, each times a weight. */
#define COUNT(type)                                                                                \
    for (int64_t i = 0; i < count; i++)                                                            \
    often[i] = (double)((const type *)body)[i] * weight

WIDE static void
count_body(const char *body, Py_ssize_t size, int64_t count, double weight, double *often)
{
    switch (size) {
    case 1:
        COUNT(uint8_t);
        break;
    case 2:
        COUNT(uint16_t);
        break;
    case 4:
        COUNT(uint32_t);
        break;
    default:
        COUNT(uint64_t);
    }
}

/* How often the rows of a term hold it, each column counted by its weight; 0 if the arrays do not fit
 * each other. */
static int
count_often(const Lists *lists, int64_t term, const double *weights, double *often)
{
    int64_t first = lists->ends[term], count = lists->ends[term + 1] - first;
    int64_t begin = lists->extra_ends[term], end = lists->extra_ends[term + 1];
    count_body((const char *)lists->body + first * lists->body_size, lists->body_size, count,
               weights[BODY], often);
    for (int64_t i = begin; i < end; i++) {
        int32_t posting = lists->extra_posting[i];
        if (posting < 0 || posting >= count || lists->extra_column[i] >= WIDTH)
            return 0;
        often[posting] += (double)number_at(lists->extra_count, i, lists->extra_size) *
                          weights[lists->extra_column[i]];
    }
    return 1;
}

/* What rows gain by a term, given their norms; nothing where only columns of no weight hold it. */
WIDE static void
find_gains(const double *restrict often, int64_t count, double k1_and_1, double worth,
           double *restrict gains)
{
    for (int64_t i = 0; i < count; i++) {
        double gain = worth * (often[i] * k1_and_1 / (often[i] + gains[i]));
        gains[i] = often[i] > 0 ? gain : 0;
    }
}

/* Adds to the scores of the rows from `start` to `end`; 0 if a row is not where it should be. */
static int
add_block(Addition *all, double *scores, const double *norm, int64_t start, int64_t end,
          double k1_and_1)
{
    int64_t i = all->next;
    if (all->held) {
        double gains[AT_ONCE];
        while (i < all->count && all->held[i] < end) {
            const int32_t *rows = all->held + i;
            int64_t some = 0, most = all->count - i < AT_ONCE ? all->count - i : AT_ONCE;
            for (; some < most && rows[some] < end; some++) {
                if (rows[some] < start)
                    return 0;
                gains[some] = norm[rows[some]];
            }
            find_gains(all->often + i, some, k1_and_1, all->worth, gains);
            for (int64_t j = 0; j < some; j++)
                scores[rows[j]] += gains[j];
            i += some;
        }
    } else {
        for (; i < all->count && all->named[i] < end; i++) {
            if (all->named[i] < start)
                return 0;
            scores[all->named[i]] += all->given[i];
        }
    }
    all->next = i;
    return 1;
}

/* The length of these terms' lists together; -1 if one does not exist. */
static int64_t
length_of(const Lists *lists, const int64_t *terms, Py_ssize_t count)
{
    int64_t length = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        int64_t term = terms[i];
        if (term < 0 || term >= lists->terms)
            return -1;
        int64_t first = lists->ends[term], end = lists->ends[term + 1];
        int64_t begin = lists->extra_ends[term], finish = lists->extra_ends[term + 1];
        if (first < 0 || first > end || end > lists->count || begin < 0 || begin > finish ||
            finish > lists->extras)
            return -1;
        length += end - first;
    }
    return length;
}

/* Sums of scores in whole millionths: those of whole numbers are the same in any order. */
typedef struct {
    double total, squares;
    int64_t rows;
} Sums;

/* Adds up the scores, run by run, to the sums; `peaks` gets the highest of each. What is not allowed
 * loses its score. */
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

/* A score that at least so many rows have: that of the run whose peak is the last of the highest; 0 if
 * there are not so many. */
static double
least_peak(const Heights *all, double *heap, Py_ssize_t wanted)
{
    Py_ssize_t runs = RUNS(all->count);
    if (runs < wanted)
        return 0;
    for (Py_ssize_t run = 0; run < runs; run++)
        if (run < wanted) {
            heap[run] = all->peaks[run];
            heap_rise(heap, run);
        } else if (all->peaks[run] > heap[0]) {
            heap[0] = all->peaks[run];
            heap_sink(heap, wanted);
        }
    return heap[0] > 0 ? heap[0] : 0;
}

/* The rows of the highest scores above 0, at most `wanted`, ascending; of equal ones the first. */
static Py_ssize_t
best_rows(const Heights *all, double *heap, Py_ssize_t wanted, int64_t *rows)
{
    Py_ssize_t held = 0, level = 0, written = 0;
    const double *scores = all->scores;
    double least = least_peak(all, heap, wanted);
    for (Py_ssize_t run = 0; run < RUNS(all->count); run++) {
        Py_ssize_t end = (run + 1) * RUN < all->count ? (run + 1) * RUN : all->count;
        if (!(all->peaks[run] > (held < wanted ? 0 : heap[0])) || all->peaks[run] < least)
            continue;
        for (Py_ssize_t i = run * RUN; i < end; i++)
            if (scores[i] < least) {
                continue;
            } else if (held < wanted && scores[i] > 0) {
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

#define BLOCK 4096 /* rows whose scores are made while they are at hand; a multiple of RUN */

/* Makes the scores of all rows, a block at a time: all that is added to it, then its part of the tally.
 * 0 if the arrays do not fit each other. */
static int
score_blocks(double *scores, const double *norm, Py_ssize_t known, Addition *additions,
             Py_ssize_t count, double k1_and_1, const uint8_t *allowed, Sums *sums, double *peaks)
{
    for (int64_t start = 0; start < known; start += BLOCK) {
        int64_t end = start + BLOCK < known ? start + BLOCK : known;
        memset(scores + start, 0, (size_t)(end - start) * sizeof *scores);
        for (Py_ssize_t i = 0; i < count; i++)
            if (!add_block(additions + i, scores, norm, start, end, k1_and_1))
                return 0;
        tally_all(scores + start, allowed ? allowed + start : NULL, end - start, sums,
                  peaks + start / RUN);
    }
    for (Py_ssize_t i = 0; i < count; i++)
        if (additions[i].next < additions[i].count)
            return 0;
    return 1;
}

/* Reads the pairs (rows int64, given float64) behind the terms; how many buffers were taken, and whether
 * all are as they should be. */
static int
read_given(PyObject *pairs, Addition *additions, Py_buffer *buffers, Py_ssize_t *taken)
{
    for (Py_ssize_t i = 0; i < PyTuple_Size(pairs); i++) {
        PyObject *rows, *given;
        Py_buffer *pair = buffers + *taken;
        if (!PyArg_ParseTuple(PyTuple_GetItem(pairs, i), "OO", &rows, &given) ||
            PyObject_GetBuffer(rows, pair, PyBUF_SIMPLE) < 0)
            return 0;
        ++*taken;
        if (PyObject_GetBuffer(given, pair + 1, PyBUF_SIMPLE) < 0)
            return 0;
        ++*taken;
        additions[i] = (Addition){.named = pair[0].buf, .given = pair[1].buf,
                                  .count = ITEMS(pair[0], int64_t)};
        if (pair[0].len != pair[1].len)
            return 0;
    }
    return 1;
}

/* score_rows(scores, norm, offsets int64, extra offsets int64, rows int32, body, extra posting int32,
 * extra column uint8, extra count, terms int64, worths, weights, k1 + 1, given, allowed bool or None,
 * documents int32 or None, out int64) → what `tally` gives: writes the scores of all rows, by the
 * terms one after the other, then by what is given as pairs (rows int64, ascending, given float64).
 */
PyObject *
score_rows(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer all[15]; /* scores, norm, what read_lists takes, terms, worths, weights, allowed,
                          documents, out */
    PyObject *pairs;
    double k1_and_1;
    if (!PyArg_ParseTuple(args, "w*y*y*y*y*y*y*y*y*y*y*y*dO!z*z*w*", &all[0], &all[1], &all[2], &all[3],
                          &all[4], &all[5], &all[6], &all[7], &all[8], &all[9], &all[10], &all[11],
                          &k1_and_1, &PyTuple_Type, &pairs, &all[12], &all[13], &all[14]))
        return NULL;
    Lists lists;
    double *scores = all[0].buf;
    const int64_t *terms = all[9].buf;
    Py_ssize_t known = ITEMS(all[0], double), count = ITEMS(all[9], int64_t), taken = 0;
    Py_ssize_t wanted = ITEMS(all[14], int64_t), more = PyTuple_Size(pairs), runs = 0, written = 0;
    int fits = read_lists(all + 2, &lists) && all[1].len == all[0].len &&
               ITEMS(all[10], double) == count && ITEMS(all[11], double) == WIDTH &&
               (!all[12].buf || all[12].len == known) &&
               (!all[13].buf || ITEMS(all[13], int32_t) == known);
    int64_t length = fits ? length_of(&lists, terms, count) : -1;
    Addition *additions = calloc((size_t)(count + more) + 1, sizeof *additions);
    Py_buffer *buffers = calloc(2 * (size_t)more + 1, sizeof *buffers);
    double *often = malloc(((size_t)(length < 0 ? 0 : length) + 1) * sizeof *often);
    double *peaks = malloc((size_t)(RUNS(known) + wanted + 1) * sizeof *peaks);
    Sums sums = {0};
    int has_room = additions && buffers && often && peaks;
    fits = has_room && length >= 0 && read_given(pairs, additions + count, buffers, &taken);
    if (fits) {
        Py_BEGIN_ALLOW_THREADS
        double *next = often;
        for (Py_ssize_t i = 0; fits && i < count; i++) {
            int64_t first = lists.ends[terms[i]], held = lists.ends[terms[i] + 1] - first;
            additions[i] = (Addition){.held = lists.rows + first, .often = next, .count = held,
                                      .worth = ((const double *)all[10].buf)[i]};
            fits = count_often(&lists, terms[i], all[11].buf, next);
            next += held;
        }
        fits = fits && score_blocks(scores, all[1].buf, known, additions, count + more, k1_and_1,
                                    all[12].buf, &sums, peaks);
        if (fits) {
            runs = all[13].buf ? count_runs(scores, all[13].buf, known) : (Py_ssize_t)sums.rows;
            Heights heights = {scores, peaks, known};
            written = wanted ? best_rows(&heights, peaks + RUNS(known), wanted, all[14].buf) : 0;
        }
        Py_END_ALLOW_THREADS
    }
    if (buffers)
        let_go(buffers, (int)taken);
    free(additions);
    free(buffers);
    free(often);
    free(peaks);
    let_go(all, 15);
    if (!has_room)
        return PyErr_NoMemory();
    if (!fits) {
        PyErr_SetString(PyExc_ValueError, "score_rows: the arrays do not fit each other");
        return NULL;
    }
    return Py_BuildValue("Lnddn", (long long)sums.rows, runs, sums.total, sums.squares, written);
}
