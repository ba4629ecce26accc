"""Every classifier with every mapping: what the common tests run over."""

import skprob
from skprob import EntmaxClassifier, LinearClassifier
from skprob.mappings import MAPPINGS


def _all_classifiers():
    public = [getattr(skprob, name) for name in skprob.__all__]
    estimators = [
        *(member() for member in public if isinstance(member, type)),
        *(EntmaxClassifier(alpha=alpha) for alpha in (1, 1.05, 1.25, 2, 2.5)),
        *(LinearClassifier(mapping=name) for name in MAPPINGS),
        LinearClassifier(loss="log"),
        LinearClassifier(mapping="entmax", temperature=0.5),
    ]
    # "softmax" is LinearClassifier's default: the same estimator only once.
    return {repr(estimator): estimator for estimator in estimators}


#: Unfitted instances by their representation.
ESTIMATORS = _all_classifiers()
#: Those whose scores are W x + b: with a penalty, and an intercept that is free.
LINEAR = {k: v for k, v in ESTIMATORS.items() if v.similarity == "dot"}

_MORE = (
    LinearClassifier(loss="accuracy"),
    LinearClassifier(mapping="sparsemax", margin=0.5),
    LinearClassifier(similarity="cosine", temperature=0.1),
    LinearClassifier(label_smoothing=0.1),
)
#: What scikit-learn's checks run over: also the parameters with tests of their own.
CHECKED = ESTIMATORS | {repr(estimator): estimator for estimator in _MORE}
