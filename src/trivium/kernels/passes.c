/* Passes of a query over codes: about the cosine of each row, by its half-bytes or its bytes. */
#include "vectors.h"

#ifdef WITH_AVX2
#include <immintrin.h>
#if defined(__clang__) ? __clang_major__ >= 8 : __GNUC__ >= 9
#define WITH_AVX512 1
#endif
#endif

#define AHEAD 12 /* rows that are asked for before their turn, where they do not follow each other */
#define FURTHER 24 /* the same where they do: what the processor fetches by itself ends with a page */

/* A pass over rows by a product that is compiled into it. */
#define PASS(name, product)                                                                        \
    static void name(const Pass *pass)                                                             \
    {                                                                                              \
        for (Py_ssize_t i = 0; i < pass->count; i++) {                                             \
            int64_t row = pass->rows ? pass->rows[i] : i;                                          \
            Py_ssize_t next = i + (pass->rows ? AHEAD : FURTHER);                                  \
            if (next < pass->count)                                                                \
                fetch(pass->codes + (pass->rows ? pass->rows[next] : next) * pass->width,          \
                      pass->width);                                                                \
            int64_t found = product(pass->codes + row * pass->width, pass->query, pass->width);    \
            pass->out[i] =                                                                         \
                (float)(pass->factor * found + pass->shift) * pass->steps[row] * pass->scale;      \
        }                                                                                          \
    }

/* The two halves of each byte, 0 … 15: the lower ones times the first part of the query, the upper
 * ones times the second. */
static inline int32_t
of_halves(const void *packed, const void *asked, Py_ssize_t width)
{
    const uint8_t *row = packed;
    const int8_t *query = asked;
    int32_t sum = 0;
    for (Py_ssize_t i = 0; i < width; i++)
        sum += (row[i] & 15) * query[i] + (row[i] >> 4) * query[width + i];
    return sum;
}

static inline int32_t
of_bytes(const void *codes, const void *asked, Py_ssize_t width)
{
    const int8_t *row = codes;
    const int16_t *query = asked;
    int32_t sum = 0;
    for (Py_ssize_t i = 0; i < width; i++)
        sum += row[i] * query[i];
    return sum;
}

PASS(pass_of_halves, of_halves)
PASS(pass_of_bytes, of_bytes)

void (*pass_halves)(const Pass *) = pass_of_halves;
void (*pass_bytes)(const Pass *) = pass_of_bytes;

#ifdef WITH_AVX2
AVX2 static inline int32_t
summed(__m256i sums)
{
    __m128i half = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0x4e));
    half = _mm_add_epi32(half, _mm_shuffle_epi32(half, 0xb1));
    return _mm_cvtsi128_si32(half);
}

AVX2 static inline int32_t
of_halves_avx2(const void *packed, const void *asked, Py_ssize_t width)
{
    const uint8_t *row = packed;
    const int8_t *query = asked;
    const __m256i lower = _mm256_set1_epi8(15), ones = _mm256_set1_epi16(1);
    __m256i sums = _mm256_setzero_si256();
    Py_ssize_t i = 0;
    for (; i + 32 <= width; i += 32) {
        __m256i both = _mm256_loadu_si256((const __m256i *)(row + i));
        __m256i first = _mm256_loadu_si256((const __m256i *)(query + i));
        __m256i second = _mm256_loadu_si256((const __m256i *)(query + width + i));
        /* at most 4 · 15 · 127: sixteen bits hold it */
        __m256i pairs = _mm256_add_epi16(
            _mm256_maddubs_epi16(_mm256_and_si256(both, lower), first),
            _mm256_maddubs_epi16(_mm256_and_si256(_mm256_srli_epi16(both, 4), lower), second));
        sums = _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, ones));
    }
    int32_t sum = summed(sums);
    for (; i < width; i++)
        sum += (row[i] & 15) * query[i] + (row[i] >> 4) * query[width + i];
    return sum;
}

AVX2 static inline int32_t
of_bytes_avx2(const void *codes, const void *asked, Py_ssize_t width)
{
    const int8_t *row = codes;
    const int16_t *query = asked;
    __m256i sums = _mm256_setzero_si256();
    Py_ssize_t i = 0;
    for (; i + 16 <= width; i += 16) {
        __m256i one = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(row + i)));
        __m256i other = _mm256_loadu_si256((const __m256i *)(query + i));
        sums = _mm256_add_epi32(sums, _mm256_madd_epi16(one, other));
    }
    return summed(sums) + of_bytes(row + i, query + i, width - i);
}

