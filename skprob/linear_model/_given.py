"""The available classes and offsets of rows."""

from typing import NamedTuple

import numpy as np

from .._utils.arrays import asarray_like, fill, to_numpy
from .._utils.checks import in_order
from ..targets import check_available, check_offset, check_target_available


class Given(NamedTuple):
    """The available classes and the offsets of some rows; None where not given.

    Attributes
    ----------
    available : ndarray of bool of shape (n_samples, n_classes) or None
        The classes that the row may choose from.
    offset : ndarray of shape (n_samples, n_classes) or None
        Numbers that are added to the scores.
    """

    available: np.ndarray | None = None
    offset: np.ndarray | None = None

    @classmethod
    def checked(
        cls, available, offset, n_rows, classes, *, target_type, is_pair, dtype
    ):
        """Check a user's arguments, for `n_rows` rows and these classes.

        The columns of a DataFrame are put in the order of the classes. `target_type`
        is that of `y`.
        """
        shape, are_labels = (n_rows, classes.shape[0]), target_type == "class"
        if available is not None:
            available = in_order("available", available, classes, are_labels=are_labels)
            available = check_available(available, shape)
        if offset is not None:
            offset = in_order("offset", offset, classes, are_labels=are_labels)
            offset = check_offset(offset, *shape, is_pair, dtype)
        return cls(available, offset)

    def with_known(self, known):
        """The same with targets of which some entries are not known.

        An entry that is not available has no influence on the loss of a row. `known` is
        an array of booleans.
        """
        available = known if self.available is None else known & self.available
        return self._replace(available=available)

    @property
    def is_nothing(self):
        """Whether neither available classes nor offsets are given."""
        return not self.arguments

    @property
    def arguments(self):
        """The arguments that are given, by name."""
        return {key: a for key, a in self._asdict().items() if a is not None}

    def of(self, rows):
        """The offsets and available classes of some of the rows."""
        return Given(**{key: a[rows] for key, a in self.arguments.items()})

    def with_none_class(self):
        """The same with a last column, for the class of rows without a label."""
        last = {"available": True, "offset": 0}
        return Given(
            **{
                key: np.pad(a, [(0, 0), (0, 1)], constant_values=last[key])
                for key, a in self.arguments.items()
            }
        )

    def of_target(self, encoded):
        """The same for the rows and classes of an :class:`EncodedTarget`, checked."""
        given, rows = self, np.arange(encoded.target.shape[0])
        if encoded.labelled is not None:
            given, rows = self.of(encoded.labelled), np.flatnonzero(encoded.labelled)
        if encoded.has_none:
            # The class for rows without a label is available.
            given = given.with_none_class()
        if given.available is not None:
            classes = to_numpy(encoded.classes).tolist()
            check_target_available(encoded.target, given.available, rows, classes)
        return given

    def put_into(self, scores, rows):
        """Apply both to the scores of some rows, in place."""
        if self.offset is not None:
            part = scores[:, : self.offset.shape[1]]
            part += asarray_like(self.offset[rows], part)
        if self.available is not None:
            part = scores[:, : self.available.shape[1]]
            fill(part, asarray_like(~self.available[rows], part), -np.inf)


NOTHING = Given()
