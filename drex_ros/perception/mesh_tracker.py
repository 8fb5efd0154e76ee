# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Follows an object from a known pose: an iterated extended Kalman filter on SE(3).

The state is the pose in the optical frame and its velocity; errors are position, rotation about
the object's origin, velocity, angular velocity, all along the optical frame's axes. Each frame's
measurement is a fit (`model_fit`) that begins at the prediction and holds it with its information.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from drex_ros.perception.belief import START, Belief
from drex_ros.perception.colour_search import towards_colours
from drex_ros.perception.contact_prior import ContactPrior
from drex_ros.perception.fit import COARSE, FINE, MIDDLE, Fit, FitSettings
from drex_ros.perception.frame import RgbdFrame
from drex_ros.perception.hand_motion import Expectation, HandMotion, HandPlace
from drex_ros.perception.hidden_turn import ANY_TURN, sharpened, turn_profile, turned
from drex_ros.perception.model_fit import ModelFitter
from drex_ros.perception.normal_equations import covariance_of, largest_deviation
from drex_ros.perception.poses import Pose
from drex_ros.perception.tracked_mesh import RoundAxis, TrackedMesh
from drex_ros.robot.camera import CameraModel
from drex_ros.robot.joints import Array


@dataclass(frozen=True)
class FilterSettings:
    """How the filter works."""

    fit: FitSettings = field(default_factory=FitSettings)
    acceleration: float = 4.0
    """Deviation of what moves the object and is not known [m/s^2]."""
    turn_acceleration: float = 60.0
    """The same for its turn [rad/s^2]."""
    position_floor: float = 0.00013
    """Deviation that no number of pixels takes away [m]."""
    rotation_floor: float = 0.0006
    """The same for the rotation [rad]."""


_LOOSE = np.diag(np.repeat((0.008, 0.1), 3) ** -2.0)  # information that holds a search together
_LEAST_INFORMATION = 1e-2  # on anything: 10 m, 10 rad
_COARSE_BELOW = 0.85  # share of inliers
_COARSE_ABOVE = 0.06  # share of violated pixels
_COARSE_CONTOUR = 1.5  # [px]
_BETTER = 0.01  # by which a coarse fit must be better than the fine one
_FEWEST_PIXELS = 12.0  # of the object in sight, or
_FEWEST_LINES = 25.0  # across its outline, from which it is not covered
_MUCH_IN_SIGHT = 60.0  # pixels that are compared, which are evidence enough for any jump
_LARGEST_JUMP = 30.0  # chi square of a pose about the prediction, with less
_GRID = (-0.04, -0.02, 0.0, 0.02, 0.04)  # [m] along the table, of places to look at
_MOST_PLACES = 3  # of these that are fitted
_SMALL_TURN = 0.1  # [rad] deviation up to which an arc is its tangent
_ALIGNED = 0.9  # cosine between two axes that are about the same
_TURN_DOUBT = 0.05  # [rad] deviation of a turn that is hardly seen
_TURN_AT_REST = 0.003  # [rad] a frame, that a turn which is not seen may change by
_TURN_ON_ITS_WAY = 4.0  # [rad/m] the same of what is pushed
_FADE = 0.6  # of the velocity a frame while the evidence is weak
_SLOWEST = 0.03  # [m/s] at which colour and depth of two times differ
_TURN_LIMIT = 1.8  # [rad] deviation of a turn that nothing is known of: all are as likely
_FREE_TURN = 5.0  # [rad/s] deviation of its velocity


