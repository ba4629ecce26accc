"""Coverage and size of conformal prediction sets: ``python conformal_sets.py``.

Each of 100 random splits has 30 % of the rows for the fit, 45 % for the calibration and
25 % for the test, by class. The classifier is `SoftmaxClassifier` after a
`StandardScaler`, fitted once for each split; with folds it is fitted to the rows of fit
and calibration together. ``SKPROB_DATA`` names the folder with pendigits and letter.

The number of covered test rows has a beta-binomial distribution if the truth is covered
with exactly the stated probability. "Below" is the share of splits (with ``by="class"``
of splits and classes) with less than its lower 1 % point, so that 1 % are expected;
where sets without the best class are not allowed, coverage may be higher, not lower.

If MAPIE is installed, its sets are compared row by row: its "lac" score is "threshold"
and its "aps" score, randomised by the same draws, "adaptive". Tables are written to
``docs/measurements`` with ``--save``. It takes a quarter of an hour; ``--times``
measures the times alone.
"""

import argparse
import csv
import os
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from skprob import SoftmaxClassifier
from skprob.decision import ConformalSets

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "measurements"
LEVELS = 0.9, 0.95
SCORES = {
    "entmax": {"score_function": "entmax"},
    "threshold": {"score_function": "threshold", "never_empty": False},
    "threshold, best class": {"score_function": "threshold"},
    "adaptive": {"score_function": "adaptive"},
}
BY = "all", "class"
CLASS_HEADS = [
    "data",
    "level",
    "coverage of the worst class",
    'with by="class"',
    "size",
    'size with by="class"',
]
SPREAD = {"score_function": "adaptive", "never_empty": False, "random_state": 0}
IN_FOLDS = "entmax, 5 folds"


def from_folder(name):
    """All rows of one of the files."""
    file = np.load(Path(os.environ["SKPROB_DATA"]) / f"{name}.npz")
    parts = [[file[f"{kind}_{part}"] for part in ("train", "test")] for kind in "Xy"]
    X, y = map(np.concatenate, parts)
    return X.astype(float), y


DATA = {
    **{
        name: partial(load, return_X_y=True)
        for name, load in {
            "iris": load_iris,
            "wine": load_wine,
            "breast cancer": load_breast_cancer,
            "digits": load_digits,
        }.items()
    },
    **{name: partial(from_folder, name) for name in ("pendigits", "letter")},
}


def split(X, y, seed):
    """Rows for the fit, the calibration and the test."""
    chosen = partial(train_test_split, random_state=seed)
    X_rest, X_test, y_rest, y_test = chosen(X, y, test_size=0.25, stratify=y)
    X_fit, X_cal, y_fit, y_cal = chosen(X_rest, y_rest, test_size=0.6, stratify=y_rest)
    return (X_fit, y_fit), (X_cal, y_cal), (X_test, y_test)


def hits_and_sizes(model, X, y):
    """Whether each test row is covered, and the sizes of the sets."""
    sets = model.predict_set(X)
    columns = np.searchsorted(model.classes_, y)
    return sets[np.arange(len(y)), columns] == 1, sets.sum(axis=1)


def least_hits(n_calibration, n_test, level):
    """The lower 1 % point of the number of covered test rows."""
    rank = int(np.ceil(round((n_calibration + 1) * level, 9)))
    return stats.betabinom.ppf(0.01, n_test, rank, n_calibration + 1 - rank)


class Record:
    """Measurements of one score over the splits."""

    def __init__(self):
        self.hits, self.sizes, self.empty, self.below, self.of_class = (
            [],
            [],
            [],
            [],
            [],
        )

    def add(self, hits, sizes, y_cal, y, level, by):
        """A split."""
        self.hits.append(hits.mean())
        self.sizes.append(sizes.mean())
        self.empty.append((sizes == 0).mean())
        classes = np.unique(y)
        self.of_class.append([hits[y == k].mean() for k in classes])
        if by is None:
            self.below.append(hits.sum() < least_hits(len(y_cal), len(y), level))
            return
        for k in classes:
            n_cal, of_class = np.sum(y_cal == k), hits[y == k]
            least = least_hits(n_cal, len(of_class), level)
            self.below.append(of_class.sum() < least)

    def row(self):
        """Coverage, worst class, splits below the bound, size, empty sets."""
        worst = np.mean(self.of_class, axis=0).min()
        return [
            f"{np.mean(self.hits):.3f}",
            f"{worst:.3f}",
            f"{100 * np.mean(self.below):.1f} %",
            f"{np.mean(self.sizes):.2f}",
            f"{100 * np.mean(self.empty):.1f} %",
        ]


