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

    @classmethod
    def of(cls, blocks):
        """Description of the rows of all blocks, without a loss.

        Its parameters have one row for each class.
        """
        totals = map(int, blocks.sum(_counts))
        (
            n_rows,
            n_stored,
            n_blocks,
            n_single,
            n_dense,
            n_row_scores,
            n_on_host,
            *sums,
        ) = totals
        # The blocks agree on their shapes and dtype.
        n_classes, n_columns, itemsize = np.floor_divide(sums, n_blocks).tolist()
        return cls(
            n_rows=n_rows,
            n_stored=n_stored,
            shape=(n_classes, n_columns),
            dtype=np.dtype(f"f{itemsize}"),
            suits_single_precision=n_single == n_blocks,
            is_dense=n_dense == n_blocks,
            has_row_scores=n_row_scores == n_blocks,
            is_on_host=n_on_host == n_blocks,
            is_remote=blocks.is_remote,
        )

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


def _counts(block):
    """Counts of a block, to be added up; the last three are the same in all blocks."""
    design = block.design
    n_rows, n_columns = design.shape
    return (
        n_rows,
        design.n_stored,
        1,
        int(design.fits_single_precision),
        int(_is_dense(design)),
        int(block.has_row_scores),
        int(is_host(block.weight)),
        block.target.shape[1],
        n_columns,
        design.dtype.itemsize,
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
