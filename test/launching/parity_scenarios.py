# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Launch files that must mean the same to `ros2 launch` and to our own run.

PROBE stands for the package and executable of a node that writes down how it was started.
"""

from __future__ import annotations

# name: (main file, arguments of the command line)
SCENARIOS: dict[str, tuple[str, list[str]]] = {
    'names and namespaces': (
        """
- node: {PROBE}
- node: {PROBE, name: one}
- node: {PROBE, namespace: arm}
- node: {PROBE, name: two, namespace: arm/left/}
- node: {PROBE, name: three, namespace: ''}
- push_ros_namespace: {namespace: robot}
- node: {PROBE, name: four, param: [{name: a, value: 1}]}
- node: {PROBE, name: five, namespace: arm, param: [{name: a, value: 1}]}
- node: {PROBE, name: six, namespace: /arm, param: [{name: a, value: 1}]}
- node: {PROBE, param: [{name: a, value: 1}]}
- group:
  - push_ros_namespace: {namespace: hand}
  - node: {PROBE, name: seven}
  - push_ros_namespace: {namespace: /top}
  - node: {PROBE, name: eight, namespace: $(var ros_namespace)/x}
  - push_ros_namespace: {namespace: ''}
  - node: {PROBE, name: nine}
- node: {PROBE, name: ten}
""",
        [],
    ),
    'empty namespace': (
        """
- arg: {name: namespace, default: ''}
- push_ros_namespace: {namespace: $(var namespace)}
- node: {PROBE, name: one, param: [{name: a, value: 1}]}
- node: {PROBE, name: two, namespace: arm}
""",
        [],
    ),
    'parameters': (
        """
- arg: {name: n, default: '3'}
- arg: {name: text, default: abc}
- arg: {name: empty, default: ''}
- arg: {name: list, default: '[1.5, 2.5]'}
- node:
    pkg: demo_pkg
    exec: probe
    name: p
    param:
    - {name: int, value: 3}
    - {name: quoted, value: '3'}
    - {name: float, value: 1.0e-7}
    - {name: 'yes', value: true}
    - {name: ints, value: [1, 2]}
    - {name: words, value: [a, 'true', '3']}
    - {name: nothing, value: []}
    - {name: var, value: $(var n)}
    - {name: half, value: $(var n).5}
    - {name: joined, value: $(var text)$(var n)}
    - {name: typed, value: $(var n), type: str}
    - {name: as_float, value: $(var n), type: float}
    - {name: flag, value: $(equals $(var n) 3), type: bool}
    - {name: one, value: $(if true 1), type: bool}
    - {name: empty, value: $(var empty)}
    - {name: list, value: $(var list)}
    - {name: mixed, value: [1, $(var n)]}
    - {name: strings, value: [a, $(var text)]}
    - {name: typed_strings, value: [a, $(var n)], type: list_of_str}
    - {name: floats, value: [1.0, $(var n)], type: list_of_float}
    - {name: $(var text), param: [{name: p, value: 1.5}, {name: i, param: [{name: m, value: 2}]}]}
    - {from: $(dirname)/values.yaml}
    - {from: $(dirname)/values.yaml, allow_substs: true}
    - {name: escaped, value: 'a\\$(var n) \\\\ b'}
""",
        ['n:=7'],
    ),
    'global settings': (
        """
- arg: {name: x, default: ''}
- set_parameter: {name: use_sim_time, value: 'true'}
- set_remap: {from: a, to: b}
- group:
  - set_parameter: {name: inner, value: $(var x)}
  - set_remap: {from: c, to: d}
  - set_env: {name: DEMO_GROUP, value: inside}
  - unset_env: {name: DEMO_GIVEN}
  - node: {PROBE, name: one, remap: [{from: e, to: f}, {from: a, to: z}],
           param: [{name: q, value: 1}]}
- node: {PROBE, name: two}
- set_parameter: {name: word, value: "'5'"}
- set_parameter: {name: blank, value: ''}
- set_env: {name: DEMO_LATE, value: $(env DEMO_GIVEN)}
- node: {PROBE, name: three, env: [{name: DEMO_OWN, value: $(env DEMO_LATE)}]}
""",
        ['x:=2.0'],
    ),
    'group of its own settings': (
        """
- group:
  - set_parameter: {name: inner, value: '1'}
  - set_remap: {from: c, to: d}
  - node: {PROBE, name: one}
- node: {PROBE, name: two}
- group:
    scoped: false
    children:
    - set_parameter: {name: outer, value: some text}
    - let: {name: made, value: in group}
- node: {PROBE, name: three, args: $(var made)}
""",
        [],
    ),
    'includes': (
        """
