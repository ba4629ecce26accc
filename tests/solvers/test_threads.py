"""Results do not depend on the number of threads, nor on what else runs."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from skprob import LinearClassifier
from skprob.mappings import Entmax

ROWS = 2000


def data(n_features, n_classes):
    rng = np.random.default_rng(n_features)
    X = rng.standard_normal((ROWS, n_features)) * 10.0 ** rng.uniform(-2, 2, n_features)
    scores = rng.normal(size=(ROWS, n_classes)) + X[:, :n_classes]
    return X, scores.argmax(axis=1)


# One output, and several; every method.
FITS = [
    (LinearClassifier(mapping, C=C, solver=solver, tol=1e-6), data(*shape))
    for mapping, solver, shape, C in (
        ("softmax", "auto", (4, 2), 1.0),
        ("softmax", "auto", (60, 3), 1e-3),
        ("softmax", "newton-cg", (20, 5), 1e-3),
        ("softmax", "lbfgs", (150, 3), 1e-3),
        ("sparsemax", "auto", (60, 3), 1e-3),
        (Entmax(1.5), "auto", (20, 5), 1e-3),
    )
]


def fit(case):
    """All that is fitted, bit for bit."""
    model, (X, y) = case
    fitted = LinearClassifier(**model.get_params(deep=False)).fit(X, y)
    arrays = fitted.coef_, fitted.intercept_, fitted.history_["objective"]
    numbers = fitted.objective_, fitted.gradient_norm_, fitted.duality_gap_
    return [array.tobytes() for array in arrays], numbers, fitted.n_iter_


@pytest.fixture(params=[False, True], ids=["one block", "many blocks"], scope="module")
def blocks(request):
    with pytest.MonkeyPatch.context() as patch:
        if request.param:
            slices = [slice(i, i + 300) for i in range(0, ROWS, 300)]
            patch.setattr("skprob.objective._block.row_slices", lambda *_: slices)
        yield


@pytest.mark.usefixtures("blocks")
def test_fits_are_bit_for_bit_the_same_under_any_limit_and_side_by_side():
    """threadpoolctl heeds one thread of Python only, and says nothing to the others."""
    with threadpool_limits(1):
        expected = [fit(case) for case in FITS]
    with threadpool_limits(2):
        assert [fit(case) for case in FITS] == expected
    with threadpool_limits(2), ThreadPoolExecutor(4) as pool:
        assert list(pool.map(fit, FITS)) == expected
