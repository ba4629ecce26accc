"""Parts of scikit-learn that older versions lack or name otherwise, and of machines."""

from importlib.util import find_spec

import pytest
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.utils.fixes import parse_version

VERSION = parse_version(sklearn.__version__)
HAS_CALLBACKS = find_spec("sklearn.callback") is not None
needs_callbacks = pytest.mark.skipif(
    not HAS_CALLBACKS, reason="scikit-learn has callbacks since version 1.9"
)
since_1_9 = pytest.mark.skipif(
    VERSION < parse_version("1.9"), reason="tests a part of scikit-learn 1.9"
)
since_1_8 = pytest.mark.skipif(
    VERSION < parse_version("1.8"), reason="tests a part of scikit-learn 1.8"
)


def elastic_net(**params):
    """scikit-learn's logistic regression with an elastic-net penalty."""
    if parse_version("1.8") > VERSION:
        params["penalty"] = "elasticnet"
    return LogisticRegression(solver="saga", tol=1e-10, max_iter=10**5, **params)


def need_cuda():
    """Skip a test on a machine without a GPU."""
    if not has_cuda():
        pytest.skip("needs a GPU that torch finds")


def has_cuda():
    """Whether torch is installed and finds a GPU."""
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()
