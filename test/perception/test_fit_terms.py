# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What depth, outline and inner edges say about a pose, on pictures without noise."""

from __future__ import annotations

import numpy as np
import pytest
from rendered import CAMERA, Place, at, exact, mesh_of, off, seen_pose

from drex_ros.perception import contour_term, depth_term
from drex_ros.perception.colour_search import towards_colours
from drex_ros.perception.contact_prior import ContactPrior
from drex_ros.perception.edge_lines import add_line, mirror, offset, smooth_step
from drex_ros.perception.fit import FINE, MIDDLE
from drex_ros.perception.frame import Colour, RgbdFrame
from drex_ros.perception.model_fit import ModelFitter
from drex_ros.perception.model_view import table_plane
from drex_ros.perception.normal_equations import (
    covariance_of,
    largest_deviation,
    leave,
    solve,
    turns_of,
)
from drex_ros.perception.poses import Pose
from drex_ros.perception.raster import NOTHING
from drex_ros.robot.joints import Array
from drex_ros.robot.rotations import matrix_from_vector

PLACE = at(0.5, 0.03, 0.4)
# The handle is before the mug, as the camera sees it.
HANDLE_AHEAD = at(0.5, 0.0, 0.2)
OFFSETS = [
    sign * size * axis
    for axis, size in zip(np.eye(6), np.repeat((0.002, np.radians(2.0)), 3), strict=True)
    for sign in (-1.0, 1.0)
]


def fitter_of(name: str, place: Place = PLACE, frame: RgbdFrame | None = None) -> ModelFitter:
    """A fitter that knows the object's colours and looks at it."""
    fitter, clear = ModelFitter(mesh_of(name), CAMERA), exact(name, place)
    fitter.look_at(clear)
    assert fitter.draw(seen_pose(name, place))
    fitter.learn(clear, 1.0)
    fitter.look_at(frame or clear)
    return fitter


def no_table(fitter: ModelFitter) -> ContactPrior:
    return ContactPrior(fitter.mesh, fitter.table)


@pytest.mark.parametrize('name', ['box', 'mug'])
@pytest.mark.parametrize('term', ['depth', 'contour'])
def test_the_gradient_points_back_to_the_truth(name: str, term: str) -> None:
    fitter, frame, truth = fitter_of(name), exact(name, PLACE), seen_pose(name, PLACE)
    sums = fitter._depth if term == 'depth' else fitter._contour
    for step in OFFSETS:
        pose = truth.moved(step)
        assert fitter.draw(pose)
        fitter.look_around(frame)
        information, gradient, _ = sums(frame, pose, FINE[0])
        # A linear world would give 1; an outline that moves by half a pixel says less.
        length = -(gradient @ step) / (step @ information @ step)
        assert 0.4 < length < 2.0, step
        np.testing.assert_allclose(information, information.T)
        assert np.linalg.eigvalsh(information).min() > -1e-6 * information.max()


@pytest.mark.parametrize('name', ['box', 'mug'])
def test_depth_alone_leads_back_from_all_sides(name: str) -> None:
    fitter = fitter_of(name)
    fitter.use_relief = False
    for step in OFFSETS:
        start = seen_pose(name, PLACE).moved(step)
        fit = fitter.fit(start, MIDDLE, no_table(fitter), use_contour=False)
        place, turn = off(name, fit.pose, PLACE)
        assert place < 0.05, step
        assert turn < 0.05, step
        assert fit.inliers > 0.99
        assert fit.violated == 0.0


@pytest.mark.parametrize('name', ['box', 'mug'])
def test_all_terms_together_lead_back_from_all_sides(name: str) -> None:
    fitter = fitter_of(name)
    for step in OFFSETS:
        start = seen_pose(name, PLACE).moved(step)
        contact = no_table(fitter)
        contact.stand(start)
        assert contact.active
        fit = fitter.fit(start, MIDDLE, contact)
        place, turn = off(name, fit.pose, PLACE)
        assert place < 0.3, step
        assert turn < 0.3, step
        assert fit.outline_lines > 50
        again = fitter.fit(fit.pose, FINE, contact)
        assert off(name, again.pose, PLACE)[0] < 0.3
        assert again.contour_distance < 0.7


