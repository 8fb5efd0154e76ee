# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the robot looks like: real meshes and colours, kept on disk, right in any damage."""

import struct

import numpy as np
import pytest

from drex_ros.resources import cache_folder
from drex_ros.robot.description import HANDS, find_robot_data, robot_description_text, robot_urdf
from drex_ros.robot.mesh_files import MeshFileError, read_mesh_file, solid_surface
from drex_ros.robot.rotations import rotation_matrix
from drex_ros.robot.visuals import GREY, visual_parts

DAE = 'robots/panda_description/meshes/visual/link6.dae'
STL = 'robots/allegro_hand_description/meshes/link_3.0.STL'

TETRAHEDRON = np.array([(0, 0, 0), (0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1)])
FACES = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))


def write_stl(path, faces=FACES):
    triangles = b''.join(
        struct.pack('<12fH', 0, 0, 0, *TETRAHEDRON[list(face)].ravel(), 0) for face in faces
    )
    path.write_bytes(bytes(80) + struct.pack('<I', len(faces)) + triangles)
    return path


@pytest.fixture
def own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'cache'))
    return cache_folder('visuals')


@pytest.fixture(scope='module', params=HANDS)
def parts(request):
    return visual_parts(robot_urdf(request.param))


def seen_box(parts, link):
    """Corners of the box round a link's visuals, in the link's frame. Shape (2, 3)."""
    points = np.concatenate(
        [
            part.surface.vertices @ rotation_matrix(part.quaternion).T + part.position
            for part in parts
            if part.link == link
        ]
    )
    return np.array((points.min(axis=0), points.max(axis=0)))


def test_every_link_with_a_shape_is_seen(parts):
    links = {part.link for part in parts}
    arm = {f'panda_link{i}' for i in range(8)}
    hand = {f'link_{i}.0' for i in range(16)} | {f'link_{i}.0_tip' for i in (3, 7, 11, 15)}
    assert links == arm | hand | {'palm_link', 'mount_link', 'camera_link'}


def test_arm_is_white_with_dark_joints_and_the_hand_black_with_light_tips(parts):
    for part in parts:
        if part.link.endswith('_tip'):
            assert part.rgba == (0.9, 0.9, 0.9, 1.0)
        elif part.link.startswith(('link_', 'palm')):
            assert part.rgba == (0.2, 0.2, 0.2, 1.0)
    for link in ('panda_link0', 'panda_link3', 'panda_link6'):
        shades = sorted(np.mean(p.rgba[:3]) for p in parts if p.link == link)
        assert shades[0] < 0.3
        assert shades[-1] == 1.0


def test_visuals_are_where_the_collision_shapes_are(parts):
    """Each hand's palm and thumb root too, whose meshes have axes of their own."""
    mirrored = any('left' in part.shape for part in parts)
    boxes = {
        'palm_link': ((-0.0093, 0.0, -0.0475), (0.0408, 0.113, 0.095)),
        'link_1.0': ((0.0, 0.0, 0.027), (0.0196, 0.0275, 0.054)),
        'link_12.0': ((-0.0179, -0.009 if mirrored else 0.009, 0.0145), (0.0358, 0.034, 0.0455)),
        'link_7.0_tip': ((0.0, 0.0, 0.0), (0.024, 0.024, 0.024)),
        'camera_link': ((-0.0135, 0.0, 0.0), (0.025, 0.09, 0.025)),
    }
    for link, (centre, size) in boxes.items():
        expected = np.array(centre) + np.array([[-0.5], [0.5]]) * size
        np.testing.assert_allclose(seen_box(parts, link), expected, atol=0.01, err_msg=link)


def test_fingers_share_their_shapes(parts):
    first = next(part for part in parts if part.link == 'link_1.0')
    second = next(part for part in parts if part.link == 'link_5.0')
    assert first.shape == second.shape
    assert first.surface is second.surface


def test_shapes_have_names_of_their_own(parts):
    surfaces = {}
    for part in parts:
        assert surfaces.setdefault(part.shape, part.surface) is part.surface


def test_surfaces_are_sound(parts):
    for part in parts:
        surface = part.surface
        assert surface.faces.dtype == np.int32
        assert surface.faces.min() == 0
        assert surface.faces.max() < len(surface.vertices)
        assert np.isfinite(surface.vertices).all()
        np.testing.assert_allclose(np.linalg.norm(surface.normals, axis=1), 1.0, atol=1e-9)
        assert not surface.vertices.flags.writeable
        a, b, c = (surface.vertices[surface.faces[:, i]] for i in range(3))
        flat = np.cross(b - a, c - a)
        flat /= np.linalg.norm(flat, axis=1, keepdims=True)
        corners = surface.normals[surface.faces]
        # A vertex's normal is near that of each of its faces: edges are not smoothed over.
        turned = np.einsum('ij,ikj->ik', flat, corners)
        assert np.percentile(turned, 1) > 0.8


