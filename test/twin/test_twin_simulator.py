# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The twin's physics against what is known on paper, and its derivatives against differences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from pushes import RADIUS, parameters, push, twin

from drex_ros.objects import load_object, object_names
from drex_ros.twin.parameters import GRAVITY, INDEX, NAMES, SINK, even_body, guess
from drex_ros.twin.simulator import Shape, Twin, at_rest

OBJECTS = ('box', 'can', 'letter_u', 'mug')


def sliding(name: str, velocity: float, turning: float = 0.0) -> Twin:
    """An object that slides along y while the fingertip stays away."""
    shape, model = Shape.of(load_object(name)), load_object(name)
    start = at_rest(shape, np.zeros(3), model.rest_quaternion, SINK)
    start[8], start[12] = velocity, turning
    return Twin(shape, push(name, start=start, beside=-0.5))


@pytest.mark.parametrize('name', OBJECTS)
def test_what_rests_stays(name: str) -> None:
    motion = twin(name, beside=-0.5).run(parameters(name))
    assert np.abs(motion[:, :2] - motion[0, :2]).max() < 2e-4
    assert np.abs(motion[:, 2] - motion[0, 2]).max() < 3e-4
    assert np.abs(motion[:, 3:7] - motion[0, 3:7]).max() < 5e-3


@pytest.mark.parametrize('name', object_names())
def test_every_object_rests_and_is_pushed_in_steps_of_half_a_millisecond(name: str) -> None:
    push_of = twin(name, speed=0.5)
    motion = push_of.run(np.array([parameters(name, mass=mass) for mass in (0.03, 2.0)]))
    assert np.isfinite(motion).all()
    assert np.abs(motion[:, :, 10:13]).max() < 2.0
    # Before it is touched, and at the end.
    assert np.abs(motion[:, 0, 10:16]).max() < 0.05
    assert np.abs(motion[:, -1, 10:13]).max() < 0.3


@pytest.mark.parametrize('friction', [0.2, 0.5])
def test_a_free_slide_ends_where_friction_says(friction: float) -> None:
    motion = sliding('cookie', 0.5).run(parameters('cookie', friction=friction))
    distance = motion[-1, 1] - motion[0, 1]
    assert distance == pytest.approx(0.5**2 / (2.0 * friction * GRAVITY), rel=0.02)


def test_a_free_slide_does_not_depend_on_the_mass() -> None:
    slide = sliding('cookie', 0.4)
    motion, slopes = slide.derivatives(parameters('cookie'), ('mass',))
    assert np.abs(slopes[:, :3]).max() < 1e-9
    assert motion[-1, 1] > 0.02


def test_heavy_objects_go_less_far_than_light_ones() -> None:
    push_of = twin()
    ends = push_of.run(np.array([parameters(mass=mass) for mass in (0.1, 0.3, 1.0)]))
    assert ends.shape[0] == 3
    assert ends[0, -1, 0] > ends[1, -1, 0] > ends[2, -1, 0] > 0.0


def test_many_at_once_are_the_same_as_one_by_one() -> None:
    push_of = twin('mug')
    many = np.array([parameters('mug', mass=mass) for mass in (0.05, 0.6)])
    together = push_of.run(many)
    for one, motion in zip(many, together, strict=True):
        np.testing.assert_array_equal(push_of.run(one), motion)


def test_a_push_that_misses_touches_nothing() -> None:
    assert twin(beside=-0.3).touched(parameters()) == 0.0
    assert 1e-5 < twin().touched(parameters()) < RADIUS


@pytest.mark.parametrize('name', OBJECTS)
def test_derivatives_are_those_of_central_differences(name: str) -> None:
    push_of, theta = twin(name), parameters(name)
    theta[INDEX['robot_friction']] = 0.05
    motion, slopes = push_of.derivatives(theta, NAMES)
    np.testing.assert_allclose(motion, push_of.run(theta), atol=1e-12)
    for i, each in enumerate(NAMES):
        step = 1e-6 * max(abs(theta[i]), 1e-2)
        ahead, behind = theta.copy(), theta.copy()
        ahead[i] += step
        behind[i] -= step
        differences = (push_of.run(ahead) - push_of.run(behind)) / (2.0 * step)
        scale = np.abs(slopes[:, :, i]).max()
        rounding = 1e-13 / step
        assert np.abs(differences - slopes[:, :, i]).max() < 1e-3 * scale + rounding, each


