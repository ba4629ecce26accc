"""Fitted attributes of an estimator, which are all of the same fit."""

from contextlib import contextmanager

# Attributes that scikit-learn sets at the beginning of a fit, when it checks X.
_OF_FEATURES = {"n_features_in_", "feature_names_in_"}


def fitted_attributes(estimator):
    """The fitted attributes, by name."""
    return {
        name: value
        for name, value in vars(estimator).items()
        if name[-1] == "_" and name[0] != "_"
    }


def replace_fitted(estimator, attributes):
    """Set the fitted attributes, and remove those of an earlier fit."""
    state = vars(estimator)
    for name in fitted_attributes(estimator).keys() - _OF_FEATURES:
        del state[name]
    state.update(attributes)


@contextmanager
def unchanged_on_error(estimator):
    """If a fit fails or is interrupted, restore the estimator.

    Yields
    ------
    after_interrupt : dict
        If it is filled, its items become the fitted attributes after a
        KeyboardInterrupt.
    """
    before, after_interrupt = fitted_attributes(estimator), {}
    try:
        yield after_interrupt
    except BaseException as error:
        if after_interrupt and isinstance(error, KeyboardInterrupt):
            replace_fitted(estimator, after_interrupt)
        else:
            for name in fitted_attributes(estimator).keys() - before.keys():
                del vars(estimator)[name]
            vars(estimator).update(before)
        raise
