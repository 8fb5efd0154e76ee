# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What to think of a fit: tracking, uncertain or lost, and why."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from drex_ros.kernel import kernel
from drex_ros.perception import depth_term
from drex_ros.perception.estimate import Evidence, TrackStatus
from drex_ros.perception.fit import Fit
from drex_ros.perception.frame import RgbdFrame
from drex_ros.perception.model_fit import ModelFitter

_COVERED = 'covered'
_OUTLINE = 'its outline'
_FEWEST_PIXELS = 40.0
_LOOK_AROUND = 4  # [px] from the outline at which the surface must have ended
_NEAR = np.float32(0.008)  # [m]
_DEPTH_IS_SURE = 0.95  # share of inliers from which an outline that is off is a wonder, not a loss
_MUCH = 0.4  # share in sight that speaks for the whole
_PLACE_KNOWN = 0.004  # [m]
_SAME_TIME = 0.004  # [s] colour and depth that are farther apart are of two times
# [m] Of two times: where more is in doubt, what the object did in between decides its place.
_PLACE_KNOWN_OF_TWO_TIMES = 0.00065
_TURN_KNOWN = 0.15  # [rad]
_COVERED_PATIENCE = 12  # frames in which something hides the object until it is lost
_PATIENCE = 3  # frames with bad evidence until the object is lost


@dataclass(frozen=True)
class Finding:
    """What one frame says about the pose; `severity` 0: good, 1: weak, 2: bad, 3: hopeless."""

    severity: int
    reason: str
    evidence: Evidence
    covered: bool = False
    """Bad where something is in front of most of it."""
    only_outline: bool = False
    """Depth says surely where it is; its outline is elsewhere, as with a camera's wrong stamps."""

    def no_better_than(self, severity: int, reason: str) -> Finding:
        """The same, but worse where it was better."""
        if self.severity >= severity:
            return self
        return replace(self, severity=severity, reason=reason)


class Judge:
    """Judges frame by frame; keeps how long it has been bad."""

    def __init__(self) -> None:
        """Nothing bad yet."""
        self._bad = 0

    def forget(self) -> None:
        """Begin anew."""
        self._bad = 0

    def judge(self, finding: Finding) -> TrackStatus:
        """The status after a frame's finding."""
        if finding.severity == 0:
            self._bad = 0
            return TrackStatus.TRACKING
        if finding.severity == 1:
            return TrackStatus.UNCERTAIN
        self._bad += 1
        patience = _COVERED_PATIENCE if finding.covered else _PATIENCE
        if finding.severity >= 3 or self._bad >= patience:
            return TrackStatus.LOST
        return TrackStatus.UNCERTAIN


def examine(
    fitter: ModelFitter, frame: RgbdFrame, fit: Fit, place_doubt: float, turn_doubt: float
) -> Finding:
    """Look at what speaks for and against a fit.

    Args:
        fitter: that made it.
        frame: that it was made to.
        fit: to examine.
        place_doubt: deviation of the place in the direction that is known least [m].
        turn_doubt: deviation of the turn that is known least [rad].
    """
    counts = np.zeros(6)
    if fitter.draw_about(fit.pose):
        fitter.look_around(frame)
        _look_around(
            fitter.drawn, fitter.face, frame.depth, fitter.scale, fitter.robot, fitter.blocked,
            fitter.likely_then,
            fitter.table, fitter.lens, fitter.region, counts,
        )  # fmt: skip
    coloured = float(counts[1] / max(counts[0], 1.0))
    beyond = float(counts[3] / max(counts[2], 1.0))
    clear = fitter.colours.clear
    unexplained = float(counts[5] / max(counts[4], 1.0)) if clear else 0.0
    evidence = Evidence(
        pixels=int(fit.depth[4]),
        inliers=fit.inliers,
        occluded=fit.occluded,
        contour=fit.contour_distance,
        colour=coloured,
        unexplained=unexplained,
    )
    # Where something near hides it from one of the camera's two eyes, colours alone may do.
    by_colour = clear and counts[0] > 40 and coloured > 0.75 and fit.outline_lines > 25
    severity, reason = _worst(fit, clear, coloured, beyond, by_colour)
    if severity == 0 and place_doubt > _PLACE_KNOWN:
        severity, reason = 1, f'its place is known to {1e3 * place_doubt:.1f} mm only'
    late = abs(fitter.lateness)
    if severity == 0 and late > _SAME_TIME and place_doubt > _PLACE_KNOWN_OF_TWO_TIMES:
        apart = f'colour and depth are {1e3 * late:.0f} ms apart'
        severity, reason = 1, f'{apart}: its place is known to {1e3 * place_doubt:.1f} mm only'
    if severity == 0 and turn_doubt > _TURN_KNOWN:
        severity, reason = 1, f'its turn is known to {np.degrees(turn_doubt):.0f} deg only'
    sure = severity == 1 and reason.startswith(_OUTLINE) and fit.inliers > _DEPTH_IS_SURE
    seen = fit.in_sight / max(float(fit.depth[depth_term.TOTAL]), 1.0)
    covered = reason.startswith(_COVERED) or (severity == 2 and seen < _MUCH)
    return Finding(severity, reason, evidence, covered, sure)


