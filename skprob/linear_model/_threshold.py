"""The cut above which a label is predicted to be in the set."""

import numpy as np


def matching_threshold(probabilities, n_labels):
    """The cut at which as many labels are predicted as there are.

    Parameters
    ----------
    probabilities : ndarray of shape (n_samples, n_classes)
    n_labels : int
        Number of labels in all rows together, at least 1.

    Returns
    -------
    threshold : float
        Between the last probability that is to be above it and the next.

    Examples
    --------
    >>> import numpy as np
    >>> p = np.array([[0.6, 0.3, 0.1], [0.5, 0.4, 0.1]])
    >>> round(matching_threshold(p, n_labels=3), 2)
    0.35
    """
    flat = probabilities.ravel()
    if n_labels >= flat.size:
        return 0.0
    # Ascending positions of the highest excluded and the lowest included.
    position = flat.size - n_labels
    below, above = np.partition(flat, [position - 1, position])[position - 1 :][:2]
    return float((below + above) / 2)
