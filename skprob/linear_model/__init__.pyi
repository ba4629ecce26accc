"""For type checkers: what the package imports when it is used."""

from ._smallest_C import smallest_C as smallest_C
from .classifiers import (
    AMSoftmaxClassifier as AMSoftmaxClassifier,
)
from .classifiers import EntmaxClassifier as EntmaxClassifier
from .classifiers import LinearClassifier as LinearClassifier
from .classifiers import (
    PerturbMaxClassifier as PerturbMaxClassifier,
)
from .classifiers import SigmoidClassifier as SigmoidClassifier
from .classifiers import SoftmaxClassifier as SoftmaxClassifier
from .classifiers import (
    SparsemaxClassifier as SparsemaxClassifier,
)
from .classifiers import (
    SparseSoftmaxClassifier as SparseSoftmaxClassifier,
)
from .classifiers import (
    TaylorSoftmaxClassifier as TaylorSoftmaxClassifier,
)
from .search import EntmaxClassifierCV as EntmaxClassifierCV
from .search import (
    PerturbMaxClassifierCV as PerturbMaxClassifierCV,
)
