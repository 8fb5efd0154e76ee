# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Colours of an object against those around it."""

import numpy as np
import pytest

from drex_ros.perception.colour_model import N_BINS, ColourModel, look_up, moments

RED, GREEN, GREY = (200, 40, 40), (40, 180, 60), (128, 128, 128)
SHAPE = (60, 80)
REGION = np.array((10, 5, 60, 50))
LEFT, TOP = 10, 5
NOTHING_AHEAD = np.zeros(SHAPE, np.uint8)


def scene(inside: tuple[int, int, int], around: tuple[int, int, int]):
    """A square of one colour on another, drawn where it is, at 0.5 m."""
    colour = np.empty((*SHAPE, 3), np.uint8)
    colour[:] = around
    colour[20:45, 25:55] = inside
    depth = np.full(SHAPE, np.float32(0.7))
    depth[20:45, 25:55] = 0.5
    face = np.full(SHAPE, -1, np.int32)
    drawn = np.full(SHAPE, np.float32(1e9))
    face[20 - TOP : 45 - TOP, 25 - LEFT : 55 - LEFT] = 0
    drawn[20 - TOP : 45 - TOP, 25 - LEFT : 55 - LEFT] = 0.5
    return drawn, face, colour, depth


def learned(inside, around, rate=1.0, model=None, scale=1.0):
    model = model or ColourModel()
    drawn, face, colour, depth = scene(inside, around)
    model.learn(drawn, face, colour, depth, scale, NOTHING_AHEAD, REGION, rate)
    return model


def chance(model, colour):
    out = np.full((1, 1), np.float32(-1.0))
    picture = np.array(colour, np.uint8).reshape(1, 1, 3)
    look_up(picture, model.table, np.array((0, 0, 1, 1)), out)
    return float(out[0, 0])


def test_what_is_in_front_is_no_part_of_the_surroundings():
    drawn, face, colour, depth = scene(RED, GREY)
    colour[:, 60:], ahead = GREEN, NOTHING_AHEAD.copy()
    model = ColourModel()
    model.learn(drawn, face, colour, depth, 1.0, ahead, REGION, 1.0)
    assert chance(model, GREEN) < 0.01
    ahead[:, 60:] = 1
    model.learn(drawn, face, colour, depth, 1.0, ahead, REGION, 1.0)
    assert chance(model, GREEN) == pytest.approx(0.5)
    assert chance(model, GREY) < 0.01
    assert model.clear


def test_knows_nothing_at_first():
    model = ColourModel()
    assert not model.known
    assert model.separability == 0.0
    assert chance(model, RED) == 0.5


def test_tells_the_object_from_what_is_around_it():
    model = learned(RED, GREY)
    assert model.known
    assert chance(model, RED) > 0.99
    assert chance(model, GREY) < 0.01
    assert chance(model, GREEN) == pytest.approx(0.5)
    assert model.separability > 0.95
    assert model.object.sum() == pytest.approx(1.0)
    assert len(model.object) == N_BINS


def test_light_that_changes_a_little_changes_little():
    model = learned(RED, GREY)
    assert chance(model, tuple(value + 8 for value in RED)) > 0.95


def test_equal_colours_are_not_separable():
    model = learned(GREY, GREY)
    assert model.separability < 0.05
    assert chance(model, GREY) == pytest.approx(0.5, abs=0.01)


def test_depth_that_is_not_the_models_is_not_learned():
    # All of the object is 4 % off: too few pixels to learn from.
    assert not learned(RED, GREY, scale=1.04).known
    drawn, face, colour, depth = scene(RED, GREY)
    # Half of it is covered by something green and near.
    colour[20:32, 25:55], depth[20:32, 25:55] = GREEN, 0.4
    model = ColourModel()
    model.learn(drawn, face, colour, depth, 1.0, NOTHING_AHEAD, REGION, 1.0)
    assert chance(model, RED) > 0.99
    assert chance(model, GREEN) == pytest.approx(0.5)


def test_learning_on_keeps_half_of_what_was_seen_first():
    model = learned(RED, GREY)
    for _ in range(60):
        learned(GREEN, GREY, rate=0.2, model=model)
    assert chance(model, GREEN) > 0.99
    assert chance(model, RED) > 0.99
    learned(GREEN, GREY, rate=1.0, model=model)
    assert chance(model, RED) == pytest.approx(0.5)


def test_masks_teach_the_same_as_drawings():
    _, _, colour, _ = scene(RED, GREY)
    inside = np.zeros(SHAPE, np.bool_)
    inside[20:45, 25:55] = True
    model = ColourModel()
    model.learn_from(colour, inside, ~inside)
    assert model.known
    assert chance(model, RED) > 0.99
    assert chance(model, GREY) < 0.01
    few = ColourModel()
    few.learn_from(colour, np.zeros(SHAPE, np.bool_), ~inside)
    assert not few.known


def test_only_the_region_is_looked_up():
    _, _, colour, _ = scene(RED, GREY)
    out = np.full(SHAPE, np.float32(-1.0))
    look_up(colour, learned(RED, GREY).table, REGION, out)
    inside = np.zeros(SHAPE, np.bool_)
    inside[5:55, 10:70] = True
    assert (out[~inside] == -1.0).all()
    assert ((out > 0.5) == (colour[..., 0] == RED[0]))[inside].all()


def test_moments_are_those_of_the_pixels_without_the_robot():
    mask = np.zeros(SHAPE, np.float32)
    rows, columns = np.indices(SHAPE)
    mask[(columns - 40) ** 2 / 400 + (rows - 30) ** 2 / 49 < 1.0] = 0.9
    robot = np.full(SHAPE, np.float32(1e9))
    robot[:, 50:] = 0.3
    out = np.zeros(6)
    moments(mask, 0.5, robot, REGION, 0, 0, out)
    counted = (mask > 0.5) & (columns < 50)
    x, y = columns[counted], rows[counted]
    covariance = np.cov(x, y, bias=True)
    expected = (len(x), x.mean(), y.mean(), covariance[0, 0], covariance[1, 1], covariance[0, 1])
    np.testing.assert_allclose(out, expected, atol=1e-9)
    # The same mask as a part of the picture.
    part = np.ascontiguousarray(mask[TOP:, LEFT:])
    again = np.zeros(6)
    moments(part, 0.5, robot, REGION, LEFT, TOP, again)
    np.testing.assert_allclose(again, out)
