"""Descriptions of objectives of any size."""

from skprob.mappings import Sparsemax

from .training_problems import classes, objective_of

DENSE = objective_of(*classes(3)).description
SPARSE_MAPPING = objective_of(*classes(3), Sparsemax()).description


def sized(n_rows, n_columns, n_outputs, *, base=DENSE, density=1.0, **kind):
    """The description of an objective of another size."""
    return base._replace(
        n_rows=n_rows,
        n_stored=int(n_rows * n_columns * density),
        shape=(n_outputs, n_columns),
        **kind,
    )