def test_the_outline_alone_leads_back_along_the_picture() -> None:
    fitter = fitter_of('box')
    frame, truth = exact('box', PLACE), seen_pose('box', PLACE)
    for step in OFFSETS[:4]:
        pose = truth.moved(step)
        for stage in (*MIDDLE, *FINE):
            assert fitter.draw(pose)
            fitter.look_around(frame)
            information, gradient, counts = fitter._contour(frame, pose, stage)
            pose = pose.moved(np.linalg.solve(information + np.eye(6), gradient))
        assert np.abs(pose.step_to(truth)[:2]).max() < 0.5e-3
        assert counts[contour_term.USED] > 0.5 * counts[contour_term.LINES]


def barred(colour: tuple[int, int, int]) -> RgbdFrame:
    """The box behind a bar that ends on the box, its depth ragged and wider than its colour."""
    clear = exact('box', PLACE)
    fitter = fitter_of('box')
    assert fitter.draw(seen_pose('box', PLACE))
    left, _, width, _ = fitter.region.tolist()
    middle = left + width // 2
    picture, depth = clear.colour.copy(), clear.depth.copy()
    picture[:, middle - 12 : middle + 12] = colour
    depth[:, middle - 16 : middle + 16] = 0.3
    depth[:, middle - 30 : middle - 16] = 0.0  # what one of the two cameras does not see
    return RgbdFrame(0.0, picture, depth)


@pytest.mark.parametrize('colour', [(40, 40, 45), (200, 180, 140)])
def test_edges_of_a_bar_before_the_object_are_not_its_outline(
    colour: tuple[int, int, int],
) -> None:
    """Whether the bar has a colour of its own, or nearly that of the table."""
    frame = barred(colour)
    fitter, truth = fitter_of('box', frame=frame), seen_pose('box', PLACE)
    assert fitter.draw(truth)
    fitter.look_around(frame)
    _, _, counts = fitter._contour(frame, truth, FINE[0])
    assert counts[contour_term.USED] > 0.3 * counts[contour_term.LINES]
    assert counts[contour_term.DISTANCE] < 0.7 * counts[contour_term.USED]
    contact = no_table(fitter)
    contact.stand(truth)
    fit = fitter.fit(truth.moved(OFFSETS[0] + OFFSETS[10]), FINE, contact)
    place, turn = off('box', fit.pose, PLACE)
    assert place < 0.7
    assert turn < 0.7


def test_an_edge_before_the_object_itself_tells_its_turn() -> None:
    fitter = fitter_of('mug', HANDLE_AHEAD)
    frame, truth = exact('mug', HANDLE_AHEAD), seen_pose('mug', HANDLE_AHEAD)
    up = fitter.table[:3]
    for sign in (-1.0, 1.0):
        step = np.concatenate((np.zeros(3), sign * np.radians(3.0) * up))
        pose = truth.moved(step)
        assert fitter.draw(pose)
        fitter.look_around(frame)
        information, gradient = fitter._relief(frame, pose)
        assert step @ information @ step > 0.0
        assert 0.3 < -(gradient @ step) / (step @ information @ step) < 2.0


def test_depth_counts_what_hides_the_object_and_what_is_seen_through_it() -> None:
    clear, truth = exact('box', PLACE), seen_pose('box', PLACE)

    def counts(
        depth: Array, robot: float = float(NOTHING), colour: Colour = clear.colour
    ) -> Array:
        fitter = fitter_of('box')
        fitter.robot[:] = robot
        frame = RgbdFrame(0.0, colour, depth.astype(np.float32))
        fitter.look_at(frame)
        assert fitter.draw(truth)
        fitter.look_around(frame)
        return fitter._depth(frame, truth, FINE[0])[2]

    plain = counts(clear.depth)
    total = plain[depth_term.TOTAL]
    assert total > 300
    assert plain[depth_term.INLIERS] == total
    assert counts(np.zeros_like(clear.depth))[depth_term.MISSING] == total
    assert counts(clear.depth - 0.2)[depth_term.OCCLUDED] == total
    beyond = np.full_like(clear.colour, (200, 180, 140))
    assert counts(clear.depth + 0.2, colour=beyond)[depth_term.VIOLATED] == total
    # Depth that misses a thing whose colours are there says nothing.
    assert counts(clear.depth + 0.2)[depth_term.MISSING] == total
    assert counts(clear.depth, robot=0.3)[depth_term.OCCLUDED] == total
    assert counts(clear.depth + 0.2)[depth_term.INLIERS] == 0.0


