"""Regions of three classes' scores by their support, for all mappings with zeros."""

from math import ceil

import matplotlib.pyplot as plt
from compared import COMPARED

from skprob.inspection import SupportDisplay

COLUMNS = 4
sparse = {
    label: mapping for label, mapping in COMPARED.items() if mapping.traits.has_zeros
}
shown = {"softmax": COMPARED["softmax"], **sparse}

rows = ceil(len(shown) / COLUMNS)
fig, axes = plt.subplots(rows, COLUMNS, figsize=(9, 2.5 * rows))
for ax in axes.flat[len(shown) :]:
    ax.remove()
for ax, (label, mapping) in zip(axes.flat, shown.items(), strict=False):
    SupportDisplay.from_mapping(mapping, ax=ax)
    ax.set_title(label, fontsize="medium")
