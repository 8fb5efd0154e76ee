# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The actions of a launch file, executed in order: the result is a plan, nothing is started."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from drex_ros.launching import node_command
from drex_ros.launching.arguments import needed_arguments
from drex_ros.launching.evaluation import Evaluator
from drex_ros.launching.parameters import global_parameter
from drex_ros.launching.plan import Plan, Process
from drex_ros.launching.processes import ProcessBuilder
from drex_ros.launching.source import Entity, load

_DEEPEST_INCLUDE = 32


def plan(
    file: Path,
    arguments: Mapping[str, str],
    parameter_folder: Path,
    environment: Mapping[str, str] | None = None,
) -> Plan:
    """Execute a launch file; its parameter files are written below `parameter_folder`."""
    execution = Execution(os.environ if environment is None else environment, parameter_folder)
    execution.run_file(Path(os.path.abspath(file)), arguments)
    return execution.plan


class Execution(Evaluator):
    """Executes launch files."""

    def __init__(self, environment: Mapping[str, str], parameter_folder: Path) -> None:
        super().__init__(environment)
        self.plan = Plan()
        self._builder = ProcessBuilder(self, parameter_folder)
        self._depth = 0
        self._actions: Mapping[str, Callable[[Entity], None]] = {
            'arg': self._arg,
            'let': self._let,
            'include': self._include,
            'group': self._group,
            'node': lambda entity: self._add(self._builder.node(entity)),
            'executable': lambda entity: self._add(self._builder.executable(entity)),
            'log': self._log,
            'shutdown': self._shutdown,
            'set_env': self._set_env,
            'unset_env': self._unset_env,
            'set_parameter': self._set_parameter,
            'set_remap': self._set_remap,
            'push_ros_namespace': self._push_ros_namespace,
        }

    def run_file(self, file: Path, arguments: Mapping[str, str]) -> None:
        """Execute a launch file with the arguments of the command line."""
        entities = load(file)
        self.located = file
        self.configurations.update(arguments)
        self._run(entities)

    def _run(self, entities: list[Entity]) -> None:
        for entity in entities:
            if self._condition(entity):
                self._actions[entity.kind](entity)

    def _condition(self, entity: Entity) -> bool:
        for name in ('if', 'unless'):
            if name in entity:
                value = self.text(entity, name).strip().lower()
                if value not in ('true', '1', 'false', '0'):
                    raise entity.error(
                        f"'{name}' must be true, 1, false or 0, not '{value}'", name
                    )
                return (value in ('true', '1')) == (name == 'if')
        return True

    def _add(self, process: Process) -> None:
        if process.node and process.node in (other.node for other in self.plan.processes):
            self.plan.messages.append(
                (
                    'WARNING',
                    process.name,
                    f'another node of this launch has the name {process.node} too',
                )
            )
        self.plan.processes.append(process)

    def _arg(self, entity: Entity) -> None:
        name = entity.get('name')
        self.plan.declared.add(name)
        if name not in self.configurations:
            if 'default' not in entity:
                about = f' ({entity.get("description")})' if 'description' in entity else ''
                raise entity.error(
                    f"argument '{name}'{about} has no default: give it as {name}:=value"
                )
            self.configurations[name] = self.text(entity, 'default')
        choices = [choice.get('value') for choice in entity.get('choice', [])]
        if choices and self.configurations[name] not in choices:
            raise entity.error(
                f"argument '{name}' cannot be '{self.configurations[name]}' "
                f'(choices: {", ".join(choices)})'
            )

    def _let(self, entity: Entity) -> None:
        self.configurations[self.text(entity, 'name')] = self.text(entity, 'value')

    def _include(self, entity: Entity) -> None:
        file = Path(os.path.abspath(self.text(entity, 'file')))
        if not file.is_file():
            raise entity.error(f"included file '{file}' does not exist", 'file')
        if self._depth == _DEEPEST_INCLUDE:
            raise entity.error(f"'{file}' is included within itself without end", 'file')
        entities = load(file)
        self.located = file
        arguments = entity.get('arg', [])
        given = [self.text(argument, 'name') for argument in arguments]
        for name in needed_arguments(entities):
            if name not in given:
                raise entity.error(f"included file '{file.name}' needs the argument '{name}'")
        for name, argument in zip(given, arguments, strict=True):
            self.configurations[name] = self.text(argument, 'value')
        self._depth += 1
        self._run(entities)
        self._depth -= 1

    def _group(self, entity: Entity) -> None:
        outer = self.scope
        if entity.get('scoped', True):
            self.scope = outer.copy()
        self._run(entity.get('children'))
        self.scope = outer

    def _set_env(self, entity: Entity) -> None:
        self.environment[self.text(entity, 'name')] = self.text(entity, 'value')

    def _unset_env(self, entity: Entity) -> None:
        self.environment.pop(self.text(entity, 'name'), None)

    def _set_parameter(self, entity: Entity) -> None:
        name = self.text(entity, 'name')
        value = self.call(
            entity, 'value', lambda: global_parameter(entity.get('value').evaluate(self))
        )
        self.scope.parameters = self.scope.parameters or []
        self.scope.parameters.append((name, value))

    def _set_remap(self, entity: Entity) -> None:
        self.scope.remaps = self.scope.remaps or []
        self.scope.remaps.append((self.text(entity, 'from'), self.text(entity, 'to')))

    def _push_ros_namespace(self, entity: Entity) -> None:
        pushed = self.text(entity, 'namespace')
        before = self.configurations.get('ros_namespace')
        namespace = self.call(
            entity, 'namespace', lambda: node_command.join_namespace(before, pushed)
        )
        self.configurations['ros_namespace'] = namespace or '/'

    def _log(self, entity: Entity) -> None:
        self.plan.messages.append(('INFO', 'launch.user', self.text(entity, 'message')))

    def _shutdown(self, entity: Entity) -> None:
        self.plan.shutdown = self.optional(entity, 'reason') or 'no reason given'
