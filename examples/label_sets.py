"""Label sets: learn them, and choose the threshold of ``predict``.

Each row of the generated data, word counts of a document, has a few of twenty labels.
Softmax gives every label a positive probability, entmax and sparsemax only those that
are possible. To predict all of these is too much where the model is unsure. By default
cuts are found by cross-validation, and name those that are likely; ``set_threshold``
changes the rule without another fit.

The picture ``label_sets.png`` shows one document's labels, and how many are possible,
predicted and true over all documents.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import Normalizer

from skprob import EntmaxClassifier, SoftmaxClassifier, SparsemaxClassifier
from skprob.inspection import PredictionDisplay, SupportSizeDisplay
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
print(f"{'on test rows':20}  Brier  support  F1, default cuts  F1, whole support")

figure, axes = plt.subplots(2, 3, figsize=(12, 8), layout="constrained")
models = SoftmaxClassifier(C=3), EntmaxClassifier(C=3), SparsemaxClassifier(C=3)
for model, (one_row, all_rows) in zip(models, axes.T, strict=True):
    model.fit(X_train, Y_train)
    PredictionDisplay.from_estimator(model, X_test[[1]], Y_test[[1]], ax=one_row)
    SupportSizeDisplay.from_estimator(model, X_test, Y_test, ax=all_rows)
    all_rows.set_title(type(model).__name__)
    p = model.predict_proba(X_test)
    at_cuts = f1_score(Y_test, model.predict(X_test), average="micro")
    model.set_threshold("support")
    at_support = f1_score(Y_test, model.predict(X_test), average="micro")
    print(
        f"{type(model).__name__:20}  {brier_loss(Y_test, p):5.3f}  "
        f"{mean_support_size(p):7.2f}  {at_cuts:16.2f}  {at_support:17.2f}"
    )
figure.savefig("label_sets.png", dpi=150)
print("\nSaved label_sets.png.")
