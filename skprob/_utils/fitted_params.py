"""Parameters that a fitted estimator had in its fit, before later ``set_params``."""

from sklearn.base import clone


def fitted_params(model):
    """Parameters of the fit of a model, by name.

    They are the parameters that the model has now if its coefficients were assigned.
    """
    return getattr(model, "fitted_params_", None) or model.get_params(deep=False)


def unfitted(model):
    """A clone of a model without fitted attributes, with the parameters of its fit."""
    return clone(model).set_params(**fitted_params(model))
