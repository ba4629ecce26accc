"""Handwritten digits: probabilities that can be zero, beside logistic regression's.

Run it with ``make demo``. It takes less than a minute and saves ``demo.png``.

1. Digits: a grid search over entmax's alpha and C, with a progress bar, and the same
   over C for ``LogisticRegression``. Of all models whose Brier score is within one
   standard error of the best, the one with the smallest support is chosen: the support
   of a row is the set of digits that have positive probability.
2. Label sets: one or two digits seen through each other. Which ones?
3. The picture of both.
"""

from time import perf_counter

import numpy as np
from demo_picture import draw
from sklearn.callback import ProgressBar
from sklearn.datasets import load_digits
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, f1_score
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from skprob import EntmaxClassifier, SoftmaxClassifier, SparsemaxClassifier
from skprob.metrics import (
    BrierScorer,
    SupportSizeScorer,
    brier_loss,
    mean_support_size,
)

ALPHAS = [1, 1.25, 1.5, 1.75, 2]
STRENGTHS = [0.1, 0.3, 1, 3]
N_FOLDS = 5


def main():
    start = perf_counter()
    X, y = load_digits(return_X_y=True)
    split = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    digits = classify_digits(*split)
    overlays = see_through_overlays(*split)
    draw(digits, overlays, "demo.png")
    print(f"\nSaved demo.png. All of this took {perf_counter() - start:.0f} seconds.")


def classify_digits(X_train, X_test, y_train, y_test):
    """Choose, fit and test both classifiers; return what the picture shows."""
    print(f"Digits: {len(y_train)} images to learn from, {len(y_test)} to test on.\n")
    options = {
        "scoring": {
            "accuracy": "accuracy",
            "brier": BrierScorer(),
            "support": SupportSizeScorer(),
        },
        "refit": smallest_support_within_one_error,
        "cv": N_FOLDS,
        "n_jobs": 2,
    }
    entmax = GridSearchCV(
        make_pipeline(StandardScaler(), EntmaxClassifier()),
        {"entmaxclassifier__alpha": ALPHAS, "entmaxclassifier__C": STRENGTHS},
        **options,
    )
    logistic = GridSearchCV(
        make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        {"logisticregression__C": STRENGTHS},
        **(options | {"refit": "brier"}),
    )
    for search in (entmax, logistic):
        search.set_callbacks(ProgressBar(max_propagation_depth=0))
        search.fit(X_train, y_train)

    alpha = entmax.best_estimator_[-1].alpha
    by_alpha = best_by_alpha(entmax.cv_results_)
    print_table(
        ["cross-validation, each alpha's best", "C", "accuracy", "Brier", "support"],
        [(f"alpha = {a:g}", *scores.values()) for a, scores in by_alpha.items()],
    )
    probabilities, rows = {}, []
    for name, search in {
        "LogisticRegression": logistic,
        f"entmax, alpha = {alpha:g}": entmax,
    }.items():
        p = probabilities[name] = search.predict_proba(X_test)
        rows.append(
            (
                name,
                f"{search.best_estimator_[-1].C:g}",
                accuracy_score(y_test, search.predict(X_test)),
                brier_loss(y_test, p),
                mean_support_size(p),
                np.mean(p[np.arange(len(p)), y_test] > 0),
            )
        )
    print_table(
        ["test images", "C", "accuracy", "Brier", "support", "truth in support"], rows
    )
    return {
        "images": X_test,
        "labels": y_test,
        "probabilities": probabilities,
        "by_alpha": by_alpha,
    }


def smallest_support_within_one_error(results):
    """Index of the sparsest of the candidates as good as the best, for ``refit=``."""
    brier = results["mean_test_brier"]
    best = np.argmax(brier)
    error = results["std_test_brier"][best] / np.sqrt(N_FOLDS)
    good = brier >= brier[best] - error
    return int(np.argmin(np.where(good, results["mean_test_support"], np.inf)))


def best_by_alpha(results):
    """C, accuracy, Brier score and support size of each alpha's best candidate."""
    best = {}
    for alpha in ALPHAS:
        candidates = np.flatnonzero(results["param_entmaxclassifier__alpha"] == alpha)
        i = candidates[np.argmax(results["mean_test_brier"][candidates])]
        best[alpha] = {
            "C": f"{results['param_entmaxclassifier__C'][i]:g}",
            "accuracy": results["mean_test_accuracy"][i],
            "Brier": -results["mean_test_brier"][i],
            "support": results["mean_test_support"][i],
        }
    return best


def see_through_overlays(X_train, X_test, y_train, y_test):
    """Name the one or two digits of an image; return what the picture shows."""
    print("\nLabel sets: one or two digits seen through each other.")
    rng = np.random.default_rng(0)
    X_cut, Y_cut = overlay(X_train, y_train, 1000, rng)
    X_train, Y_train = overlay(X_train, y_train, 2000, rng)
    X_test, Y_test = overlay(X_test, y_test, 2000, rng)
    features = [MinMaxScaler(), Nystroem(gamma=0.1, n_components=300, random_state=0)]
    one_per_digit = OneVsRestClassifier(
        LogisticRegression(C=30, max_iter=1000), n_jobs=2
    )
    cuts, rows = np.linspace(0, 0.6, 61), []
    for name, classifier in {
        "LogisticRegression for each digit": one_per_digit,
        "SoftmaxClassifier": SoftmaxClassifier(C=30),
        "SparsemaxClassifier": SparsemaxClassifier(C=30),
    }.items():
        model = make_pipeline(*features, classifier).fit(X_train, Y_train)
        p = model.predict_proba(X_cut)
        cut = max(cuts, key=lambda cut: accuracy_score(Y_cut, p > cut))
        p = model.predict_proba(X_test)
        accuracy = accuracy_score(Y_test, p > cut)
        f1 = f1_score(Y_test, p > cut, average="micro")
        rows.append((name, cut, accuracy, f1, np.count_nonzero(p, axis=1).mean()))
    print_table(["test images", "cut", "whole set right", "F1", "support"], rows)
    return {"images": X_test, "sets": Y_test, "probabilities": p, "cut": cut}


def overlay(X, y, n_images, rng):
    """Draw images of one or two digits, with an indicator of their labels."""
    first, second = rng.integers(len(X), size=(2, n_images))
    second = np.where(rng.random(n_images) < 0.5, first, second)
    sets = np.zeros((n_images, 10), dtype=int)
    rows = np.arange(n_images)
    sets[rows, y[first]] = sets[rows, y[second]] = 1
    return (X[first] + X[second]) / 2, sets


def print_table(header, rows):
    """Print rows of a name and figures below a header, in aligned columns."""
    cells = [header]
    for row in rows:
        cells.append([cell if isinstance(cell, str) else f"{cell:.3f}" for cell in row])
    name_width, *widths = (max(map(len, column)) for column in zip(*cells, strict=True))
    lines = [
        f"  {name:<{name_width}}"
        + "".join(f"  {f:>{width}}" for f, width in zip(figures, widths, strict=True))
        for name, *figures in cells
    ]
    rule = "  " + "-" * (len(lines[0]) - 2)
    print("", lines[0], rule, *lines[1:], sep="\n")


if __name__ == "__main__":
    main()
