"""Label sets: learn them, and choose the threshold of ``predict``.

Each row of the generated data, word counts of a document, has a few of twenty labels.
Softmax gives every label a positive probability, entmax and sparsemax only those that
are possible. By default a sparse classifier predicts all of these, which is too many
where it is unsure; the cut with the best F1 score, found on out-of-fold probabilities,
names those that are likely.
"""

import numpy as np
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import f1_score
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.preprocessing import Normalizer

from skprob import EntmaxClassifier, SoftmaxClassifier, SparsemaxClassifier
from skprob.metrics import brier_loss, mean_support_size

X, Y = make_multilabel_classification(
    n_samples=2000,
    n_features=200,
    n_classes=20,
    length=200,
    allow_unlabeled=False,
    random_state=0,
)
X = Normalizer().fit_transform(X)
X_train, X_test, Y_train, Y_test = train_test_split(X, Y, random_state=0)
print(f"{Y.sum(axis=1).mean():.1f} of {Y.shape[1]} labels in a row\n")
print(f"{'on test rows':20}  Brier  support  F1, default cut   F1, best cut")

cuts = np.linspace(0, 0.4, 41)
for model in SoftmaxClassifier(C=3), EntmaxClassifier(C=3), SparsemaxClassifier(C=3):
    out_of_fold = cross_val_predict(
        model, X_train, Y_train, cv=3, method="predict_proba"
    )
    best = max(
        cuts, key=lambda cut: f1_score(Y_train, out_of_fold > cut, average="micro")
    )
    scores = []
    for threshold in "auto", best:
        model.set_params(threshold=threshold).fit(X_train, Y_train)
        f1 = f1_score(Y_test, model.predict(X_test), average="micro")
        scores.append(f"{f1:.2f} at {model.threshold_:.2f}")
    p = model.predict_proba(X_test)
    print(
        f"{type(model).__name__:20}  {brier_loss(Y_test, p):5.3f}  "
        f"{mean_support_size(p):7.2f}  {'  '.join(f'{s:>15}' for s in scores)}"
    )
