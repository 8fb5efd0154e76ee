# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Fits the model's pose to one frame: Gauss-Newton on depth, outline, table and prediction."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from drex_ros.perception import contour_term, depth_term, relief_term
from drex_ros.perception.colour_delay import OtherTime
from drex_ros.perception.contact_prior import ContactPrior
from drex_ros.perception.fit import Course, Fit, FitSettings, Stage
from drex_ros.perception.frame import RgbdFrame
from drex_ros.perception.model_view import ModelView
from drex_ros.perception.normal_equations import leave, solve, turns_of
from drex_ros.perception.poses import Pose
from drex_ros.perception.tracked_mesh import RoundAxis, TrackedMesh
from drex_ros.robot.camera import CameraModel
from drex_ros.robot.joints import Array

NO_PRIOR = np.zeros((6, 6))
_NO_PULL = np.zeros(6)

_LARGE = 22000  # [px] of the region about an object that is large
_HARDLY_SEEN = 0.04**-2.0  # [1/rad^2] information of one frame on a turn that is too little
_FITTING = 0.75  # [px] from an outline that fits, in the mean; noise makes it 0.5
_FEW_LINES = 20.0  # across the outline, that tell a turn
_LONGEST_MOVE = 0.03  # [m] of one step
_LONGEST_TURN = 0.25  # [rad]
_DAMPING = np.diag((1.0, 1.0, 1.0, 1e-2, 1e-2, 1e-2))  # information on nothing: 1 m, 10 rad
_NO_TURN = np.diag((1.0, 1.0, 1.0, 1e9, 1e9, 1e9))
_OTHER_TIME = 0.25  # of the way's variance from depth to colour: less wild than frame to frame
_AGREEING = Stage(1, 0.012)  # how near depth must be to count
_SHORT_WAY = 0.0015  # [m, rad] from depth to colour: the outline is moved, not drawn anew
_SETTLED = (3e-4, 4e-3)  # [m], [rad] a step that is smaller is the last


