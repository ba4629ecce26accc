"""A mapping of one's own, in two lines: from the idea to a tuned classifier.

Take any increasing, positive function g. Here it is exp(2 arcsinh(x)), which is the
square of x + sqrt(1 + x²): it grows like 4x² above zero, and is so slow to fade below,
like 1/4x², that no class is ever written off. There are two ways to make probabilities
of it.

1. Divide g(score) by the sum. That is a mapping, but it is the gradient of nothing, and
   so it has no loss of its own: the log loss serves.
2. Lower all scores by the one threshold at which the g(score) sum to one. That is the
   gradient of a convex function whatever g is: with exp it is softmax, with max(x, 0)
   sparsemax. It has a loss of its own, and is tuned like any other.

Run it with ``python examples/own_mapping.py``; it takes a few seconds.
"""

import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skprob import LinearClassifier
from skprob.inspection import find_counterexamples, mapping_table
from skprob.mappings import NormalizedMapping, ThresholdMapping
from skprob.metrics import BrierScorer


def g(x):
    return np.exp(2 * np.arcsinh(x))


BY_DIVISION = NormalizedMapping(g)
BY_THRESHOLD = ThresholdMapping(g, derivative=lambda x: 2 * g(x) / np.hypot(1, x))


def name_of(mapping):
    return mapping if isinstance(mapping, str) else type(mapping).__name__


def main():
    X, y = load_wine(return_X_y=True)

    print("What they make of the scores 2, 1, 0 and -3:\n")
    mappings = ["softmax", "sparsemax", BY_DIVISION, BY_THRESHOLD]
    table = mapping_table([2.0, 1.0, 0.0, -3.0], mappings)
    for mapping, row in zip(mappings, table, strict=True):
        print(f"  {name_of(mapping):18}", *(f"{p:7.4f}" for p in row.probabilities))

    print("\nWhat they lack, by a search for counterexamples:\n")
    for mapping in (BY_DIVISION, BY_THRESHOLD):
        found = find_counterexamples(mapping)
        lacking = [name for name, example in found.items() if example is not None]
        print(f"  {name_of(mapping):18}", ", ".join(lacking) or "nothing was found")

    print("\nThe log loss trains any mapping. The other has a loss of its own:\n")
    for mapping in (BY_DIVISION, BY_THRESHOLD):
        pipeline = make_pipeline(StandardScaler(), LinearClassifier(mapping))
        model = pipeline.fit(X[::2], y[::2])[-1]
        accuracy = pipeline.score(X[1::2], y[1::2])
        loss = type(model.loss_).__name__
        print(f"  {name_of(mapping):18} {loss:18} accuracy {accuracy:.3f}")

    print(
        "\nA grid search over mappings, C and temperature; the best of each mapping:\n"
    )
    search = GridSearchCV(
        make_pipeline(StandardScaler(), LinearClassifier()),
        {
            "linearclassifier__mapping": ["softmax", "sparsemax", BY_THRESHOLD],
            "linearclassifier__temperature": [0.1, 0.3, 1.0],
            "linearclassifier__C": [0.1, 1.0, 10.0],
        },
        scoring=BrierScorer(),
        cv=3,
    ).fit(X, y)
    results = search.cv_results_
    seen = set()
    for i in np.argsort(results["rank_test_score"]):
        mapping, temperature, C = (
            results[f"param_linearclassifier__{name}"][i]
            for name in ("mapping", "temperature", "C")
        )
        name = name_of(mapping)
        if name not in seen:
            seen.add(name)
            brier = -results["mean_test_score"][i]
            print(f"  {name:18} Brier {brier:.4f} at temperature={temperature}, C={C}")


if __name__ == "__main__":
    main()
