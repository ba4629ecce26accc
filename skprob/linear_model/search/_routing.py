"""Metadata for parts of a meta-estimator, where scikit-learn's routing is off."""

from sklearn.utils import Bunch

# Methods that searches call.
_METHODS = ("fit", "split", "score")


def manual_routing(routing):
    """The result of ``process_routing``, made by hand (in scikit-learn from 1.9.1).

    Parameters
    ----------
    routing : dict of str to dict
        For each part, the metadata of those of its methods that get some.

    Returns
    -------
    routed : Bunch of Bunch
        For each part and each of its methods a dict, empty where there is none.

    Examples
    --------
    >>> routed = manual_routing({"scorer": {"score": {"sample_weight": [1]}}})
    >>> routed.scorer.score, routed.scorer.fit
    ({'sample_weight': [1]}, {})
    """
    every = {method: {} for method in _METHODS}
    return Bunch(**{part: Bunch(**every | given) for part, given in routing.items()})
