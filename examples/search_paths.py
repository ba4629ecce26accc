"""The whole surface of scores over alpha and C, from one warm-started search.

``EntmaxClassifierCV`` fits the grid along a path in each fold. The mean scores of all
pairs, here minus the Brier score, tell how much the choice matters and where.
"""

from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from skprob import EntmaxClassifierCV
from skprob.metrics import BrierScorer

X, y = load_wine(return_X_y=True)
model = EntmaxClassifierCV(Cs=[0.01, 0.1, 1, 10, 100], scoring=BrierScorer())
model.fit(scale(X), y)

mean = -model.scores_.mean(axis=0)
spread = model.scores_.std(axis=0)
print("Brier score, mean ± standard deviation over five folds\n")
print("alpha " + "".join(f"{f'C={C:g}':>16}" for C in model.Cs_[0]))
for alpha, row, deviation in zip(model.alphas_, mean, spread, strict=True):
    cells = [f"{m:.4f} ± {d:.4f}" for m, d in zip(row, deviation, strict=True)]
    print(f"{alpha:5g} " + "".join(f"{cell:>16}" for cell in cells))
print(
    f"\nChosen: alpha = {model.alpha_:g}, C = {model.C_:g}, "
    f"with a Brier score of {-model.best_score_:.4f}"
)
