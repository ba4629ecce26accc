"""Search over mappings and their parameters, by name or as objects.

``LinearClassifier`` takes any mapping, so the mapping itself can be in the grid, and
the parameters of a mapping object are reached with ``mapping__``. The measure is the
Brier score: unlike the log loss it is finite where a true class got probability zero,
and unlike the losses the models were fitted with it can be compared between mappings.
"""

from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skprob import LinearClassifier
from skprob.mappings import Entmax
from skprob.metrics import BrierScorer, SupportSizeScorer

X, y = load_iris(return_X_y=True)
strengths = {"linearclassifier__C": [0.01, 0.1, 1, 10]}
search = GridSearchCV(
    make_pipeline(StandardScaler(), LinearClassifier()),
    [
        strengths | {"linearclassifier__mapping": ["softmax", "sparsemax"]},
        strengths
        | {
            "linearclassifier__mapping": [Entmax()],
            "linearclassifier__mapping__alpha": [1.25, 1.5, 1.75, 3],
        },
    ],
    scoring={"brier": BrierScorer(), "support": SupportSizeScorer()},
    refit="brier",
).fit(X, y)

results = search.cv_results_
print(f"rank  {'mapping':22}  {'C':>4}  Brier  support of 3 classes")
for i in results["rank_test_brier"].argsort()[:8]:
    params = results["params"][i]
    mapping = params["linearclassifier__mapping"]
    if "linearclassifier__mapping__alpha" in params:
        mapping = f"entmax, alpha = {params['linearclassifier__mapping__alpha']}"
    print(
        f"{results['rank_test_brier'][i]:4}  {mapping:22}  "
        f"{params['linearclassifier__C']:4g}  {-results['mean_test_brier'][i]:.3f}  "
        f"{results['mean_test_support'][i]:.2f}"
    )
print(f"\nThe best model's mapping is {search.best_estimator_[-1].mapping_}.")
