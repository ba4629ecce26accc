"""The log loss with a lasso penalty in plain NumPy, the same for all contenders.

With n rows, raw predictions z = W x + b and ρ the l1_ratio the objective is

    mean_i [log Σ_k exp(z_ik) - z_i[y_i]] + [(1 - ρ) / 2 ‖W‖² + ρ r(W)] / (C n),

where r is the sum of the absolute values, or of the Euclidean norms of the columns. Two
classes have one row of coefficients: z = (0, w x + b). This module does not use skprob.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit, logsumexp, softmax


class Penalised(NamedTuple):
    """A problem: X (n, d) is C-ordered or CSR, in float64; y counts classes from 0."""

    X: np.ndarray | sparse.csr_array
    y: np.ndarray
    C: float
    l1_ratio: float
    by_feature: bool = False
    fit_intercept: bool = True

    @property
    def strength(self):
        """Factor of the penalty, which is added to the mean loss."""
        return 1 / (self.C * len(self.y))

    @property
    def n_outputs(self):
        n_classes = int(self.y.max()) + 1
        return 1 if n_classes == 2 else n_classes

    def value(self, coef, intercept):
        """The objective at coefficients (M, d) and intercepts (M,)."""
        loss, _ = self._loss(coef, intercept)
        sizes = np.linalg.norm(coef, axis=0) if self.by_feature else np.abs(coef)
        ridge = (1 - self.l1_ratio) / 2 * np.sum(coef**2)
        return float(loss + self.strength * (ridge + self.l1_ratio * np.sum(sizes)))

    def smallest_subgradient(self, coef, intercept):
        """Largest entry of the smallest subgradient: zero at the minimum."""
        _, residual = self._loss(coef, intercept)
        gradient = np.asarray(self.X.T @ residual).T
        gradient += (1 - self.l1_ratio) * self.strength * coef
        threshold = self.l1_ratio * self.strength
        if self.by_feature:
            norms, sizes = (
                np.linalg.norm(coef, axis=0),
                np.linalg.norm(gradient, axis=0),
            )
            inner = coef / np.where(norms > 0, norms, 1)
            at_zero = np.maximum(sizes - threshold, 0)
            outer = np.abs(gradient + threshold * inner).max(axis=0)
            entries = np.where(norms > 0, outer, at_zero)
        else:
            at_zero = np.maximum(np.abs(gradient) - threshold, 0)
            outer = np.abs(gradient + threshold * np.sign(coef))
            entries = np.where(coef != 0, outer, at_zero)
        largest = float(entries.max())
        if self.fit_intercept:
            largest = max(largest, float(np.abs(residual.sum(axis=0)).max()))
        return largest

    def smallest_C(self):
        """The largest C at which all coefficients are zero."""
        shares = np.bincount(self.y) / len(self.y)
        if self.n_outputs == 1:
            start = [np.log(shares[1] / shares[0])] if self.fit_intercept else [0.0]
        else:
            start = np.log(shares) if self.fit_intercept else np.zeros(len(shares))
        zero = np.zeros((self.n_outputs, self.X.shape[1]))
        _, residual = self._loss(zero, np.array(start))
        gradient = np.asarray(self.X.T @ residual).T
        sizes = np.linalg.norm(gradient, axis=0) if self.by_feature else abs(gradient)
        return self.l1_ratio / (len(self.y) * float(np.max(sizes)))

    def _loss(self, coef, intercept):
        """Mean loss, and its derivatives (n, M) in the raw predictions."""
        z, rows = np.asarray(self.X @ coef.T) + intercept, np.arange(len(self.y))
        if self.n_outputs == 1:
            margin = np.where(self.y == 1, z[:, 0], -z[:, 0])
            residual = np.where(self.y == 1, -1, 1) * expit(-margin)
            return np.mean(np.logaddexp(0, -margin)), residual[:, None] / len(rows)
        loss = np.mean(logsumexp(z, axis=1) - z[rows, self.y])
        residual = softmax(z, axis=1)
        residual[rows, self.y] -= 1
        return loss, residual / len(rows)


def save(path, problem):
    """Write a problem to a .npz file."""
    arrays = problem._asdict()
    X = arrays.pop("X")
    if sparse.issparse(X):
        parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr}
        np.savez(path, shape=X.shape, **parts, **arrays)
    else:
        np.savez(path, X=X, **arrays)


def load(path):
    """Read a problem that :func:`save` wrote."""
    with np.load(path) as file:
        arrays = dict(file)
    if "X" not in arrays:
        parts = [arrays.pop(name) for name in ("data", "indices", "indptr")]
        arrays["X"] = sparse.csr_array(tuple(parts), shape=tuple(arrays.pop("shape")))
    names = "C", "l1_ratio", "by_feature", "fit_intercept"
    return Penalised(**arrays | {name: arrays[name].item() for name in names})
