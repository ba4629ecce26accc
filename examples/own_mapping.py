"""A mapping of one's own, in ten lines: from the idea to a tuned classifier.

Take any increasing, positive function g. Here it is exp(arcsinh(x)) = x + sqrt(1 + x²):
linear above zero, and so slow to fade below, like -1/2x, that no class is ever written
off. There are two ways to make probabilities of it.

1. Divide g(score) by the sum. That is a mapping, but it is the gradient of nothing, and
   so it has no loss of its own. A fit says so; the log loss serves.
2. Lower all scores by the one threshold at which the g(score) sum to one. That is the
   gradient of a convex function whatever g is: with exp it is softmax, with max(x, 0)
   sparsemax. It is trained through its values alone, and tuned like any other.

Run it with ``python examples/own_mapping.py``; it takes a few seconds.
"""

import numpy as np
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skprob import LinearClassifier
from skprob.inspection import find_counterexamples, mapping_table
from skprob.metrics import BrierScorer


def by_division(scores):
    weight = np.exp(np.arcsinh(scores))
    return weight / weight.sum(axis=1, keepdims=True)


def by_threshold(scores):
    x = scores - scores.max(axis=1, keepdims=True)  # The best class alone has it all.
    for _ in range(50):
        p = np.exp(np.arcsinh(x))
        excess = p.sum(axis=1, keepdims=True) - 1
        if excess.max() < 1e-13:
            break
        x = x - excess / (p / np.hypot(1, x)).sum(axis=1, keepdims=True)  # Newton
    return p / p.sum(axis=1, keepdims=True)


def main():
    X, y = load_wine(return_X_y=True)

    print("What they make of the scores 2, 1, 0 and -3:\n")
    mappings = ["softmax", "sparsemax", by_division, by_threshold]
    for row in mapping_table([2.0, 1.0, 0.0, -3.0], mappings):
        print(f"  {row.mapping:14}", *(f"{p:7.4f}" for p in row.probabilities))

    print("\nWhat they lack, by a search for counterexamples:\n")
    for mapping in (by_division, by_threshold):
        found = find_counterexamples(mapping)
        lacking = [name for name, example in found.items() if example is not None]
        print(f"  {mapping.__name__:14}", ", ".join(lacking) or "nothing was found")

    print("\nTrained as a gradient field, the one that is none is refused:\n")
    try:
        LinearClassifier(mapping=by_division).fit(X, y)
    except ValueError as error:
        print(f"  ValueError: {error}")

    print("\nThe log loss trains any mapping. The other has a loss of its own:\n")
    for model in (
        LinearClassifier(mapping=by_division, loss="log"),
        LinearClassifier(mapping=by_threshold),
    ):
        pipeline = make_pipeline(StandardScaler(), model).fit(X[::2], y[::2])
        name, loss = model.mapping.__name__, type(model.loss_).__name__
        print(f"  {name:14} {loss:18} accuracy {pipeline.score(X[1::2], y[1::2]):.3f}")

    print(
        "\nA grid search over mappings, C and temperature; the best of each mapping:\n"
    )
    search = GridSearchCV(
        make_pipeline(StandardScaler(), LinearClassifier()),
        {
            "linearclassifier__mapping": ["softmax", "sparsemax", by_threshold],
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
        if mapping not in seen:
            seen.add(mapping)
            name = getattr(mapping, "__name__", mapping)
            brier = -results["mean_test_score"][i]
            print(f"  {name:14} Brier {brier:.4f} at temperature={temperature}, C={C}")


if __name__ == "__main__":
    main()
