"""Fit and predict on a GPU, compared with scikit-learn there and skprob on the CPU.

    python benchmarks/gpu.py                       # needs torch and a CUDA device
    python benchmarks/gpu.py --device cpu --small  # the same on the CPU

Softmax, sparsemax and 1.5-entmax classifiers of rows in single precision, as torch
tensors under ``sklearn.set_config(array_api_dispatch=True)``; `LogisticRegression`,
whose objective is that of the softmax classifier, on the same device; and our own fits
of the NumPy array, without 1.5-entmax. A fit is timed at the loosest tolerance at which
the objective, computed in double precision, is within 1e-3 of the best that was found;
it is the median of three, or one fit of NumPy rows. ``--save`` names a file
for the table.
"""

import argparse
import os
import statistics
import time
import warnings
from pathlib import Path

os.environ["SCIPY_ARRAY_API"] = "1"  # scikit-learn asks for it; before SciPy is loaded.

import numpy as np
import sklearn
from _report import as_markdown, environment
from sklearn.linear_model import LogisticRegression

from skprob import EntmaxClassifier, SoftmaxClassifier, SparsemaxClassifier
from skprob.losses import FenchelYoungLoss

CASES = [(1_000_000, 200, 10), (100_000, 2_000, 100)]
SMALL = [(5_000, 50, 10), (2_000, 100, 20)]
TOLERANCES = [1e-2, 3e-3, 1e-3, 3e-4, 1e-4]
# Fits of NumPy rows take seconds: few are made.
NUMPY_TOLERANCES = [1e-2, 1e-3]
TARGET = 1e-3
ROWS_AT_ONCE = 50_000


