"""The possible classes of one row as bars, the most probable one at the top."""

from typing import NamedTuple

import numpy as np

from .._matplotlib import POSSIBLE, PREDICTED, text_of

# Number of bars that fill the height. Below fewer bars there is space.
_LEAST_LINES = 5
# Largest width of a number, as a probability.
_NUMBER = 0.18


class Row(NamedTuple):
    """Bars of one row.

    Attributes
    ----------
    probabilities : ndarray of shape (n_classes,)
    predicted : ndarray of bool of shape (n_classes,) or None
    target : ndarray of shape (n_classes,) or None
        The true share of each class.
    names : ndarray of shape (n_classes,)
        Names of the classes.
    is_share : bool
        Whether the probabilities sum to one, or to less with "no label" as the rest.
    """

    probabilities: np.ndarray
    predicted: np.ndarray | None
    target: np.ndarray | None
    names: np.ndarray
    is_share: bool


def draw_row(ax, row, max_classes):
    """Draw a row.

    Returns
    -------
    shown : ndarray of shape (n_shown,)
        Indices of the classes that are shown, from the top.
    bars : list of matplotlib BarContainer
    """
    p = row.probabilities
    predicted = np.zeros(p.shape, bool) if row.predicted is None else row.predicted
    target = np.zeros_like(p) if row.target is None else row.target
    order = np.lexsort([-target, -p])
    order = order[(p[order] > 0) | (target[order] > 0)]
    shown = order[:max_classes]
    lines, bars = np.arange(len(shown)), []
    for label, is_kind, colour in (
        ("predicted", predicted, PREDICTED),
        ("possible", ~predicted & (p > 0), POSSIBLE),
    ):
        at = lines[is_kind[shown]]
        if len(at):
            # The edge and the number show a bar that is too short to be seen.
            style = {"color": colour, "edgecolor": PREDICTED, "linewidth": 0.8}
            bars.append(ax.barh(at, p[shown[at]], label=label, **style))
            _number_bars(ax, bars[-1], p[shown[at]], target[shown[at]])
    if row.target is not None:
        at = lines[target[shown] > 0]
        ax.plot(target[shown[at]], at, "k|", ms=10, mew=2, label="true")
    ax.set_yticks(lines, labels=map(text_of, row.names[shown]))
    ax.set(
        xlabel="probability",
        # The line of the axis would cover a bar without a width.
        xlim=(-0.012, 1.15),
        ylim=(max(len(lines), _LEAST_LINES) - 0.4, -0.6),
        title=_title(p, row.is_share, len(order) - len(shown)),
    )
    return shown, bars


def _number_bars(ax, bars, widths, target):
    """Write the probability at the end of each bar."""
    numbers = [f"{width:.2g}" for width in widths]
    texts = ax.bar_label(bars, numbers, padding=4, fontsize="small")
    for text, width, share in zip(texts, widths, target, strict=True):
        # Move the number to the right of a mark that would cover it.
        if width < share < width + _NUMBER:
            text.xy = share, text.xy[1]


def _title(p, is_share, n_hidden):
    title = f"{np.count_nonzero(p)} of {len(p)} classes possible"
    none = 1 - p.sum()
    if is_share and none > 1e-3:
        title += f", no label {none:.2f}"
    return f"{title}, {n_hidden} not shown" if n_hidden else title
