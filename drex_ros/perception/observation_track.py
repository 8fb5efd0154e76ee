# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A track made of observed poses alone: filter, gate, new start, and when it is lost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from drex_ros.perception.estimate import (
    Evidence,
    ObjectEstimate,
    ObjectState,
    PoseObservation,
    TrackStatus,
)
from drex_ros.perception.pose_filter import (
    FilterStep,
    FixedLagSmoother,
    distance,
    pose_difference,
    predict,
    started,
    update,
)

_HAIR = 1e-6  # [s] stamps are multiples of a frame: so much above a limit is not above it


@dataclass(frozen=True)
class TrackSettings:
    """How an object moves, and when its track is no longer to be trusted."""

    acceleration: float = 3.0
    """Standard deviation of what changes the velocity [m/s^2]."""
    angular_acceleration: float = 20.0
    """The same of the turn [rad/s^2]."""
    start_speed: float = 0.3
    """Standard deviation of the velocity before it is known [m/s]."""
    start_turn: float = 2.0
    """The same of the turn [rad/s]."""
    gate: float = 22.5
    """Largest squared Mahalanobis distance of a pose that fits; 22.5: one of a thousand good
    ones is refused."""
    restart_after: int = 3
    """Refused poses that agree with one another and so make a new start."""
    restart_speed: float = 2.0
    """Of two poses that still agree with one another [m/s]; a turn may be 10 rad/m faster."""
    uncertain_after: float = 0.1
    """Time without a pose after which the track is uncertain [s]."""
    lost_after: float = 0.5
    """Time without a pose after which it is lost [s]."""
    largest_position_sigma: float = 0.02
    """Standard deviation above which a track is uncertain [m]."""
    largest_rotation_sigma: float = 0.2
    """The same of the rotation [rad]."""
    lag: int = 3
    """Of the smoother, in poses."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            least = 0 if name == 'lag' else 1 if name == 'restart_after' else None
            if least is None and not (np.isfinite(value) and value > 0.0):
                raise ValueError(f'{name} is {value}, must be positive')
            if least is not None and (value != int(value) or value < least):
                raise ValueError(f'{name} is {value}, must be a whole number from {least}')
        if self.lost_after <= self.uncertain_after:
            raise ValueError(
                f'lost_after is {self.lost_after} s, must be more than '
                f'uncertain_after, {self.uncertain_after} s'
            )


class ObservationTrack:
    """Where an object is, from poses that come one by one, each later than the last."""

    def __init__(self, settings: TrackSettings, source: str) -> None:
        """Begin without a pose; `source` says in words what should be seen, as 'tag 7'."""
        self.settings = settings
        self._source = source
        self._accelerations = np.repeat(
            (settings.acceleration, settings.angular_acceleration), 3
        ).astype(np.float64)
        self._smoother = FixedLagSmoother(settings.lag)
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        self._state: ObjectState | None = None
        self._time = -np.inf
        self._seen = -np.inf
        self._refused: list[PoseObservation] = []
        self._off = 0.0
        self._smoothed: ObjectEstimate | None = None
        self._said: dict[float, tuple[TrackStatus, str]] = {}
        self._smoother.clear()

    @property
    def time(self) -> float:
        """Of the newest step [s]; minus infinity: none yet."""
        return self._time

    def at(self, time: float) -> ObjectState | None:
        """What is expected at a time [s], from all that was taken; None: not known, or lost."""
        if self._state is None or self._lost(time):
            return None
        return predict(self._state, time - self._time, self._accelerations)

    def step(self, time: float, observation: PoseObservation | None) -> bool:
        """Go on to a later time [s] with the pose seen then, or without; False: it was refused."""
        expected = self.at(time)
        self._smoothed = None
        if observation is None:
            if expected is not None:
                self._keep(time, expected, expected)
            return True
        if expected is None and not self._refused:
            self._start(observation)
            return True
        if expected is not None:
            if distance(expected, observation) <= self.settings.gate:
                self._refused.clear()
                self._seen = time
                self._keep(time, expected, update(expected, observation))
                return True
            self._off = float(np.linalg.norm(observation.position - expected.position))
        if self._refused and not self._agree(self._refused[-1], observation):
            self._refused.clear()
        self._refused.append(observation)
        if len(self._refused) >= self.settings.restart_after:
            self._start(observation)
            return True
        if expected is not None:
            self._keep(time, expected, expected)
        return False

    def estimate(self, time: float, evidence: Evidence | None = None) -> ObjectEstimate:
        """The answer for a time [s], also one between or after the steps."""
        status, reason = self._judge(time)
        return ObjectEstimate(time, status, reason, self.at(time), evidence or Evidence())

    def smoothed(self) -> ObjectEstimate | None:
        """What the newest step made final, `lag` steps old; None: nothing."""
        return self._smoothed

    def _start(self, observation: PoseObservation) -> None:
        self._smoother.clear()
        self._refused.clear()
        self._said.clear()
        state = started(observation, (self.settings.start_speed, self.settings.start_turn))
        self._seen = observation.time
        self._keep(observation.time, state, state)

    def _keep(self, time: float, predicted: ObjectState, updated: ObjectState) -> None:
        self._state, self._time = updated, time
        self._said[time] = self._judge(time)
        while len(self._said) > self.settings.lag + 1:
            del self._said[next(iter(self._said))]
        smoothed = self._smoother.add(FilterStep(time, predicted, updated))
        if smoothed is not None:
            then, state = smoothed
            self._smoothed = ObjectEstimate(then, *self._said[then], state, smoothed=True)

    def _agree(self, first: PoseObservation, second: PoseObservation) -> bool:
        """Whether two poses may be of the same moving thing."""
        apart = pose_difference(
            second.position, second.quaternion, first.position, first.quaternion
        )
        spread = first.covariance + second.covariance
        reach = self.settings.restart_speed * abs(second.time - first.time)
        slack = np.repeat((reach, 10.0 * reach), 3)
        remaining = np.sign(apart) * np.maximum(np.abs(apart) - slack, 0.0)
        return bool(remaining @ np.linalg.solve(spread, remaining) <= self.settings.gate)

    def _lost(self, time: float) -> bool:
        return time - self._seen > self.settings.lost_after + _HAIR

    def _judge(self, time: float) -> tuple[TrackStatus, str]:
        """What the track is worth at a time, and why it is not worth more."""
        if self._state is None:
            return TrackStatus.DETECTING, f'{self._source} not seen yet'
        age = time - self._seen
        reason = f'{self._source} not seen for {age:.2f} s'
        if self._refused:
            reason = f'{self._source} seen {1e3 * self._off:.0f} mm from where it should be'
        if self._lost(time):
            return TrackStatus.LOST, reason
        if self._refused or age > self.settings.uncertain_after + _HAIR:
            return TrackStatus.UNCERTAIN, reason
        variances = np.diag(self._state.covariance)
        metres, radians = (float(np.sqrt(variances[i : i + 3].max())) for i in (0, 3))
        if metres > self.settings.largest_position_sigma:
            return TrackStatus.UNCERTAIN, f'position known to {1e3 * metres:.0f} mm only'
        if radians > self.settings.largest_rotation_sigma:
            return TrackStatus.UNCERTAIN, f'rotation known to {np.degrees(radians):.0f} deg only'
        return TrackStatus.TRACKING, ''
