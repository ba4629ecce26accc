"""
Fit data that stay in a file
============================

Fit data that do not fit in memory. ``numpy.load(path, mmap_mode="r")`` maps an array of
a file. A fit reads it block by block and never copies it, so it needs a fraction of the
memory.
"""

import tempfile
import tracemalloc
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from skprob import SparsemaxClassifier

n_samples, n_features = 60_000, 160
rng = np.random.default_rng(0)
coef = rng.standard_normal((n_features, 4)) / 4
folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "X.npy"

# Write a thousand rows at a time.
X = np.lib.format.open_memmap(path, "w+", np.float64, (n_samples, n_features))
y = np.empty(n_samples, dtype=int)
for start in range(0, n_samples, 1000):
    rows = rng.standard_normal((1000, n_features))
    X[start : start + 1000] = rows
    scores = rows @ coef + rng.gumbel(size=(1000, 4))
    y[start : start + 1000] = scores.argmax(axis=1)
X.flush()

# %%
# Give the mapped array to the classifier. ``tracemalloc`` counts the memory that NumPy
# allocates during the fit. Pages of the file do not count.
X = np.load(path, mmap_mode="r")
tracemalloc.start()
model = SparsemaxClassifier().fit(X, y)
allocated = tracemalloc.get_traced_memory()[1] / 2**20
tracemalloc.stop()
size = X.nbytes / 2**20
print(f"{size:.0f} MiB in the file, {allocated:.0f} MiB allocated by the fit")
print(f"{model.n_iter_} iterations, accuracy {model.score(X[:10_000], y[:10_000]):.3f}")
print("Probabilities of the first rows:")
print(model.predict_proba(X[:3]).round(2))

# %%
figure, ax = plt.subplots(figsize=(6.5, 2.6), layout="constrained")
bars = ax.barh(["the fit's own memory", "X, in the file"], [allocated, size])
ax.bar_label(bars, fmt="%.0f MiB", padding=4)
bars[0].set_color("#d1495b")
bars[1].set_color("#a3a9b1")
ax.set(xlabel="MiB", xlim=(0, 1.15 * size), title="X is read, not copied")
plt.show()
# sphinx_gallery_thumbnail_path = "_static/thumbnails/memory_mapped.png"

del X  # Now the file can be removed on all systems.
folder.cleanup()