def test_addresses_for_rviz_are_read_too():
    plain, text = visual_parts(robot_urdf()), visual_parts(robot_description_text())
    assert [(p.link, p.rgba) for p in plain] == [(p.link, p.rgba) for p in text]


def test_round_things_are_smooth_and_boxes_have_edges():
    ball = solid_surface('sphere', (0.05,))
    outwards = ball.vertices / np.linalg.norm(ball.vertices, axis=1, keepdims=True)
    assert (np.einsum('ij,ij->i', outwards, ball.normals) > 0.999).all()
    box = solid_surface('box', (0.1, 0.2, 0.3))
    assert len(box.vertices) == 24  # three normals at each corner
    np.testing.assert_allclose(np.abs(box.normals).max(axis=1), 1.0)
    assert (np.einsum('ij,ij->i', box.vertices, box.normals) > 0).all()


@pytest.mark.parametrize('name', [DAE, STL])
def test_stored_is_what_was_read(own_cache, name):
    path = find_robot_data() / name
    first = read_mesh_file(path)
    assert len(list(own_cache.iterdir())) == 1
    again = read_mesh_file(path)
    assert len(first) == len(again)
    for a, b in zip(first, again, strict=True):
        assert a.rgba == b.rgba
        np.testing.assert_array_equal(a.vertices, b.vertices)
        np.testing.assert_array_equal(a.normals, b.normals)
        np.testing.assert_array_equal(a.faces, b.faces)


def test_stored_file_is_used_and_a_damaged_one_made_anew(own_cache, tmp_path):
    path = write_stl(tmp_path / 'part.stl')
    (surface,) = read_mesh_file(path)
    (stored,) = own_cache.iterdir()
    whole = stored.read_bytes()
    before = stored.stat().st_mtime_ns
    read_mesh_file(path)
    assert stored.stat().st_mtime_ns == before
    for damage in (b'', whole[: len(whole) // 2], b'nonsense'):
        stored.write_bytes(damage)
        (again,) = read_mesh_file(path)
        np.testing.assert_array_equal(again.vertices, surface.vertices)
        assert stored.stat().st_size == len(whole)
    assert list(own_cache.iterdir()) == [stored]


def test_works_without_a_cache(monkeypatch, tmp_path):
    (tmp_path / 'file').write_text('')
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'file'))  # no folder can be made there
    assert len(read_mesh_file(write_stl(tmp_path / 'part.stl'))[0].faces) == 4


def test_changed_mesh_is_read_again(own_cache, tmp_path):
    path = write_stl(tmp_path / 'part.stl')
    assert len(read_mesh_file(path)[0].faces) == 4
    write_stl(path, FACES[:3])
    assert len(read_mesh_file(path)[0].faces) == 3
    assert len(list(own_cache.iterdir())) == 2


def test_colour_of_the_urdf_goes_first(own_cache, tmp_path):
    path = write_stl(tmp_path / 'part.stl')
    visual = f'<visual><geometry><mesh filename="{path}"/></geometry>%s</visual>'
    urdf = f'<robot name="r"><link name="a">{visual}</link></robot>'
    red = '<material name="red"><color rgba="1 0 0 1"/></material>'
    assert visual_parts(urdf % red)[0].rgba == (1.0, 0.0, 0.0, 1.0)
    assert visual_parts(urdf % '')[0].rgba == GREY


@pytest.mark.parametrize(
    ('geometry', 'message'),
    [
        ('<mesh filename="package://a/b.stl"/>', r'must be a path or a file:// address'),
        ('<mesh filename="/absent/b.stl"/>', r'/absent/b\.stl: not readable'),
        ('<mesh filename="/a.stl" scale="2 2 2"/>', 'a scale is not supported'),
        ('<capsule radius="1" length="2"/>', "no shape 'capsule'; the shapes are: box"),
        ('', 'has no geometry'),
    ],
)
def test_what_cannot_be_drawn_is_named(geometry, message):
    visual = f'<visual><geometry>{geometry}</geometry></visual>'
    with pytest.raises(MeshFileError, match=message):
        visual_parts(f'<robot name="r"><link name="a">{visual}</link></robot>')


@pytest.mark.parametrize(
    ('name', 'content'),
    [('a.dae', b'<COLLADA'), ('a.stl', b''), ('a.obj', b'v 0 0 0'), ('b.stl', bytes(84))],
)
def test_broken_mesh_file_is_named(own_cache, tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(MeshFileError, match=name) as caught:
        read_mesh_file(tmp_path / name)
    assert '\n' not in str(caught.value)
    assert not list(own_cache.iterdir())
