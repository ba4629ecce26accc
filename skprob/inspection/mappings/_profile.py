"""The probability of a class against its score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ..._utils.typing import Array, ArrayLike, Axes
from ...mappings import MappingLike
from .._input import check_count
from ._curves import CurvesDisplay
from ._input import check_row, labelled


class ProfileDisplay(CurvesDisplay):
    """Probability of a class against its score, with the other scores fixed.

    Use :meth:`from_mapping` or :meth:`from_mappings` to make one.

    Parameters
    ----------
    scores : ndarray of shape (n_points,)
        The score that varies.
    probabilities : dict of str to ndarray of shape (n_points,)
        The probability of the class with this score; the keys are the labels of the
        mappings.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes with the curves. This attribute and the next two are set by
        :meth:`plot`.
    figure_ : matplotlib Figure
        The figure of the axes.
    lines_ : list of matplotlib Line2D
        The curves.

    See Also
    --------
    SupportDisplay : Which classes have positive probability, for three classes.
    EntropyDisplay : Entropy of the probabilities against the temperature.

    Examples
    --------
    >>> from skprob.inspection import ProfileDisplay
    >>> display = ProfileDisplay.from_mappings(["softmax", "sparsemax"])
    >>> display.scores[[0, 250, 500]]
    array([-5.,  0.,  5.])
    >>> display.probabilities["sparsemax"][[0, 250, 500]]
    array([0. , 0.5, 1. ])
    """

    _x_label = "score of the class"
    _y_label = "probability of the class"

    def __init__(self, *, scores: Array, probabilities: dict[str, Array]) -> None:
        self.scores = scores
        self.probabilities = probabilities

    @classmethod
    def from_mappings(
        cls,
        mappings: Sequence[MappingLike] | dict[str, MappingLike],
        *,
        fixed_scores: ArrayLike = (0.0,),
        score_range: tuple[float, float] = (-5.0, 5.0),
        n_points: int = 501,
        ax: Axes | None = None,
        **line_kw: Any,
    ) -> Self:
        """Compute and plot the curves of several mappings.

        Parameters
        ----------
        mappings : sequence or dict of str to mapping
            Each is a registered name, a mapping, or a function from scores to
            probabilities. The keys of a dict are the labels in the legend.
        fixed_scores : array-like of shape (n_others,), default=(0.0,)
            The scores of the other classes.
        score_range : pair of floats, default=(-5.0, 5.0)
            The range of the varying score.
        n_points : int, default=501
            Number of points on each curve.
        ax : matplotlib Axes, default=None
            The axes to draw on; None makes a new figure.
        **line_kw : dict
            Options of every line, as for ``Axes.plot``.

        Returns
        -------
        display : ProfileDisplay

        Raises
        ------
        ValueError
            If an argument is none of the above.
        """
        mappings = labelled(mappings)
        others = check_row("fixed_scores", fixed_scores)
        ends = check_row("score_range", score_range)
        if len(ends) != 2 or ends[0] >= ends[1]:
            raise ValueError(
                "score_range must be two numbers in ascending order; got "
                f"{score_range!r}."
            )
        moving = np.linspace(*ends, check_count("n_points", n_points, 2))
        rows = np.column_stack([moving, np.tile(others, (n_points, 1))])
        probabilities = {
            label: mapping(rows)[:, 0] for label, mapping in mappings.items()
        }
        display = cls(scores=moving, probabilities=probabilities)
        return display.plot(ax, **line_kw)

    def _curves(self):
        return self.scores, self.probabilities
