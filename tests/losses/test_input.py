"""Errors for malformed input and unknown names, and losses by name."""

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.base import clone

from skprob.losses import (
    LOSSES,
    AccuracyLoss,
    FenchelYoungLoss,
    GradientFieldLoss,
    LogLoss,
    SparseSoftmaxLoss,
    get_loss,
)
from skprob.mappings import (
    MAPPINGS,
    Entmax,
    Mapping,
    PerturbMax,
    Softmax,
    SparseSoftmax,
    Temperature,
    Traits,
    get_mapping,
)

SCORES = np.zeros((3, 3))
ONE_HOT = np.eye(3)


class Squares(Mapping):
    """p proportional to 1 + z²: no potential, no shift invariance."""

    traits = Traits(is_shift_invariant=False, is_order_preserving=False)

    def probabilities(self, scores):
        weight = 1 + scores**2
        return weight / weight.sum(axis=1, keepdims=True)


def test_a_loss_without_a_mapping_says_so():
    for make in LOSSES.values():
        with pytest.raises(ValueError, match="needs a mapping: mapping=None stands"):
            make().value(SCORES, ONE_HOT)


@pytest.mark.parametrize(
    ("scores", "target", "message"),
    [
        (np.zeros(3), ONE_HOT, r"scores must have shape .* got 1 dimension"),
        (np.zeros((2, 3, 3)), ONE_HOT, r"scores must have shape .* got 3 dimension"),
        (np.zeros((3, 0)), np.zeros((3, 0)), "scores must have at least one class"),
        ([["a"] * 3] * 3, ONE_HOT, "scores must be real numbers"),
        (SCORES * np.nan, ONE_HOT, "row 0 holds NaN"),
        (np.diag([0, 0, np.inf]), ONE_HOT, r"row 2 holds \+inf"),
        (SCORES - np.inf, ONE_HOT, "row 0 holds nothing but -inf"),
        (SCORES, np.eye(4), r"target must have the shape of scores, \(3, 3\); got"),
        (SCORES, np.ones(3), r"target must have the shape of scores, \(3, 3\); got"),
        (SCORES, ONE_HOT * 1j, "target must be real numbers, got dtype complex128"),
        (SCORES, [[1, 0, 0], [1], [1]], "target must be an array of real numbers"),
        (SCORES, np.diag([1, 1, 0.9]), "row 2 has minimum 0 and sum 0.9"),
        (SCORES, np.diag([1, np.nan, 1]), "target must be rows.* row 1 has"),
        (SCORES, np.full((3, 3), np.inf), "target must be rows"),
        (
            SCORES,
            [[1, 0, 0], [1.5, -0.5, 0], [0, 0, 1]],
            "target must be rows .* row 1 has minimum -0.5 and sum 1",
        ),
    ],
)
def test_malformed_input_is_named(scores, target, message):
    for make in LOSSES.values():
        loss = make(SparseSoftmax() if make is SparseSoftmaxLoss else Softmax())
        with pytest.raises(ValueError, match=message):
            loss.value(scores, target)
        if isinstance(target, np.ndarray) and target.ndim == 2:
            with pytest.raises(ValueError, match=message):
                loss.value_and_gradient(scores, sparse.csr_array(target))


def test_the_bad_row_of_a_sparse_target_is_named():
    target = [[1, 0, 0], [0, 1, 0], [0.5, -0.5, 1]]
    with pytest.raises(ValueError, match=r"row 2 has minimum -0.5 and sum 1"):
        LogLoss("softmax").value(SCORES, sparse.csr_array(target))
    with pytest.raises(ValueError, match=r"row 1 has minimum 0 and sum 0"):
        LogLoss("softmax").value(SCORES, sparse.csr_array(np.diag([1, 0, 1.0])))


@pytest.mark.parametrize(
    ("direction", "message"),
    [
        (np.zeros((3, 2)), "direction must have the shape of scores"),
        (SCORES * np.nan, "direction must be finite; row 0"),
    ],
)
def test_a_malformed_direction_is_named(direction, message):
    with pytest.raises(ValueError, match=message):
        FenchelYoungLoss("softmax").hessian_product(SCORES, ONE_HOT, direction)


def test_epsilon_has_a_range():
    for epsilon in (-0.1, 1, np.nan, np.inf, None, "none"):
        with pytest.raises(ValueError, match="'epsilon' parameter of LogLoss"):
            LogLoss("softmax", epsilon=epsilon).value(SCORES, ONE_HOT)


@pytest.mark.parametrize("mapping", ["sparsemax", Entmax(1.5)])
def test_a_mapping_with_zeros_needs_smoothing(mapping):
    with pytest.raises(ValueError, match=r"epsilon must be positive for .*got 0"):
        LogLoss(mapping, epsilon=0).value(SCORES, ONE_HOT)
    with pytest.raises(ValueError, match="epsilon must be positive"):
        get_loss(LogLoss(epsilon=0.0), mapping)


def test_a_bad_parameter_of_the_mapping_is_named():
    for make in LOSSES.values():
        with pytest.raises(ValueError, match="'alpha' parameter of Entmax"):
            make(Entmax(0)).value(SCORES, ONE_HOT)


def test_an_unknown_mapping_gets_the_known_names():
    for make in LOSSES.values():
        with pytest.raises(ValueError, match=r"one of the names .*'sparsemax'.*'sofm"):
            make("sofmax").value(SCORES, ONE_HOT)


def test_fenchel_young_needs_a_potential():
    with pytest.raises(ValueError, match=r"Squares\(\) has none: use LogLoss"):
        FenchelYoungLoss(Squares()).value(SCORES, ONE_HOT)
    with pytest.raises(ValueError, match=r"Squares\(\) has none: use LogLoss"):
        get_loss("fenchel_young", Squares())


