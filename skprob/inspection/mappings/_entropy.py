"""The entropy of probabilities against the temperature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from scipy.special import entr

from ..._utils.typing import Array, ArrayLike, Axes
from ...mappings import MappingLike
from ._curves import CurvesDisplay
from ._input import check_row, labelled

# Softmax adds Gumbel noise, of this variance.
_SOFTMAX_VARIANCE = np.pi**2 / 6


class EntropyDisplay(CurvesDisplay):
    r"""Shannon entropy of the probabilities of one row against the temperature.

    At temperature :math:`\tau` the scores are divided by :math:`\tau`. A mapping that
    adds noise with a finite variance to the scores is compared with softmax at equal
    variance: its temperature is rescaled so that at 1 its noise has the variance
    :math:`\pi^2 / 6` of the Gumbel noise of softmax.

    Use :meth:`from_mapping` or :meth:`from_mappings` to make one.

    Parameters
    ----------
    temperatures : ndarray of shape (n_temperatures,)
        Positive.
    entropies : dict of str to ndarray of shape (n_temperatures,)
        The entropy in nats; the keys are the labels of the mappings.

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
    skprob.mappings.Temperature : A mapping at a temperature.

    Examples
    --------
    >>> from skprob.inspection import EntropyDisplay
    >>> display = EntropyDisplay.from_mappings(
    ...     ["softmax", "sparsemax"], scores=[1.0, 0.0], temperatures=[0.5, 1, 4]
    ... )
    >>> display.entropies["sparsemax"].round(3)
    array([0.   , 0.   , 0.662])
    """

    _x_label = "temperature"
    _y_label = "entropy (nats)"
    _x_scale = "log"

    def __init__(self, *, temperatures: Array, entropies: dict[str, Array]) -> None:
        self.temperatures = temperatures
        self.entropies = entropies

    @classmethod
    def from_mappings(
        cls,
        mappings: Sequence[MappingLike] | dict[str, MappingLike],
        *,
        scores: ArrayLike = (2.0, 1.0, 0.0, -1.0),
        temperatures: ArrayLike | None = None,
        ax: Axes | None = None,
        **line_kw: Any,
    ) -> Self:
        """Compute and plot the curves of several mappings.

        Parameters
        ----------
        mappings : sequence or dict of str to mapping
            Each is a registered name, a mapping, or a function from scores to
            probabilities. The keys of a dict are the labels in the legend.
        scores : array-like of shape (n_classes,), default=(2.0, 1.0, 0.0, -1.0)
            The scores of one row; finite.
        temperatures : array-like of shape (n_temperatures,), default=None
            Positive; None stands for 201 values from 0.05 to 50.
        ax : matplotlib Axes, default=None
            The axes to draw on; None makes a new figure.
        **line_kw : dict
            Options of every line, as for ``Axes.plot``.

        Returns
        -------
        display : EntropyDisplay

        Raises
        ------
        ValueError
            If an argument is none of the above.
        """
        mappings = labelled(mappings)
        scores = check_row("scores", scores)
        if temperatures is None:
            temperatures = np.geomspace(0.05, 50, 201)
        temperatures = check_row("temperatures", temperatures)
        if temperatures.min() <= 0:
            raise ValueError(
                f"temperatures must be positive; got {temperatures.min():g}."
            )
        entropies = {}
        for label, mapping in mappings.items():
            tau = temperatures * _softmax_temperature(mapping)
            entropies[label] = entr(mapping(scores / tau[:, None])).sum(axis=1)
        display = cls(temperatures=temperatures, entropies=entropies)
        return display.plot(ax, **line_kw)

    def _curves(self):
        return self.temperatures, self.entropies


def _softmax_temperature(mapping):
    """The temperature at which the mapping's noise, if any, varies like softmax's."""
    variance = getattr(mapping, "noise_variance", None)
    if variance is None or not np.isfinite(variance):
        return 1.0
    return np.sqrt(_SOFTMAX_VARIANCE / variance)
