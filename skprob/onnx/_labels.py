"""Types of class labels in a graph."""

from numbers import Integral, Real
from typing import NamedTuple

import numpy as np


class LabelType(NamedTuple):
    """The type of the labels in a graph, whose arrays have one type.

    Attributes
    ----------
    dtype : type
        The type of an array of labels.
    python_type : type
        The type of a single label.
    missing : object
        The label of a row with NaN or infinity.
    tensor : str
        Name of the type in skl2onnx.
    """

    dtype: type
    python_type: type
    missing: object
    tensor: str


_WHOLE = LabelType(np.int64, Integral, np.iinfo(np.int64).min, "Int64TensorType")
# A boolean has no third value.
_BOOLEAN = LabelType(bool, bool, False, "BooleanTensorType")
_REAL = LabelType(np.float64, Real, np.nan, "DoubleTensorType")
_TEXT = LabelType(object, str, "", "StringTensorType")
_TYPES = {"i": _WHOLE, "u": _WHOLE, "b": _BOOLEAN, "f": _REAL, "U": _TEXT}


def label_type(classes):
    """The :class:`LabelType` of classes, an ndarray of shape (n_classes,).

    Raises
    ------
    NotImplementedError
        If they are neither numbers that ONNX has nor strings.
    """
    if classes.dtype.kind == "O" and all(isinstance(name, str) for name in classes):
        return _TEXT
    if classes.dtype.kind not in _TYPES:
        raise NotImplementedError(
            "Classes must be numbers or strings to be converted to ONNX; got "
            f"{classes!r}."
        )
    if classes.dtype.kind == "u" and classes.max() > np.iinfo(np.int64).max:
        raise NotImplementedError(
            "Classes must be at most 2^63 - 1 to be converted to ONNX, whose whole "
            f"numbers are int64; got {classes.max()}."
        )
    return _TYPES[classes.dtype.kind]
