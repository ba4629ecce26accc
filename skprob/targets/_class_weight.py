"""Weights of classes as factors of the weights of rows."""

import sys

import numpy as np

from .._utils.checks import is_number
from .._utils.labels import plain_names


def class_weight_factors(class_weight, encoded, sample_weight):
    """Factor of each row's weight: the mean weight of its classes under its target.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        Weights of classes (column numbers where `y` is a matrix), 1 for those not
        named. "balanced" gives every class the same total weight.
    encoded : EncodedTarget
    sample_weight : ndarray of shape (n_labelled,)

    Returns
    -------
    factors : ndarray of shape (n_labelled,)

    Raises
    ------
    ValueError
        If a class is not in `y`, or a weight is negative or not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.targets import class_weight_factors, encode_target
    >>> encoded = encode_target([[1, 0], [1, 1]])
    >>> class_weight_factors({1: 3.0}, encoded, np.ones(2))
    array([1., 2.])
    """
    if class_weight is None:
        return np.ones_like(sample_weight)
    totals = encoded.target.class_totals(sample_weight)
    weights = weights_of_classes(class_weight, encoded.classes, totals)
    return mean_weights(weights, encoded.target)


def weights_of_classes(class_weight, classes, total):
    """The weight of each class.

    Parameters
    ----------
    class_weight : dict or "balanced"
        As for :func:`class_weight_factors`.
    classes : ndarray of shape (n_classes,)
    total : ndarray of shape (n_classes,) or (n_classes + 1,)
        Total weight of the rows of each class and, if there is a class for them, of the
        rows without a label. This class has the weight 1 if `class_weight` is a dict.

    Returns
    -------
    weights : ndarray of the shape of `total`

    Raises
    ------
    ValueError
        As :func:`class_weight_factors`.

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.targets import weights_of_classes
    >>> weights_of_classes("balanced", np.array(["a", "b"]), np.array([30.0, 10.0]))
    array([0.66666667, 2.        ])
    """
    if class_weight == "balanced":
        is_present = total > 0
        weights = np.divide(
            total.sum(), len(total) * total, out=np.zeros_like(total), where=is_present
        )
    else:
        names = plain_names(classes)
        unknown = [label for label in class_weight if label not in names]
        if unknown:
            raise ValueError(
                f"class_weight names the classes {unknown}, which are not in y; the "
                f"classes are {names[:10]}."
            )
        weights = [class_weight.get(label, 1.0) for label in names]
        weights += [1.0] * (len(total) - len(weights))
        if not all(is_number(w) and 0 <= w <= sys.float_info.max for w in weights):
            raise ValueError(
                "class_weight must be finite, non-negative numbers; got "
                f"{class_weight}."
            )
    return np.asarray(weights, dtype=np.float64)


def mean_weights(weights, target):
    """Mean weight of the classes of each row under its target.

    Parameters
    ----------
    weights : ndarray of shape (n_classes,)
    target : target of shape (n_samples, n_classes)

    Returns
    -------
    means : ndarray of shape (n_samples,)

    Examples
    --------
    >>> import numpy as np
    >>> from skprob.targets import DenseTarget, mean_weights
    >>> mean_weights(np.array([1.0, 3.0]), DenseTarget(np.array([[0.5, 0.5]])))
    array([2.])
    """
    total = target.inner(np.broadcast_to(1.0, target.shape))
    mean = target.inner(np.broadcast_to(weights, target.shape))
    # Distributions sum to one; a row without a label has the weight one.
    return np.divide(mean, total, out=np.ones_like(mean), where=total > 0)