def test_the_scale_of_the_depth_is_taken_into_account() -> None:
    clear, truth = exact('box', PLACE), seen_pose('box', PLACE)
    wrong = RgbdFrame(0.0, clear.colour, clear.depth * np.float32(1.0 / 1.01))
    fitter = fitter_of('box', frame=wrong)
    fit = fitter.fit(truth, MIDDLE, no_table(fitter), use_contour=False)
    assert off('box', fit.pose, PLACE)[0] > 3.0
    fitter.scale = 1.01
    fit = fitter.fit(truth, MIDDLE, no_table(fitter), use_contour=False)
    assert off('box', fit.pose, PLACE)[0] < 0.1


def test_a_fit_that_leaves_the_picture_is_none() -> None:
    fitter = fitter_of('box')
    away = Pose(np.array((3.0, 0.0, 0.7)), np.eye(3))
    assert fitter.fit(away, FINE, no_table(fitter)) is None


def test_the_table_is_a_plane_of_heights() -> None:
    plane = table_plane(CAMERA, 0.01)
    for point in ((0.5, 0.1, 0.0), (0.3, -0.2, 0.25)):
        optical = CAMERA.to_optical(point)
        assert plane[:3] @ optical + plane[3] == pytest.approx(point[2] - 0.01)


@pytest.mark.parametrize('name', ['box', 'screwdriver'])
def test_colours_lead_near_the_object_from_farther_off(name: str) -> None:
    fitter, truth = fitter_of(name), seen_pose(name, PLACE)
    normal = fitter.table[:3]
    along = np.cross(normal, (0.0, 0.0, 1.0))
    along /= np.linalg.norm(along)
    start = truth.moved(np.concatenate((0.012 * along, np.radians(15.0) * normal)))
    nearer = towards_colours(fitter, start)
    assert nearer is not None
    place, turned = off(name, nearer, PLACE)
    assert place < 6.0
    # Only a slim thing shows by its colours how it is turned.
    assert turned < 4.0 if name == 'screwdriver' else turned == pytest.approx(15.0)
    # Where there is nothing of its colours, they say nothing.
    clear = exact(name, PLACE)
    fitter.look_at(RgbdFrame(0.0, np.zeros_like(clear.colour), clear.depth))
    assert towards_colours(fitter, start) is None


@pytest.mark.parametrize('shift', [-3, 0, 2])
def test_an_edge_is_found_where_the_chances_change(shift: int) -> None:
    samples, reach = 11, 6
    table = smooth_step(samples, reach, 0.5, 0.43)
    place = np.arange(-samples, samples + 1)
    mean, spread = offset(np.where(place < shift, 0.95, 0.05), samples, reach, table)
    # The change is between two samples: half a step before the first outside.
    assert mean == pytest.approx(shift - 0.5, abs=0.3)
    assert 0.0 < spread < 1.0
    _, unsure = offset(np.full(2 * samples + 1, 0.5), samples, reach, table)
    assert unsure > 10.0


def test_a_line_pulls_the_edge_along_its_normal() -> None:
    lens, origin = np.array((600.0, 600.0, 320.0, 240.0)), np.array((0.0, 0.0, 0.8))
    information, gradient = np.zeros((6, 6)), np.zeros(6)
    # A point on the optical axis's right, seen two pixels farther right than drawn.
    add_line(
        lens, 1.0, 0.0, 0.05, 0.0, 0.8, origin, np.zeros((2, 3)), 0.5, np.eye(3), 2.0, 1.0,
        information, gradient,
    )  # fmt: skip
    mirror(information)
    np.testing.assert_allclose(information, information.T)
    row = gradient / 2.0
    np.testing.assert_allclose(information, np.outer(row, row))
    # By finite differences: how the column goes with each of the six.
    point = np.array((0.05, 0.0, 0.0))
    for i, direction in enumerate(np.eye(6)):
        step = 1e-6 * direction
        moved = matrix_from_vector(step[3:]) @ point + origin + step[:3]
        column = lens[0] * moved[0] / moved[2] - lens[0] * 0.05 / 0.8
        assert row[i] == pytest.approx(column / 1e-6, abs=1e-2)


def test_six_equations_are_solved() -> None:
    root = np.random.default_rng(1).normal(size=(6, 9))
    matrix, right, out = root @ root.T, np.arange(6.0), np.empty(6)
    solve(matrix, right, out)
    np.testing.assert_allclose(matrix @ out, right, atol=1e-9)


