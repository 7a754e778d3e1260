/* Threads that work beside Python: they know nothing of it, so they never wait for its lock. */
#ifndef TRIVIUM_POOL_H
#define TRIVIUM_POOL_H

#include "kernels.h"

typedef struct Work Work;

/* Work in pieces, which are done in any order and by any thread; `last` comes after all of them and
 * may be absent. Whoever waits for the end does pieces, too, so nothing hangs on there being other
 * threads. */
struct Work {
    void (*piece)(Work *work, Py_ssize_t number);
    void (*last)(Work *work);
    Py_ssize_t pieces;
    /* the pool's own */
    Py_ssize_t taken, done;
    long forks;
    Work *next;
};

/* Has others begin with the work; it must stay where it is until its end. */
void work_begin(Work *work);

/* Does what is left of the work and waits for what others are at; whether it is done. It never will be
 * in a child process, if another thread was at it when the process was forked. */
int work_end(Work *work);

#endif
