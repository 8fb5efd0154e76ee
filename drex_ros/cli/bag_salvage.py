# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What can still be read of a bag file whose end is missing or that is damaged further on.

A recorder that was killed, or a full disk, leaves an MCAP file without its index, or a database
whose last pages are not there. What was written before is whole.
"""

from __future__ import annotations

import io
import sqlite3
import struct
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

_MAGIC = b'\x89MCAP0\r\n'
_SCHEMA, _CHANNEL, _MESSAGE, _CHUNK, _DATA_END, _FOOTER = 0x03, 0x04, 0x05, 0x06, 0x0F, 0x02
_LARGEST = 2**32  # [bytes] of a record; what says more is no record


class DamageError(RuntimeError):
    """Here the file cannot be read on; the message says where and why."""


@dataclass(frozen=True)
class RawMessage:
    """One message as it was recorded."""

    topic: str
    type: str
    """As sensor_msgs/msg/Image."""
    definition: str
    """Of its type, in ROS's message language; empty: not in the file."""
    data: bytes


def salvage(path: Path) -> Iterator[RawMessage]:
    """The messages of an .mcap or .db3 file, in its own order.

    Raises DamageError where it cannot go on.
    """
    return _salvage_mcap(path) if path.suffix == '.mcap' else _salvage_database(path)


def _salvage_database(path: Path) -> Iterator[RawMessage]:
    count = 0
    try:
        # Nothing is written, but the journal of a recording that broke off is looked at.
        connection = sqlite3.connect(f'{path.absolute().as_uri()}?mode=ro', uri=True)
        try:
            # Else a file that is shorter than its first page says is refused as a whole.
            connection.execute('PRAGMA writable_schema = ON')
            topics = {
                number: (name, kind)
                for number, name, kind in connection.execute('SELECT id, name, type FROM topics')
            }
            for number, data in connection.execute('SELECT topic_id, data FROM messages'):
                if number in topics and isinstance(data, bytes):
                    yield RawMessage(*topics[number], '', data)
                    count += 1
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise DamageError(f'{error} after {count} messages') from None


def _salvage_mcap(path: Path) -> Iterator[RawMessage]:
    with path.open('rb') as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise DamageError('it does not begin as an MCAP file does')
        channels: dict[int, tuple[str, str, str]] = {}
        schemas: dict[int, tuple[str, str]] = {}
        for kind, record in _records(file):
            if kind in (_DATA_END, _FOOTER):
                return
            if kind == _CHUNK:
                for inner, content in _records(io.BytesIO(_unpacked(record))):
                    yield from _taken(inner, content, schemas, channels)
            else:
                yield from _taken(kind, record, schemas, channels)
    raise DamageError('its end is missing')


def _taken(
    kind: int,
    record: bytes,
    schemas: dict[int, tuple[str, str]],
    channels: dict[int, tuple[str, str, str]],
) -> Iterator[RawMessage]:
    """Remember what a record declares; give what it holds."""
    if kind == _MESSAGE:
        (channel,) = struct.unpack_from('<H', record)
        if channel in channels:
            yield RawMessage(*channels[channel], record[22:])
    elif kind == _SCHEMA:
        (number,) = struct.unpack_from('<H', record)
        name, encoding, text = _strings(record, 2, 3)
        schemas[number] = name, text if encoding == 'ros2msg' else ''
    elif kind == _CHANNEL:
        number, schema = struct.unpack_from('<HH', record)
        (topic,) = _strings(record, 4, 1)
        channels[number] = (topic, *schemas.get(schema, ('', '')))


def _records(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Kind and content of each record, to the end."""
    while True:
        head = file.read(9)
        if not head:
            return
        if len(head) < 9:
            raise DamageError('its end is missing')
        kind, size = struct.unpack('<BQ', head)
        if size > _LARGEST:
            raise DamageError('it holds what is no record')
        content = file.read(size)
        if len(content) < size:
            raise DamageError('its end is missing')
        yield kind, content


def _strings(record: bytes, start: int, count: int) -> list[str]:
    found = []
    try:
        for _ in range(count):
            (size,) = struct.unpack_from('<I', record, start)
            found.append(record[start + 4 : start + 4 + size].decode())
            start += 4 + size
    except (struct.error, UnicodeDecodeError):
        raise DamageError('it holds a broken record') from None
    return found


def _unpacked(chunk: bytes) -> bytes:
    """The records in a chunk, without its compression."""
    (compression,) = _strings(chunk, 28, 1)
    packed = chunk[28 + 4 + len(compression) + 8 :]
    if not compression:
        return packed
    try:
        return _decompressor(compression)(packed)
    except Exception as error:  # each library has errors of its own
        raise DamageError(f'a chunk cannot be unpacked ({error})') from None


def _decompressor(name: str) -> Callable[[bytes], bytes]:
    # Both come with the library that reads bags that are whole.
    if name == 'lz4':
        import lz4.frame  # type: ignore[import-untyped]

        return lz4.frame.decompress  # type: ignore[no-any-return]
    if name != 'zstd':
        raise DamageError(f'its compression {name!r} is not known')
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd.decompress  # type: ignore[no-any-return]