def _worst(
    fit: Fit, clear: bool, coloured: float, beyond: float, by_colour: bool
) -> tuple[int, str]:
    total = float(fit.depth[0])
    in_sight = fit.in_sight / max(total, 1.0)
    if total < _FEWEST_PIXELS:
        return 2, f'only {total:.0f} pixels of the object would be in the picture'
    if by_colour and fit.contour_distance < 1.2 and in_sight < 0.15 and fit.violated < 0.2:
        return 0, ''
    if fit.in_sight < 12.0 or in_sight < 0.06:
        hidden, missing = 100 * fit.occluded, 100 * fit.missing
        return 2, f'{_COVERED}: {hidden:.0f} % of it is hidden, {missing:.0f} % has no depth'
    if fit.violated > 0.5:
        # Of a small part one cannot tell: the rest may be there, behind something.
        reason = f'not there: the camera sees through {100 * fit.violated:.0f} % of it'
        return 3 if in_sight > _MUCH else 2, reason
    if clear and coloured < 0.25:
        return 3, f'not it: {100 * coloured:.0f} % of it has the colours it had'
    if fit.violated > 0.10:
        return 2, f'the camera sees through {100 * fit.violated:.0f} % of it'
    if fit.inliers < 0.80:
        return 2, f'depth agrees with {100 * fit.inliers:.0f} % of it'
    if clear and coloured < 0.5:
        return 2, f'{100 * coloured:.0f} % of it has the colours it had'
    if clear and fit.contour_distance > (2.2 if fit.inliers < _DEPTH_IS_SURE else 4.5):
        return 2, f'{_OUTLINE} is {fit.contour_distance:.1f} px from where colours change'
    if beyond > 0.35:
        return 2, f'the surface goes on beyond {100 * beyond:.0f} % of its outline'
    if fit.inliers < 0.88:
        return 1, f'depth agrees with {100 * fit.inliers:.0f} % of it'
    if fit.violated > 0.06:
        return 1, f'the camera sees through {100 * fit.violated:.0f} % of it'
    if clear and fit.contour_distance > 1.6:
        return 1, f'{_OUTLINE} is {fit.contour_distance:.1f} px from where colours change'
    return 0, ''


@kernel
def _look_around(  # type: ignore[no-untyped-def]
    drawn, face, measured, scale, robot, blocked, likely, table, lens, region, counts
):
    """Count pixels of several kinds into `counts`.

    In sight; of these with the object's colours; around the outline; of these where the surface
    goes on; of the model; with the object's colours but beside the model.
    """
    left, top, width, height = region[0], region[1], region[2], region[3]
    far = _LOOK_AROUND
    for y in range(far, height - far, 2):
        for x in range(far, width - far, 2):
            seen = scale * measured[y + top, x + left]
            if face[y, x] >= 0:
                counts[4] += 1.0
                z = drawn[y, x]
                if robot[y + top, x + left] < z + 0.012:
                    continue
                # Two cameras see less beside what hides it than one.
                ahead = (seen > 0.0 and seen < z - 0.012) or blocked[y + top, x + left] != 0
                if ahead and not likely[y + top, x + left] > 0.8:
                    continue
                counts[0] += 1.0
                if likely[y + top, x + left] > 0.5:
                    counts[1] += 1.0
                continue
            rx = (x + left - lens[2]) / lens[0]
            ry = (y + top - lens[3]) / lens[1]
            above = seen * (table[0] * rx + table[1] * ry + table[2]) + table[3]
            if (
                seen > 0.0
                and above > 0.008
                and likely[y + top, x + left] > 0.8
                and robot[y + top, x + left] > seen + 0.03
                and not _beside(face, x, y)
            ):
                counts[5] += 1.0
            z = np.float32(0.0)
            if face[y, x - far] >= 0:
                z = drawn[y, x - far]
            elif face[y, x + far] >= 0:
                z = drawn[y, x + far]
            elif face[y - far, x] >= 0:
                z = drawn[y - far, x]
            elif face[y + far, x] >= 0:
                z = drawn[y + far, x]
            if z > 0.0 and seen > 0.0 and robot[y + top, x + left] > z + 0.03:
                counts[2] += 1.0
                if above > 0.008 and abs(seen - z) < _NEAR:
                    counts[3] += 1.0


@kernel
def _beside(face, x, y):  # type: ignore[no-untyped-def]
    """Whether the model is drawn right beside a pixel."""
    far = _LOOK_AROUND
    for dy in (-far, 0, far):
        for dx in (-far, 0, far):
            if face[y + dy, x + dx] >= 0:
                return True
    return False
