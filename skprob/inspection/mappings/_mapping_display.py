"""Several plots of mappings in one figure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from ..._utils.fitted import last_step
from ..._utils.typing import Axes
from ...mappings import MappingLike
from .._matplotlib import grid_of_axes
from ._entropy import EntropyDisplay
from ._input import labelled
from ._profile import ProfileDisplay
from ._support import SupportDisplay

# Scores of the curves. All panels have three classes, so that mappings for a number of
# classes, such as nested softmax, can be drawn.
_FIXED_SCORES, _SCORES = (0.0, 0.0), (1.0, 0.0, -1.0)


class MappingDisplay:
    """Probabilities, entropy and zero regions of mappings of three classes.

    Use :meth:`from_mapping`, :meth:`from_mappings` or :meth:`from_estimator` to make
    one. Each panel is also a separate display, which has more options and can be drawn
    for other numbers of classes.

    Parameters
    ----------
    profile : ProfileDisplay
        Probability against score, for all mappings; the other two scores are zero.
    entropy : EntropyDisplay
        Entropy against temperature, for all mappings and the scores 1, 0, -1.
    supports : dict of str to SupportDisplay
        Regions of the scores of three classes, by the classes with positive
        probability; the keys are the labels of the mappings.

    Attributes
    ----------
    axes_ : list of matplotlib Axes
        The axes of the profile, the entropy and the supports. This attribute and the
        next are set by :meth:`plot`.
    figure_ : matplotlib Figure
        The figure of the axes.

    See Also
    --------
    ProfileDisplay, EntropyDisplay, SupportDisplay : The panels.
    mapping_table : Probabilities, support, entropy and slope as numbers.

    Examples
    --------
    >>> from skprob.inspection import MappingDisplay
    >>> display = MappingDisplay.from_mapping("sparsemax")
    >>> len(display.axes_)
    3
    """

    def __init__(
        self,
        *,
        profile: ProfileDisplay,
        entropy: EntropyDisplay,
        supports: dict[str, SupportDisplay],
    ) -> None:
        self.profile = profile
        self.entropy = entropy
        self.supports = supports

    @classmethod
    def from_mapping(cls, mapping: MappingLike, *, ax: Axes | None = None) -> Self:
        """Compute and plot the panels of one mapping.

        Parameters
        ----------
        mapping : str, Mapping or callable
            A registered name, a mapping, or a function from scores to probabilities.
        ax : sequence of 3 matplotlib Axes, default=None
            The axes to draw on; None makes a new figure.

        Returns
        -------
        display : MappingDisplay
        """
        return cls.from_mappings([mapping], ax=ax)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> Self:
        """Compute and plot the panels of the mapping of a fitted classifier.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier of skprob; also a pipeline or a search that ends with
            one. Its mapping is used with its temperature, and labelled with the name of
            the classifier.
        ax : sequence of 3 matplotlib Axes, default=None
            The axes to draw on; None makes a new figure.

        Returns
        -------
        display : MappingDisplay

        Raises
        ------
        ValueError
            If the estimator has no mapping.
        """
        model = last_step(estimator)
        check_is_fitted(model)
        if not hasattr(model, "mapping_"):
            raise ValueError(
                f"estimator must have a mapping; {type(model).__name__} has none."
            )
        return cls.from_mappings({type(model).__name__: model.mapping_}, ax=ax)

    @classmethod
    def from_mappings(
        cls,
        mappings: Sequence[MappingLike] | dict[str, MappingLike],
        *,
        ax: Axes | None = None,
    ) -> Self:
        """Compute and plot the panels of several mappings.

        Parameters
        ----------
        mappings : sequence or dict of str to mapping
            Each is a registered name, a mapping, or a function from scores to
            probabilities. The keys of a dict are the labels.
        ax : sequence of matplotlib Axes, default=None
            The axes to draw on: two, and one for each mapping. None makes a new figure.

        Returns
        -------
        display : MappingDisplay

        Raises
        ------
        ValueError
            If a mapping is none of the above, or the number of axes is wrong.
        """
        mappings = labelled(mappings)
        axes = _axes(ax, 2 + len(mappings))
        supports = zip(mappings.items(), axes[2:], strict=True)
        display = cls(
            profile=ProfileDisplay.from_mappings(
                mappings, fixed_scores=_FIXED_SCORES, ax=axes[0]
            ),
            entropy=EntropyDisplay.from_mappings(mappings, scores=_SCORES, ax=axes[1]),
            supports={
                label: SupportDisplay.from_mapping(mapping, ax=panel)
                for (label, mapping), panel in supports
            },
        )
        return display._finish(axes)

    def plot(self, ax: Axes | None = None) -> Self:
        """Plot the panels.

        Parameters
        ----------
        ax : sequence of matplotlib Axes, default=None
            The axes to draw on: two, and one for each mapping. None makes a new figure.

        Returns
        -------
        self : object
        """
        panels = [self.profile, self.entropy, *self.supports.values()]
        axes = _axes(ax, len(panels))
        for panel, panel_axes in zip(panels, axes, strict=True):
            panel.plot(panel_axes)
        return self._finish(axes)

    def _finish(self, axes):
        for label, panel in zip(self.supports, axes[2:], strict=True):
            panel.set_title(label, fontsize="medium")
        self.axes_ = axes
        self.figure_ = axes[0].figure
        return self


def _axes(ax, n_panels):
    return grid_of_axes(
        "MappingDisplay",
        ax,
        n_panels,
        most_columns=4,
        size=(3.4, 3.4),
        allowed=f"{n_panels} axes, two and one for each mapping",
    )