class MeshTracker:
    """The filter. Not for use by two threads at once."""

    def __init__(
        self, mesh: TrackedMesh, camera: CameraModel, settings: FilterSettings | None = None
    ) -> None:
        """Prepare for an object; `begin` says where it is."""
        self.settings = settings = settings or FilterSettings()
        self.fitter = ModelFitter(mesh, camera, settings.fit)
        self.contact = ContactPrior(mesh, self.fitter.table)
        self.hand = HandMotion(mesh.vertices)
        self.belief: Belief | None = None
        self.predicted: Belief | None = None
        """Before the last frame was taken in; for smoothing."""
        self.fit: Fit | None = None
        """Of the last frame."""
        self._unseen_turn = ANY_TURN
        """Deviation of a turn since the part was seen that shows it [rad]."""
        self._noise = np.repeat((settings.acceleration**2, settings.turn_acceleration**2), 3)
        self._floor = np.diag(
            np.repeat((settings.position_floor**2, settings.rotation_floor**2), 3)
        )

    def begin(self, frame: RgbdFrame, pose: Pose) -> bool:
        """Start from a pose that was found; False: it is not in this frame."""
        fitter = self.fitter
        fitter.look_at(frame)
        fitter.colours = type(fitter.colours)()
        self.hand.forget()  # where it was is of a frame long ago
        self._unseen_turn = ANY_TURN
        self.belief = Belief(pose, np.zeros(6), START)
        self.contact.stand(pose)
        # Depth alone at first: the colours are learned at the pose that it gives.
        for stages, use_contour in ((FINE, False), (FINE, False), (MIDDLE, True)):
            fit = fitter.fit(
                self.belief.pose, stages, self.contact, prior=_LOOSE, use_contour=use_contour
            )
            if fit is None:
                self.belief = None
                return False
            self.belief = Belief(fit.pose, np.zeros(6), START)
            self.contact.stand(fit.pose)
            self.learn(frame, 1.0)
        assert fit is not None
        self._take_in(Belief(fit.pose, np.zeros(6), START), fit)
        self.predicted = None
        return True

    def pick_up(self, frame: RgbdFrame, pose: Pose) -> bool:
        """Start near a pose with the colours that are known; False: it is not in this frame."""
        fitter = self.fitter
        fitter.look_at(frame)
        self.hand.forget()
        self._unseen_turn = ANY_TURN
        towards = towards_colours(fitter, pose)
        if towards is None:
            return False
        best: Fit | None = None
        for start in (towards, *self._places_around(pose)):
            self.contact.stand(start)
            fit = fitter.fit(start, MIDDLE, self.contact, prior=_LOOSE)
            if fit is not None and (best is None or self.score(fit) > self.score(best)):
                best = fit
            if best is not None and not self._looks_wrong(best) and best.occluded < 0.3:
                break
        if best is None:
            return False
        self.contact.stand(best.pose)
        self._take_in(Belief(best.pose, np.zeros(6), START), best)
        self.predicted = None
        return True

    def _places_around(self, pose: Pose) -> list[Pose]:
        """Places near by, the object turned as it was, at which depth agrees best."""
        across, along = self.contact.level
        scored = []
        for x in _GRID:
            for y in _GRID:
                place = Pose(pose.position + x * across + y * along, pose.rotation)
                scored.append((self.fitter.agreement(place), place))
        scored.sort(key=lambda each: -each[0])
        return [place for _, place in scored[:_MOST_PLACES]]

    def resume(self, belief: Belief) -> None:
        """Go on from what was believed before."""
        self.belief = belief
        self.contact.stand(belief.pose)

    def advance(self, frame: RgbdFrame, duration: float, hand: HandPlace | None = None) -> bool:
        """Take in a frame that is `duration` [s] after the last; False: it left the picture.

        `hand` is where the robot's hand is now; None: not known.
        """
        assert self.belief is not None, 'begin first'
        before = self.belief
        self.fitter.look_at(frame)
        self.hand.advance(hand, before.pose)
        alone = self._without_free_turns(before.predicted(duration, self._noise))
        if self.hand.carry is None:
            return self._take(before, alone, alone, None)
        held = before.carried(duration, self.hand.carry, self.hand.noise)
        held = self._without_free_turns(held, keep_velocity=True)
        holds = self.hand.holds
        if not self._take(before, held if holds else alone, alone, held):
            return False
        if self.hand.holds is not holds:
            # Another belief is likelier now: what it expects is where to look from.
            self.contact.release() if self.hand.holds else self.contact.stand(before.pose)
            if not self._take(before, alone if holds else held, alone, None):
                return False
        if self.hand.holds:
            self.belief = self.belief.in_hand(self.hand.carry / duration)
        return True

    def _take(self, before: Belief, prior: Belief, alone: Belief, held: Belief | None) -> bool:
        """Take in the frame with what was expected; False: it left the picture.

        Args:
            before: what was believed in the last frame.
            prior: what is expected in this one.
            alone: what would be if the hand did not hold the object.
            held: what would be if it did; None: that is not asked.
        """
        fitter = self.fitter
        self.predicted = self.belief = prior
        information = _inverse(prior.covariance[:6, :6])
        hold = self._open_turns(prior)
        for axis in fitter.mesh.round_axes:
            self._unseen_turn = (
                self._turned_unseen(before, prior) if hold else self._deviation_about(prior, axis)
            )
        best = fitter.fit(
            prior.pose, FINE, self.contact, prior.pose, information, course=prior.course,
            hold=hold,
        )  # fmt: skip
        if best is None:
            return False
        if not _covered(best) and self._looks_wrong(best):
            best = self._search(best, before.pose, prior, hold)
        if _covered(best):
            # Nothing to see: it is believed to come to rest where it was.
            self.belief, self.fit = prior.slowed(_FADE), best
            return True
        weak = 0.1 * _inverse(alone.covariance[:6, :6])
        free, free_covariance = best.freely(weak, alone.pose)
        if held is not None:
            self.hand.weigh(
                Expectation(best.pose.step_to(held.pose), held.covariance[:6, :6]),
                self._expected(best.pose, alone),
                free,
                free_covariance,
            )
        in_sight = 1.0 - best.occluded - best.missing
        if not self.hand.holds and not self._looks_wrong(best) and self.contact.check(
            best.pose, free, free_covariance, in_sight
        ):
            again = fitter.fit(
                best.pose, COARSE[2:], self.contact, prior.pose, information,
                course=prior.course, hold=hold,
            )  # fmt: skip
            best = again or best
        self._take_in(prior, best)
        self._learn_delay(best)
        self._look_for_turn(prior, information)
        return True

    def _look_for_turn(self, prior: Belief, information: Array) -> None:
        """Where a part such as a handle may be that small steps do not find."""
        for axis in self._open_turns(prior):
            assert self.belief is not None
            assert self.fit is not None
            fitter = self.fitter
            profile = turn_profile(fitter, fitter.frame, self.fit.pose, axis, self._unseen_turn)
            if profile is None:
                continue
            if profile.change or profile.found:
                start = turned(self.fit.pose, axis, profile.change)
                hold = () if profile.found else (axis,)
                again = fitter.fit(
                    start, FINE, self.contact, start, information, course=prior.course, hold=hold
                )
                if again is None:
                    continue
                self._take_in(Belief(start, prior.velocity, prior.covariance), again)
            if self.fit.unseen:
                belief = self.belief
                covariance = sharpened(
                    belief.covariance, belief.pose.rotation @ axis.direction, profile.variance
                )
                self.belief = Belief(belief.pose, belief.velocity, covariance)

    def _turned_unseen(self, before: Belief, prior: Belief) -> float:
        """Deviation of a turn after one more frame in which nothing shows it [rad].

        That its part is hidden lasts, so frames do not add up to an answer. What is held or at
        rest keeps its turn; what is pushed turns on its way, as far as it goes.
        """
        step = prior.pose.position - before.pose.position
        way = 0.0 if self.hand.holds else float(np.linalg.norm(step))
        return min(self._unseen_turn + _TURN_AT_REST + _TURN_ON_ITS_WAY * way, ANY_TURN)

    def _open_turns(self, belief: Belief) -> list[RoundAxis]:
        """Lines about which the object is round but for a part, and the turn is not known."""
        return [
            axis
            for axis in self.fitter.mesh.round_axes
            if self._deviation_about(belief, axis) > _SMALL_TURN
        ]

    def _deviation_about(self, belief: Belief, axis: RoundAxis) -> float:
        """Of the turn about a line of the object [rad]."""
        direction = belief.pose.rotation @ axis.direction
        return float(np.sqrt(direction @ belief.covariance[3:6, 3:6] @ direction))

    def _learn_delay(self, fit: Fit) -> None:
        """Learn how late the colour is, where depth says surely where the object was."""
        assert self.belief is not None
        speed = float(np.linalg.norm(self.belief.velocity[:3]))
        if fit.delay is None or speed < _SLOWEST or not _depth_is_sure(fit):
            return
        self.fitter.delay.take(fit.delay)

    def _expected(self, pose: Pose, belief: Belief) -> Expectation:
        """Where an object that is left alone is expected, with what the table says."""
        information = _inverse(belief.covariance[:6, :6])
        pull = information @ pose.step_to(belief.pose)
        information, pull = self.contact.added(pose, information, pull)
        covariance = _inverse(information)
        return Expectation(covariance @ pull, covariance)

    def _search(
        self, best: Fit, before: Pose, prior: Belief, hold: Sequence[RoundAxis]
    ) -> Fit:
        """A better fit than the one from the prediction, when there is one: things get pushed."""
        fitter = self.fitter
        starts = (
            (towards_colours(fitter, prior.pose), MIDDLE),
            (prior.pose, COARSE),
            (before, MIDDLE),
        )
        for start, stages in starts:
            if start is None:
                continue
            other = fitter.fit(
                start, stages, self.contact, prior=_LOOSE, course=prior.course, hold=hold
            )
            if other is None or not _credible(other, prior):
                continue
            if self.score(other) > self.score(best) + _BETTER:
                best = other
            if not self._looks_wrong(best):
                break
        return best

    @property
    def reported(self) -> Belief:
        """What is believed, with what a turn of unknown size moves the origin off its tangent.

        The origin of a mug is beside the axis that its hidden handle turns about: turned by much,
        it is not where a small turn would lead.
        """
        assert self.belief is not None
        belief, fit = self.belief, self.fit
        covariance = belief.covariance
        for turn in () if fit is None else fit.unseen:
            spread = float(turn[3:] @ covariance[3:6, 3:6] @ turn[3:])
            if self._is_round_about(turn[3:]) and spread > _SMALL_TURN**2:
                off = min(spread, 1.0) * np.linalg.norm(turn[:3])
                covariance = covariance.copy()
                covariance[:3, :3] += 0.5 * off**2 * np.eye(3)
        return Belief(belief.pose, belief.velocity, covariance)

    def _is_round_about(self, axis: Array) -> bool:
        """Whether the object is round about an axis of the optical frame, but for a part."""
        assert self.fit is not None
        rotation = self.fit.pose.rotation
        axes = self.fitter.mesh.round_axes
        return any(abs(axis @ rotation @ each.direction) > _ALIGNED for each in axes)

    def place_doubt(self) -> float:
        """Deviation of the place in the direction that is known least [m]."""
        assert self.belief is not None
        return float(largest_deviation(self.belief.covariance[:3, :3].copy()))

    def turn_doubt(self) -> float:
        """Deviation of the turn that is known least, of those that can be seen [rad]."""
        assert self.belief is not None
        spread = self.belief.covariance[3:6, 3:6]
        for axis in self.fitter.mesh.free_axes:
            free = self.belief.pose.rotation @ axis
            keep = np.eye(3) - np.outer(free, free)
            spread = keep @ spread @ keep
        return float(largest_deviation(np.ascontiguousarray(spread)))

    def learn(self, frame: RgbdFrame, rate: float) -> None:
        """Learn the colours of the object where it is believed to be."""
        assert self.belief is not None
        fitter = self.fitter
        if fitter.draw(self.belief.pose):
            fitter.learn(frame, rate)

    def doubt(self) -> None:
        """Trust the velocity less: the evidence is weak."""
        if self.belief is not None:
            self.belief = self.belief.slowed(_FADE)

    def expect(self) -> None:
        """Do not believe the last frame, but what was expected; the object comes to rest."""
        if self.predicted is not None:
            self.belief = self.predicted.slowed(_FADE)

    def score(self, fit: Fit) -> float:
        """How well a fit explains the frame, to compare fits of one frame."""
        contour = 0.05 * fit.contour_distance if self.fitter.colours.clear else 0.0
        return fit.inliers - fit.violated - 0.5 * fit.occluded - contour

    def _looks_wrong(self, fit: Fit) -> bool:
        if fit.violated > _COARSE_ABOVE or fit.inliers < _COARSE_BELOW:
            return True
        return self.fitter.colours.clear and fit.contour_distance > _COARSE_CONTOUR

    def _take_in(self, prior: Belief, fit: Fit) -> None:
        """The update of the filter: the fit already holds pose and prediction together."""
        self.fit = fit
        step = prior.pose.step_to(fit.pose)
        measured = np.empty((6, 6))
        covariance_of(fit.information, _LEAST_INFORMATION, measured)
        measured += self._floor
        covariance = prior.covariance
        pose_part = covariance[:6, :6]
        velocity = prior.velocity + covariance[6:, :6] @ np.linalg.solve(pose_part, step)
        gain = np.linalg.solve(pose_part + measured, covariance[:6]).T
        covariance = covariance - gain @ covariance[:6]
        for turn in fit.unseen:
            # A handle is hidden: that lasts, so frames do not add up to an answer.
            axis = turn[3:]
            if self._is_round_about(axis):
                lost = float(axis @ (prior.covariance - covariance)[3:6, 3:6] @ axis)
                covariance[:6, :6] += max(lost, 0.0) * np.outer(turn, turn)
        self.belief = Belief(fit.pose, velocity, 0.5 * (covariance + covariance.T))
        if self.turn_doubt() > _TURN_DOUBT:
            # Nothing shows how it goes on turning, so it is believed to stop.
            velocity[3:] *= _FADE

    def _without_free_turns(self, belief: Belief, *, keep_velocity: bool = False) -> Belief:
        """A turn that cannot be seen stays as it is, with a variance that does not grow on."""
        axes = self.fitter.mesh.free_axes
        if not len(axes):
            return belief
        velocity, covariance = belief.velocity.copy(), belief.covariance
        for axis in axes:
            free = belief.pose.rotation @ axis
            if not keep_velocity:
                velocity[3:] -= free * (free @ velocity[3:])
            spread = min(float(free @ covariance[3:6, 3:6] @ free), _TURN_LIMIT**2)
            # Nothing else goes with it: else a tilt of the axis would seem as unknown as the turn.
            keep, along = np.eye(12), np.outer(free, free)
            keep[3:6, 3:6] -= along
            keep[9:, 9:] -= along
            covariance = keep @ covariance @ keep
            covariance[3:6, 3:6] += spread * along
            covariance[9:, 9:] += _FREE_TURN**2 * along
        return Belief(belief.pose, velocity, covariance)


def _depth_is_sure(fit: Fit) -> bool:
    """Whether depth alone says where the object is, whatever its outline says."""
    return fit.inliers > 0.9 and fit.violated < 0.05 and fit.occluded < 0.4


def _credible(fit: Fit, prior: Belief) -> bool:
    """Whether a fit that was searched for may be right: little evidence allows no great jump."""
    if fit.in_sight > _MUCH_IN_SIGHT and fit.inliers > 0.8:
        return True
    step = prior.pose.step_to(fit.pose)
    off = float(step @ np.linalg.solve(prior.covariance[:6, :6], step))
    return off < _LARGEST_JUMP


def _covered(fit: Fit) -> bool:
    """Whether nothing that can be trusted is seen of the object."""
    lines = fit.outline_lines < _FEWEST_LINES or fit.contour_distance > _COARSE_CONTOUR
    return fit.in_sight < _FEWEST_PIXELS and lines


def _inverse(matrix: Array) -> Array:
    inverse: Array = np.linalg.inv(matrix).astype(np.float64, copy=False)
    return inverse
