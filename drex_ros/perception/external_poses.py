# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Poses of an object from another tracker, as FoundationPose: checked, filtered, watched."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from drex_ros.objects.model import NO_ROTATION, ORIGIN
from drex_ros.perception.estimate import Detection, ObjectEstimate, PoseObservation, TrackStatus
from drex_ros.perception.frame import RgbdFrame
from drex_ros.perception.observation_track import ObservationTrack, TrackSettings
from drex_ros.robot.joints import Array
from drex_ros.robot.rotations import quaternion_product, rotation_matrix

_FARTHEST = 10.0  # [m] that an object may be from camera or arm
_UNIT_TOLERANCE = 1e-2  # of a quaternion's length: half precision still passes


@dataclass(frozen=True, eq=False)
class ExternalSettings:
    """Where the poses come from and how good they are."""

    frame_position: Array = field(default_factory=lambda: ORIGIN)
    """Of the frame that poses are given in, in world [m]. Shape (3,)."""
    frame_quaternion: Array = field(default_factory=lambda: NO_ROTATION)
    """x y z w. Shape (4,)."""
    offset_position: Array = field(default_factory=lambda: ORIGIN)
    """Of the object's frame in that of the source's mesh [m]. Shape (3,)."""
    offset_quaternion: Array = field(default_factory=lambda: NO_ROTATION)
    """x y z w. Shape (4,)."""
    position_sigma: float = 0.005
    """Standard deviation of poses that come without covariance [m]."""
    rotation_sigma: float = 0.05
    """The same of the rotation [rad]."""
    oldest: float = 1.0
    """Age, by the newest frame, above which a pose is refused [s]."""
    ahead: float = 0.5
    """How much later than the newest frame a pose may be [s]; more: another clock."""
    source: str = 'pose'
    """What it is called in reasons."""
    track: TrackSettings = field(
        default_factory=lambda: TrackSettings(uncertain_after=0.2, lost_after=1.0)
    )

    def __post_init__(self) -> None:
        for name, count in (('position', 3), ('quaternion', 4)):
            for of in ('frame', 'offset'):
                array = np.array(getattr(self, f'{of}_{name}'), dtype=np.float64)
                if array.shape != (count,) or not np.isfinite(array).all():
                    raise ValueError(f'{of}_{name} is {array.tolist()}, must be {count} numbers')
                if count == 4:
                    length = float(np.linalg.norm(array))
                    if abs(length - 1.0) > 1e-6:
                        raise ValueError(f'{of}_{name} has length {length:.4g}, must have 1')
                    array /= length
                array.setflags(write=False)
                object.__setattr__(self, f'{of}_{name}', array)
        for name in ('position_sigma', 'rotation_sigma', 'oldest', 'ahead'):
            if not (np.isfinite(getattr(self, name)) and getattr(self, name) > 0.0):
                raise ValueError(f'{name} is {getattr(self, name)}, must be positive')


