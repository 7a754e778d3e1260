"""What pyproject.toml cannot describe: the kernels, compiled where there is a C compiler."""

import os
import sysconfig

from setuptools import Extension, setup

NATIVE = "src/trivium/kernels"
THREADS = [] if os.name == "nt" else ["-pthread"]  # see pool.c
KERNELS = Extension(
    "trivium.kernels._native",
    sorted(
        f"{NATIVE}/{name}.c"
        for name in (
            "beside",
            "cells",
            "holders",
            "module",
            "names",
            "nearest",
            "passes",
            "pool",
            "porter",
            "postings",
            "sorting",
            "strings",
            "together",
            "tokens",
            "underway",
            "vectors",
            "words",
        )
    ),
    depends=[
        f"{NATIVE}/{name}.h"
        for name in ("kernels", "nearest", "numbers", "pool", "together", "vectors", "vocabulary")
    ],
    py_limited_api=True,
    # without them NumPy does the same, more slowly; a wheel to be given away must have them
    optional=os.environ.get("TRIVIUM_KERNELS") != "required",
    # -fopenmp-simd: sums that are marked may be added up in any order, so in wide registers
    extra_compile_args=["-O3", "-ffp-contract=off", "-fopenmp-simd", *THREADS],
    extra_link_args=THREADS,
    libraries=[] if os.name == "nt" else ["m"],
)

if sysconfig.get_config_var("Py_GIL_DISABLED"):  # there is no stable interface without the lock
    setup()
else:
    setup(ext_modules=[KERNELS], options={"bdist_wheel": {"py_limited_api": "cp311"}})
