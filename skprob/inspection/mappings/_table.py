"""A table of mappings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import entr

from ..._utils.typing import ArrayLike
from ...mappings import MAPPINGS, MappingLike
from ._input import check_row, labelled


class MappingSummary(NamedTuple):
    """Probabilities of a mapping for one row of scores, with support and entropy.

    Attributes
    ----------
    mapping : str
        The label of the mapping.
    probabilities : ndarray of shape (n_classes,)
        The probabilities of the classes.
    support : tuple of int
        Indices of the classes whose probability is positive.
    entropy : float
        Shannon entropy of the probabilities, in nats.
    jacobian_norm : float
        The largest singular value of the Jacobian: the largest change of the
        probabilities, in Euclidean norm, for a small change of the scores of norm one.
    """

    mapping: str
    probabilities: np.ndarray
    support: tuple
    entropy: float
    jacobian_norm: float


def mapping_table(
    scores: ArrayLike,
    mappings: Sequence[MappingLike] | dict[str, MappingLike] | None = None,
) -> list[MappingSummary]:
    """Compare mappings on one row of scores.

    Parameters
    ----------
    scores : array-like of shape (n_classes,)
        Finite scores.
    mappings : sequence or dict of str to mapping, default=None
        Each is a registered name, a mapping, or a function from scores to
        probabilities. The keys of a dict are the labels. None stands for all registered
        names.

    Returns
    -------
    rows : list of MappingSummary
        One for each mapping. ``pandas.DataFrame(rows)`` makes a table of it.

    Raises
    ------
    ValueError
        If the scores are not one row of finite numbers, or a mapping is none of the
        above.

    See Also
    --------
    MappingDisplay : Mappings side by side in a figure.

    Examples
    --------
    >>> from skprob.inspection import mapping_table
    >>> for row in mapping_table([1.0, 0.6, -1.0], ["softmax", "sparsemax"]):
    ...     print(f"{row.mapping:9}", row.probabilities.round(3), row.support)
    softmax   [0.554 0.371 0.075] (0, 1, 2)
    sparsemax [0.7 0.3 0. ] (0, 1)
    """
    scores = check_row("scores", scores)[None]
    mappings = labelled(list(MAPPINGS) if mappings is None else mappings)
    return [_summary(label, mapping, scores) for label, mapping in mappings.items()]


def _summary(label, mapping, scores):
    p = mapping(scores)[0]
    return MappingSummary(
        mapping=label,
        probabilities=p,
        support=tuple(np.flatnonzero(p).tolist()),
        entropy=float(entr(p).sum()),
        jacobian_norm=float(np.linalg.norm(mapping.jacobian(scores)[0], 2)),
    )
