/* Products of a query with many rows: by codes, in float32, and exactly in float64. */
#include "vectors.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef WITH_AVX2
#include <immintrin.h>
#endif

#define LANES 8 /* rows that are added up side by side: one alone waits for each of its sums */

typedef float FloatProduct(const float *row, const float *query, Py_ssize_t width);

static float
of_floats(const float *row, const float *query, Py_ssize_t width)
{
    float sums[LANES] = {0};
    Py_ssize_t i = 0;
    for (; i + LANES <= width; i += LANES)
        for (int lane = 0; lane < LANES; lane++)
            sums[lane] += row[i + lane] * query[i + lane];
    for (; i < width; i++)
        sums[0] += row[i] * query[i];
    return ((sums[0] + sums[4]) + (sums[2] + sums[6])) +
           ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

static FloatProduct *floats = of_floats;

#ifdef WITH_AVX2
/* The same sums in the same order, eight at a time. */
AVX2 static float
of_floats_avx2(const float *row, const float *query, Py_ssize_t width)
{
    __m256 sums = _mm256_setzero_ps();
    Py_ssize_t i = 0;
    for (; i + LANES <= width; i += LANES)
        sums = _mm256_add_ps(sums, _mm256_mul_ps(_mm256_loadu_ps(row + i), _mm256_loadu_ps(query + i)));
    float lanes[LANES];
    _mm256_storeu_ps(lanes, sums);
    for (; i < width; i++)
        lanes[0] += row[i] * query[i];
    return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
           ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}
#endif

int uses_avx2;

int
choose_instructions(int most)
{
    int chosen = choose_passes(most);
    uses_avx2 = chosen > 0;
#ifdef WITH_AVX2
    floats = chosen ? of_floats_avx2 : of_floats;
#endif
    return chosen;
}

/* instructions(most) → which are used from now on, 0 for those that every processor has: the widest there
 * are, but none beyond `most`. */
PyObject *
instructions(PyObject *Py_UNUSED(module), PyObject *args)
{
    int most;
    if (!PyArg_ParseTuple(args, "i", &most))
        return NULL;
    return PyLong_FromLong(choose_instructions(most));
}

int
exist(const Py_buffer *chosen, Py_ssize_t known, Py_ssize_t count)
{
    const int64_t *rows = chosen->buf;
    if (!rows)
        return known == count;
    if (ITEMS(*chosen, int64_t) != count)
        return 0;
    for (Py_ssize_t i = 0; i < count; i++)
        if (rows[i] < 0 || rows[i] >= known)
            return 0;
    return 1;
}

/* byte_products(codes, steps float32, rows or None, query, packed, factor, shift, scale, out
 * float32): (factor · product + shift) · step · scale; `packed` says that a byte of the codes holds
 * two numbers, and the query is of int8, or else of int16. */
PyObject *
byte_products(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer all[5]; /* codes, steps, rows, query, out */
    int packed;
    long long factor, shift;
    float scale;
    if (!PyArg_ParseTuple(args, "y*y*z*y*pLLfw*", &all[0], &all[1], &all[2], &all[3], &packed,
                          &factor, &shift, &scale, &all[4]))
        return NULL;
    Py_ssize_t width = all[3].len / 2, count = ITEMS(all[4], float);
    Py_ssize_t known = ITEMS(all[1], float);
    if (!width || all[0].len != known * width || !exist(&all[2], known, count))
        return finished(all, 5, "byte_products: the arrays do not fit each other");
    Pass pass = {all[0].buf, all[1].buf, all[2].buf, count, width, all[3].buf,
                 factor,     shift,      scale,      all[4].buf};
    Py_BEGIN_ALLOW_THREADS
    (packed ? pass_halves : pass_bytes)(&pass);
    Py_END_ALLOW_THREADS
    return finished(all, 5, NULL);
}

/* float_products(matrix float32, rows or None, query float32, out float32) */
PyObject *
float_products(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer all[4]; /* matrix, rows, query, out */
    if (!PyArg_ParseTuple(args, "y*z*y*w*", &all[0], &all[1], &all[2], &all[3]))
        return NULL;
    Py_ssize_t width = ITEMS(all[2], float), count = ITEMS(all[3], float);
    if (!width || !exist(&all[1], ITEMS(all[0], float) / width, count))
        return finished(all, 4, "float_products: the arrays do not fit each other");
    const float *matrix = all[0].buf;
    const int64_t *rows = all[1].buf;
    float *out = all[3].buf;
    Py_BEGIN_ALLOW_THREADS
    for (Py_ssize_t i = 0; i < count; i++)
        out[i] = floats(matrix + (rows ? rows[i] : i) * width, all[2].buf, width);
    Py_END_ALLOW_THREADS
    return finished(all, 4, NULL);
}

void
add_exactly(const float *matrix, const int64_t *rows, Py_ssize_t count, const double *vector,
            Py_ssize_t width, double *out)
{
    for (Py_ssize_t i = 0; i < count; i += LANES) {
        Py_ssize_t some = count - i < LANES ? count - i : LANES;
        const float *row[LANES];
        double sums[LANES];
        for (Py_ssize_t lane = 0; lane < LANES; lane++) {
            Py_ssize_t at = i + (lane < some ? lane : 0);
            row[lane] = matrix + (rows ? rows[at] : at) * width;
            sums[lane] = (double)row[lane][0] * vector[0];
        }
        for (Py_ssize_t next = i + LANES; rows && next < count && next < i + 2 * LANES; next++)
            fetch((const char *)(matrix + rows[next] * width), width * (Py_ssize_t)sizeof(float));
        for (Py_ssize_t j = 1; j < width; j++)
            for (Py_ssize_t lane = 0; lane < LANES; lane++)
                sums[lane] += (double)row[lane][j] * vector[j];
        memcpy(out + i, sums, (size_t)some * sizeof(double));
    }
}

/* exact_products(matrix float32, rows or None, vector float64, out float64): added up from first to
 * last. */
PyObject *
exact_products(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer all[4]; /* matrix, rows, vector, out */
    if (!PyArg_ParseTuple(args, "y*z*y*w*", &all[0], &all[1], &all[2], &all[3]))
        return NULL;
    Py_ssize_t width = ITEMS(all[2], double), count = ITEMS(all[3], double);
    if (!width || !exist(&all[1], ITEMS(all[0], float) / width, count))
        return finished(all, 4, "exact_products: the arrays do not fit each other");
    Py_BEGIN_ALLOW_THREADS
    add_exactly(all[0].buf, all[1].buf, count, all[2].buf, width, all[3].buf);
    Py_END_ALLOW_THREADS
    return finished(all, 4, NULL);
}

/* coded(vector float32, highest) → (codes int16 as bytes, step, sum of the squares of the rest, sum of
 * the squares of the codes, their sum): the vector is step · codes and a rest. */
PyObject *
coded(PyObject *Py_UNUSED(module), PyObject *args)
{
    Py_buffer given;
    int highest;
    if (!PyArg_ParseTuple(args, "y*i", &given, &highest))
        return NULL;
    Py_ssize_t width = ITEMS(given, float);
    const float *vector = given.buf;
    int16_t *codes = malloc((size_t)(width + 1) * sizeof *codes);
    PyObject *found = NULL;
    if (codes) {
        float most = 0;
        double rest = 0;
        long long squares = 0, total = 0;
        for (Py_ssize_t i = 0; i < width; i++)
            most = fabsf(vector[i]) > most ? fabsf(vector[i]) : most;
        float step = most / (float)highest;
        for (Py_ssize_t i = 0; i < width; i++) {
            float code = rintf(vector[i] / (step != 0 ? step : 1));
            code = code > (float)highest ? (float)highest : code < (float)-highest ? (float)-highest : code;
            double left = (double)vector[i] - (double)step * (double)code;
            codes[i] = (int16_t)code;
            rest += left * left;
            squares += (long long)codes[i] * codes[i];
            total += codes[i];
        }
        found = Py_BuildValue("y#ddLL", (char *)codes, width * (Py_ssize_t)sizeof *codes,
                              (double)step, rest, squares, total);
    } else {
        PyErr_NoMemory();
    }
    free(codes);
    let_go(&given, 1);
    return found;
}
