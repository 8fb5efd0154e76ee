# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Substitutions: quoting, nesting, defaults and what each of them gives."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from drex_ros.launching.errors import SubstitutionError
from drex_ros.launching.substitutions import parse


@dataclass
class Values:
    """A context with a few values."""

    configurations: dict[str, str] = field(
        default_factory=lambda: {'x': '1', 'name': 'x', 'long': 'a b', 'on': 'true'}
    )
    environment: dict[str, str] = field(default_factory=lambda: {'HOME': '/home/me'})

    def file_name(self) -> str:
        return '/here/file.launch.yaml'

    def file_folder(self) -> str:
        return '/here'


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        ('', ''),
        ('plain $ text', 'plain $ text'),
        ('$(var x)', '1'),
        ('a$(var x)b$(var x)', 'a1b1'),
        (r'\$(var x)', '$(var x)'),
        ('$(var $(var name))', '1'),
        ('$(var y none)', 'none'),
        ("$(var y 'two words')", 'two words'),
        ('$(var y "is $(var x)")', 'is 1'),
        ("$(var y '')", ''),
        (r"$(var y 'it\'s')", "it's"),
        ('$(var y a$(var x)b)', 'a1b'),
        ('$(env HOME)/x', '/home/me/x'),
        ('$(env NONE $(env HOME))', '/home/me'),
        ('$(dirname)/a', '/here/a'),
        ('$(filename)', '/here/file.launch.yaml'),
        ('$(if $(var on) yes no)', 'yes'),
        ('$(if $(not $(var on)) yes no)', 'no'),
        ('$(if false yes)', ''),
        ('$(if $(var on) yes $(var missing))', 'yes'),
        ('$(and $(var on) $(var x))', 'true'),
        ('$(or false 0)', 'false'),
        ('$(equals $(var long) "a b")', 'true'),
        ('$(equals 1e0 1.0)', 'true'),
        ('$(equals TRUE 1)', 'true'),
        ('$(not-equals a a)', 'false'),
    ],
)
def test_values(text: str, expected: str) -> None:
    assert parse(text).evaluate(Values()) == expected


@pytest.mark.parametrize(
    ('text', 'problem'),
    [
        ('$(var', 'not closed'),
        ('$(var  x)', 'empty argument'),
        ("$(var 'x)", 'without its closing'),
        ('$()', 'needs a name'),
        ('$(var a b c)', '1 or 2 argument'),
        ('$(anon x)', r'not supported by drex launch: \$\(anon\)'),
    ],
)
def test_broken_texts(text: str, problem: str) -> None:
    with pytest.raises(SubstitutionError, match=problem):
        parse(text)


def test_a_boolean_must_be_one() -> None:
    with pytest.raises(SubstitutionError, match="'maybe' is not a boolean"):
        parse('$(not maybe)').evaluate(Values())
