"""What is learnt from a `y`: the target, and the classes."""

from typing import NamedTuple

import numpy as np

from ._dense import DenseTarget
from ._labels import LabelTarget
from ._sparse import SparseTarget


class EncodedTarget(NamedTuple):
    """The target that is learnt from `y`, and its classes.

    Attributes
    ----------
    target_type : {"class", "label_set", "distribution", "candidates"}
    classes : ndarray of shape (n_classes,)
        The sorted labels; if `y` is a matrix, the names of its columns or, without
        names, their numbers.
    target : LabelTarget, SparseTarget or DenseTarget
        Of shape (n_labelled, n_classes).
        If there is a class for rows without a label, it has one more column, the last.
    labelled : ndarray of shape (n_samples,) or None
        Whether each row has a target; None if all have.
    has_none : bool
        Whether there is a class for rows without a label, which is not in `classes`.

    Examples
    --------
    >>> from skprob.targets import encode_target
    >>> encoded = encode_target([[1, 1, 0], [0, 0, 0]])
    >>> encoded.target_type, encoded.classes, encoded.target.shape, encoded.labelled
    ('label_set', array([0, 1, 2]), (1, 3), array([ True, False]))
    """

    target_type: str
    classes: np.ndarray
    target: LabelTarget | SparseTarget | DenseTarget
    labelled: np.ndarray | None = None
    has_none: bool = False

    @property
    def n_scores(self):
        """Number of classes, including the class for rows without a label."""
        return len(self.classes) + self.has_none

    def take(self, rows):
        """The encoded target of some of the rows of `y`."""
        if self.labelled is None:
            numbers = np.arange(self.target.shape[0])[rows]
            return self._replace(target=self.target.take(numbers))
        # Numbers of the rows among those with a target.
        numbers, labelled = np.cumsum(self.labelled)[rows] - 1, self.labelled[rows]
        target = self.target.take(numbers[labelled])
        labelled = None if labelled.all() else labelled
        return self._replace(target=target, labelled=labelled)

    def check_has_label(self):
        """Raise where label sets have no label at all."""
        # The class of rows without a label is the last column of the target.
        if not (self.target.columns < len(self.classes)).any():
            all_labelled = self.labelled is None
            n_rows = self.target.shape[0] if all_labelled else len(self.labelled)
            raise ValueError(
                f"y must have a label in at least one row; got {n_rows} without any."
            )
