"""Base class of the displays with one curve for each mapping."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

from ..._utils.typing import Axes
from ...mappings import MappingLike
from .._matplotlib import axes_for, import_pyplot

_STYLES = ["-", "--", ":", "-."]


class CurvesDisplay(ABC):
    """Curves of several mappings over one variable, with a legend.

    A subclass defines :meth:`from_mappings`, which computes the curves, and the texts
    at the axes.
    """

    _x_label = _y_label = ""
    _x_scale = "linear"

    @classmethod
    def from_mapping(cls, mapping: MappingLike, **options: Any) -> Self:
        """Compute and plot the curve of one mapping.

        Parameters
        ----------
        mapping : str, Mapping or callable
            A registered name, a mapping, or a function from scores to probabilities.
        **options : dict
            As for :meth:`from_mappings`.

        Returns
        -------
        display : object of the class
        """
        return cls.from_mappings([mapping], **options)

    def plot(self, ax: Axes | None = None, **line_kw: Any) -> Self:
        """Plot the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            The axes to draw on; None makes a new figure.
        **line_kw : dict
            Options of every line, as for ``Axes.plot``.

        Returns
        -------
        self : object
        """
        self.ax_ = axes_for(type(self).__name__, ax)
        self.figure_ = self.ax_.figure
        pyplot = import_pyplot(type(self).__name__)
        n_colours = len(pyplot.rcParams["axes.prop_cycle"])
        x, curves = self._curves()
        self.lines_ = []
        for i, (label, curve) in enumerate(curves.items()):
            # After the last colour the first one is used with another line style.
            style = _STYLES[i // n_colours % len(_STYLES)]
            options = {"label": label, "linestyle": style, **line_kw}
            self.lines_ += self.ax_.plot(x, curve, **options)
        self.ax_.set(xlabel=self._x_label, ylabel=self._y_label, xscale=self._x_scale)
        self.ax_.legend(fontsize="small")
        return self

    @abstractmethod
    def _curves(self):
        """The variable and, by label, the curves over it."""
