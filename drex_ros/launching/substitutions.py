# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Text with substitutions, `$(name argument ...)`: read once, evaluated in a context.

An argument is a word, a text in single or double quotes, or another substitution;
one space stands between arguments and a backslash takes the meaning from the next character.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import yaml

from drex_ros.launching import packages
from drex_ros.launching.errors import SubstitutionError, UnsupportedSubstitution, listed


class Context(Protocol):
    """What a substitution may look at."""

    @property
    def configurations(self) -> dict[str, str]:
        """Launch arguments and variables."""

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables."""

    def file_name(self) -> str:
        """Return the absolute path of the launch file being read."""

    def file_folder(self) -> str:
        """Return the absolute path of its folder."""


@dataclass(frozen=True)
class Substitution:
    """One `$(name argument ...)`."""

    name: str
    arguments: tuple[tuple[Part, ...], ...]


Part = str | Substitution


@dataclass(frozen=True)
class Template:
    """A text of the launch file, cut into literal text and substitutions."""

    source: str
    parts: tuple[Part, ...]

    @property
    def literal(self) -> str | None:
        """The text itself when it holds no substitution, else None."""
        if any(isinstance(part, Substitution) for part in self.parts):
            return None
        return ''.join(str(part) for part in self.parts)

    def evaluate(self, context: Context) -> str:
        """Return the text with every substitution replaced by its value."""
        return _join(self.parts, context)


def parse(text: str) -> Template:
    """Read `text`; unknown substitutions and broken syntax are errors."""
    reader = _Reader(text)
    return Template(text, tuple(reader.template(None)))


def unescape(text: str) -> str:
    """Take the backslash from escaped characters."""
    return re.sub(r'\\(.)', r'\1', text)


def to_bool(text: str) -> bool:
    """Return the value of a YAML boolean, `1` or `0`."""
    if text in ('0', '1'):
        return text == '1'
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError:
        value = None
    if not isinstance(value, bool):
        raise SubstitutionError(f"'{text}' is not a boolean (use true or false)")
    return value


class _Reader:
    """Recursive descent over one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def template(self, quote: str | None) -> list[Part]:
        """Read literal text and substitutions up to the closing quote or the end."""
        parts: list[Part] = []
        start = self.at
        while self.at < len(self.text):
            escaped = self.text[self.at - 1 : self.at] == '\\'
            if self.text.startswith('$(', self.at) and not escaped:
                self._add_text(parts, start)
                parts.append(self.substitution(quote))
                start = self.at
            elif self.text[self.at] == quote and not escaped:
                break
            else:
                self.at += 1
        self._add_text(parts, start)
        return parts or ['']

    def substitution(self, quote: str | None) -> Substitution:
        """Read `$(name argument ...)`; `quote` is the one we are inside of."""
        start = self.at
        self.at += 2
        match = re.compile(r'[A-Za-z][A-Za-z0-9_-]*').match(self.text, self.at)
        if match is None:
            raise self._broken(start, 'needs a name after $(')
        name = match.group()
        self.at = match.end()
        arguments = []
        while self.text.startswith(' ', self.at):
            self.at += 1
            arguments.append(tuple(self.argument(quote, start)))
        if not self.text.startswith(')', self.at):
            raise self._broken(start, 'is not closed or needs quotes around an argument')
        self.at += 1
        check(name, len(arguments))
        return Substitution(name, tuple(arguments))

    def argument(self, quote: str | None, start: int) -> list[Part]:
        """Read one argument of the substitution that began at `start`."""
        opening = self.text[self.at : self.at + 1]
        if quote is None and opening in ('"', "'"):
            self.at += 1
            parts = self.template(opening)
            if not self.text.startswith(opening, self.at):
                raise self._broken(start, f'has an argument without its closing {opening}')
            self.at += 1
            return parts
        ends = ' ()' + (quote or '"\'')
        parts = []
        begin = self.at
        while self.at < len(self.text):
            escaped = self.text[self.at - 1 : self.at] == '\\'
            if self.text.startswith('$(', self.at) and not escaped:
                self._add_text(parts, begin)
                parts.append(self.substitution(quote))
                begin = self.at
            elif self.text[self.at] in ends and (self.text[self.at] == ' ' or not escaped):
                break
            else:
                self.at += 1
        self._add_text(parts, begin)
        if not parts:
            raise self._broken(start, 'has an empty argument (one space between arguments)')
        return parts

    def _add_text(self, parts: list[Part], start: int) -> None:
        if self.at > start:
            parts.append(unescape(self.text[start : self.at]))

    def _broken(self, start: int, problem: str) -> SubstitutionError:
        return SubstitutionError(f"substitution '{self.text[start:]}' {problem}")


