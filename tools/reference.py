# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Write docs/interfaces.md and docs/parameters.md from the sources, so that they cannot differ.

`make docs` writes them; with --check nothing is written and the exit code tells.
"""

from __future__ import annotations

import argparse
import importlib
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KINDS = {'msg': 'Messages', 'srv': 'Services', 'action': 'Actions'}
SECTIONS = {'srv': ('Request', 'Response'), 'action': ('Goal', 'Result', 'Feedback')}
NOTE = '<!-- Written by `make docs`; change the sources instead. -->'


def interfaces() -> str:
    """The reference of drex_interfaces, from the comments in its files."""
    lines = [
        '# Interfaces',
        '',
        NOTE,
        '',
        'Package `drex_interfaces`. Units are SI, angles radians, quaternions x y z w. Frames'
        ' follow REP 103 and 105. Which node offers what is in [architecture](architecture.md).',
    ]
    for kind, title in KINDS.items():
        lines += ['', f'## {title}']
        for path in sorted((ROOT / 'drex_interfaces' / kind).glob(f'*.{kind}')):
            lines += ['', f'### {path.stem}', '', *_interface(path.read_text(), kind)]
    return '\n'.join(lines) + '\n'


def _interface(text: str, kind: str) -> list[str]:
    head = re.match(r'((?:#.*\n)+)', text)
    lines = []
    if head:
        lines.append(' '.join(line.lstrip('# ') for line in head[1].splitlines()))
        text = text[head.end() :]
    names = SECTIONS.get(kind, ('',))
    for name, part in zip(names, re.split(r'^---$', text, flags=re.M), strict=True):
        rows = [row for line in part.splitlines() if (row := _field(line))]
        lines += ['', f'**{name}**'] if name else []
        if rows:
            lines += ['', '| field | type | meaning |', '| --- | --- | --- |', *rows]
        else:
            lines += ['', 'Nothing.']
    return lines


def _field(line: str) -> str:
    declaration, _, comment = line.partition('#')
    words = declaration.split()
    if not words:
        return ''
    kind, name = words[0], ' '.join(words[1:])
    return f'| `{name}` | `{kind}` | {comment.strip()} |'


def parameters() -> str:
    """The reference of every node's parameters, from their declarations."""
    base = importlib.import_module('drex_ros.nodes.base')
    lines = [
        '# Parameters',
        '',
        NOTE,
        '',
        'Defaults are in `config/NODE.yaml`. Values are checked when they are set: a wrong type, a'
        ' value out of range or an unknown name ends the node at start with one line, and is'
        ' refused with the same line while it runs. "fixed" parameters cannot change while the'
        ' node runs.',
        '',
        '## Every node',
        '',
        *_parameter_table(base.BASE_PARAMETERS),
    ]
    sources = sorted((ROOT / 'drex_ros/nodes').glob('*.py'))
    for name in (path.stem for path in sources if '\ndef main(' in path.read_text()):
        module = importlib.import_module(f'drex_ros.nodes.{name}')
        node = next(
            item
            for item in vars(module).values()
            if isinstance(item, type) and getattr(item, 'NAME', None) == name
        )
        lines += ['', f'## {name}', '', *_parameter_table(node.PARAMETERS)]
    return '\n'.join(lines) + '\n'


def _parameter_table(parameters: object) -> list[str]:
    rows = ['| parameter | default | unit | allowed | meaning |', '| --- ' * 5 + '|']
    for item in parameters:  # type: ignore[attr-defined]
        allowed = ''
        if item.range is not None:
            allowed = f'{item.range[0]:.12g} to {item.range[1]:.12g}'
        elif item.choices is not None:
            allowed = ', '.join(f'`{choice}`' for choice in item.choices)
        fixed = ' (fixed)' if item.read_only else ''
        rows.append(
            f'| `{item.name}` | `{_shown(item.default)}` | {item.unit} | {allowed} '
            f'| {item.description}{fixed} |'
        )
    return rows


def _shown(default: object) -> str:
    if isinstance(default, (list, tuple)):
        if len(default) > 1 and len(set(default)) == 1:
            return f'[{default[0]}] * {len(default)}'
        return f'[{", ".join(map(str, default))}]'
    return str(default).lower() if isinstance(default, bool) else str(default)


def main() -> int:
    """Write or check both files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--check', action='store_true', help='only tell whether they are current')
    check = parser.parse_args().check
    stale = []
    for name, text in (('interfaces', interfaces()), ('parameters', parameters())):
        path = ROOT / 'docs' / f'{name}.md'
        if path.is_file() and path.read_text() == text:
            continue
        if check:
            stale.append(path.name)
        else:
            path.write_text(text)
            print(f'wrote docs/{path.name}')
    if stale:
        print(f'out of date: {", ".join(stale)}; run `make docs`', file=sys.stderr)
    return int(bool(stale))


if __name__ == '__main__':
    sys.exit(main())
