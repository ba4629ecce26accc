"""Label sets: learn them, and choose the threshold of ``predict``.

Each row of the generated data, word counts of a document, has a few of twenty labels.
Softmax gives every label a positive probability, entmax and sparsemax only those that
are possible. To predict all of these is too much where the model is unsure. By default
a cut is found by cross-validation, and names those that are likely; an assigned
``threshold_`` changes the rule without another fit.
"""

from sklearn.datasets import make_multilabel_classification
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
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
print(f"{'on test rows':20}  Brier  support  F1, default cut  F1, whole support")

for model in SoftmaxClassifier(C=3), EntmaxClassifier(C=3), SparsemaxClassifier(C=3):
    model.fit(X_train, Y_train)
    p = model.predict_proba(X_test)
    at_cut = f1_score(Y_test, model.predict(X_test), average="micro")
    default = f"{at_cut:.2f} at {model.threshold_:.2f}"
    model.threshold_ = 0
    at_support = f1_score(Y_test, model.predict(X_test), average="micro")
    print(
        f"{type(model).__name__:20}  {brier_loss(Y_test, p):5.3f}  "
        f"{mean_support_size(p):7.2f}  {default:>15}  {at_support:17.2f}"
    )
