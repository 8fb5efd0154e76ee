# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What a stereo camera makes of true depth: noise, steps, flying pixels and holes.

Everything happens in disparity d = f b / z [px], where a stereo camera measures: there its noise
is the same at every distance, which makes sigma_z = z^2 sigma_d / (f b) in depth. The numbers
are those of an Intel RealSense D435 at its best depth resolution, 848x480.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from statistics import NormalDist

import cv2
import numpy as np
import numpy.typing as npt

from drex_ros.robot.camera import CameraModel

Depth = npt.NDArray[np.float32]
Colour = npt.NDArray[np.uint8]

_MILLIMETRES = 1000.0
_UINT16_END = 65536.0


@dataclass(frozen=True)
class StereoNoise:
    """How a stereo camera errs. Lengths in pixels are pixels of the depth imagers."""

    focal: float = 424.0
    """Of the depth imagers [px]: 848 columns over 90 degrees (Intel's subpixel paper)."""
    baseline: float = 0.05
    """Distance of the two imagers [m]."""
    subpixel: float = 1.0 / 32.0
    """Step of the disparity [px] (the same paper)."""
    sigma: float = 0.06
    """Deviation of the disparity [px]: 1.8 mm at 0.8 m. RealSense's engineers name 0.032 as the
    best case and 0.08 as a safe value (librealsense issue 3904); a user's D435 had 0.06 to 0.07
    (issue 3139)."""
    white: float = 0.55
    """Share of sigma that differs from pixel to pixel; the matching window smears the rest.
    This share and what follows up to the range is chosen to look like a D435, not measured."""
    fixed: float = 0.35
    """Share of sigma that stays from frame to frame, as the projected pattern does."""
    correlation: float = 4.0
    """Length over which the smeared part is the same [px of the picture]: half the window."""
    fixed_correlation: float = 16.0
    """Length over which the lasting part is the same [px of the picture]."""
    edge_jump: float = 0.7
    """Jump of the disparity that counts as an edge [px]: where matches become ambiguous."""
    edge_wander: float = 1.0
    """Deviation by which an edge is displaced [px of the picture]: windows straddle it."""
    flying: float = 0.25
    """Share of edge pixels measured between the near and the far side."""
    edge_holes: float = 0.35
    """Share of edge pixels without a match."""
    speckle: float = 0.003
    """Share of all pixels, roughly, that are in holes without a cause that can be seen."""
    min_range: float = 0.168
    """Nearest depth [m]: the largest disparity searched is 126 px (realsense-ros issue 2367)."""
    max_range: float = 10.0
    """Farthest depth [m] (librealsense issue 3139)."""


@dataclass(frozen=True)
class DepthChance:
    """What chance does to the depth of one frame, whatever there is to be seen."""

    places: npt.NDArray[np.float32]
    """Where each pixel looks, displaced [px]: column and row. Shape (height, width, 2)."""
    white: Depth
    """Error of the disparity that differs from pixel to pixel [px]. Shape (height, width)."""
    smeared: Depth
    """That of the matching window [px]. Shape (height, width)."""
    luck: Depth
    """Of deviation 1, for holes and flying pixels. Shape (height, width)."""
    generator: np.random.Generator
    """Of what depends on the edges that are seen."""


