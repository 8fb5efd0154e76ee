# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The context in which the texts of a launch file get their values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from drex_ros.launching.errors import SubstitutionError
from drex_ros.launching.source import Entity

T = TypeVar('T')


@dataclass
class Scope:
    """What actions set for the actions after them; a scoped group works on a copy.

    `parameters` and `remaps` start as None and are shared with the outer scope once they
    exist: as in `launch`, what a group appends to an existing list stays after the group.
    """

    configurations: dict[str, str]
    environment: dict[str, str]
    parameters: list[tuple[str, object]] | None = None
    remaps: list[tuple[str, str]] | None = None

    def copy(self) -> Scope:
        """Return a copy whose variables and environment are its own."""
        return Scope(
            dict(self.configurations), dict(self.environment), self.parameters, self.remaps
        )


class Evaluator:
    """Evaluates the fields of entities; an error gets the file and line of its field."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.scope = Scope({}, dict(environment))
        self.located = Path()  # what ros2 launch takes for the file being read: the latest one
        self._reading = Path()  # the file of the entity at hand

    @property
    def configurations(self) -> dict[str, str]:
        """Launch arguments and variables."""
        return self.scope.configurations

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables."""
        return self.scope.environment

    def file_name(self) -> str:
        """Return the absolute path of the launch file being read."""
        if self.located != self._reading:
            raise _moved('filename', self.located)
        return str(self.located)

    def file_folder(self) -> str:
        """Return the absolute path of its folder."""
        if self.located.parent != self._reading.parent:
            raise _moved('dirname', self.located.parent)
        return str(self.located.parent)

    def text(self, entity: Entity, name: str) -> str:
        """Evaluate a text field that the entity has."""
        value: str = self.call(entity, name, lambda: entity.get(name).evaluate(self))
        return value

    def optional(self, entity: Entity, name: str) -> str | None:
        """Evaluate a text field; None when the entity does not have it."""
        return self.text(entity, name) if name in entity else None

    def call(self, entity: Entity, name: str, function: Callable[[], T]) -> T:
        """Call a function whose errors are about field `name` of the entity."""
        self._reading = entity.file
        try:
            return function()
        except (SubstitutionError, ValueError) as error:
            raise entity.error(error, name) from None


def _moved(name: str, meaning: Path) -> SubstitutionError:
    return SubstitutionError(
        f"$({name}) in the arguments of an include, or after one, is '{meaning}' to ros2 launch: "
        f'put $({name}) into a let before the include and use its variable'
    )
