"""The picture of the demo: digits, their probabilities, and what alpha does."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import LinearSegmentedColormap

PAPER, INK, FAINT = "#fcfbf8", "#22252b", "#a3a9b1"
DENSE, SPARSE, CUT = "#7b8794", "#d1495b", "#2a7f78"
GREYS = LinearSegmentedColormap.from_list("ink on paper", [PAPER, INK])
FLOOR = 1e-6  # where the logarithmic axis of the probabilities begins
STYLE = {
    "axes.edgecolor": FAINT,
    "axes.facecolor": PAPER,
    "axes.labelcolor": INK,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.facecolor": PAPER,
    "font.size": 10,
    "text.color": INK,
    "xtick.color": INK,
    "xtick.bottom": False,
    "ytick.color": INK,
}


def draw(digits, overlays, path):
    """Save the picture.

    Parameters
    ----------
    digits : dict
        ``images`` and ``labels`` of the test set, the ``probabilities`` of two models
        by their names, the sparse one last, and the cross-validated scores
        ``by_alpha``.
    overlays : dict
        ``images``, ``sets`` (an indicator), ``probabilities`` and the ``cut``.
    path : str
    """
    with plt.rc_context(STYLE):
        figure = plt.figure(figsize=(13, 11), layout="constrained")
        figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08)
        top, bottom = figure.subfigures(2, 1, height_ratios=[1.35, 1], hspace=0.05)
        left, right = bottom.subfigures(1, 2, width_ratios=[1, 2.1], wspace=0.05)
        draw_digits(top, digits)
        draw_alphas(left, digits["by_alpha"])
        draw_overlays(right, overlays)
        figure.savefig(path, dpi=150)
        plt.close(figure)


def draw_digits(figure, digits):
    """Test digits from doubtful to clear, with the probabilities of both models."""
    title(figure, "Softmax gives every digit a chance; entmax rules digits out")
    n_shown = 7
    models = list(zip(digits["probabilities"].items(), [DENSE, SPARSE], strict=True))
    certainty = models[0][0][1].max(axis=1)
    ranks = np.geomspace(1, len(certainty), n_shown).astype(int) - 1
    axes = figure.subplots(3, n_shown, height_ratios=[1.2, 1, 1])
    for j, i in enumerate(np.argsort(certainty)[ranks]):
        truth = digits["labels"][i]
        draw_image(axes[0, j], digits["images"][i], f"{truth}")
        for ax, ((_, probabilities), colour) in zip(axes[1:, j], models, strict=True):
            draw_bars(ax, probabilities[i], [truth], colour)
            draw_tiny(ax, probabilities[i], colour)
            if j > 0:
                ax.tick_params(labelleft=False)
    for ax, ((name, _), colour) in zip(axes[1:, 0], models, strict=True):
        ax.set_ylabel(name.replace(", ", "\n"), color=colour)
    figure.supxlabel(
        "probabilities of test images, the most doubtful at the left;"
        "   ○ exactly zero   ▾ not zero, but below the axis",
        fontsize="medium",
    )


def draw_tiny(ax, p, colour):
    """Make the axis logarithmic; mark what is zero, and what is too small for it."""
    ax.set(yscale="log", ylim=(FLOOR, 3), yticks=[1e-6, 1e-4, 1e-2, 1])
    ax.minorticks_off()
    for marker, digits in [("o", p == 0), ("v", (p > 0) & (p < FLOOR))]:
        digits = np.flatnonzero(digits)
        height = np.full(len(digits), 3 * FLOOR)
        ax.plot(digits, height, marker, markersize=4, fillstyle="none", color=colour)
    ax.set_title(f"{np.count_nonzero(p)} possible", fontsize="medium", color=colour)


def draw_alphas(figure, by_alpha):
    """Accuracy and support size against alpha, cross-validated."""
    title(figure, "What α does")
    colours = [DENSE if alpha == 1 else SPARSE for alpha in by_alpha]
    panels = figure.subplots(2, 1, sharex=True)
    for ax, measure, name, form in zip(
        panels,
        ["accuracy", "support"],
        ["accuracy", "digits of positive probability"],
        ["{:.3f}", "{:.1f}"],
        strict=True,
    ):
        values = [scores[measure] for scores in by_alpha.values()]
        ax.plot(list(by_alpha), values, color=FAINT, zorder=1)
        ax.scatter(list(by_alpha), values, s=60, color=colours, zorder=2)
        for point in zip(by_alpha, values, strict=True):
            ax.annotate(
                form.format(point[1]),
                point,
                xytext=(3, 8),
                textcoords="offset points",
            )
        ax.set_title(name, fontsize="medium", loc="left")
        ax.set_xmargin(0.12)
    panels[0].set(ylim=(0.9, 1))
    panels[1].set(ylim=(0, 12), yticks=range(0, 11, 2), xticks=list(by_alpha))
    panels[1].set_xlabel("α   (1 is softmax, 2 is sparsemax)")


def draw_overlays(figure, overlays):
    """Overlaid digits with the probabilities of a label-set model."""
    title(figure, "Label sets: one or two digits seen through each other")
    n_shown, cut = 6, overlays["cut"]
    axes = figure.subplots(2, n_shown, sharey="row")
    for j, p in enumerate(overlays["probabilities"][:n_shown]):
        truth = np.flatnonzero(overlays["sets"][j])
        named = np.flatnonzero(p > cut)
        draw_image(axes[0, j], overlays["images"][j], in_words(truth))
        draw_bars(axes[1, j], p, truth, SPARSE)
        axes[1, j].axhline(cut, color=CUT, linestyle="--", linewidth=1.2)
        right = np.array_equal(named, truth)
        axes[1, j].set_title(
            f"{in_words(named)}  {'✓' if right else '✗'}",
            color=CUT if right else SPARSE,
            fontsize="medium",
        )
    axes[1, 0].set(ylim=(0, 1.02), yticks=[0, 0.5, 1])
    axes[1, 0].set_ylabel("sparsemax", color=SPARSE)
    figure.supxlabel(
        "the first test images; named are the digits above the dashed cut",
        fontsize="medium",
    )


def draw_image(ax, image, caption):
    """An image of 8 x 8 grey values."""
    ax.imshow(image.reshape(8, 8), cmap=GREYS, vmin=0, vmax=16)
    ax.set_title(caption, fontweight="bold")
    ax.set_axis_off()


def draw_bars(ax, p, truth, colour):
    """A bar for each digit of positive probability, the true digits in bold."""
    ax.bar(np.flatnonzero(p), p[p > 0], color=colour, width=0.75)
    ax.set(xlim=(-0.7, 9.7), xticks=range(10))
    ax.tick_params(axis="x", labelsize="small", pad=1)
    for digit, label in enumerate(ax.get_xticklabels()):
        if digit in truth:
            label.set_fontweight("bold")
        else:
            label.set_color(FAINT)


def in_words(digits):
    """Digits as a caption."""
    return " and ".join(map(str, digits)) or "none"


def title(figure, text):
    """A heading of a part of the picture."""
    figure.suptitle(text, fontsize="x-large", fontweight="bold", x=0.01, ha="left")