@pytest.mark.parametrize('step', [2.5e-4, 5e-4, 1e-3])
@pytest.mark.parametrize('friction', [0.05, 0.3, 1.0])
@pytest.mark.parametrize('mass', [0.02, 0.3, 2.0])
def test_derivatives_are_right_from_light_to_heavy(
    mass: float, friction: float, step: float
) -> None:
    push_of = twin(step=step, duration=4000 * step)
    theta = parameters(mass=mass, friction=friction)
    _, slopes = push_of.derivatives(theta, ('mass', 'friction'))
    assert np.isfinite(slopes).all()
    for i, name in enumerate(('mass', 'friction')):
        change = 1e-6 * theta[INDEX[name]]
        ahead, behind = theta.copy(), theta.copy()
        ahead[INDEX[name]] += change
        behind[INDEX[name]] -= change
        differences = (push_of.run(ahead) - push_of.run(behind)) / (2.0 * change)
        scale = np.abs(slopes[:, :3, i]).max()
        assert np.abs(differences - slopes[:, :, i])[:, :3].max() < 2e-3 * scale


def test_unstable_settings_are_refused_with_the_rule() -> None:
    with pytest.raises(ValueError, match=r'a step of 5 ms is unstable at the table: k dt\^2 / m'):
        twin(step=5e-3).run(parameters())
    stiff = parameters(mass=0.02)
    stiff[INDEX['finger_stiffness']] = 1e6
    with pytest.raises(ValueError, match='unstable at the fingertip'):
        twin().run(stiff)


def test_nonsense_is_refused() -> None:
    push_of, theta = twin(), parameters()
    with pytest.raises(ValueError, match=r'parameters have shape \(3,\), must be'):
        push_of.run(theta[:3])
    with pytest.raises(ValueError, match='not finite: mass'):
        push_of.run(np.where(np.arange(len(theta)) == 0, np.nan, theta))
    with pytest.raises(ValueError, match=r'mass is -0\.3, must be positive'):
        push_of.run(np.where(np.arange(len(theta)) == 0, -0.3, theta))
    with pytest.raises(ValueError, match="no parameter 'weight'; there are: mass"):
        push_of.derivatives(theta, ('weight',))
    plain = push()
    with pytest.raises(ValueError, match=r'tip has shape \(3,\), must be \(6,\)'):
        replace(plain, tip=np.zeros(3))
    with pytest.raises(ValueError, match='times go from 0 to 9 s, must be within 0 and 2 s'):
        replace(plain, times=np.array((0.0, 9.0)))
    with pytest.raises(ValueError, match='command holds numbers that are not finite'):
        replace(plain, command=plain.command * np.nan)
    with pytest.raises(ValueError, match='times must be a row of at least one, in order'):
        replace(plain, times=np.array((1.0, 0.5)))


def test_the_guess_knows_only_the_shape() -> None:
    model = load_object('dumbbell')
    other = replace(model, mass=9.0, friction=0.9, centre_of_mass=np.ones(3), inertia=np.eye(3))
    np.testing.assert_array_equal(
        guess(model, mass=0.5, friction=0.3), guess(other, mass=0.5, friction=0.3)
    )


def test_an_even_body() -> None:
    import trimesh

    box = trimesh.creation.box((0.1, 0.2, 0.3))
    box.apply_translation((0.4, -0.1, 0.2))
    volume, centre, inertia = even_body(np.asarray(box.vertices), np.asarray(box.faces))
    assert volume == pytest.approx(0.006)
    np.testing.assert_allclose(centre, (0.4, -0.1, 0.2))
    squares = np.array((0.01, 0.04, 0.09))
    np.testing.assert_allclose(
        inertia, np.diag((squares.sum() - squares) * volume / 12.0), atol=1e-15
    )
    with pytest.raises(ValueError, match='must be closed and face out'):
        even_body(np.asarray(box.vertices), np.asarray(box.faces)[:, ::-1])
