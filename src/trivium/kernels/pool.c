/* One pool of threads for all that a process has to do. */
#include "pool.h"

/* The next piece that nobody has taken: its number, that of `last`, or -1 if there is none now. */
static Py_ssize_t
take(Work *work)
{
    int is_last = work->taken == work->pieces;
    if (work->taken > work->pieces || (is_last && (!work->last || work->done < work->pieces)))
        return -1;
    return work->taken++;
}

static void
carry_out(Work *work, Py_ssize_t number)
{
    if (number < work->pieces)
        work->piece(work, number);
    else
        work->last(work);
}

static int
is_done(const Work *work)
{
    return work->done == work->pieces + (work->last ? 1 : 0);
}

static long processors = 1; /* that this process may use */

PyObject *
use_processors(PyObject *Py_UNUSED(module), PyObject *count)
{
    long known = PyLong_AsLong(count);
    if (known == -1 && PyErr_Occurred())
        return NULL;
    processors = known;
    Py_RETURN_NONE;
}

#if defined(_WIN32)

void
work_begin(Work *work)
{
    work->taken = work->done = 0;
}

int
work_end(Work *work)
{
    for (Py_ssize_t number; (number = take(work)) >= 0; work->done++)
        carry_out(work, number);
    return 1;
}

#else

#include <pthread.h>

#define MOST_THREADS 7 /* beside the one that asks: memory is not quicker for more */
#define LOOKS 4000     /* for a step of another thread, a tenth of a millisecond: to be woken takes as long */

#if defined(__x86_64__) || defined(__i386__)
#define BREATHE() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define BREATHE() __asm__ volatile("yield")
#else
#define BREATHE() ((void)0)
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t begun = PTHREAD_COND_INITIALIZER, progress = PTHREAD_COND_INITIALIZER;
static Work *works;     /* those that have begun and not ended, the oldest first */
static int is_started;  /* whether this process has its threads */
static long forks;      /* from a process that had some to this one */

/* Does one piece of any work, with the lock held before and after; whether there was one. */
static int
help(Work *work)
{
    Py_ssize_t number = take(work);
    if (number < 0)
        return 0;
    pthread_mutex_unlock(&lock);
    carry_out(work, number);
    pthread_mutex_lock(&lock);
    __atomic_store_n(&work->done, work->done + 1, __ATOMIC_RELEASE);
    if (work->done >= work->pieces) /* it is done, or its last piece may be taken */
        pthread_cond_broadcast(&progress);
    return 1;
}

static void *
work_for_ever(void *Py_UNUSED(nothing))
{
    pthread_mutex_lock(&lock);
    for (;;) {
        Work *work = works;
        while (work && !help(work))
            work = work->next;
        if (!work)
            pthread_cond_wait(&begun, &lock);
    }
    return NULL;
}

/* A child process has the memory and none of the threads. */
static void
forget(void)
{
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&begun, NULL);
    pthread_cond_init(&progress, NULL);
    works = NULL;
    is_started = 0;
    forks++;
}

/* As many threads as there are other processors to use; fewer, or none, if the system has no more. */
static void
start(void)
{
    static int is_watched;
    pthread_attr_t attributes;
    pthread_t thread;
    is_started = 1;
    if (!is_watched)
        is_watched = !pthread_atfork(NULL, NULL, forget);
    if (!is_watched || pthread_attr_init(&attributes))
        return;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    for (long i = 1; i < processors && i <= MOST_THREADS; i++)
        if (pthread_create(&thread, &attributes, work_for_ever, NULL))
            break;
    pthread_attr_destroy(&attributes);
}

void
work_begin(Work *work)
{
    work->taken = work->done = 0;
    work->next = NULL;
    work->forks = forks;
    pthread_mutex_lock(&lock);
    if (!is_started)
        start();
    Work **end = &works;
    while (*end)
        end = &(*end)->next;
    *end = work;
    pthread_cond_broadcast(&begun);
    pthread_mutex_unlock(&lock);
}

/* Waits for another thread's next step, with the lock held before and after: at first awake, since what
 * is left takes hardly longer than to fall asleep. */
static void
wait_for_a_step(const Work *work)
{
    Py_ssize_t done = work->done;
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < LOOKS && __atomic_load_n(&work->done, __ATOMIC_ACQUIRE) == done; i++)
        BREATHE();
    pthread_mutex_lock(&lock);
    if (work->done == done)
        pthread_cond_wait(&progress, &lock);
}

int
work_end(Work *work)
{
    if (work->forks != forks && work->taken != work->done)
        return 0;
    pthread_mutex_lock(&lock);
    while (!is_done(work))
        if (!help(work))
            wait_for_a_step(work);
    Work **place = &works;
    while (*place && *place != work)
        place = &(*place)->next;
    if (*place)
        *place = work->next;
    pthread_mutex_unlock(&lock);
    return 1;
}

#endif
