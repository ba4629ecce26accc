"""Targets: labels, label sets or distributions as a distribution for each row.

:func:`encode_target` makes a target from `y`. Losses and objectives use a target by a
few operations, so that labels and label sets, which have few non-zeros in a row, need
not be dense arrays. Every target has

- ``shape``: (n_samples, n_classes);
- ``inner(array)``: inner products of the rows with those of an array;
- ``add_to(array, factor)``: the target times a factor, added to an array in place;
- ``matmul(matrix)``: products of the rows with a matrix;
- ``class_totals(weight)``: the weighted sum of the rows;
- ``second``: for two classes, the probability of the second in each row;
- ``packed()``: the non-zeros of the rows in as few columns as possible, for entropies;
- ``to_dense(dtype)``: the rows as a dense array;
- ``take(rows)``: the target of some rows, given by a slice or by their numbers;
- ``joined(others)``: the rows of the target, then those of others of its kind;
- ``of_classes(classes)``: the target of a slice of the classes.
"""

from ._array import ArrayTarget, target_like
from ._as_labels import as_labels, unique_labels
from ._as_target import as_target
from ._choice_set import check_available, check_target_available
from ._class_weight import class_weight_factors, mean_weights, weights_of_classes
from ._dense import DenseTarget
from ._encode import (
    TARGET_TYPES,
    EncodedTarget,
    encode_rows,
    encode_target,
    infer_target_type,
)
from ._labels import LabelTarget
from ._matrix import check_marginals, column_names
from ._offset import check_offset
from ._smoothed import SmoothedTarget, smoothed_target
from ._sparse import SparseTarget

__all__ = [
    "TARGET_TYPES",
    "ArrayTarget",
    "DenseTarget",
    "EncodedTarget",
    "LabelTarget",
    "SmoothedTarget",
    "SparseTarget",
    "as_labels",
    "as_target",
    "check_available",
    "check_marginals",
    "check_offset",
    "check_target_available",
    "class_weight_factors",
    "column_names",
    "encode_rows",
    "encode_target",
    "infer_target_type",
    "mean_weights",
    "smoothed_target",
    "target_like",
    "unique_labels",
    "weights_of_classes",
]
