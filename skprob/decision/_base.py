"""The base class of decision rules: from probabilities of labels to a set a row."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Literal, Self, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, _fit_context
from sklearn.utils.validation import check_is_fitted

from .._utils.checks import in_order, lined_up
from .._utils.names import KeywordsChecked, did_you_mean
from .._utils.typing import AnyArray, Array, ArrayLike, MatrixLike, same_signature
from ._blocks import dense_blocks, with_rows
from ._input import as_features, as_probabilities
from ._least_cost import LeastCost
from ._sample import Sample, checked_sample

POLYTOPES = ("simplex", "cube")


class DecisionRule(KeywordsChecked, BaseEstimator, metaclass=ABCMeta):
    """Base class of the rules that make label sets of probabilities.

    Fit a rule to out-of-fold probabilities, such as those of
    :func:`~sklearn.model_selection.cross_val_predict` with the labels Y in
    ``params={"y": Y}``, or to those of held-out rows. They may be those of any
    classifier.

    If no row had an empty set in ``fit``, ``predict`` returns no empty set: each row
    has at least its most probable label, on the scale that the rule uses.

    A subclass implements ``_fit(sample)``, which sets the fitted attributes, and
    ``_chosen(probabilities, sizes)`` for a dense block of rows, where ``sizes`` are the
    expected sizes if ``uses_features`` is true, and None otherwise.

    ``fit`` and ``predict`` check their arguments. ``fit_sample`` and ``predict_blocks``
    take checked data, a block of rows at a time.
    """

    _parameter_constraints: dict = {}
    #: Whether ``_fit`` uses ``sample.known``. Otherwise the probabilities of entries
    #: that are not known are zero in the sample, as are their labels.
    _uses_known = False

    def __init__(self) -> None:
        # Rules without parameters have this constructor, not one of any arguments.
        pass

    @same_signature(_fit_context(prefer_skip_nested_validation=True))
    def fit(
        self,
        probabilities: MatrixLike,
        labels: MatrixLike,
        sample_weight: ArrayLike | None = None,
        X: MatrixLike | None = None,
        *,
        polytope: Literal["simplex", "cube"] = "simplex",
    ) -> Self:
        """Fit the rule.

        Parameters
        ----------
        probabilities : array-like or sparse matrix of shape (n_samples, n_labels)
            Non-negative; out-of-fold, or of held-out rows. Columns of two DataFrames
            are matched by name.
        labels : array-like or sparse matrix of shape (n_samples, n_labels)
            0/1 indicator of the true sets. For marginals, NaN stands for an entry that
            is not known and is left out.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows; 1 if not given.
        X : array-like or sparse matrix of shape (n_samples, n_features), default=None
            The features, for a rule that predicts the size of a set from them.
        polytope : {"simplex", "cube"}, default="simplex"
            "simplex" for shares, which sum to one in each row, or to less if the rest
            is the probability of "no label"; "cube" for marginals, each the probability
            that its label is in the set. The expected size of a set is the sum of the
            marginals.

        Returns
        -------
        self : object
        """
        names, (probabilities, labels) = lined_up(
            probabilities=probabilities, labels=labels
        )
        if polytope not in POLYTOPES:
            raise ValueError(
                f"polytope must be one of {POLYTOPES}; got {polytope!r}."
                f"{did_you_mean(polytope, POLYTOPES)}"
            )
        sample = checked_sample(
            probabilities, labels, sample_weight, X=X, polytope=polytope
        )
        self.fit_sample(sample)
        self.label_names_ = names
        return self

    def predict(
        self, probabilities: MatrixLike, X: MatrixLike | None = None
    ) -> AnyArray:
        """Predict the label set of each row.

        Parameters
        ----------
        probabilities : array-like or sparse matrix of shape (n_samples, n_labels)
            Columns of a DataFrame are matched with ``label_names_``.
        X : array-like or sparse matrix of shape (n_samples, n_features), default=None
            The features, if the fitted rule uses them.

        Returns
        -------
        sets : ndarray or CSR array of shape (n_samples, n_labels)
            0/1 indicator; CSR if `probabilities` is sparse.
        """
        # A rule without a fit takes any number of columns.
        names = getattr(self, "label_names_", None)
        if names is not None:
            probabilities = in_order("probabilities", probabilities, names)
        p = as_probabilities(probabilities)
        if p.shape[1] != getattr(self, "n_labels_", p.shape[1]):
            raise ValueError(
                f"probabilities must have {self.n_labels_} columns, as in fit; got "
                f"{p.shape[1]}."
            )
        if self.uses_features and X is not None:
            X = as_features(X, len_of=p)
        parts = list(self.predict_blocks(dense_blocks(p), X))
        if sparse.issparse(p):
            empty = [sparse.csr_array((0, p.shape[1]), dtype=np.int64)]
            return sparse.vstack(
                [sparse.csr_array(part) for part in parts] or empty, format="csr"
            )
        return np.concatenate(parts) if parts else np.zeros(p.shape, np.int64)

    def fit_sample(self, sample: Sample) -> Self:
        """Fit the rule to checked rows, whose probabilities come in blocks.

        Parameters
        ----------
        sample : Sample

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If a parameter of the rule is not allowed, or the rule needs features and
            the sample has none.

        Examples
        --------
        >>> import numpy as np
        >>> from scipy.sparse import csr_array
        >>> from skprob.decision import CommonCut, Sample
        >>> blocks = [np.array([[0.6, 0.3, 0.1]]), np.array([[0.5, 0.4, 0.1]])]
        >>> labels = csr_array([[1, 0, 0], [1, 1, 0]])
        >>> about = {"polytope": "simplex", "may_be_empty": False, "has_none": False}
        >>> sample = Sample(blocks, labels, weight=np.ones(2), sizes=None, **about)
        >>> round(CommonCut().fit_sample(sample).cut_, 2)
        0.35
        """
        self._validate_params()
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        self._fit(sample if self._uses_known else sample.with_zeros_for_unknown())
        self.label_names_ = None
        self.n_labels_ = sample.labels.shape[1]
        self.polytope_ = sample.polytope
        self.may_be_empty_ = sample.may_be_empty
        return self

    def predict_blocks(
        self, blocks: Iterable[Array], X: MatrixLike | None = None
    ) -> Iterator[Array]:
        """Predict the label sets of checked probabilities, block by block.

        Parameters
        ----------
        blocks : iterable of ndarray of shape (n_rows, n_labels)
            Probabilities, of which no more than a block need be in memory.
        X : ndarray or CSR matrix of shape (n_samples, n_features), default=None
            The features of the rows of all blocks, if ``uses_features`` is true.

        Returns
        -------
        sets : iterator of ndarray of int64 of shape (n_rows, n_labels)
            The 0/1 indicator of each block.

        Raises
        ------
        ValueError
            If the rule uses features and `X` is not given, or has other columns than
            in the fit.

        Examples
        --------
        >>> import numpy as np
        >>> from skprob.decision import CommonCut
        >>> p = np.array([[0.6, 0.3, 0.1], [0.5, 0.4, 0.1]])
        >>> rule = CommonCut().fit(p, [[1, 0, 0], [1, 1, 0]])
        >>> for sets in rule.predict_blocks([p[:1], p[1:]]):
        ...     print(sets)
        [[1 0 0]]
        [[1 1 0]]
        """
        check_is_fitted(self)
        sizes = self._expected_sizes(X) if self.uses_features else None
        pairs = with_rows(blocks, sizes)
        return (self._chosen(p, size).astype(np.int64) for p, size in pairs)

    @property
    def uses_features(self) -> bool:
        """Whether the fitted rule predicts the expected size of a set from features."""
        return getattr(self, "expected_size_", None) is not None

    def _expected_sizes(self, X):
        if X is None:
            raise ValueError(
                f"X must be given: this {type(self).__name__} predicts the expected "
                "size of a set from the features."
            )
        if X.shape[1] != len(self.expected_size_.coef):
            raise ValueError(
                f"X must have {len(self.expected_size_.coef)} features, as in fit; got "
                f"{X.shape[1]}."
            )
        return self.expected_size_(X)

    @abstractmethod
    def _fit(self, sample):
        """Set the fitted attributes."""

    @abstractmethod
    def _chosen(self, p, sizes):
        """Boolean indicator of a dense block of rows."""


#: Types that are accepted as a threshold of label sets or as a rule of labels.
ThresholdLike: TypeAlias = float | ArrayLike | DecisionRule | LeastCost | str
