/* What one core reaches in C: a STREAM-like triad, a sum that only reads, and a loop of fused multiply-adds.
 *
 * gcc -O3 -march=native -shared -fPIC references.c -o references.so
 *
 * Each function runs its kernel so many times over, and gives the seconds of one; -1 where memory lacks. The caller
 * takes the best of many. Arrays are asked to lie in huge pages, as those of NumPy are.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#if defined(__AVX512F__)
#define WIDTH 64
#elif defined(__AVX__)
#define WIDTH 32
#else
#define WIDTH 16
#endif
#define LANES (WIDTH / sizeof(float))
#define CHAINS 10 /* of multiply-adds that do not wait for each other; with two operands they fit into 16 registers */
#define HUGE_PAGE ((size_t)2 << 20)
#define KEPT(what) __asm__ volatile("" : : "r"(what) : "memory")

typedef float vector __attribute__((vector_size(WIDTH)));

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
}

static float *kept;
static size_t held;

/* Give the memory back: the next call gets other pages, which caches may hold better or worse. */
void forget(void) {
    free(kept);
    kept = NULL;
    held = 0;
}

/* Memory that is kept from call to call, as long as no more is asked for. */
static float *block(size_t elements) {
    size_t bytes = (elements * sizeof(float) + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    if (bytes > held) {
        forget();
        kept = aligned_alloc(HUGE_PAGE, bytes);
        if (!kept) return NULL;
        held = bytes;
#ifdef MADV_HUGEPAGE
        madvise(kept, bytes, MADV_HUGEPAGE);
#endif
        for (size_t element = 0; element < bytes / sizeof(float); element++) kept[element] = 1.0f;
    }
    return kept;
}

static __attribute__((noinline)) void triad(float *restrict a, const float *restrict b, const float *restrict c,
                                            float scale, size_t elements) {
    for (size_t place = 0; place < elements; place++) a[place] = b[place] + scale * c[place];
}

static __attribute__((noinline)) float sum(const float *a, size_t elements) {
    vector sums[8] = {0};
    for (size_t place = 0; place + 8 * LANES <= elements; place += 8 * LANES)
        for (int part = 0; part < 8; part++) sums[part] += *(const vector *)(a + place + part * LANES);
    vector total = {0};
    for (int part = 0; part < 8; part++) total += sums[part];
    return total[0];
}

/* Three arrays of so many floats, one behind the other: 12 bytes are moved for each. */
double triad_seconds(size_t elements, int times) {
    size_t apart = (elements + LANES - 1) / LANES * LANES;
    float *a = block(3 * apart);
    if (!a) return -1;
    triad(a, a + apart, a + 2 * apart, 3.0f, elements);
    double start = now();
    for (int turn = 0; turn < times; turn++) {
        triad(a, a + apart, a + 2 * apart, 3.0f, elements);
        KEPT(a);
    }
    return (now() - start) / times;
}

/* One array of so many floats, a multiple of 8 vectors: 4 bytes are read for each. */
double sum_seconds(size_t elements, int times) {
    float *a = block(elements);
    if (!a) return -1;
    float found = sum(a, elements);
    double start = now();
    for (int turn = 0; turn < times; turn++) {
        found += sum(a, elements);
        KEPT(a);
    }
    double seconds = (now() - start) / times;
    KEPT(&found);
    return seconds;
}

/* FLOPs of one step of the loop of multiply-adds. */
double fma_flops(void) { return 2.0 * CHAINS * LANES; }

double fma_seconds(long steps) {
    vector chains[CHAINS], factor, term;
    for (size_t lane = 0; lane < LANES; lane++) factor[lane] = 0.999f, term[lane] = 0.001f;
    for (int chain = 0; chain < CHAINS; chain++) chains[chain] = term * (float)chain;
    __asm__ volatile("" : "+m"(factor), "+m"(term));
    double start = now();
    for (long step = 0; step < steps; step++) {
#pragma GCC unroll 10
        for (int chain = 0; chain < CHAINS; chain++) chains[chain] = chains[chain] * factor + term;
    }
    double seconds = (now() - start) / steps;
    KEPT(chains);
    return seconds;
}
