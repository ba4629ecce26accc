"""
Export a pipeline to ONNX
=========================

Convert a fitted pipeline to a file that runs without Python, scikit-learn and skprob.
The graph has the labels and the probabilities of the model, with the same exact zeros.
The example needs the extra `onnx`.
"""

from functools import partial
from timeit import timeit

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime
import skl2onnx
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skprob import EntmaxClassifier

X, y = load_digits(return_X_y=True)
X = X.astype(np.float32)
model = make_pipeline(StandardScaler(), EntmaxClassifier()).fit(X, y)

graph = skl2onnx.to_onnx(model, X[:1]).SerializeToString()  # Write it to a file.
session = onnxruntime.InferenceSession(graph)
labels, p = session.run(["label", "probabilities"], {"X": X})

expected = model.predict_proba(X)
print(f"{len(graph) / 1024:.0f} KiB")
print(f"labels equal: {np.array_equal(labels, model.predict(X))}")
print(f"zeros equal: {np.array_equal(p == 0, expected == 0)}")
print(f"largest difference of a probability: {abs(p - expected).max():.0e}")

# %%
# For one row at a time onnxruntime is much faster, because it does not check its input.
calls = {
    "model.predict_proba": model.predict_proba,
    "onnxruntime": lambda row: session.run(None, {"X": row}),
}
times = [timeit(partial(call, X[:1]), number=200) / 200 for call in calls.values()]
figure, ax = plt.subplots(figsize=(6.5, 2.6), layout="constrained")
bars = ax.barh(list(calls), 1e6 * np.array(times), color=["#7b8794", "#d1495b"])
ax.bar_label(bars, fmt="%.0f µs", padding=4)
ax.set(xlabel="microseconds for one row", title="Prediction of one row")
ax.margins(x=0.2)
plt.show()
# sphinx_gallery_thumbnail_path = "_static/thumbnails/onnx_export.png"
