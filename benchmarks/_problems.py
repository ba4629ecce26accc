"""The classification problems that fits are timed on."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_classification,
)
from sklearn.preprocessing import scale


class Problem(NamedTuple):
    """Data to fit: X is C-ordered or CSR, in float64; y counts classes from zero."""

    X: np.ndarray | sparse.csr_array
    y: np.ndarray
    fit_intercept: bool = True


def problems() -> dict[str, Callable[[], Problem]]:
    """Functions that load a problem, by name: those whose data are at hand."""
    at_hand = os.environ.get("SKPROB_DATA")
    return BUNDLED | FROM_FOLDER if at_hand else BUNDLED


def iris_raw():
    return Problem(*load_iris(return_X_y=True))


def iris_scaled():
    return scaled(iris_raw())


def wine_raw():
    return Problem(*load_wine(return_X_y=True))


def wine_scaled():
    return scaled(wine_raw())


def few_rows(n_rows=200, n_features=5):
    X, y = make_classification(
        n_rows, n_features=n_features, n_informative=3, n_classes=3, random_state=0
    )
    return Problem(X, y)


def digits_raw():
    return Problem(*load_digits(return_X_y=True))


def digits_scaled():
    return scaled(digits_raw())


def breast_cancer_raw():
    return Problem(*load_breast_cancer(return_X_y=True))


def breast_cancer_scaled():
    return scaled(breast_cancer_raw())


def breast_cancer_no_intercept():
    # liblinear penalises the intercept: its objective is the others' only without.
    return breast_cancer_scaled()._replace(fit_intercept=False)


def badly_scaled():
    X, y = make_classification(
        5000,
        n_features=50,
        n_informative=20,
        n_classes=5,
        random_state=0,
    )
    return Problem(X * np.logspace(-3, 3, X.shape[1]), y)


def many_classes():
    rng = np.random.default_rng(0)
    y = np.arange(10_000) % 500
    centres = rng.standard_normal((500, 50))
    return Problem(centres[y] + rng.standard_normal((len(y), 50)), y)


def many_rows(n_rows=400_000, n_features=50, n_classes=20):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_features))
    scores = X @ rng.standard_normal((n_features, n_classes))
    return Problem(X, np.argmax(scores + rng.gumbel(size=scores.shape), axis=1))


def wide(n_rows=100, n_features=5000, n_classes=4):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_features))
    scores = X @ rng.standard_normal((n_features, n_classes)) / np.sqrt(n_features)
    return Problem(X, np.argmax(scores + rng.gumbel(size=scores.shape), axis=1))


def mnist():
    X, y = from_folder("mnist")
    return Problem(X / 255, y)


def letter():
    return Problem(*from_folder("letter"))


def pendigits():
    return Problem(*from_folder("pendigits"))


def news20():
    return Problem(*from_folder("news20_bydate"))


def scaled(problem):
    return problem._replace(X=scale(problem.X))


def from_folder(name):
    """Training rows of a file in the folder that SKPROB_DATA names."""
    with np.load(Path(os.environ["SKPROB_DATA"]) / f"{name}.npz") as file:
        _, y = np.unique(file["y_train"], return_inverse=True)
        if "X_train" in file:
            return np.ascontiguousarray(file["X_train"], dtype=np.float64), y
        values, indices, indptr, shape = (
            file[f"X_train_{piece}"] for piece in ("data", "indices", "indptr", "shape")
        )
        pieces = values.astype(np.float64), indices, indptr
        return sparse.csr_array(pieces, shape=tuple(shape)), y


#: Problems of data that scikit-learn has or makes.
BUNDLED = {
    "digits, raw": digits_raw,
    "digits, scaled": digits_scaled,
    "breast cancer, raw": breast_cancer_raw,
    "breast cancer, scaled, no intercept": breast_cancer_no_intercept,
    "badly scaled columns": badly_scaled,
    "500 classes": many_classes,
    "400,000 rows": many_rows,
    "wide": wide,
}
#: Problems whose fits take a millisecond or two.
LITTLE = {
    "iris, raw": iris_raw,
    "iris, scaled": iris_scaled,
    "wine, raw": wine_raw,
    "wine, scaled": wine_scaled,
    "breast cancer, raw": breast_cancer_raw,
    "breast cancer, scaled": breast_cancer_scaled,
    "200 x 5": few_rows,
}
#: Problems of data in the folder SKPROB_DATA.
FROM_FOLDER = {
    "letter": letter,
    "pendigits": pendigits,
    "news20": news20,
    "mnist": mnist,
}
