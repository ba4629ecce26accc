"""AM-softmax on tables, by the preparation of X: ``python cosine_defaults.py``.

Mean accuracy over five folds of the data sets that come with scikit-learn, raw and
standardised, with a constant feature of several lengths and without. The last column is
logistic regression. ``--save`` names a file for the table. It takes two minutes.
"""

import argparse
import warnings
from pathlib import Path

from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from skprob import AMSoftmaxClassifier

SETS = {
    "iris": load_iris,
    "wine": load_wine,
    "digits": load_digits,
    "breast cancer": load_breast_cancer,
}
CONSTANTS = [0, 0.25, 0.5, 1]
MARGINS = [0.35, 0.2, 0]


def models():
    """Pairs of a title and a model."""
    yield "logistic regression", make_pipeline(StandardScaler(), LogisticRegression())
    yield "AM-softmax, defaults", AMSoftmaxClassifier()
    for margin in MARGINS:
        yield (
            f"margin {margin}, raw",
            AMSoftmaxClassifier(margin, standardize=False, constant=0),
        )
        for constant in CONSTANTS:
            yield (
                f"margin {margin}, standardised, constant {constant}",
                AMSoftmaxClassifier(margin, constant=constant),
            )


def main():
    """Measure, print and perhaps save."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", type=Path)
    args = parser.parse_args()
    lines = [f"{'accuracy':42}" + "".join(f"{name:>15}" for name in SETS)]
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    data = [load(return_X_y=True) for load in SETS.values()]
    with threadpool_limits(1), warnings.catch_warnings(action="ignore"):
        for title, model in models():
            scores = [cross_val_score(model, X, y, cv=folds).mean() for X, y in data]
            lines.append(f"{title:42}" + "".join(f"{score:15.3f}" for score in scores))
            print(lines[-1], flush=True)
    if args.save:
        args.save.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
