@every_mapping
def test_derivatives_are_those_of_differences(mapping):
    for n_classes, fit_intercept in SHAPES:
        problem, loss = Problem(n_classes), FenchelYoungLoss(mapping)
        objective = problem.objective(loss, fit_intercept=fit_intercept)
        x = objective.from_model(problem.coef, problem.intercept)
        value, gradient = objective.value_and_gradient(x)
        slope = by_differences(partial(value_only, objective), x, 1e-5)
        assert_allclose(gradient, slope, rtol=1e-5, atol=1e-6)
        there = objective.at(x)
        assert_allclose(there.values, [value], rtol=1e-14)
        assert_allclose(there.gradients, [gradient], rtol=1e-12, atol=1e-15)
        hessian = hessian_at(objective, x)
        slope = by_differences(partial(gradient_at, objective), x, 1e-6)
        largest = np.abs(hessian).max()
        assert_allclose(hessian, slope, rtol=1e-4, atol=2e-5 * largest)
        assert_allclose(hessian, hessian.T, rtol=1e-9, atol=1e-12 * largest)


@every_mapping
@every_shape
def test_all_second_derivatives_are_of_one_hessian(mapping, n_classes, fit_intercept):
    """Whole, by outputs, on average, and its diagonal by moments; at two points."""
    problem, loss = Problem(n_classes), FenchelYoungLoss(mapping)
    objective = problem.objective(loss, l2=0.1, fit_intercept=fit_intercept)
    n_outputs, size = objective.shape
    x = objective.from_model(problem.coef, problem.intercept)
    points = np.array([x, 0 * x, -2 * x])
    ridge = np.zeros((n_outputs, size))
    ridge[:, : len(objective.units.scale)] = 0.1 / objective.units.scale**2
    whole = objective.linearize(points, (0, 0, 0)).hessians(np.array([2, 0]))
    assert whole.shape == (2, n_outputs * size, n_outputs * size)
    for point, found in ((points[2], whole[0]), (points[0], whole[1])):
        hessian, there = hessian_at(objective, point), objective.at(point)
        close = {"rtol": 1e-9, "atol": 1e-12 * np.abs(hessian).max()}
        found = found.reshape(n_outputs, size, n_outputs, size).copy()
        if n_outputs > 1 and fit_intercept:
            # The same added to all intercepts is given a curvature.
            found[:, -1, :, -1] -= 1 / n_outputs
        assert_allclose(found.reshape(hessian.shape), hessian, **close)
        blocks = np.einsum("kikj->kij", found) - np.einsum(
            "ki,ij->kij", ridge, np.eye(size)
        )
        assert_allclose(there.sandwiches(True, 1000), blocks, **close)
        mean = blocks.mean(axis=0, keepdims=True)
        assert_allclose(there.sandwiches(False, 1000), mean, **close)
        assert_allclose(there.ridge, ridge[0])
        total, center, deviation = there.moments()
        diagonal = total * (center**2 + deviation**2)
        assert_allclose(diagonal, np.diag(mean[0]), **close)


def test_a_formula_of_the_hessian_of_softmax():
    problem = Problem(3)
    objective = problem.objective(SOFTMAX_LOSS, l2=0.0)
    x = objective.from_model(problem.coef, problem.intercept)
    z = np.exp(problem.scores())
    p = z / z.sum(axis=1, keepdims=True)
    jacobian = np.einsum("nk,kl->nkl", p, np.eye(3)) - np.einsum("nk,nl->nkl", p, p)
    mean, scale, _ = objective.units
    A = np.hstack([(problem.X - mean) / scale, np.ones((len(p), 1))])
    share = problem.weight / problem.weight.sum()
    expected = np.einsum("n,nkl,ni,nj->kilj", share, jacobian, A, A)
    assert_allclose(hessian_at(objective, x), expected.reshape(15, 15), atol=1e-14)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_without_curvature_are_no_part_of_the_hessian(n_classes):
    """Of a hundred rows five are near a boundary between classes."""
    rng = np.random.default_rng(0)
    X = 20 * np.eye(n_classes)[rng.integers(n_classes, size=100)]
    X += rng.normal(size=X.shape)
    X[:5] = rng.uniform(0, 0.3, size=(5, n_classes))
    target = SparseTarget.from_labels(X.argmax(axis=1), n_classes)
    coef = np.eye(n_classes)
    coef = coef if n_classes > 2 else coef[1:] - coef[:1]
    for container in (np.asarray, sparse.csr_array):
        blocks = split_rows(container(X), target, rng.uniform(size=100))
        objective = LinearObjective(blocks, FenchelYoungLoss("sparsemax"), l2=0.0)
        x = objective.from_model(coef, np.zeros(len(coef)))
        _, n_active = objective.at(x).total_curvature()
        assert n_active == 5
        slope = by_differences(partial(gradient_at, objective), x, 1e-7)
        assert_allclose(hessian_at(objective, x), slope, atol=1e-6)