class ModelFitter(ModelView):
    """Moves the model to where it agrees with a frame."""

    def __init__(
        self, mesh: TrackedMesh, camera: CameraModel, settings: FitSettings | None = None
    ) -> None:
        """Prepare for an object and a camera."""
        super().__init__(mesh, camera)
        self.settings = settings or FitSettings()
        self.use_relief = True
        self._step = contour_term.step_table()
        self._relief_step = relief_term.step_table()
        self._turn = np.zeros(6)
        self._noise = np.array((self.settings.depth_noise, self.settings.model_noise))

    def agreement(self, pose: Pose) -> float:
        """How well depth and colours agree with a pose that is not fitted; more is better."""
        if self._frame is None or not self.draw(pose):
            return -1.0
        self.look_around(self._frame)
        counts = self._depth(self._frame, pose, _AGREEING)[2]
        both = counts[depth_term.INLIERS] - counts[depth_term.VIOLATED]
        both -= 0.5 * counts[depth_term.OCCLUDED]
        return float(both / max(counts[depth_term.TOTAL], 1.0))

    def fit(
        self,
        start: Pose,
        stages: Sequence[Stage],
        contact: ContactPrior,
        prediction: Pose | None = None,
        prior: Array = NO_PRIOR,
        *,
        course: Course | None = None,
        use_contour: bool = True,
        hold: Sequence[RoundAxis] = (),
    ) -> Fit | None:
        """The pose that agrees best with the frame; None: it left the picture.

        Args:
            start: where to begin.
            stages: one for each step.
            contact: what the table says.
            prediction: where the object was expected; None: at `start`.
            prior: information of the prediction. Shape (6, 6).
            course: how the object moves, for a colour image of another time.
            use_contour: False: depth alone.
            hold: lines of the object about which it is not to be turned.
        """
        frame = self._frame
        assert frame is not None
        pose, prediction = start, prediction or start
        self.follow_colours(start, course)
        use_contour = use_contour and self.colours.known
        for steps, stage in enumerate(stages, start=1):
            if not self.draw(pose):
                return None
            self.look_around(frame)
            depth = self._depth(frame, pose, stage)
            information, gradient = depth[0], depth[1]
            contour = np.zeros(contour_term.N_COUNTS)
            if self.use_relief:
                more, pull = self._relief(frame, pose)
                information, gradient = information + more, gradient + pull
            outline = None
            known = information
            if use_contour and course is None:
                more, pull, contour = self._contour(frame, pose, stage)
                information, gradient = information + more, gradient + pull
            elif use_contour and course is not None:
                later, velocity = self.lateness, course.velocity_at(pose)
                shown, way = pose, later * velocity
                if math.sqrt(way @ way) > _SHORT_WAY:
                    shown = pose.moved(way)
                    if not self.draw(shown):
                        return None
                more, pull, contour = self._contour(frame, shown, stage)
                if shown is pose:
                    pull = pull - more @ way
                outline = OtherTime(
                    more,
                    pull,
                    velocity=velocity,
                    variance=self.delay.variance,
                    rest=_OTHER_TIME * later * later * course.spread,
                    chain=np.eye(6) + later * course.gain,
                )
                information = information + outline.information
                gradient = gradient + outline.gradient
            self._keep_free_axes(pose, information, gradient)
            support, pull = contact.added(pose, NO_PRIOR, _NO_PULL)
            turns, values = _turns(information + support)
            weakest = int(np.argmin(values))
            unseen = [turns[i] for i in range(3) if 1e-9 < values[i] < _HARDLY_SEEN]
            held = [about(pose, axis) for axis in hold]
            if held:
                unseen = held
            elif not unseen and use_contour and self._few_tell(known + support, contour):
                unseen = [turns[weakest]]
            self._turn = turns[weakest]
            for each in unseen:
                leave(information, gradient, each)
            free_information, free_gradient = information, gradient
            information, gradient = information + support, gradient + pull
            to_prediction = pose.step_to(prediction)
            # A little damping keeps directions that nothing is known of where they are.
            total = information + prior + (_DAMPING if stage.turn else _NO_TURN)
            step = np.empty(6)
            solve(total, gradient + prior @ to_prediction, step)
            # Prediction and table would turn it, through tilts that go with the turn.
            for axis in self.mesh.free_axes:
                free = pose.rotation @ axis
                step[3:] -= free * (free @ step[3:])
            for each in held:
                step -= each * (each[3:] @ step[3:])
            move, turn = math.sqrt(step[:3] @ step[:3]), math.sqrt(step[3:] @ step[3:])
            step[:3] *= min(1.0, _LONGEST_MOVE / max(move, 1e-12))
            step[3:] *= min(1.0, _LONGEST_TURN / max(turn, 1e-12))
            pose = pose.moved(step)
            if steps >= 2 and move < _SETTLED[0] and turn < _SETTLED[1]:
                break
        free_gradient = free_gradient - free_information @ step
        covariance = np.asarray(np.linalg.inv(total), dtype=np.float64)
        delay = None if outline is None else outline.delay(step, covariance)
        return Fit(
            pose, information, free_information, free_gradient, depth[2], contour, steps,
            tuple(unseen), delay,
        )  # fmt: skip

    def _few_tell(self, known: Array, contour: Array) -> bool:
        """Whether the turn of which least is known is told by a few lines of the outline alone.

        So it is with a mug whose handle just shows: what a few lines say is their own errors. And
        an outline that does not fit is that of another turn.

        Args:
            known: information of depth and table. Shape (6, 6).
            contour: counts of this step, for the weakest turn of the step before.
        """
        if not len(self.mesh.round_axes) or _turns(known)[1].min() > _HARDLY_SEEN:
            return False
        if contour[contour_term.DISTANCE] > _FITTING * contour[contour_term.USED]:
            return True  # the outline is another
        telling, square = contour[contour_term.TELLING], contour[contour_term.TELLING_SQUARED]
        return bool(telling * telling < _FEW_LINES * square)

    def _keep_free_axes(self, pose: Pose, information: Array, gradient: Array) -> None:
        """Take away what the facets of a round mesh say about turns that cannot be seen."""
        for axis in self.mesh.free_axes:
            free = np.zeros(6)
            free[3:] = pose.rotation @ axis
            keep = np.eye(6) - np.outer(free, free)
            information[:] = keep @ information @ keep
            gradient[:] = keep @ gradient

    def _depth(self, frame: RgbdFrame, pose: Pose, stage: Stage) -> tuple[Array, Array, Array]:
        settings = self.settings
        # Neighbours err together: of a large object every third pixel says as much.
        large = self.region[2] * self.region[3] > _LARGE
        step = settings.depth_step + int(large)
        information, gradient = np.zeros((6, 6)), np.zeros(6)
        counts = np.zeros(depth_term.N_COUNTS)
        depth_term.add_depth(
            self.drawn, self.face, self.points, self.mesh.faces, self.mesh.corner_normals,
            pose.rotation, frame.depth, self.scale, self.robot, self.blocked, self.lens,
            self.region, pose.position, self.table, stage.gate, self._noise, step,
            self.likely_then, information, gradient, counts,
        )  # fmt: skip
        share = step**2 / settings.depth_area
        return share * information, share * gradient, counts

    def _relief(self, frame: RgbdFrame, pose: Pose) -> tuple[Array, Array]:
        settings, mesh = self.settings, self.mesh
        information, gradient = np.zeros((6, 6)), np.zeros(6)
        relief_term.add_relief(
            self.points, mesh.edges, mesh.edge_faces, mesh.edge_opposite, mesh.edge_normals,
            pose.rotation, self.front, self.drawn, self.face, frame.depth, self.scale,
            self.robot, self.lens, self.region, pose.position,
            settings.spacing, self._relief_step, settings.relief_variance, information, gradient,
            np.zeros(relief_term.N_COUNTS),
        )  # fmt: skip
        return information / settings.relief_share, gradient / settings.relief_share

    def _contour(self, frame: RgbdFrame, pose: Pose, stage: Stage) -> tuple[Array, Array, Array]:
        settings, mesh = self.settings, self.mesh
        information, gradient = np.zeros((6, 6)), np.zeros(6)
        counts = np.zeros(contour_term.N_COUNTS)
        contour_term.add_contour(
            self.points, mesh.edges, mesh.edge_faces, mesh.edge_opposite, mesh.edge_normals,
            pose.rotation, self.front, self.drawn, self.face, frame.depth, self.scale,
            self.robot, self.blocked, self.likely, self.lens,
            self.region, pose.position, self.table, float(stage.stride), settings.spacing,
            self._step, settings.contour_variance, self.colours.clear, stage.settled, self._turn,
            information, gradient, counts,
        )  # fmt: skip
        # Colours that object and surroundings share make the outline worth little.
        clear = min(1.0, max(0.03, (self.colours.separability - 0.6) / 0.3))
        share = clear**2 / settings.contour_share
        return share * information, share * gradient, counts


def about(pose: Pose, axis: RoundAxis) -> Array:
    """The step of a turn by 1 rad about a line of the object. Shape (6,)."""
    direction, lever = pose.rotation @ axis.direction, pose.rotation @ axis.point
    return np.concatenate((np.cross(lever, direction), direction))


def _turns(information: Array) -> tuple[Array, Array]:
    """Turns that are known independently of each other (3, 6), and how well [1/rad^2], (3,)."""
    turns, values = np.zeros((3, 6)), np.zeros(3)
    turns_of(information, turns, values)
    return turns, values