def measure(name, n_splits):
    """Records by level, by and score; rows that differ from MAPIE; times."""
    X, y = DATA[name]()
    records, compared, times = {}, [], {}
    for seed in range(n_splits):
        (X_fit, y_fit), (X_cal, y_cal), (X_test, y_test) = split(X, y, seed)
        model = make_pipeline(StandardScaler(), SoftmaxClassifier()).fit(X_fit, y_fit)

        def add(level, by, score, sets, cal=y_cal, X_new=X_test, y_new=y_test):
            results = hits_and_sizes(sets, X_new, y_new)
            record = records.setdefault((level, by, score), Record())
            record.add(*results, cal, y_new, level, by)

        for level in LEVELS:
            for by in (None, "class"):
                for score, parameters in SCORES.items():
                    sets = ConformalSets(
                        model, cv="prefit", coverage=level, by=by, **parameters
                    )
                    add(level, by, score, sets.fit(X_cal, y_cal))
            compared += with_mapie(model, (X_cal, y_cal), X_test, level, seed)
        # The folds do not depend on the level: one of the two is enough.
        X_all, y_all = np.r_[X_fit, X_cal], np.r_[y_fit, y_cal]
        inner = make_pipeline(StandardScaler(), SoftmaxClassifier())
        sets = ConformalSets(inner, coverage=LEVELS[0]).fit(X_all, y_all)
        add(LEVELS[0], None, IN_FOLDS, sets, y_all)
        if seed < 20:
            time_calls(model, X_cal, y_cal, X_test, times)
    return records, compared, times


def measure_times(name, n_splits):
    """Pairs of the seconds of both calls, by the name of the score."""
    X, y = DATA[name]()
    times = {}
    for seed in range(min(n_splits, 20)):
        (X_fit, y_fit), (X_cal, y_cal), (X_test, _) = split(X, y, seed)
        model = make_pipeline(StandardScaler(), SoftmaxClassifier()).fit(X_fit, y_fit)
        time_calls(model, X_cal, y_cal, X_test, times)
    return times


def with_mapie(model, calibration, X_test, level, seed):
    """For both scores, the numbers of rows, rows that differ, and mean sizes."""
    try:
        from mapie.classification import SplitConformalClassifier
    except ImportError:
        return []
    result = []
    for score, parameters, options in (
        ("lac", SCORES["threshold"], {}),
        ("aps", SPREAD, {"include_last_label": "randomized"}),
    ):
        if score == "aps" and len(model.classes_) == 2:
            continue  # MAPIE has it for three classes or more.
        theirs = SplitConformalClassifier(
            model, confidence_level=level, conformity_score=score, random_state=seed
        )
        theirs.conformalize(*calibration)
        expected = theirs.predict_set(X_test, conformity_score_params=options)[1]
        if "random_state" in parameters:
            parameters = {**parameters, "random_state": seed}
        ours = ConformalSets(model, cv="prefit", coverage=level, **parameters)
        ours.fit(*calibration)
        if score == "aps":
            # MAPIE draws the same numbers for calibration and prediction.
            ours._seed = seed
        results, expected = ours.predict_set(X_test), expected[:, :, 0]
        differ = (results != expected).any(axis=1).sum()
        sizes = results.sum(axis=1).mean(), expected.sum(axis=1).mean()
        result.append((score, len(results), differ, *sizes))
    return result


