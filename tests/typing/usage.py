"""A program as users write it: what type checkers say of it is a test.

`make lint` checks it with mypy. A line that must be refused says so; a comment that
refuses nothing is itself an error.
"""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from skprob import EntmaxClassifier, LinearClassifier, SparsemaxClassifier
from skprob.decision import LabelCuts
from skprob.losses import FenchelYoungLoss, get_loss
from skprob.mappings import Entmax, Mapping, Softmax, entmax, get_mapping
from skprob.metrics import BrierScorer, brier_loss

X = np.eye(3)
y = ["a", "b", "c"]

model = EntmaxClassifier(alpha=1.5, C="auto", class_weight="balanced")
assert_type(model, EntmaxClassifier)
assert_type(model.fit(X, y), EntmaxClassifier)
assert_type(
    model.fit(sparse.csr_array(X), y, sample_weight=[1, 2, 3]), EntmaxClassifier
)
assert_type(model.score(X, y), float)
assert_type(model.sparsify().densify(), EntmaxClassifier)
print(model.predict(X), model.predict_proba(X).round(2))

EntmaxClassifier(alpha="1.5")  # type: ignore[arg-type]
EntmaxClassifier(solver="sag")  # type: ignore[arg-type]
EntmaxClassifier(beta=1.5)  # type: ignore[call-arg]
model.fit(X)  # type: ignore[call-arg]
model.predict_proba(X, offsets=X)  # type: ignore[call-arg]

sets = SparsemaxClassifier(threshold=LabelCuts(average="micro"))
assert_type(sets.set_threshold([0.1, 0.2, 0.3]), SparsemaxClassifier)


def softplus(scores: NDArray[Any]) -> NDArray[Any]:
    """A mapping of one's own."""
    weight = np.logaddexp(0, scores)
    return weight / weight.sum(axis=1, keepdims=True)


LinearClassifier(softplus)
LinearClassifier("sparsemax", loss="log")
LinearClassifier(Entmax(1.2), FenchelYoungLoss())
LinearClassifier(3)  # type: ignore[arg-type]

assert_type(entmax([1.0, 2.0], alpha=1.2), NDArray[Any])
assert_type(Softmax()(X), NDArray[Any])
assert_type(Softmax().linearize(X).jvp(X), Any)
assert_type(get_mapping("entmax"), Mapping)
print(get_loss("auto", "entmax").value(X, [0, 1, 2]).mean())
assert_type(brier_loss(y, X), float)
assert_type(BrierScorer()(model, X, y), float)
