"""Fits of data larger than memory: from a mapped file, and by Dask from files.

Rows are generated into a `.npy` file and into Parquet files, a part at a time. Every
fit is a process of its own that may allocate so much and no more. Printed are seconds,
the peak of anonymous memory (of each worker, for Dask) and the largest difference of a
coefficient from those of the fit to the data in memory.

    python benchmarks/large.py                     # 1 GB, workers of 1 GB
    python benchmarks/large.py --gigabytes 8 --worker-gigabytes 1.5

Other tables:

    python benchmarks/large.py --table scaling     # as many rows for each worker
    python benchmarks/large.py --table rivals      # dask-ml, SGDClassifier, in memory
    python benchmarks/large.py --table overhead    # of an evaluation, without its work

With `--save PATH` what is printed is saved as well.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np

MIB, GB = 2**20, 1e9
LINES = []
ROWS_OF_A_PART = 10_000
LIMIT = 500 * MIB


def say(line):
    """Print a line, which `--save` saves."""
    print(line, flush=True)
    LINES.append(line)


# Data.


def table_line(*cells):
    """A line of a Markdown table."""
    return f"| {' | '.join(map(str, cells))} |"


def part(number, n_rows, n_features, n_classes):
    """Features and labels of some rows, the same at every call."""
    common = np.random.default_rng(0)
    scale = np.geomspace(0.1, 10, n_features)
    coef = common.standard_normal((n_features, n_classes)) / np.sqrt(n_features)
    rng = np.random.default_rng([1, number])
    Z = rng.standard_normal((n_rows, n_features))
    y = (2 * Z @ coef + rng.gumbel(size=(n_rows, n_classes))).argmax(axis=1)
    return Z * scale + scale, y


def write(folder, n_rows, n_features, n_classes):
    """X.npy, y.npy and a Parquet file for each part."""
    import pandas as pd

    shape = n_rows, n_features
    X = np.lib.format.open_memmap(folder / "X.npy", "w+", np.float64, shape)
    y = np.empty(n_rows, dtype=np.int64)
    (folder / "parquet").mkdir()
    for i, start in enumerate(range(0, n_rows, ROWS_OF_A_PART)):
        stop = min(start + ROWS_OF_A_PART, n_rows)
        X[start:stop], y[start:stop] = part(i, stop - start, n_features, n_classes)
        columns = [f"x{j}" for j in range(n_features)]
        table = pd.DataFrame(X[start:stop], columns=columns)
        table["y"] = y[start:stop]
        table.to_parquet(folder / "parquet" / f"{i:05}.parquet", compression=None)
    X.flush()
    np.save(folder / "y.npy", y)


def load_rows(path, start, stop):
    """Some rows of a `.npy` file, copied."""
    return np.array(np.load(path, mmap_mode="r")[start:stop])


def dask_from_npy(folder, meta):
    """Dask arrays of X.npy and y.npy, read by the workers."""
    import dask.array as da
    from dask import delayed

    def blocks(name, *tail):
        dtype = np.float64 if tail else np.int64
        pieces = []
        for start in range(0, meta["n_rows"], ROWS_OF_A_PART):
            stop = min(start + ROWS_OF_A_PART, meta["n_rows"])
            rows = delayed(load_rows)(str(folder / name), start, stop)
            pieces.append(da.from_delayed(rows, (stop - start, *tail), dtype))
        return da.concatenate(pieces)

    return blocks("X.npy", meta["n_features"]), blocks("y.npy")


def dask_from_parquet(folder, meta):
    """A Dask dataframe and series of the Parquet files."""
    import dask.dataframe as dd

    table = dd.read_parquet(folder / "parquet", split_row_groups=False)
    return table.drop(columns="y"), table["y"]


# Functions that each process runs.


def model():
    from skprob import SoftmaxClassifier

    return SoftmaxClassifier(tol=1e-8)


def anonymous(status="/proc/self/status"):
    lines = Path(status).read_text().splitlines()
    (line,) = (line for line in lines if line.startswith("RssAnon"))
    return int(line.split()[1]) * 1024


class Peak:
    """The highest anonymous memory of some processes while it is watched."""

    def __init__(self, pids):
        self._files = [f"/proc/{pid}/status" for pid in pids]
        self._over, self.rise = threading.Event(), 0
        self._start = max(map(anonymous, self._files))
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *exception):
        self._over.set()
        self._thread.join()

    def _watch(self):
        while not self._over.wait(0.01):
            try:
                now = max(map(anonymous, self._files))
            except (OSError, ValueError):  # A worker is gone.
                continue
            self.rise = max(self.rise, now - self._start)


def report(fitted, seconds, peak, folder, name):
    np.save(folder / f"coef_{name}.npy", fitted.coef_)
    history = {key: float(values[-1]) for key, values in fitted.history_.items()}
    results = history | {
        "seconds": seconds,
        "peak": peak / MIB,
        "solver": fitted.solver_,
    }
    print(json.dumps(results))


def fit_local(folder, meta, mapped):
    import resource

    few = slice(0, 2000)
    X = np.load(folder / "X.npy", mmap_mode="r")
    y = np.load(folder / "y.npy")
    model().fit(np.array(X[few]), y[few])
    if mapped:
        lines = Path("/proc/self/status").read_text().splitlines()
        (line,) = (line for line in lines if line.startswith("VmData"))
        limit = int(line.split()[1]) * 1024 + LIMIT
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    else:
        X = np.array(X)
    with Peak([os.getpid()]) as peak:
        started = time.perf_counter()
        fitted = model().fit(X, y)
        seconds = time.perf_counter() - started
    rise = peak.rise + (0 if mapped else X.nbytes)
    report(fitted, seconds, rise, folder, "mapped" if mapped else "memory")


def fit_dask(folder, meta, source):
    import dask
    from distributed import Client, LocalCluster

    load = dask_from_npy if source == "npy" else dask_from_parquet
    dask.config.set({"temporary-directory": str(folder)})
    with (
        LocalCluster(
            n_workers=meta["n_workers"],
            threads_per_worker=1,
            memory_limit=meta["worker_bytes"],
            dashboard_address=None,
        ) as cluster,
        Client(cluster) as client,
    ):
        few = np.random.default_rng(0).standard_normal((100, 3))
        client.submit(model().fit, few, few[:, 0] > 0).result()
        X, y = load(folder, meta)
        with Peak(client.run(os.getpid).values()) as peak:
            started = time.perf_counter()
            fitted = model().fit(X, y)
            seconds = time.perf_counter() - started
        report(fitted, seconds, peak.rise, folder, source)


FITS = {
    "memory": lambda *args: fit_local(*args, mapped=False),
    "mapped": lambda *args: fit_local(*args, mapped=True),
    "npy": lambda *args: fit_dask(*args, "npy"),
    "parquet": lambda *args: fit_dask(*args, "parquet"),
}
WORDS = {
    "memory": "in memory",
    "mapped": f"memory-mapped .npy, {LIMIT // MIB} MiB allowed",
    "npy": "Dask, from .npy",
    "parquet": "Dask, from Parquet",
}


def child(folder, meta, name):
    """A fit in a process of its own, as a dict of figures."""
    settings = ["--child", name, "--folder", str(folder), "--meta", json.dumps(meta)]
    done = subprocess.run(
        [sys.executable, __file__, *settings], capture_output=True, text=True
    )
    if done.returncode:
        return {"error": done.stderr.strip().splitlines()[-1][:200]}
    return json.loads(done.stdout.splitlines()[-1])


# Tables.


def table_of_memory(options):
    n_rows = int(options.gigabytes * GB / 8 / options.features)
    meta = {
        "n_rows": n_rows,
        "n_features": options.features,
        "n_workers": options.workers,
        "worker_bytes": int(options.worker_gigabytes * GB),
    }
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        folder = Path(folder)
        write(folder, n_rows, options.features, options.classes)
        say(
            f"{n_rows:,} x {options.features} float64 ({options.gigabytes:g} GB), "
            f"{options.classes} classes, tol=1e-8; {options.workers} workers of "
            f"{options.worker_gigabytes:g} GB\n"
        )
        head = f"{'fit':38}{'seconds':>9}{'peak MiB':>10}{'passes':>8}  difference  "
        say(head + "solver")
        for name in options.fits.split(","):
            results = child(folder, meta, name)
            if "error" in results:
                say(f"{WORDS[name]:38}{results['error']}")
                continue
            coef = np.load(folder / f"coef_{name}.npy")
            reference = folder / "coef_memory.npy"
            difference = np.nan
            if reference.exists():
                difference = np.abs(coef - np.load(reference)).max()
            say(
                f"{WORDS[name]:38}{results['seconds']:9.1f}{results['peak']:10.0f}"
                f"{results['passes']:8.1f}  {difference:<12.1e}{results['solver']}, "
                f"{results['round_trips']:.0f} round trips"
            )


def generated(n_rows, n_features, n_classes, n_parts):
    """Dask arrays that the workers generate."""
    import dask.array as da
    from dask import delayed

    X, y, rows = [], [], n_rows // n_parts
    for i in range(n_parts):
        both = delayed(part, nout=2)(i, rows, n_features, n_classes)
        X.append(da.from_delayed(both[0], (rows, n_features), np.float64))
        y.append(da.from_delayed(both[1], (rows,), np.int64))
    return da.concatenate(X), da.concatenate(y)


def timed(function, *args):
    started = time.perf_counter()
    return function(*args), time.perf_counter() - started


def local_cluster(n_workers):
    from distributed import Client, LocalCluster

    cluster = LocalCluster(
        n_workers=n_workers, threads_per_worker=1, dashboard_address=None
    )
    return cluster, Client(cluster)


def table_of_scaling(options):
    import dask

    say(table_line("workers", "rows", "s", "passes over X", "ms a pass"))
    for n_workers in (1, 2):
        cluster, client = local_cluster(n_workers)
        with cluster, client:
            n_rows = options.rows * n_workers // 2
            X, y = dask.persist(*generated(n_rows, 50, 5, 8 * n_workers))
            client.submit(model().fit, np.eye(3), np.arange(3)).result()
            times = [timed(model().fit, X, y) for _ in range(3)]
            fitted, seconds = min(times, key=lambda pair: pair[1])
            passes = fitted.history_["passes"][-1]
            cells = f"{seconds:.2f}", f"{passes:.0f}", f"{1000 * seconds / passes:.0f}"
            say(table_line(n_workers, f"{n_rows:,}", *cells))


def table_of_rivals(options):
    import dask
    from sklearn.linear_model import SGDClassifier
    from sklearn.metrics import log_loss
    from sklearn.preprocessing import StandardScaler

    n_parts, loss_of = 16, "log loss of held-out rows"
    say(table_line("fit", "classes", "s", loss_of, "difference of coefficients"))
    cluster, client = local_cluster(2)
    with cluster, client:
        X, y = dask.persist(*generated(options.rows, 50, 5, n_parts))
        client.submit(model().fit, np.eye(3), np.arange(3)).result()
        fitted, seconds = timed(model().fit, X, y)
        rows, labels = X.compute(), y.compute()
        local, local_seconds = timed(model().fit, rows, labels)
        difference = np.abs(local.coef_ - fitted.coef_).max()
        X_test, y_test = part(10**6, 50_000, 50, 5)
        loss = log_loss(y_test, local.predict_proba(X_test))
        say(
            table_line(
                "skprob, two workers", 5, f"{seconds:.2f}", "", f"{difference:.1e}"
            )
        )
        in_memory = f"{local_seconds:.2f}", f"{loss:.4f}", ""
        say(table_line("skprob, in memory, two threads", 5, *in_memory))
        try:
            from dask_ml.linear_model import LogisticRegression
        except ImportError as error:
            say(f"dask-ml: not to be imported ({error})")
        else:
            pair = (y > 1).astype(int).persist()
            _, seconds = timed(model().fit, X, pair)
            _, rival = timed(LogisticRegression(solver="lbfgs").fit, X, pair)
            say(table_line("skprob, two workers", 2, f"{seconds:.2f}", "", ""))
            say(table_line("dask-ml, two workers", 2, f"{rival:.2f}", "", ""))
    started, scaler = time.perf_counter(), StandardScaler()
    parts = np.array_split(np.arange(len(labels)), 80)
    for some in parts:
        scaler.partial_fit(rows[some])
    rival = SGDClassifier(loss="log_loss", alpha=1 / len(labels), random_state=0)
    n_passes, value = 0, np.inf
    while value > 1.001 * loss and n_passes < 20:
        n_passes += 1
        for some in parts:
            scaled = scaler.transform(rows[some])
            rival.partial_fit(scaled, labels[some], np.arange(5))
        value = log_loss(y_test, rival.predict_proba(scaler.transform(X_test)))
    seconds = time.perf_counter() - started
    title = f"SGDClassifier, {n_passes} passes"
    say(table_line(title, 5, f"{seconds:.1f}", f"{value:.4f}", ""))


def rows_of(number, n_rows, n_features):
    return np.random.default_rng(number).standard_normal((n_rows, n_features))


def products(X, points):
    """Two products with X, and how long they took."""
    started = time.perf_counter()
    total = (X @ points.T).T @ X
    return total, time.perf_counter() - started


def table_of_overhead(options):
    from dask import delayed

    from skprob.data import Cluster, DaskBlocks, Partition, wait_for

    say(table_line("partitions", "ms, median", "lower quartile", "upper quartile"))
    cluster, client = local_cluster(2)
    with cluster, client:
        for n_parts in (2, 8, 32):
            parts = [delayed(rows_of)(i, 1000, 50) for i in range(n_parts)]
            futures = client.compute([delayed(Partition)(each) for each in parts])
            wait_for(client, futures)
            blocks, points = DaskBlocks(Cluster(client, futures)), np.ones((5, 50))
            blocks.sum(products, points)
            spent = []
            for _ in range(100):
                (_, inside), seconds = timed(blocks.sum, products, points)
                spent.append(seconds - float(inside) / 2)
            quartiles = 1000 * np.quantile(spent, [0.25, 0.5, 0.75])
            low, middle, high = quartiles
            say(table_line(n_parts, *(f"{ms:.1f}" for ms in (middle, low, high))))
            for future in futures:
                future.release()


TABLES = {
    "memory": table_of_memory,
    "scaling": table_of_scaling,
    "rivals": table_of_rivals,
    "overhead": table_of_overhead,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", choices=TABLES, default="memory")
    parser.add_argument("--gigabytes", type=float, default=1.0)
    parser.add_argument("--features", type=int, default=500)
    parser.add_argument("--classes", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--worker-gigabytes", type=float, default=1.0)
    parser.add_argument("--rows", type=int, default=500_000)
    parser.add_argument("--fits", default=",".join(FITS))
    parser.add_argument("--folder", default=None)
    parser.add_argument("--save", type=Path, metavar="PATH")
    parser.add_argument("--child", choices=FITS)
    parser.add_argument("--meta", type=json.loads)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.child:
        FITS[options.child](Path(options.folder), options.meta)
    else:
        TABLES[options.table](options)
        if options.save:
            options.save.write_text("\n".join(LINES) + "\n")


if __name__ == "__main__":
    main()
