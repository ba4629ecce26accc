"""The data of ``multilabel_table.py``, split and prepared as in the sparsemax paper."""

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.datasets import fetch_openml
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

SETS = ["emotions", "scene", "birds", "yeast", "cal500", "bibtex"]
SETS += ["reuters21578_modapte90"]
#: A set for defaults only: fits without much penalty are slow on it.
DEFAULTS_ONLY = ["enron"]


class Data(NamedTuple):
    """A split of a set, prepared."""

    X_train: np.ndarray | sparse.csr_array
    X_test: np.ndarray | sparse.csr_array
    Y_train: np.ndarray
    Y_test: np.ndarray


def splits(name, prepare=None):
    """The official split of a set or, where it has none, five folds of it.

    ``prepare(X_train, X_test, Y_train, Y_test)`` makes `Data`; None is `prepared`.
    """
    prepare = prepare or prepared
    folder = os.environ.get("SKPROB_DATA")
    if not folder:
        X, Y = fetch_openml(name, version=4, return_X_y=True, as_frame=False)
        return folds(X, (Y == "TRUE").astype(int), prepare)
    with np.load(Path(folder) / f"{name}.npz") as file:
        arrays = dict(file)
    if "X" in arrays:
        return folds(arrays["X"].astype(float), arrays["Y"], prepare)
    X_train, X_test = (features(arrays, part) for part in ("train", "test"))
    Y_train, Y_test = arrays["Y_train"], arrays["Y_test"]
    if name == "scene":
        # Its training file is ordered by label.
        order = np.random.default_rng(0).permutation(len(Y_train))
        X_train, Y_train = X_train[order], Y_train[order]
    return [prepare(X_train, X_test, Y_train, Y_test)]


def folds(X, Y, prepare):
    rows = KFold(5, shuffle=True, random_state=0).split(X)
    return [prepare(X[train], X[test], Y[train], Y[test]) for train, test in rows]


def prepared(X_train, X_test, Y_train, Y_test):
    """A split without unlabelled rows, its features scaled by the training rows."""
    train, test = Y_train.any(axis=1), Y_test.any(axis=1)
    return scaled(X_train[train], X_test[test], Y_train[train], Y_test[test])


def scaled(X_train, X_test, Y_train, Y_test):
    """A split with its features scaled by the training rows."""
    # Text is not scaled: divided by deviations, rare words would weigh most.
    if not sparse.issparse(X_train):
        scaler = StandardScaler().fit(X_train)
        X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)
    return Data(X_train, X_test, Y_train, Y_test)


def features(arrays, part):
    """The features of the training or test rows, dense or as a CSR matrix."""
    if f"X_{part}" in arrays:
        return arrays[f"X_{part}"].astype(float)
    pieces = (arrays[f"X_{part}_{piece}"] for piece in ("data", "indices", "indptr"))
    return sparse.csr_array(tuple(pieces), arrays[f"X_{part}_shape"]).astype(float)
