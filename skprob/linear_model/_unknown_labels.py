"""Labels of a set that are not known: NaN in a user's y."""

import numpy as np

from .._utils.checks import fill_unknown


def known_labels(spec, y, sample_weight):
    """A matrix without NaN, which of its entries are known, and weights of the rows.

    Rows of which no entry is known get the weight zero.

    Parameters
    ----------
    spec : FitSpec
    y : ndarray or CSR array of shape (n_samples, n_classes)
    sample_weight : ndarray of shape (n_samples,)

    Returns
    -------
    y : ndarray or CSR array of shape (n_samples, n_classes)
    known : ndarray of bool of shape (n_samples, n_classes) or None
        None if all entries are known.
    sample_weight : ndarray of shape (n_samples,)
    """
    y, known = fill_unknown(y)
    if known is None:
        return y, None, sample_weight
    _check_unknown(spec, known)
    empty = ~known.any(axis=1)
    known |= empty[:, None]
    return y, known, np.where(empty, 0.0, sample_weight)


def _check_unknown(spec, known):
    """Raise where the loss of a row is not a sum over its labels."""
    traits = spec.loss.mapping.traits
    is_cube, is_sum = traits.polytope == "cube", traits.is_separable
    if is_cube and is_sum and spec.target_type in ("auto", "label_set"):
        return
    n_unknown = np.count_nonzero(~known)
    if spec.target_type == "candidates":
        raise ValueError(
            "As candidates, y must be 0 or 1; it contains NaN in "
            f"{n_unknown} entries. Mark classes that may be true with 1."
        )
    advice = "set budget=None" if is_cube and not is_sum else "take SigmoidClassifier"
    raise ValueError(
        "y must be labels, a 0/1 indicator or distributions without NaN for "
        f"{spec.name}; y contains NaN in {n_unknown} entries. Labels of a set that are "
        "not known are left out of the loss by a mapping to marginals without a "
        f"budget: {advice}."
    )
