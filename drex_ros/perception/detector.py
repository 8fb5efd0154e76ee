# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Finds an object on the table without knowing where it is: no training, from its mesh alone.

What stands out of the table is cut into pieces. At each piece the object is tried in all ways in
which it may lie there; the best few are fitted to depth and judged by what they explain.
"""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import numpy.typing as npt

from drex_ros.objects import ObjectModel
from drex_ros.perception.colour_model import ColourModel
from drex_ros.perception.contact_prior import ContactPrior
from drex_ros.perception.fit import FitSettings, Stage
from drex_ros.perception.frame import RgbdFrame
from drex_ros.perception.hypotheses import (
    GOOD,
    Found,
    Hypothesis,
    colour_agreement,
    looks_alike,
    middle_of_sight,
    tally,
)
from drex_ros.perception.model_fit import ModelFitter
from drex_ros.perception.pieces import JOINED, Piece, colours_of, parts_of
from drex_ros.perception.poses import Pose
from drex_ros.perception.raster import NOTHING
from drex_ros.perception.standing_poses import StandingPose, shortest_turn, standing_poses
from drex_ros.perception.tracked_mesh import RestingFace, TrackedMesh
from drex_ros.robot.camera import CameraModel
from drex_ros.robot.joints import Array
from drex_ros.robot.rotations import rotation_matrix

TIE = 0.04
"""Scores that differ by less are as good as each other."""

_LOWEST = 0.006  # [m] above the table; what is lower is the table
_SMALLEST = 150  # [px] of a piece
_MOST_PIECES = 5
_TURNS = 24
_REFINED = 30
_FINISHED = 6
_USUAL = 0.98  # cosine between the usual upward direction and one that counts as it
_USUAL_BONUS = 0.08  # of the score
_LIKE_BONUS = 0.3  # of the score, for the part of the object that is hidden
_ALIKE = 0.9  # [rad] to an orientation that is expected
_SEPARABLE = 0.7  # colours that are so different from those around are looked at
_SAME_PLACE = 0.004  # [m]
_SAME_TURN = 0.08  # [rad]
_APART = 0.02  # [m] places that are farther from each other are two
_LOOSE = np.diag(np.repeat((0.02, 0.25), 3) ** -2.0)
_TIGHT = np.diag(np.repeat((0.01, 0.1), 3) ** -2.0)
_WIDE = (Stage(1, 0.03, turn=False), Stage(1, 0.02, turn=False), Stage(1, 0.012, turn=False))
_NARROW = (Stage(1, 0.012), Stage(1, 0.008), Stage(1, 0.006), Stage(1, 0.005))


class Detector:
    """Looks for one object. Not for use by two threads at once."""

    def __init__(self, model: ObjectModel, mesh: TrackedMesh, camera: CameraModel) -> None:
        """Prepare for an object and a camera; works on pictures of half the size."""
        self._model = model
        self._mesh = mesh
        self._half = _halved(camera)
        self._fitter = ModelFitter(mesh, self._half, replace(FitSettings(), depth_step=1))
        self._rays = self._half.rays()
        self._contact = ContactPrior(mesh, self._fitter.table)
        normal = self._fitter.table[:3]
        across = np.array((1.0, 0.0, 0.0)) - normal[0] * normal
        across /= np.linalg.norm(across)
        self._table_axes = np.stack((across, np.cross(normal, across), normal), axis=1)
        self._poses = standing_poses(model, mesh, _TURNS)
        self._like: Pose | None = None
        self._usual_up = rotation_matrix(model.rest_quaternion)[2]
        tallest = max(float(np.ptp(mesh.vertices @ pose.rotation[2])) for pose in self._poses)
        self._tallest = tallest + 0.012

    def detect(
        self,
        frame: RgbdFrame,
        *,
        scale: float = 1.0,
        robot: npt.NDArray[np.float32] | None = None,
        likely: npt.NDArray[np.float32] | None = None,
        side: RestingFace | None = None,
        like: Pose | None = None,
    ) -> Found:
        """Look for the object in a frame.

        Args:
            frame: the pictures.
            scale: factor on depth.
            robot: depth of the robot [m], far where it is not. Shape (height, width).
            likely: probability that a pixel has the object's colour, where that is known.
            side: look only for objects that stand on this side.
            like: it was turned like this a moment ago, which counts where little of it is seen.
        """
        fitter = self._fitter
        depth = np.ascontiguousarray(frame.depth[::2, ::2]) * np.float32(scale)
        fitter.robot = np.full_like(depth, NOTHING) if robot is None else _near(robot)
        self._likely = np.ones_like(depth) if likely is None else likely[::2, ::2].copy()
        fitter.likely[:], fitter.colours = 1.0, ColourModel()
        colour = np.ascontiguousarray(frame.colour[::2, ::2])
        fitter.look_at(RgbdFrame(frame.time, colour, depth))
        pieces = self._pieces(depth, None if likely is None else self._likely)
        poses = self._poses if side is None else standing_poses(
            self._model, self._mesh, _TURNS, side
        )  # fmt: skip
        self._like = like
        if like is not None:
            poses = (*poses, self._standing(like))
        tried = [
            each
            for piece in pieces
            for pose in poses
            if (each := self._try(pose, piece, depth)) is not None
        ]
        by_number = {piece.number: piece for piece in pieces}
        colours = {each.number: colours_of(each, colour) for each in pieces}
        refined = self._refined(tried, _REFINED, by_number, depth, _WIDE, _LOOSE)
        refined = self._outlined(refined, by_number, colours, depth)
        final = self._refined(refined, _FINISHED, by_number, depth, _NARROW, _TIGHT, colours)
        usual = self._turned_up(final[:1])
        final += self._refined(usual, 1, by_number, depth, _NARROW, _TIGHT, colours)
        final = sorted(self._outlined(final, by_number, colours, depth), key=self._rank)
        return self._judge(final, sum(not piece.joined for piece in pieces))

    def _outlined(
        self,
        given: list[Hypothesis],
        pieces: dict[int, Piece],
        colours: dict[int, ColourModel],
        depth: npt.NDArray[np.float32],
    ) -> list[Hypothesis]:
        """Judge by colours, too: thin parts such as handles are hardly seen in depth."""
        fitter, judged = self._fitter, []
        for each in given:
            known = colours[each.piece]
            if known.separability > _SEPARABLE and fitter.draw(each.pose):
                fitter.colours = known
                window = pieces[each.piece].window()
                likely = fitter.likely_in(window)
                outline = colour_agreement(
                    fitter.drawn, fitter.face, depth, fitter.robot, likely, window, fitter.region
                )
                judged.append(replace(each, outline=outline))
            else:
                judged.append(each)
        return judged

    def _refined(
        self,
        given: list[Hypothesis],
        most: int,
        pieces: dict[int, Piece],
        depth: npt.NDArray[np.float32],
        stages: tuple[Stage, ...],
        prior: Array,
        colours: dict[int, ColourModel] | None = None,
    ) -> list[Hypothesis]:
        """The best few, fitted, without those that came to the same; best first.

        They are fitted to depth, and with `colours` to their outline, too.
        """
        found: list[Hypothesis] = []
        for each in sorted(given, key=self._rank)[:most]:
            self._fitter.colours = colours[each.piece] if colours else ColourModel()
            better = self._refine(each, pieces[each.piece], depth, stages, prior)
            if better is not None:
                found.append(better)
        found.sort(key=self._rank)
        distinct: list[Hypothesis] = []
        for each in found:
            if not any(_same(each.pose, other.pose) for other in distinct):
                distinct.append(each)
        return distinct

    def _turned_up(self, best: list[Hypothesis]) -> list[Hypothesis]:
        """The best one rolled onto the side on which the object usually stands."""
        if not best or best[0].side is None or best[0].side.up @ self._usual_up > _USUAL:
            return []
        for side in self._mesh.resting_faces:
            if side.up @ self._usual_up > _USUAL:
                pose, table = best[0].pose, self._fitter.table
                rotation = pose.rotation @ shortest_turn(side.up, best[0].side.up)
                rise = side.height - (table[:3] @ pose.position + table[3])
                rolled = Pose(pose.position + rise * table[:3], rotation)
                return [replace(best[0], pose=rolled, side=side)]
        return []

    def _rank(self, each: Hypothesis) -> float:
        """Best first; of two that are as good, the one that stands as the object usually does."""
        usual = each.side is not None and each.side.up @ self._usual_up > _USUAL
        bonus = _USUAL_BONUS if usual else 0.0
        if self._like is not None:
            turn = each.pose.step_to(self._like)[3:]
            if turn @ turn < _ALIKE**2:
                bonus += _LIKE_BONUS * (1.0 - each.in_sight)
        return -each.score - each.outline - bonus

    def _standing(self, pose: Pose) -> StandingPose:
        """A pose as a way to stand on the table."""
        rotation = self._table_axes.T @ pose.rotation
        height = float(-(self._mesh.vertices @ rotation[2]).min())
        sides = (side for side in self._mesh.resting_faces if side.up @ rotation[2] > _USUAL)
        return StandingPose(rotation, height, next(sides, None))

    def _judge(self, ranked: list[Hypothesis], pieces: int) -> Found:
        if not ranked:
            return Found(None, 0, False, pieces)
        best = ranked[0]
        close = [each for each in ranked[1:] if each.score > max(best.score - TIE, GOOD)]
        far = {
            each.piece
            for each in close
            if np.linalg.norm(each.pose.position - best.pose.position) > _APART
            and not parts_of(each.piece) & parts_of(best.piece)
        }
        turned = any(
            each.piece == best.piece and not looks_alike(self._mesh, each.pose, best.pose)
            for each in close
        )
        return Found(best, len(far), turned, pieces)

    def _pieces(
        self, depth: npt.NDArray[np.float32], likely: npt.NDArray[np.float32] | None
    ) -> list[Piece]:
        """Cut what stands out of the table into pieces, largest first."""
        table = self._fitter.table
        height = depth * (self._rays @ table[:3]) + table[3]
        mask = (height > _LOWEST) & (height < self._tallest) & (depth > 0.0)
        mask &= self._fitter.robot > depth + 0.02
        if likely is not None:
            mask &= likely > 0.5
        square = np.ones((3, 3), np.uint8)
        whole = cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_OPEN, square)
        whole = cv2.morphologyEx(whole, cv2.MORPH_CLOSE, square)
        _, labels, stats, _ = cv2.connectedComponentsWithStats(whole, connectivity=4)
        areas = stats[1:, cv2.CC_STAT_AREA]
        order = [int(i) + 1 for i in np.argsort(-areas) if areas[i] > _SMALLEST / 4]
        points = self._rays * depth[..., None]
        pieces = []
        for number in order[:_MOST_PIECES]:
            pixels = labels == number
            middle = points[pixels & (depth > 0.0)].mean(axis=0)
            pieces.append(Piece(number, pixels, middle))
        return pieces + self._joined(pieces, points, depth)

    def _joined(
        self, pieces: list[Piece], points: Array, depth: npt.NDArray[np.float32]
    ) -> list[Piece]:
        """Pieces near each other taken together: something may stand in front of the middle."""
        pairs = []
        for i, first in enumerate(pieces):
            for second in pieces[i + 1 :]:
                if np.linalg.norm(first.middle - second.middle) < 2.0 * self._mesh.radius:
                    pixels = first.mask | second.mask
                    middle = points[pixels & (depth > 0.0)].mean(axis=0)
                    number = JOINED * first.number + second.number
                    pairs.append(Piece(number, pixels, middle, joined=True))
        return pairs[:2]

    def _try(
        self, standing: StandingPose, piece: Piece, depth: npt.NDArray[np.float32]
    ) -> Hypothesis | None:
        """The object in one way at one piece, its visible surface over the piece's middle."""
        fitter, table = self._fitter, self._fitter.table
        normal = table[:3]
        rise = standing.height - (normal @ piece.middle + table[3])
        pose = Pose(piece.middle + rise * normal, self._table_axes @ standing.rotation)
        for _ in range(2):
            if not fitter.draw(pose):
                return None
            surface = np.zeros(4)
            middle_of_sight(
                fitter.drawn, fitter.face, depth, fitter.robot, fitter.lens, fitter.region, surface
            )
            if surface[3] < 1.0:
                return None
            off = piece.middle - surface[:3]
            pose = Pose(pose.position + off - normal * (normal @ off), pose.rotation)
        return self._scored(pose, standing.side, piece, depth)

    def _refine(
        self,
        given: Hypothesis,
        piece: Piece,
        depth: npt.NDArray[np.float32],
        stages: tuple[Stage, ...],
        prior: Array,
    ) -> Hypothesis | None:
        self._contact.stand_on(given.side)
        fit = self._fitter.fit(given.pose, stages, self._contact, prior=prior)
        if fit is None:
            return None
        better = self._scored(fit.pose, given.side, piece, depth)
        return None if better is None else replace(better, outline=given.outline)

    def _scored(
        self,
        pose: Pose,
        side: RestingFace | None,
        piece: Piece,
        depth: npt.NDArray[np.float32],
    ) -> Hypothesis | None:
        fitter = self._fitter
        if not fitter.draw(pose):
            return None
        counts = np.zeros(6)
        tally(
            fitter.drawn, fitter.face, depth, fitter.robot, self._likely, piece.mask,
            fitter.region, counts,
        )  # fmt: skip
        return Hypothesis.of(pose, side, piece.number, counts)


def _halved(camera: CameraModel) -> CameraModel:
    """The camera whose pixels are every second of each row and column."""
    return CameraModel(
        width=(camera.width + 1) // 2,
        height=(camera.height + 1) // 2,
        fx=0.5 * camera.fx,
        fy=0.5 * camera.fy,
        cx=0.5 * camera.cx,
        cy=0.5 * camera.cy,
        position=camera.position,
        quaternion=camera.quaternion,
    )


def _near(robot: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """The robot's depth at half the size, a little larger than it is."""
    larger = cv2.erode(robot, np.ones((7, 7), np.uint8))
    return np.ascontiguousarray(larger[::2, ::2])


def _same(first: Pose, second: Pose) -> bool:
    """Whether two fits came to the same pose."""
    step = first.step_to(second)
    return bool(np.linalg.norm(step[:3]) < _SAME_PLACE and np.linalg.norm(step[3:]) < _SAME_TURN)
