"""Groups of rows that are not independent."""

import numpy as np


def check_groups(groups, n_samples):
    """Numbers of the groups of the rows, of shape (n_samples,).

    Raises
    ------
    ValueError
        If `groups` is not one label for each row, or names fewer than two groups.
    """
    labels = np.asarray(groups)
    if labels.shape != (n_samples,):
        raise ValueError(
            f"groups must be one label for each of the {n_samples} rows; got shape "
            f"{labels.shape}."
        )
    try:
        # NaN is not equal to itself.
        is_missing = [label is None or label != label for label in labels.tolist()]
        names, numbers = np.unique(labels, return_inverse=True)
        has_missing = any(is_missing)
    except TypeError:
        types = {type(label).__name__ for label in labels.tolist()}
        raise ValueError(
            "groups must be labels of one type, such as all numbers or all text, "
            f"without missing values; got {sorted(types)}."
        ) from None
    if has_missing:
        raise ValueError(
            "groups must be one label for each row, without missing values; row "
            f"{is_missing.index(True)} has none."
        )
    if len(names) < 2:
        raise ValueError(f"groups must name at least two groups; got {names.tolist()}.")
    return numbers
