# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The debug picture: the outline is where the object is, and the words say what is known."""

import numpy as np
import pytest

from drex_ros.objects import Mesh, load_object
from drex_ros.perception.estimate import Evidence, ObjectEstimate, ObjectState, TrackStatus
from drex_ros.perception.overlay import STATUS_COLOURS, Overlay, deviations
from drex_ros.robot.camera import CameraModel
from drex_ros.robot.rotations import quaternion_from_vector, rotation_matrix

CAMERA = CameraModel.from_pose((1.1, -0.35, 0.5), (0.0, 0.595, 2.6135))
GREY = np.full((480, 640, 3), 128, np.uint8)
BOX = load_object('box').mesh


def state_at(position=(0.5, 0.0, 0.05), turn=(0.0, 0.0, 0.6)) -> ObjectState:
    sigma = np.array((3e-4, 1e-4, 1e-4, 2e-3, 1e-3, 4e-3, *(0.1,) * 6))
    return ObjectState(
        np.array(position), quaternion_from_vector(turn), np.zeros(6), np.diag(sigma**2)
    )


def estimate_of(
    status=TrackStatus.TRACKING, reason='', state=None, evidence=None
) -> ObjectEstimate:
    return ObjectEstimate(0.0, status, reason, state, evidence or Evidence())


@pytest.mark.parametrize('turn', [(0.0, 0.0, 0.6), (1.0, 0.3, -2.0), (0.0, 0.0, 0.0)])
def test_the_outline_of_a_box_is_that_of_its_corners(turn):
    state = state_at(turn=turn)
    ends = Overlay(BOX).outline(CAMERA, state).reshape(-1, 2)
    corners = CAMERA.project(BOX.vertices @ rotation_matrix(state.quaternion).T + state.position)
    assert ends.min(axis=0) == pytest.approx(corners.min(axis=0), abs=1e-6)
    assert ends.max(axis=0) == pytest.approx(corners.max(axis=0), abs=1e-6)


def test_a_box_shows_six_edges_as_its_outline_and_the_diagonals_of_its_faces_are_none():
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * 0.03
    squares = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
    faces = [three for a, b, c, d in squares for three in ((a, b, c), (a, c, d))]
    outline = Overlay(Mesh.of(corners, faces)).outline(CAMERA, state_at())
    assert len(outline) == 6
    # Every corner of the outline is the end of two of its edges.
    _, counts = np.unique(np.round(outline.reshape(-1, 2), 6), axis=0, return_counts=True)
    assert counts.tolist() == [2] * 6
    # The same when no two faces share a corner, as in an STL file.
    apart = Mesh.of(corners[np.ravel(faces)], np.arange(36).reshape(12, 3))
    assert len(Overlay(apart).outline(CAMERA, state_at())) == 6
    # A side that is left open has its rim in the outline.
    open_box = Mesh.of(corners, [face for face in faces if face not in faces[10:12]])
    assert len(Overlay(open_box).outline(CAMERA, state_at())) > 6


@pytest.mark.parametrize('status', list(TrackStatus))
def test_the_colour_is_that_of_the_status(status):
    # So large that lines are wider than a pixel and have their colour in the middle.
    camera = CameraModel(
        1920, 1440, 1845.0, 1845.0, 959.5, 719.5, CAMERA.position, CAMERA.quaternion
    )
    grey = np.full((1440, 1920, 3), 128, np.uint8)
    picture = Overlay(BOX).draw(grey, camera, estimate_of(status, 'why', state_at()))
    drawn = picture[300:].reshape(-1, 3)  # below the words
    seen = {tuple(int(value) for value in pixel) for pixel in np.unique(drawn, axis=0)}
    assert STATUS_COLOURS[status] in seen
    assert not seen & {STATUS_COLOURS[other] for other in TrackStatus if other is not status}


def test_the_outline_is_drawn_where_the_object_is_and_the_given_picture_is_left_alone():
    given = GREY.copy()
    state = state_at()
    picture = Overlay(BOX).draw(given, CAMERA, estimate_of(state=state))
    assert (given == 128).all()
    changed = np.argwhere((picture != given).any(axis=2))
    below = changed[changed[:, 0] > 120][:, ::-1]
    ends = Overlay(BOX).outline(CAMERA, state).reshape(-1, 2)
    assert below.min(axis=0) == pytest.approx(ends.min(axis=0), abs=3.0)
    assert below.max(axis=0) == pytest.approx(ends.max(axis=0), abs=3.0)


def test_without_a_pose_there_are_words_alone():
    picture = Overlay(BOX).draw(GREY, CAMERA, estimate_of(TrackStatus.LOST, 'it was covered'))
    changed = np.argwhere((picture != GREY).any(axis=2))
    assert len(changed)
    assert changed[:, 0].max() < 80


@pytest.mark.parametrize(
    'position', [(1.1, -0.35, 0.5), (2.0, -1.0, 0.9), (1.08, -0.34, 0.49), (np.nan, 0.0, 0.0)]
)
def test_a_pose_at_or_behind_the_camera_is_no_trouble(position):
    picture = Overlay(BOX).draw(GREY, CAMERA, estimate_of(state=state_at(position)))
    assert picture.shape == GREY.shape


def test_words_are_on_a_darker_ground_and_long_ones_stay_in_the_picture():
    white = np.full((240, 320, 3), 255, np.uint8)
    camera = CameraModel(320, 240, 300.0, 300.0, 159.5, 119.5, CAMERA.position, CAMERA.quaternion)
    estimate = estimate_of(
        TrackStatus.UNCERTAIN, 'depth ≠ model: ' + 'very much is hidden by fingers ' * 4
    )
    picture = Overlay(BOX).draw(white, camera, estimate)
    assert (picture[2, 2] < 90).all()
    assert (picture[:, -2:] == 255).all()


def test_evidence_and_covariance_are_said():
    overlay = Overlay(BOX)
    state = state_at()
    assert deviations(state) == pytest.approx((3e-4, 4e-3))
    plain = overlay.draw(GREY, CAMERA, estimate_of(state=state))
    told = overlay.draw(GREY, CAMERA, estimate_of(state=state, evidence=Evidence(900, 0.9, 0.4)))
    changed = np.argwhere((plain != told).any(axis=2))
    assert changed[:, 0].max() < 80  # in the words alone
    assert (told != GREY).any(axis=2).sum() > (plain != GREY).any(axis=2).sum()
