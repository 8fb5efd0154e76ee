# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Progress of a long command on the terminal: one line a phase, with what it found."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.table import Table
from rich.text import Text


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
            mark = ('✗', 'red') if failed else ('✓', 'green')
            seconds = (f'{time.monotonic() - start:4.1f} s', 'dim')
            self._print(Text.assemble(mark, f' {title:<15} ', seconds), Text(phase.found))

    def _print(self, head: Text, found: Text) -> None:
        if not self.console.is_terminal:
            self.console.print(Text('  ').join([head, found]), soft_wrap=True)
            return
        # On a narrow terminal what was found goes on below itself, not below the mark.
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(no_wrap=True)
        grid.add_column(overflow='fold')
        grid.add_row(head, found)
        self.console.print(grid)