def leave_weak(information: Array, gradient: Array, support: Array, least: float) -> None:
    turns, values = np.zeros((3, 6)), np.zeros(3)
    turns_of(information + support, turns, values)
    for turn, value in zip(turns, values, strict=True):
        if value < least:
            leave(information, gradient, turn)


def test_a_weak_turn_is_left_and_strong_ones_are_kept() -> None:
    random = np.random.default_rng(2)
    place = np.diag((4e6, 5e6, 6e6))
    weak = np.array((1.0, 2.0, -1.0)) / np.sqrt(6.0)
    mixed = 1e4 * random.normal(size=(3, 3))
    # What is known of turns once the place is left to follow them: little about `weak`.
    left = 1e5 * (np.eye(3) - np.outer(weak, weak)) + 40.0 * np.outer(weak, weak)
    turns = left + mixed.T @ np.linalg.solve(place, mixed)
    information = np.block([[place, mixed], [mixed.T, turns]])
    truth = random.normal(size=6) * (1e-3, 1e-3, 1e-3, 0.02, 0.02, 0.02)
    before, gradient = information.copy(), information @ truth
    leave_weak(information, gradient, np.zeros((6, 6)), 400.0)
    along = np.concatenate((-np.linalg.solve(place, mixed @ weak), weak))
    assert along @ before @ along == pytest.approx(40.0, rel=1e-3)
    assert abs(along @ information @ along) < 1e-2
    assert abs(along @ gradient) < 1e-2
    # The step in all other directions is as before, and none is made about the weak turn.
    step = np.linalg.solve(information + 1e-2 * np.eye(6), gradient)
    rest = truth - step
    assert abs(step[3:] @ weak) < 1e-3
    np.testing.assert_allclose(rest, along * (rest[3:] @ weak), atol=1e-5)


def test_turns_that_are_seen_stay_as_they_are() -> None:
    root = 300.0 * np.random.default_rng(3).normal(size=(6, 12))
    information, gradient = root @ root.T, np.arange(6.0)
    before = information.copy()
    leave_weak(information, gradient, np.zeros((6, 6)), 400.0)
    np.testing.assert_array_equal(information, before)
    np.testing.assert_array_equal(gradient, np.arange(6.0))


def test_what_else_is_known_tells_one_turn_from_another() -> None:
    """A turn that leans out of the table's plane is another than the one that cannot be seen."""
    place, upright = 4e6 * np.eye(3), np.array((0.0, 0.0, 1.0))
    leaning = np.array((0.0, np.sin(0.3), np.cos(0.3)))
    turns = 1e4 * (np.eye(3) - np.outer(leaning, leaning)) + 40.0 * np.outer(leaning, leaning)
    information = np.block([[place, np.zeros((3, 3))], [np.zeros((3, 3)), turns]])
    table = np.diag((0.0, 0.0, 0.0, 1e7, 1e7, 0.0))
    kept, gradient = information.copy(), np.zeros(6)
    leave_weak(kept, gradient, table, 2000.0)
    turn = np.append(np.zeros(3), upright)
    whole = np.linalg.inv(kept + table + 1e-6 * np.eye(6))
    assert 1.0 / whole[5, 5] < 1.0
    assert turn @ information @ turn > 800.0


def test_covariances_have_floors_and_largest_deviations() -> None:
    values = np.array((1e-3, 4.0, 25.0, 100.0, 1e3, 1e4))
    turn, _ = np.linalg.qr(np.random.default_rng(4).normal(size=(6, 6)))
    out = np.empty((6, 6))
    covariance_of((turn * values) @ turn.T, 0.01, out)
    expected = (turn / np.maximum(values, 0.01)) @ turn.T
    np.testing.assert_allclose(out, expected, rtol=1e-3, atol=1e-4)
    assert largest_deviation(out) == pytest.approx(10.0, rel=1e-4)


def test_a_step_leads_from_one_pose_to_another() -> None:
    first = Pose(np.array((0.1, 0.2, 0.7)), matrix_from_vector((0.3, -0.2, 0.9)))
    step = np.array((0.01, -0.02, 0.03, 0.2, -0.4, 0.5))
    second = first.moved(step)
    np.testing.assert_allclose(first.step_to(second), step, atol=1e-12)
    np.testing.assert_allclose(
        second.rotation, matrix_from_vector(step[3:]) @ first.rotation, atol=1e-12
    )
    np.testing.assert_allclose(second.moved(second.step_to(first)).rotation, first.rotation)
