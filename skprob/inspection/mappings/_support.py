"""Regions of the scores of three classes by the classes with positive probability."""

from __future__ import annotations

from itertools import combinations
from typing import Self

import numpy as np
from scipy.ndimage import distance_transform_edt

from ..._utils.typing import Array, Axes
from ...mappings import MappingLike, get_mapping
from .._input import check_count
from .._matplotlib import axes_for
from ._input import check_row

# An orthonormal basis of the plane of scores that sum to zero; class 3 points up.
_PLANE = np.array([[-1, 1, 0], [-1, -1, 2]]) / np.sqrt([[2], [6]])
_COLOURS = np.array([[0.27, 0.45, 0.77], [0.95, 0.76, 0.30], [0.76, 0.29, 0.36]])


class SupportDisplay:
    """Regions of the scores of three classes, by the classes with positive probability.

    Rows of scores that differ by a constant are the same point of a plane. The triangle
    that is drawn on it has the vertices of the probability simplex as corners. Each
    region in which the same classes have positive probability has the mixed colour of
    these classes, and shows their numbers. For a mapping that is not shift invariant,
    the plane has the scores with a given mean.

    Use :meth:`from_mapping` to make one.

    Parameters
    ----------
    x, y : ndarray of shape (n_points,)
        Coordinates of the grid on the plane.
    probabilities : ndarray of shape (n_points, n_points, 3)
        ``probabilities[i, j]`` belongs to ``x[j], y[i]``.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes with the regions. This attribute and the next two are set by
        :meth:`plot`.
    figure_ : matplotlib Figure
        The figure of the axes.
    image_ : matplotlib AxesImage
        The regions.

    See Also
    --------
    ProfileDisplay : The probabilities themselves, along one score.

    Examples
    --------
    >>> from skprob.inspection import SupportDisplay
    >>> display = SupportDisplay.from_mapping("sparsemax")
    >>> bool((display.probabilities == 0).any())
    True
    """

    def __init__(self, *, x: Array, y: Array, probabilities: Array) -> None:
        self.x = x
        self.y = y
        self.probabilities = probabilities

    @classmethod
    def from_mapping(
        cls,
        mapping: MappingLike,
        *,
        reach: float = 3.0,
        mean_score: float = 0.0,
        n_points: int = 301,
        ax: Axes | None = None,
    ) -> Self:
        """Compute and plot the regions of a mapping.

        Parameters
        ----------
        mapping : str, Mapping or callable
            A registered name, a mapping, or a function from scores to probabilities.
        reach : float, default=3.0
            The distance from equal scores up to which the plane is shown, in units of
            the scores.
        mean_score : float, default=0.0
            The mean of the three scores; it has an effect only for mappings that are
            not shift invariant.
        n_points : int, default=301
            Number of points of the grid in each direction.
        ax : matplotlib Axes, default=None
            The axes to draw on; None makes a new figure.

        Returns
        -------
        display : SupportDisplay

        Raises
        ------
        ValueError
            If an argument is none of the above.
        """
        mapping = get_mapping(mapping)
        (reach,) = check_row("reach", [reach])
        (mean,) = check_row("mean_score", [mean_score])
        if reach <= 0:
            raise ValueError(f"reach must be positive, got {reach:g}.")
        x = np.linspace(-reach, reach, check_count("n_points", n_points, 2))
        points = np.stack(np.meshgrid(x, x), axis=-1).reshape(-1, 2)
        p = mapping(points @ _PLANE + mean).reshape(n_points, n_points, 3)
        return cls(x=x, y=x, probabilities=p).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Plot the regions.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            The axes to draw on; None makes a new figure.

        Returns
        -------
        self : object
        """
        self.ax_ = axes_for(type(self).__name__, ax)
        self.figure_ = self.ax_.figure
        positive = self.probabilities > 0
        share = positive / positive.sum(axis=2, keepdims=True)
        extent = (self.x[0], self.x[-1], self.y[0], self.y[-1])
        self.image_ = self.ax_.imshow(share @ _COLOURS, origin="lower", extent=extent)
        for k in range(3):
            if positive[..., k].min() < positive[..., k].max():
                self.ax_.contour(
                    self.x, self.y, positive[..., k], [0.5], colors="w", linewidths=1
                )
        vertices = _PLANE[:, [0, 1, 2, 0]]
        self.ax_.plot(*vertices, color="black", linewidth=0.8, linestyle="--")
        self._number(positive)
        self.ax_.set(xticks=[], yticks=[], xlim=extent[:2], ylim=extent[2:])
        return self

    def _number(self, positive):
        """Write the classes of each region in its middle, far from any border."""
        for size in (1, 2, 3):
            for classes in combinations(range(3), size):
                region = (positive == np.isin(range(3), classes)).all(axis=2)
                depth = distance_transform_edt(np.pad(region, 1))[1:-1, 1:-1]
                # In a narrow region the text would overlap other regions.
                if depth.max() < 0.02 * len(self.x):
                    continue
                deep = np.argwhere(depth > 0.9 * depth.max())
                off = np.abs(deep - np.argwhere(region).mean(axis=0)).sum(axis=1)
                i, j = deep[off.argmin()]
                text = "".join(str(k + 1) for k in classes)
                self.ax_.text(self.x[j], self.y[i], text, ha="center", va="center")
