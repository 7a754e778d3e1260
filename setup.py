"""What pyproject.toml cannot describe: the kernels, compiled where there is a C compiler."""

from setuptools import Extension, setup

NATIVE = "src/trivium/kernels"
KERNELS = Extension(
    "trivium.kernels._native",
    sorted(
        f"{NATIVE}/{name}.c"
        for name in (
            "module",
            "names",
            "porter",
            "postings",
            "sorting",
            "tokens",
            "vectors",
            "words",
        )
    ),
    depends=[f"{NATIVE}/kernels.h", f"{NATIVE}/vocabulary.h"],
    py_limited_api=True,
    optional=True,  # without them NumPy does the same, more slowly
    extra_compile_args=["-O3", "-ffp-contract=off"],
)

setup(ext_modules=[KERNELS], options={"bdist_wheel": {"py_limited_api": "cp311"}})
