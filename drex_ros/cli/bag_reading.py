# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Recorded bags, MCAP or SQLite, whole or broken off, without ROS's own tools."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drex_ros.cli.bag_salvage import DamageError, RawMessage, salvage
from drex_ros.closing import Closing
from drex_ros.resources import ament_prefixes

_SUFFIXES = ('.mcap', '.db3')


class BagError(RuntimeError):
    """A bag cannot be read; the message is one readable line."""


@dataclass(frozen=True)
class Topic:
    """What was recorded of one topic."""

    type: str
    """As sensor_msgs/msg/Image."""
    messages: int
    definition: str = ''
    """Of the type, in ROS's message language; empty: not in the bag."""


class Bag(Closing):
    """A recording: a folder with metadata.yaml, or one .mcap or .db3 file.

    One that is damaged is read as far as that goes; `damage` then says what is wrong.
    """

    def __init__(self, path: Path) -> None:
        """Open a bag and look which topics it has. Raises BagError."""
        try:
            from rosbags.rosbag2 import Reader
            from rosbags.typesys import Stores, get_typestore
        except ImportError as error:
            raise BagError(f'bags need rosbags ({error}): pip install rosbags') from None
        if not path.exists():
            raise BagError(f'{path}: no such file or folder')
        if path.is_file() and path.suffix not in _SUFFIXES:
            raise BagError(f'{path} is no bag: must be a folder, or end with .mcap or .db3')
        if path.is_dir() and not any(_recorded(path)):
            raise BagError(f'{path} is no bag: it has no .mcap or .db3 file')
        self.path = path
        self.damage = ''
        """What is wrong with the bag, known when it is opened or when it was read; or empty."""
        self.topics: dict[str, Topic] = {}
        self._types = get_typestore(Stores.ROS2_JAZZY)
        self._stack = ExitStack()
        self._reader: Any = None
        try:
            reader = Reader(path)
            reader.open()
        except Exception as error:  # a reader that meets nonsense raises anything
            self._open_damaged(error)
            return
        self._reader = reader
        self._stack.callback(reader.close)
        for connection in reader.connections:
            self._add(
                connection.topic,
                connection.msgtype,
                connection.msgdef.data if connection.msgdef.format.name == 'MSG' else '',
                connection.msgcount,
            )

    def messages(self, topics: list[str]) -> Iterator[tuple[str, Any]]:
        """Topic and message of each that was recorded on these topics, in the order of recording.

        Ends early where the bag is damaged. Raises BagError for a type that is not known.
        """
        for name in topics:
            self._learn(name)
        count = 0
        try:
            for topic, kind, data in self._raw(set(topics)):
                message = self._types.deserialize_cdr(data, kind)
                yield topic, message
                count += 1
        except GeneratorExit:
            raise
        except Exception as error:  # a reader that meets nonsense raises anything
            self.damage = self.damage or f'{_one_line(error)} after {count} messages'

    def close(self) -> None:
        """Close the files."""
        self._stack.close()

    def _raw(self, topics: set[str]) -> Iterator[tuple[str, str, bytes]]:
        if self._reader is None:
            for message in self._salvaged():
                if message.topic in topics:
                    yield message.topic, message.type, message.data
            return
        connections = [each for each in self._reader.connections if each.topic in topics]
        if connections:
            for connection, _, data in self._reader.messages(connections):
                yield connection.topic, connection.msgtype, data

    def _open_damaged(self, error: Exception) -> None:
        """Find what is there without an index."""
        for message in self._salvaged():
            self._add(message.topic, message.type, message.definition, 1)
        if not self.topics:
            raise BagError(f'{self.path} is no bag that can be read: {_one_line(error)}')
        self.damage = self.damage or _one_line(error)

    def _salvaged(self) -> Iterator[RawMessage]:
        """All messages of all files, each as far as it goes."""
        files = [self.path]
        if self.path.is_dir():
            files = sorted(each for each in _recorded(self.path) if each.suffix in _SUFFIXES)
        for file in files:
            try:
                yield from salvage(file)
            except (DamageError, OSError) as error:
                self.damage = f'{file.name}: {_one_line(error)}'

    def _add(self, name: str, kind: str, definition: str, messages: int) -> None:
        before = self.topics.get(name)
        total = messages + (before.messages if before else 0)
        self.topics[name] = Topic(kind, total, definition)

    def _learn(self, name: str) -> None:
        """Have the type of a topic among those that can be read."""
        from rosbags.typesys import get_types_from_msg

        topic = self.topics.get(name)
        if topic is None or topic.type in self._types.fielddefs:
            return
        definition = topic.definition or _installed_definition(topic.type)
        if not definition:
            raise BagError(
                f'{self.path}: the type {topic.type} of {name} is neither in the bag nor '
                'installed here'
            )
        try:
            found = get_types_from_msg(definition, topic.type)
        except Exception as error:  # of the parser, for a text that is none
            raise BagError(
                f'{self.path}: the definition of {topic.type} cannot be read: {_one_line(error)}'
            ) from None
        known = self._types.fielddefs
        self._types.register({kind: each for kind, each in found.items() if kind not in known})


def _recorded(folder: Path) -> Iterator[Path]:
    """Files with messages, compressed ones too."""
    return (
        path
        for path in folder.iterdir()
        if path.suffix in _SUFFIXES or Path(path.stem).suffix in _SUFFIXES
    )


def _installed_definition(kind: str) -> str:
    """Text of a message type of an installed package; empty: there is none."""
    package, _, rest = kind.partition('/')
    for prefix in ament_prefixes():
        path = prefix / 'share' / package / f'{rest}.msg'
        if path.is_file():
            return path.read_text(encoding='utf-8')
    return ''


def _one_line(error: Exception) -> str:
    return ' '.join(str(error).split()) or type(error).__name__
