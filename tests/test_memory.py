"""Freed memory stays with the process."""

import os
import platform
import subprocess
import sys

import pytest

from skprob.data import _memory

FAULTS = """
import resource
import runpy
import sys
import numpy as np

# The file alone: the package would import scikit-learn, for two seconds.
keep_freed_memory = runpy.run_path(sys.argv[1])["keep_freed_memory"]

def faults_of_a_round():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    arrays = [np.ones(1 << 17) for _ in range(6)]
    del arrays
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

for is_kept in (False, True):
    if is_kept:
        keep_freed_memory(16 << 20)
    faults_of_a_round()
    print(sum(faults_of_a_round() for _ in range(5)))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="needs glibc")
def test_arrays_take_the_memory_of_those_that_were_freed():
    # glibc adapts only without settings such as those that Dask makes for its workers.
    settings = {k: v for k, v in os.environ.items() if not k.startswith("MALLOC_")}
    program = [sys.executable, "-c", FAULTS, _memory.__file__]
    output = subprocess.check_output(program, env=settings)
    given_back, kept = map(int, output.split())
    # Six arrays of 256 pages each, in five rounds.
    assert kept < 300
    assert given_back > 3000