def _join(parts: tuple[Part, ...], context: Context) -> str:
    return ''.join(part if isinstance(part, str) else _evaluate(part, context) for part in parts)


def _evaluate(substitution: Substitution, context: Context) -> str:
    if substitution.name == 'if':  # the branch that is not taken may have no value
        branch = 1 if to_bool(_join(substitution.arguments[0], context)) else 2
        return ''.join(_join(a, context) for a in substitution.arguments[branch : branch + 1])
    if substitution.name == 'var' and len(substitution.arguments) == 2:
        name = _join(substitution.arguments[0], context)
        if name in context.configurations:
            return context.configurations[name]
        return _join(substitution.arguments[1], context)
    arguments = [_join(argument, context) for argument in substitution.arguments]
    return _FUNCTIONS[substitution.name][2](context, *arguments)


def _var(context: Context, name: str) -> str:
    if name not in context.configurations:
        known = listed(context.configurations)
        raise SubstitutionError(f'$(var {name}) is not set (set here: {known})')
    return context.configurations[name]


def _env(context: Context, name: str, default: str | None = None) -> str:
    value = context.environment.get(name, default)
    if value is None:
        raise SubstitutionError(
            f'environment variable {name} is not set (a default goes like $(env {name} text))'
        )
    return value


def _equals(left: str, right: str) -> bool:
    """Compare as booleans when both are, else as numbers when both are, else as text."""
    booleans = {'true': True, '1': True, 'false': False, '0': False}
    if left.lower() in booleans and right.lower() in booleans:
        return booleans[left.lower()] == booleans[right.lower()]
    try:
        return math.isclose(float(left), float(right))
    except ValueError:
        return left == right


def _lower(value: bool) -> str:
    return 'true' if value else 'false'


# name: (fewest arguments, most arguments, function of the context and the arguments)
_FUNCTIONS: Mapping[str, tuple[int, int, Callable[..., str]]] = {
    'var': (1, 2, _var),
    'env': (1, 2, _env),
    'if': (2, 3, _var),  # evaluated lazily, see _evaluate
    'dirname': (0, 0, lambda c: c.file_folder()),
    'filename': (0, 0, lambda c: c.file_name()),
    'find-pkg-share': (1, 1, lambda c, p: str(packages.package_share(p, c.environment))),
    'find-pkg-prefix': (1, 1, lambda c, p: str(packages.package_prefix(p, c.environment))),
    'exec-in-pkg': (2, 2, lambda c, e, p: packages.package_executable(p, e, c.environment)),
    'find-exec': (1, 1, lambda c, name: packages.program(name, c.environment)),
    'not': (1, 1, lambda c, a: _lower(not to_bool(a))),
    'and': (2, 2, lambda c, a, b: _lower(to_bool(a) & to_bool(b))),
    'or': (2, 2, lambda c, a, b: _lower(to_bool(a) | to_bool(b))),
    'equals': (2, 2, lambda c, a, b: _lower(_equals(a, b))),
    'not-equals': (2, 2, lambda c, a, b: _lower(not _equals(a, b))),
}


def check(name: str, count: int) -> None:
    """Refuse a substitution that is unknown here or has the wrong number of arguments."""
    if name not in _FUNCTIONS:
        raise UnsupportedSubstitution(
            f'not supported by drex launch: $({name}) (supported: {listed(_FUNCTIONS)})'
        )
    fewest, most, _ = _FUNCTIONS[name]
    if not fewest <= count <= most:
        wanted = str(fewest) if fewest == most else f'{fewest} or {most}'
        raise SubstitutionError(f'$({name}) takes {wanted} argument(s), not {count}')
