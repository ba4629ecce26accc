"""Coefficients as a CSR array, for models most of whose coefficients are zero."""

from __future__ import annotations

from typing import Self

from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from ..._utils.checks import refuse_arrays


class SparseCoef:
    """Mixin: ``coef_`` dense or sparse, with the same predictions."""

    def sparsify(self) -> Self:
        """Convert ``coef_`` to a CSR array, as scikit-learn's linear models do.

        It takes less memory, in a file too, where more than about half of the
        coefficients are zero: those of features that are zero in all training rows, or
        that were set to zero. Predictions are the same. A later ``fit`` makes it dense.

        Returns
        -------
        self : object
            Fitted estimator.

        Raises
        ------
        NotFittedError
            If the model is not fitted.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from skprob import SparsemaxClassifier
        >>> X, y = load_digits(return_X_y=True)
        >>> model = SparsemaxClassifier().fit(X, y)
        >>> model.coef_[abs(model.coef_) < 0.001] = 0
        >>> p = model.predict_proba(X)
        >>> model.sparsify().coef_.nnz < 640
        True
        >>> bool(abs(model.predict_proba(X) - p).max() < 1e-12)
        True
        """
        check_is_fitted(self)
        refuse_arrays("sparsify", coef_=self.coef_)
        self.coef_ = sparse.csr_array(self.coef_)
        return self

    def densify(self) -> Self:
        """Convert ``coef_`` back to a dense array, which it is after ``fit``.

        Returns
        -------
        self : object
            Fitted estimator.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        """
        check_is_fitted(self)
        if sparse.issparse(self.coef_):
            self.coef_ = self.coef_.toarray()
        return self
