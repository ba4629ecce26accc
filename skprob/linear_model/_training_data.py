"""Checked data, before their target is encoded."""

from typing import NamedTuple

import numpy as np

from ._given import Given


class TrainingData(NamedTuple):
    """Checked data of a fit, or of some of its rows.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
    y : ndarray or CSR array
        Labels, label sets, distributions or candidates, as ``target_type`` says.
    sample_weight : ndarray of shape (n_samples,)
    given : Given
        Available classes and offsets of the rows.
    classes : ndarray of shape (n_classes,) or None
        None takes them from y.
    has_none : bool or "auto"
        Whether there is one more class, the last, for rows without a label; "auto" is
        True if there are such rows.
    known : ndarray of bool of shape (n_samples, n_classes) or None
        Which entries of `y` are known; None if all are.
    """

    X: object
    y: object
    sample_weight: np.ndarray
    given: Given
    classes: np.ndarray | None = None
    has_none: bool | str = "auto"
    known: np.ndarray | None = None

    def take(self, rows):
        """Some of the rows."""
        return self._replace(
            X=self.X[rows],
            y=self.y[rows],
            sample_weight=self.sample_weight[rows],
            given=self.given.of(rows),
            known=None if self.known is None else self.known[rows],
        )
