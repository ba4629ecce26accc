"""Rows in a file that is mapped into memory: X is never copied."""

import os
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from skprob import EntmaxClassifier, SoftmaxClassifier

SIZE, N_FEATURES, N_CLASSES = 48_000_000, 100, 3  # SIZE of X, in bytes.
LIMIT = 40 << 20

# A process with a limit on the memory that it allocates in the fit. Files that are
# mapped into memory do not count. The process is a fork of one that has all imports,
# which take longer than a fit.
LIMITED = """
import os, resource, sys
import numpy as np
import skprob
from pathlib import Path

def allocated():
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith("VmData"))
    return int(line.split()[1]) << 10

def fit(folder, model):
    X, y = (np.load(f"{folder}/{name}.npy", mmap_mode="r") for name in "Xy")
    model.fit(np.array(X[:2000]), y[:2000]).predict(np.array(X[:2000]))
    limit = allocated() + int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    model.fit(X, y)
    score = np.mean(model.predict_proba(X)[:, 0]), model.score(X, y)
    print(*score, *model.coef_.ravel()[:3], flush=True)

skprob.SoftmaxClassifier().fit([[0], [1]], [0, 1])
for folder, model in zip(sys.argv[2::2], sys.argv[3::2]):
    if not os.fork():
        fit(folder, eval(model))
        sys.exit()
    if os.wait()[1]:
        sys.exit(f"{model} failed")
"""
CASES = [
    ("float64", "C", "skprob.SoftmaxClassifier(tol=1e-2)", "class"),
    ("float32", "F", "skprob.SparsemaxClassifier(solver='lbfgs', tol=1e-2)", "class"),
    ("float64", "F", "skprob.EntmaxClassifier(tol=1e-2)", "label_set"),
]


def save(folder, dtype, order, kind):
    """A file of rows, of which those of a few classes differ in their means."""
    rng = np.random.default_rng(0)
    n_rows = SIZE // N_FEATURES // np.dtype(dtype).itemsize
    y = rng.integers(N_CLASSES, size=n_rows)
    rows = rng.standard_normal((1000, N_FEATURES))
    shape, fortran = (n_rows, N_FEATURES), order == "F"
    X = np.lib.format.open_memmap(
        folder / "X.npy", mode="w+", dtype=dtype, shape=shape, fortran_order=fortran
    )
    means = 0.2 * rng.standard_normal((N_CLASSES, N_FEATURES))
    for start in range(0, n_rows, 1000):
        stop = start + 1000
        X[start:stop] = np.roll(rows, start // 1000, axis=1) + means[y[start:stop]]
    np.save(folder / "y.npy", np.eye(N_CLASSES)[y] if kind == "label_set" else y)
    return X


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs RLIMIT_DATA")
def test_a_fit_allocates_a_fraction_of_X(tmp_path):
    arguments = [str(LIMIT)]
    for number, (dtype, order, model, kind) in enumerate(CASES):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert save(folder, dtype, order, kind).nbytes > LIMIT
        arguments += [str(folder), model]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, *arguments],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert not done.returncode, done.stdout + done.stderr
    numbers = np.array([line.split() for line in done.stdout.splitlines()], float)
    assert numbers.shape == (len(CASES), 5)
    assert np.isfinite(numbers).all()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("model", [SoftmaxClassifier(), EntmaxClassifier()], ids=repr)
def test_it_is_the_fit_of_the_same_rows_in_memory(tmp_path, order, model):
    rng = np.random.default_rng(1)
    X = np.asarray(rng.standard_normal((300, 5)), order=order)
    y = rng.integers(3, size=300)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    expected = model.fit(X, y).coef_
    assert isinstance(mapped, np.memmap)
    assert_array_equal(model.fit(mapped, y).coef_, expected)
    mapped = mapped.copy(order)
    mapped[7, 3] = np.nan
    np.save(tmp_path / "X.npy", mapped)
    with pytest.raises(ValueError, match=r"X must be finite numbers.*NaN"):
        model.fit(np.load(tmp_path / "X.npy", mmap_mode="r"), y)
