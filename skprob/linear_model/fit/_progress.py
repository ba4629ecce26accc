"""Reports of a fit's progress: scikit-learn's callbacks and `verbose`."""


class FitProgress:
    """Solver callback that reports each iteration.

    scikit-learn's callbacks get one task per iteration, opened before the iteration
    and closed after it.

    Parameters
    ----------
    estimator : estimator
        Being fitted; its ``verbose`` is read: 1 prints every tenth iteration, 2 every
        one.
    context : CallbackContext
        Of the whole fit.
    data : dict
        ``X``, ``y`` and ``metadata`` of the fit, for the callbacks.
    fitted_attributes : callable
        ``fitted_attributes(parameters)`` are the attributes that an estimator needs to
        predict.
    """

    def __init__(self, estimator, context, data, fitted_attributes):
        self._estimator = estimator
        self._context = context
        self._data = data
        self._fitted_attributes = fitted_attributes
        self._iteration = self._parameters = None

    @property
    def has_callbacks(self):
        """Whether the estimator, or a search that fits it, has callbacks."""
        return bool(getattr(self._estimator, "_skl_callbacks", None))

    def begin(self, parameters):
        """Open the task of the next iteration."""
        if not self.has_callbacks:
            return
        self._parameters = parameters
        self._iteration = self._context.subcontext(task_name="iteration")
        self._iteration.call_on_fit_task_begin(
            estimator=self._estimator,
            reconstruction_attributes=lambda: self._fitted_attributes(parameters),
            **self._data,
        )

    def __call__(self, n_iter, parameters, value, gradient_norm, last):
        """Close the task of an iteration and, unless it is the last, open one.

        Returns
        -------
        stop : bool
            Whether a callback asks the fit to stop.
        """
        self._print(n_iter, value, gradient_norm, last)
        stop = self._close(parameters)
        if not (stop or last):
            self.begin(parameters)
        return stop

    def end(self):
        """Close the task of an iteration that the solver gave up."""
        self._close(self._parameters)

    def _close(self, parameters):
        if self._iteration is None:
            return False
        stop = self._iteration.call_on_fit_task_end(
            estimator=self._estimator,
            reconstruction_attributes=lambda: self._fitted_attributes(parameters),
            **self._data,
        )
        self._iteration = None
        return stop

    def _print(self, n_iter, value, gradient_norm, last):
        verbose = self._estimator.verbose
        if verbose > 1 or (verbose == 1 and (last or n_iter % 10 == 0)):
            print(
                f"[{type(self._estimator).__name__}] iteration {n_iter}: "
                f"objective {value:.8g}, largest gradient entry {gradient_norm:.3g}"
            )