class ExternalPoses:
    """A PoseBackend of poses from elsewhere: `take` each as it comes, `update` each frame."""

    def __init__(self, settings: ExternalSettings | None = None) -> None:
        """Begin without a pose."""
        self.settings = settings or ExternalSettings()
        self.taken = 0
        """Poses that were used."""
        self.refused: Counter[str] = Counter()
        """Poses that were not, by reason."""
        self.refusal = ''
        """Why the newest pose was refused, with its numbers; empty: it was taken."""
        self._track = ObservationTrack(self.settings.track, self.settings.source)
        self._now = -np.inf

    def take(
        self,
        time: float,
        position: npt.ArrayLike,
        quaternion: npt.ArrayLike,
        covariance: npt.ArrayLike | None = None,
    ) -> bool:
        """Take a pose of the source's mesh in the source's frame; False: refused, see `refusal`.

        Args:
            time: of the picture that the pose is of [s].
            position: [m], shape (3,).
            quaternion: x y z w, shape (4,).
            covariance: of position and of rotation about the frame's axes, shape (6, 6) or 36
                numbers; None, all zeros or -1 as the first: that of the settings.
        """
        self.refusal = ''
        observation = self._checked(time, position, quaternion, covariance)
        if observation is None:
            return False
        if not self._track.step(time, observation):
            return self._refuse('jump', self._track.estimate(time).reason)
        self.taken += 1
        return True

    def update(
        self, frame: RgbdFrame, observation: PoseObservation | None = None
    ) -> ObjectEstimate:
        """Where the object is at this frame's time, by all poses so far."""
        if frame.time < self._now:
            self._track.forget()
        self._now = frame.time
        if self._track.time > frame.time + self.settings.ahead:
            self._track.forget()
            self._refuse('other clock', 'poses were later than the pictures: another clock?')
        if observation is not None and observation.time > self._track.time:
            self._track.step(observation.time, observation)
        return self._track.estimate(frame.time)

    def detect(self, frame: RgbdFrame) -> Detection:
        """Whether there is a good pose now; if not, the next one that comes makes a new start."""
        estimate = self.update(frame)
        if estimate.status is TrackStatus.TRACKING and estimate.state is not None:
            return Detection(True, 1.0, 'found', estimate.state, 1)
        self._track.forget()
        return Detection(False, 0.0, f'not there: {estimate.reason}', None)

    def smoothed(self) -> ObjectEstimate | None:
        """The newest pose that is smoothed by later ones; None: none yet."""
        return self._track.smoothed()

    def forget(self) -> None:
        """Begin anew; the counts go on."""
        self._track.forget()
        self._now = -np.inf

    def _checked(
        self,
        time: float,
        position: npt.ArrayLike,
        quaternion: npt.ArrayLike,
        covariance: npt.ArrayLike | None,
    ) -> PoseObservation | None:
        """The object's pose in world; None: refused."""
        place = np.asarray(position, dtype=np.float64).ravel()
        turn = np.asarray(quaternion, dtype=np.float64).ravel()
        if place.size != 3 or turn.size != 4:
            self._refuse('size', f'{place.size} and {turn.size} numbers, must be 3 and 4')
            return None
        if not np.isfinite((time, *place, *turn)).all():
            self._refuse('not finite', f'pose {place.tolist()} {turn.tolist()} is not finite')
            return None
        if np.linalg.norm(place) > _FARTHEST:
            self._refuse('far', f'{place.tolist()} m is more than {_FARTHEST:g} m away')
            return None
        length = float(np.linalg.norm(turn))
        if abs(length - 1.0) > _UNIT_TOLERANCE:
            self._refuse('quaternion', f'quaternion has length {length:.4g}, must have 1')
            return None
        problem = self._stamp_problem(time)
        if problem is not None:
            self._refuse(*problem)
            return None
        spread = self._spread(covariance)
        if spread is None:
            self._refuse('covariance', 'covariance must be 6 x 6, symmetric, positive definite')
            return None
        return self._in_world(time, place, turn / length, spread)

    def _stamp_problem(self, time: float) -> tuple[str, str] | None:
        if time <= self._track.time:
            return 'order', f'stamp {time:.3f} s is not after the last, {self._track.time:.3f} s'
        if time < self._now - self.settings.oldest:
            return 'old', f'pose is {self._now - time:.2f} s older than the newest picture'
        if np.isfinite(self._now) and time > self._now + self.settings.ahead:
            return (
                'other clock',
                f'pose is {time - self._now:.2f} s later than the newest picture: another clock?',
            )
        return None

    def _spread(self, covariance: npt.ArrayLike | None) -> Array | None:
        given = np.zeros(36) if covariance is None else np.asarray(covariance, dtype=np.float64)
        if given.size != 36 or not np.isfinite(given).all():
            return None
        matrix = given.reshape(6, 6)
        if not matrix.any() or matrix[0, 0] == -1.0:  # ROS's ways to say that it is not known
            sigma = (self.settings.position_sigma, self.settings.rotation_sigma)
            return np.diag(np.repeat(np.square(sigma), 3))
        if np.abs(matrix - matrix.T).max() > 1e-6 * np.abs(matrix).max():
            return None
        try:
            np.linalg.cholesky(matrix)
        except np.linalg.LinAlgError:
            return None
        return 0.5 * (matrix + matrix.T)

    def _in_world(
        self, time: float, position: Array, quaternion: Array, covariance: Array
    ) -> PoseObservation:
        settings = self.settings
        outer = rotation_matrix(settings.frame_quaternion)
        turn = quaternion_product(settings.frame_quaternion, quaternion)
        lever = rotation_matrix(turn) @ settings.offset_position
        x, y, z = lever
        # Errors along the frame's axes become errors along world's; a turn of the mesh also
        # shifts an origin that is not its own.
        matrix = np.zeros((6, 6))
        matrix[:3, :3] = matrix[3:, 3:] = outer
        matrix[:3, 3:] = -np.array(((0.0, -z, y), (z, 0.0, -x), (-y, x, 0.0))) @ outer
        return PoseObservation(
            time=time,
            position=settings.frame_position + outer @ position + lever,
            quaternion=quaternion_product(turn, settings.offset_quaternion),
            covariance=matrix @ covariance @ matrix.T,
        )

    def _refuse(self, kind: str, reason: str) -> bool:
        self.refused[kind] += 1
        self.refusal = reason
        return False
