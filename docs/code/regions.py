"""Draw which classes are possible over two features, with the name of each region."""

import numpy as np
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke
from scipy.ndimage import distance_transform_edt
from sklearn.datasets import load_iris

COLOURS = np.array([[0.27, 0.45, 0.77], [0.95, 0.76, 0.30], [0.76, 0.29, 0.36]])
_BOX = (0.5, 7.5, -0.2, 2.8)
_POINTS = 400
# Regions with a smaller share of the picture have no name in it.
_SMALLEST_SHARE = 0.015


def region_name(support, names):
    """Name of a region: the classes that are possible in it."""
    if support.all():
        return "all three\npossible"
    return "\nor ".join(names[support])


def draw_regions(ax, model):
    """Fit a model to petals of iris, draw its probabilities and name its regions.

    The colour of a point is the mean of the colours of the species, weighted by their
    probabilities.
    """
    iris = load_iris()
    X, y = iris.data[:, [2, 3]], iris.target
    left, right, bottom, top = _BOX
    length, width = np.meshgrid(
        np.linspace(left, right, _POINTS), np.linspace(bottom, top, _POINTS)
    )
    grid = np.stack([length.ravel(), width.ravel()], axis=1)
    p = model.fit(X, y).predict_proba(grid)
    image = (p @ COLOURS).reshape(_POINTS, _POINTS, 3)
    ax.imshow(image, origin="lower", extent=_BOX, aspect="auto")
    ax.scatter(*X.T, c=COLOURS[y], edgecolors="black", linewidths=0.4, s=9)
    code = (p > 0) @ [1, 2, 4]
    regions = code.reshape(_POINTS, _POINTS)
    for value in np.unique(regions):
        inside = regions == value
        if 0 < inside.mean() < 1:
            ax.contour(length, width, inside, [0.5], colors="white", linewidths=1)
        if inside.mean() < _SMALLEST_SHARE:
            continue
        depth = distance_transform_edt(np.pad(inside, 1))[1:-1, 1:-1]
        row, column = np.unravel_index(depth.argmax(), depth.shape)
        support = (value & np.array([1, 2, 4])) > 0
        ax.text(
            length[row, column],
            width[row, column],
            region_name(support, iris.target_names),
            ha="center",
            va="center",
            fontsize="small",
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
        )
    ax.set(xlabel="petal length (cm)", ylabel="petal width (cm)")


def add_species_legend(ax):
    """Add the colours of the species as a legend below the axes."""
    names = load_iris().target_names
    handles = [Patch(color=c, label=n) for c, n in zip(COLOURS, names, strict=True)]
    ax.legend(
        handles=handles,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.18),
        ncols=3,
        frameon=False,
        fontsize="small",
        handlelength=1,
    )
