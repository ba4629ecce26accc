"""Names of types in the signatures of the public functions."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike as ArrayLike
from numpy.typing import NDArray
from scipy import sparse

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
else:
    Axes = Any

Array: TypeAlias = NDArray[Any]
#: An array, a data frame, a sparse matrix, or a Dask collection of either.
MatrixLike: TypeAlias = ArrayLike | sparse.sparray | sparse.spmatrix
#: Dense or sparse, which a parameter decides; lazy for a Dask collection.
AnyArray: TypeAlias = Any
RandomState: TypeAlias = int | np.random.RandomState | None

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def same_signature(decorator: Callable[[Any], Any]) -> Callable[[Decorated], Decorated]:
    """A decorator that does not change the signature for type checkers."""
    return decorator
