"""Probabilities of any classifier as one matrix."""

import numpy as np
from scipy import sparse

from .arrays import to_numpy


def class_probabilities(model, X):
    """``predict_proba`` as a matrix with a column for each class or label.

    Parameters
    ----------
    model : estimator
        Fitted. For label sets some classifiers of scikit-learn return a list with two
        columns for each label.
    X : object
        Rows, as the classifier takes them.

    Returns
    -------
    probabilities : ndarray or sparse matrix of shape (n_samples, n_classes)

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, Y = [[0], [1]], [[0, 1, 1], [1, 0, 1]]
    >>> class_probabilities(DecisionTreeClassifier().fit(X, Y), X)
    array([[0., 1., 1.],
           [1., 0., 1.]])
    """
    p = model.predict_proba(X)
    if not isinstance(p, list):
        return p if sparse.issparse(p) else np.asarray(to_numpy(p))
    # A label that all training rows have, or none has, is a single class.
    columns = [
        of_label[:, 1] if of_label.shape[1] == 2 else of_label[:, 0] * only[0]
        for of_label, only in zip(p, model.classes_, strict=True)
    ]
    return np.stack(columns, axis=1)
