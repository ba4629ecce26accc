"""Warnings of matrices of labels that may be mistakes."""

import numpy as np

from .._utils.arrays import to_numpy
from .._utils.warnings import warn


def warn_of_labels(rows):
    """Warn of rows without a label, and of labels in no row or known in none.

    Parameters
    ----------
    rows : RowsInMemory or DaskRows
        Their target is label sets, candidates or distributions.
    """
    if rows.n_unlabelled:
        warn(
            f"{rows.n_unlabelled} of {rows.n_rows} rows have no label; they carry no "
            "target and are left out of the fit.",
        )
    if rows.target_type in ("label_set", "candidates"):
        is_absent = rows.class_totals[: len(rows.classes)] == 0
        if rows.known is not None:
            # Rows of which nothing is known count as known, with the weight zero.
            is_known = rows.known[rows.sample_weight > 0].any(axis=0)
            _warn_of_some(
                rows,
                is_absent & ~is_known,
                "are known in no row of positive weight",
                "nothing can be learnt of them. Leave these columns out.",
            )
            is_absent &= is_known
        _warn_of_some(
            rows, is_absent, "are in no row", "they are kept, with the target zero."
        )


def _warn_of_some(rows, is_chosen, condition, consequence):
    """Warn of labels with this condition, if there are any."""
    chosen = np.flatnonzero(is_chosen)
    if len(chosen):
        names = to_numpy(rows.classes)[chosen[:5]].tolist()
        shown = f"{names}{' and so on' if len(chosen) > 5 else ''}"
        warn(
            f"{len(chosen)} of {len(rows.classes)} labels {condition} (columns "
            f"{shown} of y); {consequence}",
        )