def time_calls(model, X_cal, y_cal, X_test, times):
    """CPU seconds of the classifier's probabilities and of the sets, in turn.

    Each score has its own pairs: after another score, calls find other code in caches.
    """
    for score, parameters in SCORES.items():
        sets = ConformalSets(model, cv="prefit", **parameters).fit(X_cal, y_cal)
        for _ in range(20):
            seconds = []
            for call in model.predict_proba, sets.predict_set:
                start = time.process_time()
                call(X_test)
                seconds.append(time.process_time() - start)
            times.setdefault(score, []).append(seconds)


def main():
    """Measure, print and perhaps save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", default=list(DATA), choices=list(DATA))
    parser.add_argument("--splits", type=int, default=100)
    parser.add_argument("--save", action="store_true")
    parser.add_argument("--times", action="store_true", help="measure times only")
    args = parser.parse_args()
    head = ["data", "level", "by", "score", "coverage", "worst class", "below", "size"]
    tables = {
        "conformal_sets": [[*head, "empty"]],
        "conformal_mapie": [
            ["data", "score", "rows", "differ", "size", "MAPIE's size"]
        ],
        "conformal_times": [["data", "rows", *SCORES]],
    }
    for name in args.sets:
        with threadpool_limits(1), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            if args.times:
                records, compared = {}, []
                times = measure_times(name, args.splits)
            else:
                records, compared, times = measure(name, args.splits)
        for (level, by, score), record in records.items():
            row = [name, level, by or "all", score, *record.row()]
            tables["conformal_sets"].append(row)
            print(*row, sep=", ", flush=True)
        for score in sorted({row[0] for row in compared}):
            rows = np.array([row[1:] for row in compared if row[0] == score])
            total, means = rows[:, :2].sum(axis=0), rows[:, 2:].mean(axis=0)
            tables["conformal_mapie"].append(
                [name, score, *total.astype(int), *(f"{size:.3f}" for size in means)]
            )
            print(*tables["conformal_mapie"][-1], sep=", ", flush=True)
        medians = [np.median(pairs, axis=0) for pairs in times.values()]
        ratios = [f"{of_sets / of_model:.2f}" for of_model, of_sets in medians]
        n_rows = len(split(*DATA[name](), 0)[2][1])
        tables["conformal_times"].append([name, n_rows, *ratios])
        print(*tables["conformal_times"][-1], sep=", ", flush=True)
        if args.save:
            if args.times:
                written = {"conformal_times": tables["conformal_times"]}
            else:
                written = tables | summaries(tables["conformal_sets"])
            for file, rows in written.items():
                with (FOLDER / f"{file}.csv").open("w", newline="") as stream:
                    csv.writer(stream, lineterminator="\n").writerows(rows)


def summaries(rows):
    """The tables of the page, from the rows of the large one."""
    cells = {}
    for data, level, by, score, *figures in rows[1:]:
        cells[data, str(level), by, score] = figures
    levels, data_sets = list(map(str, LEVELS)), dict.fromkeys(key[0] for key in cells)
    coverage = [["data", "level", *SCORES]]
    sizes = [["data", "level", *SCORES]]
    of_class = [CLASS_HEADS]
    below = [["splits below the 1 % bound", *SCORES]]
    for data in data_sets:
        for level in levels:
            of_scores = [cells[data, level, "all", score] for score in SCORES]
            coverage.append([data, level, *(figures[0] for figures in of_scores)])
            sizes.append([data, level, *(figures[3] for figures in of_scores)])
            of_all, by_class = (cells[data, level, by, "entmax"] for by in BY)
            worst, size = of_all[1], of_all[3]
            of_class.append([data, level, worst, by_class[1], size, by_class[3]])
    for by in BY:
        for level in levels:
            shares = [
                np.mean([float(cells[d, level, by, s][2][:-2]) for d in data_sets])
                for s in SCORES
            ]
            name = f"{level}, {'all rows' if by == 'all' else 'by class'}"
            below.append([name, *(f"{share:.1f} %" for share in shares)])
    return {
        "conformal_coverage": coverage,
        "conformal_sizes": sizes,
        "conformal_by_class": of_class,
        "conformal_below": below,
    }


if __name__ == "__main__":
    main()
