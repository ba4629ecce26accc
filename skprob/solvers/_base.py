"""Running solvers side by side: what they request is computed for all at once."""

from typing import NamedTuple

import numpy as np


class Point(NamedTuple):
    """An objective at a point."""

    parameters: np.ndarray
    value: float
    gradient: np.ndarray
    linearization: object = None  #: At this point and maybe others.
    place: int = 0  #: Of this point among them.

    def under(self, objective):
        """The point under another penalty, which takes no pass over the data."""
        there = self.linearization.under(objective)
        return Point(self.parameters, float(there.values[0]), there.gradients[0], there)


class HessianAt(NamedTuple):
    """The request for the whole Hessian at a point."""

    point: Point


def run(objective, solvers):
    """Run solvers, one for each problem of an objective, and return their results.

    A solver is a generator. It yields an array to be given the `Point` there, or a
    `HessianAt` to be given that Hessian, and returns its result. On little data one
    evaluation of several points takes hardly longer than that of one.
    """
    results, asked = [None] * len(solvers), {}

    def go_on(i, answer):
        try:
            asked[i] = solvers[i].send(answer)
        except StopIteration as end:
            results[i] = end.value

    for i in range(len(solvers)):
        go_on(i, None)
    while asked:
        hessians = [i for i, what in asked.items() if isinstance(what, HessianAt)]
        if hessians:
            # The others wait, to be evaluated with those that go on from here.
            for i, hessian in _hessians({i: asked.pop(i).point for i in hessians}):
                go_on(i, hessian)
            continue
        which, points = np.array(list(asked)), np.array(list(asked.values()))
        asked.clear()
        there = objective.linearize(points, which)
        found = zip(which, points, there.values.tolist(), there.gradients, strict=True)
        for place, (i, parameters, value, gradient) in enumerate(found):
            go_on(i, Point(parameters, value, gradient, there, place))
    return results


def _hessians(points):
    """Pairs of a problem and the Hessian at its point."""
    by_linearization = {}
    for i, point in points.items():
        there = point.linearization
        by_linearization.setdefault(id(there), (there, []))[1].append((i, point.place))
    for there, pairs in by_linearization.values():
        problems, places = zip(*pairs, strict=True)
        yield from zip(problems, there.hessians(np.array(places)), strict=True)
