"""Matplotlib, imported when it is used, and the colours of predictions."""

from math import ceil

import numpy as np

#: Colours of predicted classes and of other possible classes.
PREDICTED, POSSIBLE = "#4573c4", "#c4d1ea"
# Height of the numbers and the label below axes, in points.
_BELOW_AXES = 36


def text_of(name):
    r"""The name of a class or feature as matplotlib's text.

    Matplotlib would set what is between two dollars as a formula, and leave out of
    legends what begins with an underscore.

    Examples
    --------
    >>> print(text_of("$1 to $5"), text_of("_id"))
    \$1 to \$5  _id
    """
    text = str(name).replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def import_pyplot(user):
    """``matplotlib.pyplot``, or an ImportError that names the caller `user`."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            f"{user} needs matplotlib: pip install matplotlib."
        ) from error
    return pyplot


def axes_for(user, ax):
    """The axes `ax`, or those of a new figure if it is None."""
    pyplot = import_pyplot(user)
    if ax is None:
        return pyplot.subplots(layout="constrained")[1]
    _check_axes([ax])
    return ax


def _check_axes(axes):
    """Raise if one of the objects is not an Axes of matplotlib."""
    from matplotlib.axes import Axes

    for ax in axes:
        if not isinstance(ax, Axes):
            raise ValueError(f"ax must be a matplotlib Axes; got {type(ax).__name__}.")


def legend_below(ax, artists=None):
    """A legend below the axes and their label, where it covers nothing.

    `artists` are what it shows by label; None stands for those of the axes. Long labels
    are in fewer columns.
    """
    from matplotlib.transforms import ScaledTranslation

    offset = ScaledTranslation(0, -_BELOW_AXES / 72, ax.figure.dpi_scale_trans)
    if artists is None:
        artists = dict(zip(*ax.get_legend_handles_labels()[::-1], strict=True))
    return ax.legend(
        artists.values(),
        artists,
        loc="upper center",
        bbox_to_anchor=(0.5, 0),
        bbox_transform=ax.transAxes + offset,
        ncols=max(3 - max(map(len, artists), default=0) // 20, 1),
        fontsize="small",
    )


def grid_of_axes(user, ax, n_panels, *, most_columns, size, allowed):
    """`n_panels` axes: those of `ax`, or of a new figure if it is None.

    `size` is the width and height of a panel in inches; `allowed` describes the
    axes that may be given, for an error.
    """
    if ax is not None:
        axes = list(np.ravel(ax))
        if len(axes) != n_panels:
            raise ValueError(f"ax must be {allowed}; got {len(axes)}.")
        _check_axes(axes)
        return axes
    columns = min(n_panels, most_columns)
    n_rows = ceil(n_panels / columns)
    figure = import_pyplot(user).figure(
        figsize=(size[0] * columns, size[1] * n_rows), layout="constrained"
    )
    return [figure.add_subplot(n_rows, columns, i + 1) for i in range(n_panels)]
