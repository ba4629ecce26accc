"""Parts of error messages."""


def row_and_others(wrong):
    """The first wrong row, and the number of the others.

    Parameters
    ----------
    wrong : ndarray of bool of shape (n_samples,)
        True in at least one row.

    Returns
    -------
    rows : str

    Examples
    --------
    >>> import numpy as np
    >>> for wrong in [0, 0, 1], [0, 1, 1], [1, 1, 1]:
    ...     print(row_and_others(np.array(wrong, dtype=bool)))
    row 2
    row 1 and 1 other row
    row 0 and 2 other rows
    """
    n_others = int(wrong.sum()) - 1
    first = f"row {int(wrong.argmax())}"
    if not n_others:
        return first
    return f"{first} and {n_others} other row{'s' if n_others > 1 else ''}"
