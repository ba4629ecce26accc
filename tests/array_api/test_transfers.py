"""A fit to tensors copies little between the host and a device, and seldom waits."""

import warnings
from collections import Counter

import numpy as np
import pytest
from sklearn import config_context

from skprob import EntmaxClassifier, SoftmaxClassifier, SparsemaxClassifier

from ..versions import has_cuda
from .transfers import Transfers

N_ROWS, N_FEATURES, N_CLASSES = 700, 100, 40


def fit_with_transfers(model, torch):
    """Copies to and from the device by a fit of many coefficients, and its passes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_FEATURES)).astype(np.float32)
    scores = X @ rng.normal(size=(N_FEATURES, N_CLASSES)) / 7
    y = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    device = "cuda" if has_cuda() else "cpu"
    X, y = torch.asarray(X, device=device), torch.asarray(y, device=device)
    with config_context(array_api_dispatch=True), warnings.catch_warnings():
        warnings.simplefilter("error")
        with Transfers() as transfers:
            model.fit(X, y)
    return transfers, model.history_["passes"][-1]


@pytest.mark.parametrize(
    ("model", "n_outputs", "most_a_pass"),
    [
        (SoftmaxClassifier(), N_CLASSES, 7),
        # The host has its variables: changes of all outputs alike are one more.
        (SoftmaxClassifier(solver="lbfgs"), N_CLASSES + 1, 11),
        # The mapping waits to see whether its Newton steps are over.
        (SparsemaxClassifier(), N_CLASSES, 11),
        (EntmaxClassifier(), N_CLASSES, 10),
    ],
    ids=repr,
)
def test_no_matrix_of_features_is_copied(model, n_outputs, most_a_pass, torch):
    transfers, passes = fit_with_transfers(model, torch)
    to_host, to_device = Counter(transfers.to_host), Counter(transfers.to_device)
    n_parameters = N_CLASSES * (N_FEATURES + 1)
    # The labels; their numbers and the weights, of which C="auto" has a copy, too.
    assert to_host.pop(N_ROWS) == 1
    assert to_device.pop(N_ROWS) == 2 + (model.C == "auto")
    assert max(to_host) == max(to_device) == n_outputs * (N_FEATURES + 1)
    # A product takes two copies in each direction: one is for the preconditioner.
    assert to_host[n_parameters] <= 3 * passes
    assert to_device[n_parameters] <= 3 * passes
    n_copies = len(transfers.to_host) + len(transfers.to_device)
    assert n_copies + transfers.n_waits <= most_a_pass * passes