- arg: {name: speed, default: '1'}
- arg: {name: object, choice: [{value: box}, {value: can}], default: can}
- let: {name: here, value: $(dirname)}
- include:
    file: $(dirname)/sub/part.launch.yaml
    arg: [{name: needed, value: $(var speed)}, {name: mode, value: 'given $(var object)'}]
- node: {PROBE, name: after, args: $(var mode) $(var inner) $(var here)}
- group:
  - include: {file: $(var here)/sub/part.launch.yaml, arg: [{name: needed, value: again}]}
  - node: {PROBE, name: in_group, args: $(var needed)}
- node: {PROBE, name: last, args: $(var needed)}
""",
        ['speed:=9', 'object:=box', 'deep:=command line'],
    ),
    'words': (
        """
- arg: {name: x, default: two words}
- arg: {name: empty, default: ''}
- node: {PROBE, args: "a 'b c' d"}
- node: {PROBE, args: $(var x)}
- node: {PROBE, args: --x=$(var x) -v $(var x)tail}
- node: {PROBE, args: $(var x) $(var empty) end}
- node: {PROBE, args: "a $(var x) b c"}
- node: {PROBE, args: $(var empty)}
- node: {PROBE, args: ''}
- node: {PROBE, args: ' a '}
- node: {PROBE, args: 'first $(var x)$(var x) ', ros_args: --log-level debug}
- executable: {cmd: $(exec-in-pkg probe demo_pkg) plain 'two words', cwd: $(dirname)/sub}
- executable: {cmd: "$(find-pkg-prefix demo_pkg)/lib/demo_pkg/probe $(find-pkg-share demo_pkg)/x"}
""",
        [],
    ),
    'conditions': (
        """
- arg: {name: enabled, default: 'True'}
- node: {PROBE, name: a, if: $(var enabled)}
- node: {PROBE, name: b, unless: $(var enabled)}
- node: {PROBE, name: c, if: ' 1 '}
- node: {PROBE, name: d, if: $(not $(var enabled))}
- node: {PROBE, name: e, if: $(and $(var enabled) yes)}
- node: {PROBE, name: f, if: $(or off 0)}
- node: {PROBE, name: g, if: $(equals $(var enabled) 1)}
- node: {PROBE, name: h, if: $(equals 1e0 1.0)}
- node: {PROBE, name: i, if: $(equals a 'a')}
- node: {PROBE, name: j, if: $(not-equals a b)}
- node: {PROBE, name: k, args: $(if $(var enabled) "yes $(var enabled)" no)}
- node: {PROBE, name: l, args: "$(var missing 'a default') $(var missing $(var enabled))"}
- node: {PROBE, name: m, args: $(env DEMO_NONE $(env DEMO_GIVEN))}
- let: {name: kept, value: a, if: 'false'}
- let: {name: kept, value: b, unless: 'false'}
- node: {PROBE, name: n, args: $(var kept)}
- group: {if: $(var enabled), children: [{node: {PROBE, name: o}}]}
- include: {file: /no/such/file.launch.yaml, unless: $(var enabled)}
""",
        [],
    ),
}

# Launch files that both must refuse: main file and arguments.
REFUSED: dict[str, tuple[str, list[str]]] = {
    'choice': ('- arg: {name: a, default: x, choice: [{value: x}]}\n', ['a:=y']),
    'missing argument': ('- arg: {name: a}\n', []),
    'missing include': ('- include: {file: $(dirname)/gone.launch.yaml}\n', []),
    'argument of an include': (
        '- arg: {name: needed, default: a}\n- include: {file: $(dirname)/sub/part.launch.yaml}\n',
        [],
    ),
    'respawn': ('- node: {PROBE, respawn: true}\n', []),
    'respawn_delay': ('- node: {PROBE, respawn_delay: 1}\n', []),
    'default': ('- arg: {name: a, default: 1}\n', []),
    'condition': ('- node: {PROBE, if: maybe}\n', []),
    'mixed list': ('- node: {PROBE, param: [{name: a, value: [1, 2.5]}]}\n', []),
    'literal type': ("- node: {PROBE, param: [{name: a, value: '1', type: int}]}\n", []),
    'mixed result': (
        "- let: {name: n, value: '3'}\n"
        '- node: {PROBE, param: [{name: a, value: [b, $(var n)]}]}\n',
        [],
    ),
    'namespace': ('- node: {PROBE, namespace: a//b}\n', []),
    'field': ('- node: {PROBE, colour: red}\n', []),
    'executable': ('- node: {pkg: demo_pkg, exec: gone}\n', []),
    'variable': ('- log: {message: $(var gone)}\n', []),
}

PART = """launch:
- arg: {name: needed}
- arg: {name: mode, default: default}
- arg: {name: deep, default: unset}
- let: {name: inner, value: set inside}
- push_ros_namespace: {namespace: part}
- node: {PROBE, args: $(var needed) $(var mode) $(var deep) $(dirname) $(filename)}
"""
