"""Decision rules for label sets compared: ``python decision_rules.py``.

Models of several penalties are fitted once for each of three folds, and once to all
training rows. Every rule is fitted to the same out-of-fold probabilities (with more
than 5,000 rows to those of the training rows), and predicts the sets of the test rows.
``SKPROB_DATA`` names the folder with the data; ``--sets`` names some of them, and
``--save`` a file for the table. All of it takes ten minutes.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
from _multilabel_data import splits
from scipy import sparse
from sklearn.metrics import f1_score
from sklearn.model_selection import KFold
from threadpoolctl import threadpool_limits

from skprob import EntmaxClassifier
from skprob.decision import (
    CommonCut,
    ExampleF1,
    LabelCuts,
    MetaLabeler,
    StackedLabels,
    best_threshold,
)

SETS = [
    *("emotions", "scene", "birds", "yeast", "cal500"),
    *("reuters21578_modapte90", "bibtex"),
]
MODELS = {"softmax": 1, "entmax": 1.5, "sparsemax": 2}
PENALTIES = [1.0, 0.3, 0.1]
AVERAGES = ["micro", "macro", "samples"]
#: By their heading in the table.
RULES = {
    "common": CommonCut(),
    "common, m": CommonCut("marginal"),
    "macro": LabelCuts("macro", shrinkage=50),
    "micro": LabelCuts("micro"),
    "both": LabelCuts(),
    "both, m": LabelCuts(scale="marginal"),
    "example F1": ExampleF1(),
    "MetaLabeler": MetaLabeler(),
    "stacked": StackedLabels(),
    "stacked, micro": StackedLabels(LabelCuts("micro")),
}


def main():
    """Measure, print and perhaps save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS)
    parser.add_argument("--save", type=Path)
    args = parser.parse_args()
    results = {}
    with threadpool_limits(1), warnings.catch_warnings(action="ignore"):
        for name in args.sets:
            data = splits(name)
            for model, alpha in MODELS.items():
                # Its support is small only after many iterations there.
                if (name, model) == ("bibtex", "sparsemax"):
                    continue
                for C in PENALTIES:
                    scores = [measured(split, alpha, C) for split in data]
                    results[name, model, C] = {
                        rule: 100 * np.mean([score[rule] for score in scores], axis=0)
                        for rule in scores[0]
                    }
                    print(name, model, C, flush=True)
    text = "\n".join(table(results)) + "\n"
    print(text)
    if args.save:
        args.save.write_text(text)


def measured(split, alpha, C):
    """Three F1 scores and the share of empty sets, by rule."""

    def fitted(X, Y):
        return EntmaxClassifier(alpha=alpha, C=C, threshold=0).fit(X, Y)

    X, Y = split.X_train, split.Y_train
    model = fitted(X, Y)
    p, test = model.predict_proba(X), model.predict_proba(split.X_test)
    if len(Y) <= 5000:
        for train, remaining in KFold(3, shuffle=True, random_state=0).split(Y):
            p[remaining] = fitted(X[train], Y[train]).predict_proba(X[remaining])
    cut = best_threshold([p], sparse.csr_array(Y), np.ones(len(Y)))
    sets = {"one cut": test > cut}
    for name, rule in RULES.items():
        sets[name] = rule.fit(p, Y, X=X).predict(test, split.X_test)
    return {name: scores(split.Y_test, of_rule) for name, of_rule in sets.items()}


def scores(true, predicted):
    """Micro-F1, macro-F1, example-F1 and the share of empty sets."""
    f1 = [f1_score(true, predicted, average=a, zero_division=0) for a in AVERAGES]
    return [*f1, (~predicted.any(axis=1)).mean()]


def table(results):
    """Lines: each cell is micro-, macro- and example-F1."""
    names = list(next(iter(results.values())))
    yield "Micro-F1 / macro-F1 / example-F1 on the test rows, in per cent"
    yield ""
    yield f"{'':24}" + "".join(f"{name:>16}" for name in names)
    for (data, model, C), row in results.items():
        cells = ("/".join(f"{x:.1f}" for x in row[name][:3]) for name in names)
        yield f"{data[:8]:9}{model:10}{C:4} " + "".join(f"{c:>16}" for c in cells)
    yield ""
    yield "The difference to one cut: mean over these lines, and the worst of them"
    yield ""
    yield f"{'':24}" + "".join(f"{name:>16}" for name in names[1:])
    for heading, of_all in ("mean", np.mean), ("worst", np.min):
        cells = []
        for name in names[1:]:
            change = [row[name][:3] - row["one cut"][:3] for row in results.values()]
            cells.append("/".join(f"{x:+.1f}" for x in of_all(change, axis=0)))
        yield f"{heading:24}" + "".join(f"{cell:>16}" for cell in cells)
    empty = [row["one cut"][3] for row in results.values()]
    others = max(row[name][3] for row in results.values() for name in names[1:])
    yield ""
    yield (
        f"With one cut up to {max(empty):.1f} % of the rows are predicted empty, "
        f"{np.mean(empty):.1f} % in the mean; with the others at most {others:.1f} %."
    )


if __name__ == "__main__":
    main()