@pytest.mark.parametrize("make", [LogLoss, AccuracyLoss])
def test_the_derivative_that_a_mapping_lacks_is_named(make):
    class First(Softmax):
        def linearize(self, scores):
            return super().linearize(scores)._replace(vjp_derivative=None)

        def log_linearize(self, scores):
            return super().log_linearize(scores)._replace(vjp_derivative=None)

    loss = make(First())
    assert loss.value_and_gradient(SCORES, ONE_HOT)[1].shape == (3, 3)
    words = rf"Hessian of {make.__name__} needs second derivatives of First\(\)"
    with pytest.raises(TypeError, match=words):
        loss.hessian_product(SCORES, ONE_HOT, SCORES)


def test_the_log_loss_takes_a_mapping_that_only_has_values():
    # Its derivatives are numerical.
    scores = np.array([[0.5, -1.0, 2.0], [1.0, 0.1, 0.0], [-2.0, 1.0, 0.3]])
    value, gradient = LogLoss(Squares()).value_and_gradient(scores, ONE_HOT)
    p = Squares()(scores)
    np.testing.assert_allclose(value, -np.log(p[ONE_HOT == 1]), rtol=1e-14)
    step = 1e-6
    for move in np.eye(3):
        ahead, behind = (
            LogLoss(Squares()).value(scores + s * step * move, ONE_HOT) for s in (1, -1)
        )
        np.testing.assert_allclose(
            gradient @ move, (ahead - behind) / (2 * step), atol=1e-8
        )


@pytest.mark.parametrize("name", LOSSES)
def test_a_registered_name_gives_its_loss(name):
    for mapping in MAPPINGS:
        message = None
        if name == "fenchel_young" and not MAPPINGS[mapping]().traits.has_potential:
            message = "has none: use LogLoss"
        if name == "infimum" and not MAPPINGS[mapping]().traits.has_potential:
            message = "InfimumLoss needs a mapping with a potential"
        if name == "infimum" and mapping == "entropy_invariant_softmax":
            message = "the same function for all numbers of available classes"
        if name == "sparse_softmax" and mapping != "sparse_softmax":
            message = "needs the mapping SparseSoftmax"
        if mapping == "sigmoid" and name != "fenchel_young":
            message = "needs a mapping whose probabilities sum to one"
        if message:
            with pytest.raises(ValueError, match=message):
                get_loss(name, mapping)
        else:
            loss = get_loss(name, mapping)
            assert type(loss) is LOSSES[name]
            assert type(loss.mapping) is MAPPINGS[mapping]


def test_auto_is_the_matching_loss():
    for mapping in [*MAPPINGS, Squares()]:
        loss = get_loss("auto", mapping)
        expected = FenchelYoungLoss if loss.mapping.traits.has_potential else LogLoss
        assert type(loss) is expected
    assert type(get_loss("auto", by_name)) is GradientFieldLoss


def test_an_unknown_loss_gets_the_known_names():
    for loss in ("hinge", None, 3, LogLoss):
        with pytest.raises(ValueError, match=r"loss must be .*'fenchel_young'.*'log'"):
            get_loss(loss, "softmax")


def test_a_loss_is_copied_with_the_mapping():
    given = LogLoss(epsilon=0.25)
    loss = get_loss(given, "sparsemax")
    assert loss is not given
    assert given.mapping is None
    assert (loss.epsilon, repr(loss.mapping)) == (0.25, "Sparsemax()")
    assert repr(get_loss(LogLoss("sparsemax"), "sparsemax").mapping) == "Sparsemax()"
    with pytest.raises(ValueError, match=r"has the mapping Entmax\(\), but"):
        get_loss(FenchelYoungLoss(Entmax(1.5)), Entmax(1.75))


def by_name(scores):
    return np.full(scores.shape, 1 / scores.shape[1])


def nameless_function():
    """A function that pickle does not find."""

    def function(scores):
        return by_name(scores)

    return function


nameless = nameless_function()


def test_a_loss_may_carry_a_copy_of_the_mapping():
    for make in (
        lambda: Entmax(2),
        lambda: Temperature(Entmax(), 0.5),
        lambda: PerturbMax(stats.t(5)),
        lambda: by_name,
        lambda: nameless,
    ):
        given = get_mapping(make())
        loss = get_loss(LogLoss(clone(given)), clone(get_mapping(make())))
        assert type(loss.mapping) is type(given)


def test_a_loss_with_another_mapping_is_refused():
    for one, other in (
        # Numbers that are written alike, and objects that are not written at all.
        (Entmax(1.5), Entmax(1.5 + 1e-15)),
        (PerturbMax(stats.t(5)), PerturbMax(stats.t(6))),
        (PerturbMax(stats.t(5)), PerturbMax("normal")),
        (Temperature(Entmax(1.5), 0.5), Temperature(Entmax(1.25), 0.5)),
        (Temperature(Softmax(), 0.5), Temperature(Entmax(), 0.5)),
        (by_name, nameless),
        (nameless, by_name),
        (Softmax(), Entmax(1)),
    ):
        with pytest.raises(ValueError, match="loss has the mapping"):
            get_loss(LogLoss(one), other)


def test_parameters_of_the_mapping_are_parameters_of_the_loss():
    loss = clone(LogLoss(Entmax())).set_params(mapping__alpha=2.0, epsilon=0.5)
    assert loss.get_params()["mapping__alpha"] == 2.0
    assert loss.value([[0.0, 2.0]], [[1, 0]]) == pytest.approx(np.log(2 / 0.5))
