"""Checked data, with their encoded target."""

from typing import NamedTuple

import numpy as np

from ..targets import EncodedTarget
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
    encoded : EncodedTarget
        The target that `y` stands for, and the classes.
    known : ndarray of bool of shape (n_samples, n_classes) or None
        Which entries of `y` are known; None if all are.
    """

    X: object
    y: object
    sample_weight: np.ndarray
    given: Given
    encoded: EncodedTarget
    known: np.ndarray | None = None

    def take(self, rows):
        """Some of the rows."""
        return TrainingData(
            self.X[rows],
            self.y[rows],
            self.sample_weight[rows],
            given=self.given.of(rows),
            encoded=self.encoded.take(rows),
            known=None if self.known is None else self.known[rows],
        )
