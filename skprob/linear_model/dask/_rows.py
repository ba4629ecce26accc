"""The rows of a fit to Dask collections, which stay on the workers."""

from contextlib import contextmanager

import dask
import numpy as np
from dask import delayed
from scipy import sparse

from ..._utils.checks import in_order
from ...data import Cluster, DaskBlocks, LocalBlocks, Partition
from ...solvers import Tuning
from ...targets import check_marginals, column_names, weights_of_classes
from .._given import NOTHING
from .._known_threshold import is_fitted_to_rows
from .._training_rows import check_total_weight
from .._trials import trial_scores
from . import _partition as partition
from ._collections import dask_columns, example_of, partitioned, without_rows


@contextmanager
def dask_rows(spec, check_columns, X, y, sample_weight):
    """Context manager: the checked rows of Dask collections, stored on the workers.

    ``check_columns(example)`` returns the checked example of a partition of X, without
    rows.

    Yields
    ------
    rows : DaskRows
    """
    if spec.class_names is not None:
        y = in_order("y", y, np.asarray(spec.class_names))
    pieces = partitioned(X, y, sample_weight)
    # The columns are checked without the rows.
    example = check_columns(example_of(X))
    dtype, n_features = example.dtype, example.shape[1]
    names = dask_columns(X), dask_columns(y)
    expected = names, dtype, n_features, spec.name
    blocks, release = _computed(
        [
            delayed(partition.checked_rows)(*piece, *expected)
            for piece in zip(*pieces, strict=True)
        ]
    )
    try:
        rows = DaskRows(spec, blocks, dtype, y)
        metadata = {"sample_weight": sample_weight}
        rows.for_callbacks = {"X": X, "y": y, "metadata": metadata}
        yield rows
    finally:
        release()


class DaskRows:
    """Rows in the partitions of Dask collections; see :class:`RowsInMemory`.

    Parameters
    ----------
    spec : FitSpec
    blocks : DaskBlocks or LocalBlocks
        The :class:`CheckedRows` of each partition.
    dtype : dtype
        Type of X.
    y : Dask collection, or array in memory
        Its columns have the names of the classes.
    """

    given, known = NOTHING, None
    is_remote = True
    is_on_host = True
    wide_X = None

    def __init__(self, spec, blocks, dtype, y):
        # Raise errors of the checks, and leave out partitions without rows.
        blocks = blocks.split(partition.some_rows)
        summary = partition.combined(
            blocks.collect(partition.summary, spec.target_type)
        )
        polytope = spec.loss.mapping.traits.polytope
        _check_target_type(summary.target_type, polytope, spec.threshold)
        self.dtype, self.n_rows = dtype, summary.n_rows
        self.target_type = summary.target_type
        self.classes = _classes(summary, y, spec.class_names)
        some_empty = self.target_type == "label_set" and summary.n_unlabelled > 0
        is_share = spec.none_class and polytope == "simplex"
        self.has_none = is_share and some_empty
        self.n_scores = len(self.classes) + self.has_none
        arguments = self.target_type, self.classes, polytope, self.has_none
        self._encoded = blocks.map(partition.encode, *arguments)
        self._smoothing = spec.label_smoothing
        self._set_totals(spec.class_weight)

    def _set_totals(self, class_weight):
        """Set the totals of the classes and of the weights, by two passes."""
        sums = self._encoded.sum(partition.target_totals)
        self.class_totals, weighted_totals, n_unlabelled = sums
        self.n_unlabelled = int(n_unlabelled)
        if not self.class_totals[: len(self.classes)].any():
            raise ValueError(
                f"y must have a label in at least one row; got {self.n_rows} without."
            )
        self._class_weights = None
        if class_weight is not None:
            with np.errstate(over="ignore", invalid="ignore"):
                self._class_weights = weights_of_classes(
                    class_weight, self.classes, weighted_totals
                )
        (total,) = self._encoded.sum(partition.total_weight, self._class_weights)
        self.total_weight = float(total)
        check_total_weight(self.total_weight)

    @property
    def classes_like_y(self):
        """See :class:`RowsInMemory`."""
        return self.classes

    def blocks(self, polytope, transform=None, tuning=Tuning()):
        """See :meth:`RowsInMemory.blocks`."""
        arguments = transform, self._class_weights, self._smoothing, polytope
        return self._encoded.split(
            partition.blocks_of, *arguments, self.total_weight, tuning
        )

    @property
    def is_sparse(self):
        """See :attr:`RowsInMemory.is_sparse`."""
        return any(self._encoded.collect(partition.is_sparse))

    def mean_and_deviation(self):
        """See :meth:`RowsInMemory.mean_and_deviation`."""
        moments = self._encoded.map(partition.moments_of_rows, self._class_weights)
        total, mean = moments.sum(partition.weighted_mean)
        mean = mean / total
        (variance,) = moments.sum(partition.variance, mean)
        return mean, np.sqrt(variance / total)

    def check_target(self, loss):
        """See :meth:`RowsInMemory.check_target`."""
        arguments = self._smoothing, loss.traits.polytope
        for error in self._encoded.collect(partition.target_error, loss, *arguments):
            if error is not None:
                raise error

    def trial_scores(self, polytope, transform=None):
        """See :meth:`RowsInMemory.trial_scores`."""
        first = [
            rows
            for rows in self._encoded.collect(partition.first_rows)
            if rows.shape[0]
        ]
        stack = sparse.vstack if sparse.issparse(first[0]) else np.vstack
        X = stack(first)[:64]
        X = sparse.csr_array(X) if sparse.issparse(X) else X
        X = X if transform is None else transform(X)
        return trial_scores(X, self.n_scores, polytope)


def _check_target_type(target_type, polytope, threshold):
    """Raise if collections cannot be fitted to targets of a type."""
    if target_type == "candidates":
        raise ValueError(
            "target_type='candidates' needs X and y in memory, not Dask "
            "collections. Give X.compute() and y.compute()."
        )
    if polytope == "cube":
        check_marginals(target_type)
    if target_type == "label_set" and is_fitted_to_rows(threshold):
        raise ValueError(
            "threshold must be a number, one for each label, 'support' or TopK for a "
            f"fit of Dask collections to label sets; got {threshold!r}, which is "
            "fitted to the probabilities of rows in memory. After the fit, "
            "set_threshold(rule, X, y) takes such a rule with some of the rows."
        )


def _classes(summary, y, class_names):
    """The labels, or the names or numbers of the columns of y."""
    is_class = summary.target_type == "class"
    shape = (summary.n_rows, summary.n_columns)[: 1 if is_class else 2]
    names = column_names(without_rows(y), shape, class_names)
    if is_class:
        return summary.labels
    return np.arange(summary.n_columns) if names is None else names


def _computed(partitions):
    """Blocks of delayed partitions, on the workers, and a function to free them."""
    client = _client()
    if client is None:
        return LocalBlocks(dask.compute(*partitions)), lambda: None
    futures = client.compute([delayed(Partition)(rows) for rows in partitions])
    cluster = Cluster(client, futures)
    try:
        cluster.wait()
    except BaseException:
        cluster.release()
        raise
    return DaskBlocks(cluster), cluster.release


def _client():
    """The active client, unless another scheduler of Dask's has been chosen."""
    if dask.config.get("scheduler", None) not in (None, "dask.distributed"):
        return None
    try:
        from distributed import get_client

        return get_client()
    except (ImportError, ValueError):
        return None
