# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Things that must be closed, and are at the end of a `with` block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Closing(ABC):
    """Has `close()`, which a `with` block calls at its end, however that comes."""

    @abstractmethod
    def close(self) -> None:
        """Let go of it. May be called twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
