"""Labels of the rows as an indicator."""

import numpy as np

from ..._utils.checks import distinct_classes


def indicator_of(name, labels, classes):
    """Indicator (n_samples, n_classes) of a label in each row.

    Errors call the labels `name`.
    """
    labels, classes = np.asarray(labels), distinct_classes(classes)
    is_label = labels[:, None] == classes
    known = is_label.any(axis=1)
    if not known.all():
        raise ValueError(
            f"{name} must be one of the classes {classes[:10].tolist()}; got "
            f"{labels[~known][:1].tolist()[0]!r}."
        )
    return is_label.astype(float)
