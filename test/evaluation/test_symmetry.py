# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The group of turns that an object's stated symmetries make."""

import numpy as np
import pytest

from drex_ros.evaluation.symmetry import SymmetryGroup
from drex_ros.objects import Symmetry, load_object
from drex_ros.robot.rotations import quaternion_from_vector, rotation_matrix

TILTED = rotation_matrix(quaternion_from_vector((0.4, -0.3, 1.1)))
"""How the object is in world, in the tests below."""


def turn(*vector: float) -> np.ndarray:
    return rotation_matrix(quaternion_from_vector(vector))


def group_of(name: str) -> SymmetryGroup:
    return SymmetryGroup(load_object(name).symmetry)


@pytest.mark.parametrize(
    ('name', 'observable', 'turns'),
    [('mug', 3, 1), ('lego', 3, 2), ('box', 3, 4), ('dumbbell', 3, 12), ('cup', 2, 1),
     ('can', 2, 2), ('ball', 0, 1)],
)  # fmt: skip
def test_size_of_the_group(name: str, observable: int, turns: int) -> None:
    group = group_of(name)
    assert (group.observable, len(group.turns)) == (observable, turns)


@pytest.mark.parametrize('name', ['mug', 'box', 'cup', 'can', 'ball'])
def test_no_error_when_the_estimate_is_right(name: str) -> None:
    error, basis = group_of(name).error(TILTED, TILTED)
    assert np.allclose(error, 0.0, atol=1e-9)
    assert basis.shape == (3, group_of(name).observable)


def test_error_is_the_turn_from_estimate_to_truth_in_world_axes() -> None:
    error, _ = group_of('mug').error(turn(0.01, -0.02, 0.03) @ TILTED, TILTED)
    assert np.allclose(error, (0.01, -0.02, 0.03), atol=1e-9)


@pytest.mark.parametrize('half', [(np.pi, 0, 0), (0, np.pi, 0), (0, 0, np.pi)])
def test_half_turns_of_a_box_are_no_error(half: tuple[float, float, float]) -> None:
    """Two are stated; the third follows from them."""
    small = turn(0.0, 0.02, 0.0)
    error, _ = group_of('box').error(small @ TILTED, TILTED @ turn(*half))
    assert np.allclose(error, (0.0, 0.02, 0.0), atol=1e-9)


def test_quarter_turn_of_a_box_is_an_error() -> None:
    error, _ = group_of('box').error(TILTED, TILTED @ turn(0.0, 0.0, np.pi / 2))
    assert np.linalg.norm(error) == pytest.approx(np.pi / 2)


def test_spin_of_a_cup_is_no_error_but_its_tilt_is() -> None:
    group = group_of('cup')
    axis = TILTED[:, 2]
    aside = np.cross(axis, (0.0, 0.0, 1.0))
    aside /= np.linalg.norm(aside)
    estimate = TILTED @ turn(0.0, 0.0, 2.0)
    error, basis = group.error(turn(*(0.05 * aside)) @ estimate, estimate)
    assert np.allclose(error, 0.05 * aside, atol=1e-9)
    assert np.allclose(basis.T @ axis, 0.0)
    assert np.allclose(basis.T @ basis, np.eye(2))
    assert np.allclose(basis @ (basis.T @ error), error)


def test_can_may_stand_on_its_head_but_a_cup_may_not() -> None:
    upside_down = TILTED @ turn(np.pi, 0.0, 0.0) @ turn(0.0, 0.0, 0.7)
    assert np.linalg.norm(group_of('can').error(TILTED, upside_down)[0]) < 1e-9
    error, _ = group_of('cup').error(TILTED, upside_down)
    assert np.linalg.norm(error) == pytest.approx(np.pi)


def test_free_axis_that_a_stated_turn_takes_elsewhere_makes_a_ball() -> None:
    z, x = np.array((0.0, 0.0, 1.0)), np.array((1.0, 0.0, 0.0))
    group = SymmetryGroup((Symmetry(z, 0.0), Symmetry(x, np.pi / 2)))
    assert group.observable == 0
    assert group.error(TILTED, np.eye(3))[0].tolist() == [0.0, 0.0, 0.0]


def test_axes_that_do_not_fit_are_refused() -> None:
    z, near = np.array((0.0, 0.0, 1.0)), np.array((0.0, np.sin(0.1), np.cos(0.1)))
    with pytest.raises(ValueError, match='their axes do not fit'):
        SymmetryGroup((Symmetry(z, np.pi), Symmetry(near, np.pi / 2)))