def test_a_sample_of_the_rows_is_nearly_as_good_and_counts_heavy_rows():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(4000, 3)), rng.integers(3, size=4000)
    weight = 10.0 ** rng.uniform(-6, 6, 4000)
    target = SparseTarget.from_labels(labels, 3)
    objective = LinearObjective(split_rows(X, target, weight), SOFTMAX_LOSS, l2=0.1)
    for x in (objective.initial(), 0.1 * rng.normal(size=objective.n_parameters)):
        there = objective.at(x)
        for by_output in (True, False):
            grams = there.sandwiches(by_output, 4000)
            drawn = there.sandwiches(by_output, 500)
            assert_array_equal(drawn, there.sandwiches(by_output, 500))
            assert not np.allclose(grams, drawn, rtol=1e-9, atol=0)
            for gram, other in zip(grams, drawn, strict=True):
                values = np.linalg.eigvals(np.linalg.solve(gram, other)).real
                assert 0.7 < values.min() <= values.max() < 1.4


@pytest.mark.parametrize("n_classes", [2, 5])
def test_directions_in_single_precision_are_multiplied_in_it(n_classes):
    problem = Problem(n_classes, n_samples=40)
    for container in (np.asarray, sparse.csr_array):
        objective = problem.objective(SOFTMAX_LOSS, X=container(problem.X))
        x, direction = np.random.default_rng(0).normal(size=(2, objective.n_parameters))
        product = objective.at(x).hessian_product
        double = product(direction)
        single = product(direction.astype(np.float32))
        assert_allclose(single, double, rtol=1e-4, atol=1e-5)
        assert (single != double).any()


def test_a_state_can_be_asked_twice():
    """Sums take nothing away from the blocks, and add nothing to them."""
    problem = Problem(3)
    target = as_target(problem.Q, problem.Q.shape, float)
    blocks = in_blocks(problem.X, target, problem.weight, [4, 9])
    objective = LinearObjective(blocks, SOFTMAX_LOSS, l2=0.1)
    x = np.linspace(-1, 1, objective.n_parameters)
    there, states = (
        objective.at(x),
        objective.mean_loss_states(x.reshape(1, 3, 5), keep=True)[0],
    )
    for ask in (
        lambda: there.hessian_product(x),
        lambda: there.hessians(np.array([0])),
        lambda: there.sandwiches(True, 100),
        lambda: states.sum(BlockState.value_and_gradient)[1],
    ):
        assert_array_equal(ask(), ask())
    assert_array_equal(objective.at(x).gradients, there.gradients)


@every_mapping
def test_what_is_not_kept_is_made_anew(mapping):
    problem = Problem(3)
    objective = problem.objective(FenchelYoungLoss(mapping))
    x = np.linspace(-1, 1, objective.n_parameters)[None]
    kept, made = objective.linearize(x), objective.linearize(x, keep=False)
    assert_allclose(made.sandwiches(True, 100), kept.sandwiches(True, 100), rtol=1e-12)
    for one, other in zip(made.moments(), kept.moments(), strict=True):
        assert_allclose(one, other, rtol=1e-12)


@every_mapping
@pytest.mark.parametrize("n_classes", [2, 4])
def test_several_points_and_penalties_at_once_are_each_alone(mapping, n_classes):
    problem, loss = Problem(n_classes), FenchelYoungLoss(mapping)
    strengths = np.array([0.1, 2.0, 0.0])
    together = problem.objective(loss).with_l2(strengths)
    points = np.random.default_rng(0).normal(size=(4, together.n_parameters))
    points[1] = 0
    which = np.array([2, 0, 1, 1])
    values, gradients = together.value_and_gradient(points, which)
    there = together.linearize(points, which)
    hessians = there.hessians(np.arange(4))
    for k, l2 in enumerate(strengths[which]):
        alone = problem.objective(loss).with_l2(l2)
        value, gradient = alone.value_and_gradient(points[k])
        for found in (values, there.values):
            assert_allclose(found[k], value, rtol=1e-13)
        for found in (gradients, there.gradients):
            assert_allclose(found[k], gradient, rtol=1e-11, atol=1e-14)
        (hessian,) = alone.linearize(points[k : k + 1]).hessians(np.array([0]))
        assert_allclose(hessians[k], hessian, rtol=1e-10, atol=1e-13)
