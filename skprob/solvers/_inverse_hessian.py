"""What a solver knows of the inverse of the Hessian."""


class InverseHessian:
    """An approximation that is exact along directions that were met.

    Coordinates w = T v in which the Hessian is about the identity stand for it by
    T Tᵀ. Directions s_i with Hessian products y_i and curvatures c_i = ⟨s_i, y_i⟩,
    conjugate to each other, correct it: with P = I - Σ s_i y_iᵀ / c_i it is

        P T Tᵀ Pᵀ + Σ s_i s_iᵀ / c_i,

    which takes y_i to s_i, and is positive definite whatever the rounding.

    Parameters
    ----------
    coordinates : object
        With ``to_original`` and ``gradient``, which is its adjoint.
    met : ConjugateDirections, default=None
        None stands for no direction.

    References
    ----------
    Morales, Nocedal, "Automatic preconditioning by limited memory quasi-Newton
    updating", SIAM Journal on Optimization 2000.

    Gratton, Sartenaer, Tshimanga, "On a class of limited memory preconditioners for
    large scale linear systems with multiple right-hand sides", SIAM Journal on
    Optimization 2011.
    """

    def __init__(self, coordinates, met=None):
        self._coordinates = coordinates
        self._met = met if met is not None and len(met.curvatures) else None

    def times(self, gradient):
        """The product with a gradient, and the square of the gradient's length in it.

        Parameters
        ----------
        gradient : ndarray of shape (n_parameters,)

        Returns
        -------
        product : ndarray of shape (n_parameters,)
        square : float
            ``gradient @ product``, as a sum of squares.
        """
        if self._met is None:
            slope = self._coordinates.gradient(gradient)
            return self._coordinates.to_original(slope), float(slope @ slope)
        directions, products, curvatures = self._met
        along = (directions @ gradient) / curvatures
        slope = self._coordinates.gradient(gradient - along @ products)
        rest = self._coordinates.to_original(slope)
        product = rest + (along - (products @ rest) / curvatures) @ directions
        return product, float(slope @ slope + curvatures @ along**2)