class DepthSensor:
    """Turns exact depth images into those of a stereo camera whose left imager has the view."""

    def __init__(
        self, camera: CameraModel, noise: StereoNoise | None = None, *, seed: int = 0
    ) -> None:
        """Set up a sensor; the seed is for what stays the same from frame to frame."""
        self.noise = noise = noise or StereoNoise()
        self._shape = (camera.height, camera.width)
        # A disparity in pixels of the picture, which may be finer than the imagers.
        self._scale = np.float32(camera.fx / noise.focal)
        self._columns = np.arange(camera.width, dtype=np.float32)
        rows, columns = np.indices(self._shape, dtype=np.float32)
        self._grid = np.stack((columns, rows), axis=-1)
        generator = frame_generator(seed, 0)
        self._fixed = self._field(generator, noise.fixed_correlation)
        self._fixed *= np.float32(noise.sigma * noise.fixed)
        smeared = np.sqrt(max(1.0 - noise.white**2 - noise.fixed**2, 0.0))
        self._smeared = np.float32(noise.sigma * smeared)
        self._white = np.float32(noise.sigma * noise.white)
        # Thresholds on one random field: neighbours share their luck.
        quantile = NormalDist().inv_cdf
        self._speckle = np.float32(quantile(1.0 - noise.speckle))
        self._edge_hole = np.float32(quantile(1.0 - noise.edge_holes))
        self._flying = np.float32(quantile(noise.flying))

    def chance(self, generator: np.random.Generator) -> DepthChance:
        """Roll the dice for one frame: more than half of the work, and needs no picture."""
        correlation = self.noise.correlation
        places = self._places(generator)
        white = self._white * _normal(generator, self._shape)
        smeared = self._smeared * self._field(generator, correlation)
        return DepthChance(places, white, smeared, self._field(generator, correlation), generator)

    def measure(self, depth: Depth, generator: np.random.Generator) -> Depth:
        """The depth image [m] that the camera gives; 0 where it has no value.

        Args:
            depth: true depth [m], infinite where nothing is. Shape (height, width).
            generator: of this frame's random numbers.
        """
        return self.measure_with(depth, self.chance(generator))

    def measure_with(self, depth: Depth, chance: DepthChance) -> Depth:
        """The same with dice that are rolled; they are good for one frame."""
        noise = self.noise
        if depth.shape != self._shape:
            raise ValueError(f'depth image of shape {depth.shape}, must be {self._shape}')
        disparity = np.float32(noise.focal * noise.baseline) / depth
        holes = self._shadow(disparity)
        # Edges are displaced, smoothly along them.
        disparity = cv2.remap(
            disparity, chance.places, None, cv2.INTER_NEAREST, borderMode=cv2.BORDER_REPLICATE
        )
        near, far = cv2.dilate(disparity, _WINDOW), cv2.erode(disparity, _WINDOW)
        edges = (near - far) > noise.edge_jump

        disparity += chance.white
        disparity += chance.smeared
        disparity += self._fixed
        luck = chance.luck
        holes |= luck > self._speckle
        holes |= edges & (luck > self._edge_hole)
        places = np.flatnonzero(edges & (luck < self._flying))
        mix = chance.generator.random(len(places), dtype=np.float32)
        near, far = near.ravel()[places], far.ravel()[places]
        disparity.ravel()[places] = mix * near + (1.0 - mix) * far

        disparity *= np.float32(1.0 / noise.subpixel)
        np.rint(disparity, out=disparity)
        # Disparities at and below zero become depths beyond the range, and so holes.
        np.maximum(disparity, np.float32(1e-3), out=disparity)
        scale = np.float32(noise.focal * noise.baseline / noise.subpixel)
        measured: Depth = scale / disparity
        holes |= measured < noise.min_range
        holes |= measured > noise.max_range
        measured *= ~holes
        return measured

    def _shadow(self, disparity: Depth) -> npt.NDArray[np.bool_]:
        """Pixels that the right imager does not see: a nearer thing to the right hides them."""
        column = self._columns - self._scale * disparity
        nearest_right = np.minimum.accumulate(column[:, ::-1], axis=1)[:, ::-1]
        # One pixel of slack, or every steep surface would shadow itself.
        return column > nearest_right + 1.0

    def _places(self, generator: np.random.Generator) -> npt.NDArray[np.float32]:
        """Where pixels look, displaced smoothly [px]. Shape (height, width, 2)."""
        noise = self.noise
        step = round(noise.correlation)
        size = (self._shape[0] // step + 2, self._shape[1] // step + 2, 2)
        coarse = np.float32(noise.edge_wander) * _normal(generator, size)
        places: npt.NDArray[np.float32] = cv2.resize(
            coarse, self._shape[::-1], interpolation=cv2.INTER_LINEAR
        )
        places += self._grid
        return places

    def _field(self, generator: np.random.Generator, correlation: float) -> Depth:
        """A smooth random field of deviation 1 in every pixel. Shape (height, width)."""
        step = max(round(correlation), 1)
        rows, columns = (size // step + 2 for size in self._shape)
        coarse = _normal(generator, (rows, columns))
        size = (columns * step, rows * step)
        field: Depth = cv2.resize(coarse, size, interpolation=cv2.INTER_LINEAR)
        # Every frame has its own place on the coarse grid, so that no pixel is special.
        top, left = generator.integers(0, step, 2)
        field = field[top : top + self._shape[0], left : left + self._shape[1]]
        field = field * _bilinear_gain(step)
        return field


def frame_generator(seed: int, frame: int) -> np.random.Generator:
    """The random numbers of one frame: the same seed and frame give the same ones."""
    return np.random.Generator(np.random.SFC64([seed, frame]))


def colour_noise(
    shape: tuple[int, int], sigma: float, generator: np.random.Generator
) -> npt.NDArray[np.float32]:
    """Noise of a deviation `sigma` [grey levels], the same in all channels. Shape (*shape, 3).

    Noise of a colour sensor is mostly grey, because neighbours share it when colours are made.
    """
    grey = _normal(generator, shape)
    grey *= np.float32(sigma)
    noise: npt.NDArray[np.float32] = cv2.cvtColor(np.rint(grey, out=grey), cv2.COLOR_GRAY2RGB)
    return noise


def add_colour_noise(rgb: Colour, sigma: float, generator: np.random.Generator) -> Colour:
    """A picture with noise of a deviation `sigma` [grey levels]."""
    if sigma <= 0.0:
        return rgb
    return with_noise(rgb, colour_noise(rgb.shape[:2], sigma, generator))


def with_noise(rgb: Colour, noise: npt.NDArray[np.float32]) -> Colour:
    """A picture with noise [grey levels] of the same shape."""
    noisy: Colour = cv2.add(rgb, noise, dtype=cv2.CV_8U)
    return noisy


def to_millimetres(depth: Depth) -> npt.NDArray[np.uint16]:
    """Depth as 16UC1 carries it: whole millimetres, 0 where there is no value.

    Steps of 1 mm are coarser than the sensor's own below 0.8 m; that is RealSense's default.
    """
    millimetres = depth * np.float32(_MILLIMETRES)
    millimetres += np.float32(0.5)
    millimetres[~(millimetres < _UINT16_END)] = 0.0
    return millimetres.astype(np.uint16)


_WINDOW = np.ones((5, 5), np.uint8)


@cache
def _quantiles() -> npt.NDArray[np.float32]:
    """The normal distribution at 65536 equal steps of probability."""
    inverse = NormalDist().inv_cdf
    upper = [inverse((i + 0.5) / 65536) for i in range(32768, 65536)]
    return np.array([-value for value in reversed(upper)] + upper, dtype=np.float32)


def _normal(generator: np.random.Generator, shape: tuple[int, ...]) -> Depth:
    """Normal random numbers; three times as fast as the generator's own."""
    bits = np.frombuffer(generator.bytes(2 * int(np.prod(shape))), np.uint16)
    return np.take(_quantiles(), bits, mode='wrap').reshape(shape)


@cache
def _bilinear_gain(step: int) -> np.float32:
    """What brings a bilinearly enlarged random field back to deviation 1, on average."""
    place = (np.arange(step) + 0.5) / step
    variance = np.mean(place**2 + (1.0 - place) ** 2)
    return np.float32(1.0 / variance)
