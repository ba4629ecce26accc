"""Write the thumbnails of the examples: a part of each figure, large enough to read.

    python benchmarks/thumbnails.py [NAME ...]

Each example of `PARTS` runs. The chosen axes of its figure are saved without the others
to `docs/_static/thumbnails`, from where the gallery and the landing page take them.
"""

import argparse
import contextlib
import io
import os
import runpy
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "_static" / "thumbnails"
# Numbers of the axes in the figure that are shown.
PARTS = {
    "alpha_and_penalty": [0],
    "annotators": [0],
    "badly_scaled": [0],
    "dask_cluster": [0],
    "demo": [1, 4],
    "distillation": [0],
    "hidden_labels": [0],
    "imbalanced_classes": [0],
    "lasso_path": [0],
    "memory_mapped": [0],
    "onnx_export": [0],
    "own_mapping": [0],
    "possible_classes": [2, 3, 6, 7],
    "sets_with_a_guarantee": [0, 1, 4, 5],
    "text_pipeline": [0, 1],
    "threshold_by_cost": [0],
}
# Height divided by width, and the width in pixels.
_RATIO = 0.7
_WIDTH = 480
_MARGIN = 0.12


def box_of(figure, parts):
    """Bounding box of axes in inches, made wider or higher to have the ratio."""
    from matplotlib.transforms import Bbox

    renderer = figure.canvas.get_renderer()
    boxes = [ax.get_tightbbox(renderer) for ax in parts]
    box = Bbox.union(boxes).transformed(figure.dpi_scale_trans.inverted())
    box = box.padded(_MARGIN)
    width = max(box.width, box.height / _RATIO)
    height = max(box.height, box.width * _RATIO)
    left, bottom = box.x0 - (width - box.width) / 2, box.y0 - (height - box.height) / 2
    return Bbox.from_bounds(left, bottom, width, height)


def save(name):
    """Run an example and save the chosen part of its figure."""
    import matplotlib.pyplot as plt

    plt.close("all")
    with contextlib.redirect_stdout(io.StringIO()):
        runpy.run_path(str(ROOT / "examples" / f"{name}.py"), run_name="__main__")
    figure = plt.gcf()
    figure.canvas.draw()
    figure.set_layout_engine("none")
    parts = [figure.axes[number] for number in PARTS[name]]
    for artist in figure.get_children():
        if artist is not figure.patch and artist not in parts:
            artist.set_visible(False)
    box = box_of(figure, parts)
    path = FOLDER / f"{name}.png"
    figure.savefig(path, bbox_inches=box, dpi=_WIDTH / box.width)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help="examples; all without a name")
    os.environ["MPLBACKEND"] = "agg"
    FOLDER.mkdir(exist_ok=True)
    for name in parser.parse_args().names or PARTS:
        save(name)


if __name__ == "__main__":
    main()
