"""The size and the kind of an objective, by which a solver is chosen."""

import mmap
from typing import NamedTuple

import numpy as np

from .._utils.arrays import is_host
from ..data import DenseDesign
from ..losses import FenchelYoungLoss

# Most raw predictions that are stored for a duality gap (128 MiB for each array). The
# limit is 8 for each number of X, if that is larger.
_MOST_PREDICTIONS = 1 << 24


class Description(NamedTuple):
    """The size and the kind of an objective."""

    n_rows: int  #: In all blocks.
    n_stored: int  #: Numbers stored of X, in all blocks.
    shape: tuple  #: (n_outputs, n_columns) of the parameters.
    dtype: np.dtype  #: Type of X.
    #: Whether Hessian products are faster in single precision and lose little.
    suits_single_precision: bool = False
    #: Whether X is an array of NumPy in double precision, and not a mapped file.
    is_dense: bool = False
    has_row_scores: bool = False  #: Whether rows have offsets or available classes.
    has_intercept: bool = False  #: Whether the last column is a constant.
    is_linear: bool = True  #: Whether raw predictions are linear in the parameters.
    is_convex: bool = True
    has_bounded_hessian: bool = True
    has_kinks: bool = False  #: Whether it is convex, with a gradient that jumps.
    #: Whether the proximal step of a row's loss has a closed form.
    has_proximal_step: bool = False
    #: Whether the loss is a sum of losses of one raw prediction each.
    is_separable: bool = False
    #: Whether the objective has a method `separate_at`, for each output on its own.
    has_separate_outputs: bool = False
    is_on_host: bool = True  #: Whether the rows are arrays of NumPy or SciPy.
    #: Whether equal changes of all raw predictions of a row do not change the loss.
    is_shift_invariant: bool = False
    is_remote: bool = False  #: Whether a sum over the blocks is a round trip.
    #: Whether the penalty has a part without a derivative at zero.
    has_shrinkage: bool = False

    @property
    def keeps_raw_predictions(self):
        """Whether raw predictions fit in memory, in this process."""
        limit = max(8 * self.n_stored, _MOST_PREDICTIONS)
        return self.n_rows * self.shape[0] <= limit and not self.is_remote

    def with_loss(self, loss):
        """The description with the properties of a loss."""
        traits = loss.traits
        has_closed_form = traits.has_proximal_step and not self.has_row_scores
        return self._replace(
            is_convex=self.is_linear and traits.is_convex,
            has_bounded_hessian=traits.has_bounded_hessian,
            has_kinks=self.is_linear and traits.has_kinks,
            has_proximal_step=self.is_linear and has_closed_form,
            is_separable=self.is_linear and traits.is_separable,
            has_separate_outputs=(
                self.is_linear
                and traits.is_separable
                and traits.is_symmetric
                # The loss is the same function of each output, in a row with one
                # output.
                and isinstance(loss, FenchelYoungLoss)
                and self.is_on_host
                and not self.is_remote
            ),
            is_shift_invariant=self.shape[0] > 1 and traits.is_shift_invariant,
        )


def description_of_block(block):
    """Description of the rows of a block, without a loss.

    Its shape is that of coefficients of each class in each column: (n_classes,
    n_columns).
    """
    design = block.design
    return Description(
        n_rows=design.shape[0],
        n_stored=design.n_stored,
        shape=(block.target.shape[1], design.shape[1]),
        dtype=design.dtype,
        suits_single_precision=design.fits_single_precision,
        is_dense=_is_dense(design),
        has_row_scores=block.has_row_scores,
        is_on_host=is_host(block.weight),
    )


def _is_dense(design):
    """Whether the rows are an array of NumPy in double precision, in memory."""
    if type(design) is not DenseDesign or design.dtype != np.float64:
        return False
    array = design.host_X
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap):
            return False
        array = array.base
    return not isinstance(array, mmap.mmap)
