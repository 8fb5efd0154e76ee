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

from drex_ros.perception.belief import START, Belief, without_free_turns
from drex_ros.perception.colour_search import towards_colours
from drex_ros.perception.contact_prior import ContactPrior
from drex_ros.perception.fit import COARSE, FINE, MIDDLE, Fit, FitSettings
from drex_ros.perception.fit_quality import covered, credible, depth_is_sure, looks_wrong, score
from drex_ros.perception.frame import RgbdFrame
from drex_ros.perception.hand_motion import Expectation, HandMotion, HandPlace
from drex_ros.perception.hidden_turn import HiddenTurns, sharpened
from drex_ros.perception.model_fit import ModelFitter
from drex_ros.perception.normal_equations import covariance_of, largest_deviation
from drex_ros.perception.poses import Pose
from drex_ros.perception.tracked_mesh import RoundAxis, TrackedMesh
from drex_ros.perception.turn_profile import turn_profile, turned
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
_BETTER = 0.01  # by which a coarse fit must be better than the fine one
_GRID = (-0.04, -0.02, 0.0, 0.02, 0.04)  # [m] along the table, of places to look at
_MOST_PLACES = 3  # of these that are fitted
_TURN_DOUBT = 0.05  # [rad] deviation of a turn that is hardly seen
_FADE = 0.6  # of the velocity a frame while the evidence is weak
_SLOWEST = 0.03  # [m/s] at which colour and depth of two times differ


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
        self.turns = HiddenTurns(mesh.round_axes)
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
        self.turns.forget()
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
        self.turns.forget()
        towards = towards_colours(fitter, pose)
        if towards is None:
            return False
        best: Fit | None = None
        for start in (towards, *self._places_around(pose)):
            self.contact.stand(start)
            fit = fitter.fit(start, MIDDLE, self.contact, prior=_LOOSE)
            if fit is not None and (best is None or self._score(fit) > self._score(best)):
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
        self.turns.begin(before)
        axes = self.fitter.mesh.free_axes
        alone = without_free_turns(before.predicted(duration, self._noise), axes)
        if self.hand.carry is None:
            return self._take(before, alone, alone, None)
        held = before.carried(duration, self.hand.carry, self.hand.noise)
        held = without_free_turns(held, axes, keep_velocity=True)
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
        hold = self.turns.expect(prior, held=self.hand.holds)
        best = fitter.fit(
            prior.pose, FINE, self.contact, prior.pose, information, course=prior.course,
            hold=hold,
        )  # fmt: skip
        if best is None:
            return False
        if not covered(best) and self._looks_wrong(best):
            best = self._search(best, before.pose, prior, hold)
        if covered(best):
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
        if (
            not self.hand.holds
            and not self._looks_wrong(best)
            and self.contact.check(best.pose, free, free_covariance, in_sight)
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
        for axis in self.turns.open:
            assert self.belief is not None
            assert self.fit is not None
            fitter = self.fitter
            profile = turn_profile(
                fitter, fitter.frame, self.fit.pose, axis, self.turns.deviation(axis)
            )
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

    def _learn_delay(self, fit: Fit) -> None:
        """Learn how late the colour is, where depth says surely where the object was."""
        assert self.belief is not None
        speed = float(np.linalg.norm(self.belief.velocity[:3]))
        if fit.delay is None or speed < _SLOWEST or not depth_is_sure(fit):
            return
        self.fitter.delay.take(fit.delay)

    def _expected(self, pose: Pose, belief: Belief) -> Expectation:
        """Where an object that is left alone is expected, with what the table says."""
        information = _inverse(belief.covariance[:6, :6])
        pull = information @ pose.step_to(belief.pose)
        information, pull = self.contact.added(pose, information, pull)
        covariance = _inverse(information)
        return Expectation(covariance @ pull, covariance)

    def _search(self, best: Fit, before: Pose, prior: Belief, hold: Sequence[RoundAxis]) -> Fit:
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
            if other is None or not credible(other, prior):
                continue
            if self._score(other) > self._score(best) + _BETTER:
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
        if self.fit is None:
            return self.belief
        return self.turns.off_tangent(self.belief, self.fit.unseen)

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

    def _score(self, fit: Fit) -> float:
        return score(fit, self.fitter.colours.clear)

    def _looks_wrong(self, fit: Fit) -> bool:
        return looks_wrong(fit, self.fitter.colours.clear)

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
        covariance = self.turns.kept(prior, covariance, fit.pose, fit.unseen)
        self.belief = Belief(fit.pose, velocity, 0.5 * (covariance + covariance.T))
        if self.turn_doubt() > _TURN_DOUBT:
            # Nothing shows how it goes on turning, so it is believed to stop.
            velocity[3:] *= _FADE


def _inverse(matrix: Array) -> Array:
    inverse: Array = np.linalg.inv(matrix).astype(np.float64, copy=False)
    return inverse