def data(n_rows, n_features, n_classes):
    """Rows of unit variance, and labels drawn from softmax of linear scores."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_features), dtype=np.float32)
    coef = 2 * rng.standard_normal((n_features, n_classes)) / np.sqrt(n_features)
    noise = rng.gumbel(size=(n_rows, n_classes))
    return X, (X @ coef.astype(np.float32) + noise).argmax(axis=1)


class Contender:
    """A model on a device.

    Parameters
    ----------
    make : callable
        ``make(tol)`` is the unfitted model.
    mapping : str
        Whose Fenchel-Young loss it minimises.
    device : str or None
        Of torch; None stands for NumPy's arrays.
    """

    def __init__(self, make, mapping, device):
        self.make, self.mapping, self.device = make, mapping, device

    def arrays(self, X, y):
        """The rows where the model takes them."""
        if self.device is None:
            return X, y
        import torch

        return tuple(torch.asarray(a, device=self.device) for a in (X, y))

    def wait(self):
        """Wait until the device has finished."""
        if self.device == "cuda":
            import torch

            torch.cuda.synchronize()

    def timed(self, function, *args):
        """Seconds of a call until the device has finished, and its result."""
        self.wait()
        start = time.perf_counter()
        with sklearn.config_context(array_api_dispatch=self.device is not None):
            result = function(*args)
        self.wait()
        return time.perf_counter() - start, result


def objective(contender, model, X, y):
    """Mean loss plus penalty at C = 1, of tensors in double precision."""
    import torch

    coef, intercept = (
        torch.asarray(array, device=X.device, dtype=torch.float64)
        for array in (model.coef_, model.intercept_)
    )
    loss, total = FenchelYoungLoss(contender.mapping), 0.0
    labels = torch.eye(len(coef), device=X.device, dtype=torch.float64)
    with sklearn.config_context(array_api_dispatch=True):
        for start in range(0, len(X), ROWS_AT_ONCE):
            rows = slice(start, start + ROWS_AT_ONCE)
            scores = X[rows].double() @ coef.T + intercept
            total += float(loss.value(scores, labels[y[rows]]).sum())
    return (total + float((coef**2).sum()) / 2) / len(X)


def measured(contenders, X, y, repeats):
    """Seconds of fit and predict, tolerance and excess of the objective, by name."""
    results, best = {}, {}
    first = next(iter(contenders.values()))
    tensors = first.arrays(X, y)  # One copy for all.
    for name, contender in contenders.items():
        arrays = (X, y) if contender.device is None else tensors
        fits = []
        for tol in TOLERANCES if contender.device else NUMPY_TOLERANCES:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # The fit did not converge.
                seconds, model = contender.timed(contender.make(tol).fit, *arrays)
            value = objective(contender, model, *tensors)
            fits.append((tol, seconds, value, model))
        results[name] = arrays, fits
        lowest = min(value for _, _, value, _ in fits)
        best[contender.mapping] = min(best.get(contender.mapping, np.inf), lowest)
    rows = {}
    for name, contender in contenders.items():
        arrays, fits = results[name]
        least = best[contender.mapping]
        reached = [fit for fit in fits if fit[2] <= least * (1 + TARGET)]
        if not reached:
            rows[name] = None
            continue
        tol, first, value, model = reached[0]
        times = [first]
        for _ in range(repeats - 1 if contender.device else 0):
            times.append(contender.timed(contender.make(tol).fit, *arrays)[0])
        predictions = []
        for _ in range(repeats + 1):
            predictions.append(contender.timed(model.predict_proba, arrays[0])[0])
        rows[name] = (
            statistics.median(times),
            statistics.median(predictions[1:]),
            tol,
            value / least - 1,
        )
    return rows


def contenders(device):
    """The programs that are compared, by name."""

    def ours(kind):
        return lambda tol: kind(tol=tol)

    def theirs(tol):
        return LogisticRegression(tol=tol, max_iter=1000)

    return {
        f"softmax, {device}": Contender(ours(SoftmaxClassifier), "softmax", device),
        f"LogisticRegression, {device}": Contender(theirs, "softmax", device),
        "softmax, NumPy": Contender(ours(SoftmaxClassifier), "softmax", None),
        f"sparsemax, {device}": Contender(
            ours(SparsemaxClassifier), "sparsemax", device
        ),
        "sparsemax, NumPy": Contender(ours(SparsemaxClassifier), "sparsemax", None),
        f"1.5-entmax, {device}": Contender(ours(EntmaxClassifier), "entmax", device),
    }


def found_device(wanted):
    """The device to run on, or None with a word on why there is none."""
    try:
        import torch
    except ImportError:
        print("torch is not installed: nothing is measured. Use pip install torch.")
        return None
    if wanted == "cpu":
        torch.set_num_threads(1)
        return wanted
    if not torch.cuda.is_available():
        print(
            "No CUDA device was found: nothing is measured. "
            "(--device cpu --small tries the script out.)"
        )
        return None
    return wanted


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--no-numpy", action="store_true", help="on the device only")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--save", type=Path)
    options = parser.parse_args()
    device = found_device(options.device)
    if device is None:
        return
    import torch

    lines = [environment(sklearn, torch)]
    if device == "cuda":
        lines.append(torch.cuda.get_device_name())
    lines.append(f"{os.cpu_count()} cores")
    header = ["rows x features x classes", "model", "fit (s)", "predict (s)", "tol"]
    table = []
    for case in SMALL if options.small else CASES:
        X, y = data(*case)
        rivals = contenders(device)
        if options.no_numpy:
            rivals = {name: r for name, r in rivals.items() if r.device is not None}
        # The first use of a device takes longer than others.
        warm = next(iter(rivals.values()))
        warm.timed(warm.make(1e-2).fit, *warm.arrays(X[:2000], y[:2000]))
        for name, row in measured(rivals, X, y, options.repeats).items():
            shape = " x ".join(f"{n:,}" for n in case)
            if row is None:
                table.append([shape, name, "not reached", "", "", ""])
                continue
            fit, predict, tol, excess = row
            seconds = f"{fit:.3f}", f"{predict:.4f}"
            table.append([shape, name, *seconds, f"{tol:g}", f"{excess:.1e}"])
        markdown = as_markdown([*header, "above the best"], table)
        text = "\n".join(lines) + "\n\n" + markdown
        print(text, flush=True)
        if options.save:  # After each case, as the next one takes minutes.
            options.save.write_text(text + "\n")


if __name__ == "__main__":
    main()
