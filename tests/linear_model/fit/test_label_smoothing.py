"""Label smoothing mixes the target with the uniform distribution."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from skprob import EntmaxClassifier, SoftmaxClassifier


@pytest.mark.parametrize("classifier", [SoftmaxClassifier, EntmaxClassifier])
def test_it_is_a_fit_to_the_mixed_target(classifier):
    X, y = load_iris(return_X_y=True)
    mixed = 0.8 * np.eye(3)[y] + 0.2 / 3
    smooth = classifier(label_smoothing=0.2, tol=1e-7).fit(X, y)
    explicit = classifier(target_type="distribution", tol=1e-7).fit(X, mixed)
    np.testing.assert_allclose(smooth.coef_, explicit.coef_, atol=1e-6)
    assert smooth.objective_ == pytest.approx(explicit.objective_, abs=1e-12)
