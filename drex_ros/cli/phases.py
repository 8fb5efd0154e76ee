# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Progress of a long command on the terminal: one line a phase, with what it found."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console


class Phase:
    """One phase under way; `done` says what it found."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.found = ''

    def done(self, found: str) -> None:
        """Say what the phase found."""
        self.found = found


class Phases:
    """Shows phases; remembers the one under way, for the message when it fails."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.current = ''

    @contextmanager
    def phase(self, title: str) -> Iterator[Phase]:
        """Show a spinner while the block runs, then one line with time and result."""
        self.current = title
        phase = Phase(title)
        start = time.monotonic()
        failed = True
        try:
            # On no terminal the spinner shows nothing, and only the line at the end remains.
            with self.console.status(f'{title} ...'):
                yield phase
            failed = False
        finally:
            mark = '[red]✗[/red]' if failed else '[green]✓[/green]'
            seconds = time.monotonic() - start
            line = f'{mark} {title:<15} [dim]{seconds:4.1f} s[/dim]  {phase.found}'
            self.console.print(line, soft_wrap=True)
