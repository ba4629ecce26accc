"""Fitted attributes of an estimator: all are of one fit."""

from contextlib import contextmanager

# What scikit-learn sets at the beginning of a fit, when it checks X.
_OF_FEATURES = {"n_features_in_", "feature_names_in_"}


def fitted_attributes(estimator):
    """What a fit has set, by name."""
    return {
        name: value
        for name, value in vars(estimator).items()
        if name.endswith("_") and not name.startswith("_")
    }


def replace_fitted(estimator, attributes):
    """Set the fitted attributes, and forget the others of a fit before."""
    for name in fitted_attributes(estimator).keys() - _OF_FEATURES:
        delattr(estimator, name)
    vars(estimator).update(attributes)


@contextmanager
def unchanged_on_error(estimator):
    """Where a fit fails or is interrupted, leave the estimator as it was before.

    Yields
    ------
    after_interrupt : dict
        If anything is put into it, these are the fitted attributes that a
        KeyboardInterrupt leaves instead.
    """
    before, after_interrupt = fitted_attributes(estimator), {}
    try:
        yield after_interrupt
    except BaseException as error:
        if after_interrupt and isinstance(error, KeyboardInterrupt):
            replace_fitted(estimator, after_interrupt)
        else:
            for name in fitted_attributes(estimator).keys() - before.keys():
                delattr(estimator, name)
            vars(estimator).update(before)
        raise
