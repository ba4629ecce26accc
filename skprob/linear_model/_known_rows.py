"""Rows that several models are asked about: checked once, and predicted together."""

import numpy as np
from scipy import sparse

from ..objective import model_outputs, scores_of
from ._checks import check_outputs

# So many probabilities are few: calls of functions cost more than what they compute.
_FEW = 1 << 20


def tell_of_rows(X, models):
    """Let models know that they will be asked about these rows: :class:`KnownRows`."""
    known = KnownRows(X, models)
    for model in models:
        model._known_rows = known


class KnownRows:
    """Checked rows, and what models of one kind make of them.

    When the first model is asked for its probabilities of the rows, those of all models
    are computed, in one go.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        As :func:`check_X` returns it, and never changed.
    models : sequence of BaseLinearClassifier
        Fitted to the same classes and features, with the same mapping.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        The same object.
    are_few : bool
        Whether there are few enough of them to be predicted by all models together.
    """

    def __init__(self, X, models):
        self.X = X
        self._models = models
        self._found = None
        self.are_few = X.shape[0] * len(models) * len(models[0].classes_) <= _FEW

    def probabilities(self, model):
        """What one of the models predicts, as :class:`BlockwisePrediction` does."""
        if self._found is None:
            found = map(_OneBlock, self._probabilities())
            self._found = dict(zip(map(id, self._models), found, strict=True))
            # They know of this object: in a circle its arrays would outlive them.
            self._models = None
        return self._found[id(model)]

    def _probabilities(self):
        """Of all models: (n_models, n_samples, n_classes)."""
        first = self._models[0]
        coef = np.concatenate([model.coef_ for model in self._models])
        intercept = np.concatenate([model.intercept_ for model in self._models])
        with np.errstate(over="ignore", invalid="ignore"):
            outputs = model_outputs(first._inputs(self.X), coef, intercept)
        check_outputs(outputs, first_row=0)
        # Output by output, and for each of them model by model.
        n_models, n_outputs = len(self._models), len(first.coef_)
        outputs = outputs.T.reshape(n_models, n_outputs, -1).swapaxes(0, 1)
        scores = scores_of(outputs.reshape(n_outputs, -1).T)
        return first.mapping_(scores).reshape(n_models, *self.X.shape[:1], -1)


class _OneBlock:
    """Rows of predictions that are known, with the methods of those that are not."""

    def __init__(self, rows):
        self._rows = rows

    def __iter__(self):
        yield self._rows

    def to_dense(self):
        return self._rows

    def to_sparse(self):
        return sparse.csr_array(self._rows)