AVX2 PASS(pass_of_halves_avx2, of_halves_avx2)
AVX2 PASS(pass_of_bytes_avx2, of_bytes_avx2)
#endif

#ifdef WITH_AVX512
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vnni")))
#define WIDE_BYTES 64
#define ROWS 4 /* that share what is read of the query */

/* Adds so many bytes of a row, times those of either part of the query, to the sums. */
AVX512 static inline __m512i
with_halves(__m512i sums, __m512i both, __m512i first, __m512i second)
{
    const __m512i lower = _mm512_set1_epi8(15);
    sums = _mm512_dpbusd_epi32(sums, _mm512_and_si512(both, lower), first);
    return _mm512_dpbusd_epi32(sums, _mm512_and_si512(_mm512_srli_epi16(both, 4), lower), second);
}

AVX512 static inline int32_t
of_halves_avx512(const void *packed, const void *asked, Py_ssize_t width)
{
    const int8_t *row = packed, *query = asked;
    __m512i sums = _mm512_setzero_si512();
    for (Py_ssize_t i = 0; i < width; i += WIDE_BYTES) {
        __mmask64 held = width - i < WIDE_BYTES ? ~0ULL >> (WIDE_BYTES - (width - i)) : ~0ULL;
        sums = with_halves(sums, _mm512_maskz_loadu_epi8(held, row + i),
                           _mm512_maskz_loadu_epi8(held, query + i),
                           _mm512_maskz_loadu_epi8(held, query + width + i));
    }
    return _mm512_reduce_add_epi32(sums);
}

AVX512 PASS(pass_of_single_halves, of_halves_avx512)

/* The totals of four registers. */
AVX512 static inline __m128i
totals(__m512i a, __m512i b, __m512i c, __m512i d)
{
    __m512i ab = _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
    __m512i cd = _mm512_add_epi32(_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
    __m512i all = _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd));
    __m256i half = _mm256_add_epi32(_mm512_castsi512_si256(all), _mm512_extracti64x4_epi64(all, 1));
    return _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}

/* Four rows at a time, if all are wanted and they are as long as most are; then the others. */
AVX512 static void
pass_of_halves_avx512(const Pass *pass)
{
    Pass left = *pass;
    Py_ssize_t width = pass->width;
    const int8_t *query = pass->query;
    int at_once = !pass->rows && width % WIDE_BYTES == 0;
    for (; at_once && left.count >= ROWS; left.count -= ROWS, left.codes += ROWS * width) {
        __m512i sums[ROWS];
        int32_t found[ROWS];
        if (left.count >= FURTHER + ROWS)
            fetch(left.codes + FURTHER * width, ROWS * width);
        for (int row = 0; row < ROWS; row++)
            sums[row] = _mm512_setzero_si512();
        for (Py_ssize_t i = 0; i < width; i += WIDE_BYTES) {
            __m512i first = _mm512_loadu_si512(query + i);
            __m512i second = _mm512_loadu_si512(query + width + i);
            for (int row = 0; row < ROWS; row++)
                sums[row] = with_halves(sums[row], _mm512_loadu_si512(left.codes + row * width + i),
                                        first, second);
        }
        _mm_storeu_si128((__m128i *)found, totals(sums[0], sums[1], sums[2], sums[3]));
        for (int row = 0; row < ROWS; row++)
            *left.out++ =
                (float)(left.factor * found[row] + left.shift) * *left.steps++ * left.scale;
    }
    pass_of_single_halves(&left);
}
#endif

int
choose_passes(int most)
{
    int chosen = 0;
    pass_halves = pass_of_halves;
    pass_bytes = pass_of_bytes;
#ifdef WITH_AVX2
    __builtin_cpu_init();
    if (most > 0 && __builtin_cpu_supports("avx2")) {
        pass_halves = pass_of_halves_avx2;
        pass_bytes = pass_of_bytes_avx2;
        chosen = 1;
    }
#endif
#ifdef WITH_AVX512
    if (most > 1 && chosen && __builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vnni")) {
        pass_halves = pass_of_halves_avx512;
        chosen = 2;
    }
#endif
    (void)most;
    return chosen;
}
