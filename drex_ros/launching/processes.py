# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Entities that start a process: `node` and `executable` become processes of the plan."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from drex_ros.launching import node_command, packages
from drex_ros.launching.errors import listed
from drex_ros.launching.evaluation import Evaluator
from drex_ros.launching.parameters import parameter_file, parameter_values
from drex_ros.launching.plan import OUTPUTS, TIMEOUTS, Process, child_environment
from drex_ros.launching.source import Entity, load_yaml
from drex_ros.launching.substitutions import parse, to_bool


class ProcessBuilder:
    """Makes processes of entities, numbered from 1 in the order of the calls."""

    def __init__(self, evaluator: Evaluator, parameter_folder: Path) -> None:
        self._evaluator = evaluator
        self._folder = parameter_folder
        self._count = 0
        self._file_count = 0

    def executable(self, entity: Entity) -> Process:
        """Return the process of an `executable`."""
        label = self._evaluator.optional(entity, 'name')
        return self._process(entity, self._words(entity, 'cmd'), label, None)

    def node(self, entity: Entity) -> Process:
        """Return the process of a `node`."""
        evaluator = self._evaluator
        scope = evaluator.scope
        command = [self._node_executable(entity), *self._words(entity, 'args')]
        if 'ros_args' in entity:
            command += ['--ros-args', *self._words(entity, 'ros_args')]
        name = evaluator.optional(entity, 'name')
        evaluator.call(entity, 'name', lambda: node_command.check_name(name))
        own = evaluator.optional(entity, 'namespace')
        namespace = evaluator.call(
            entity,
            'namespace',
            lambda: node_command.join_namespace(scope.configurations.get('ros_namespace'), own),
        )
        full_name = node_command.full_name(namespace, name)
        files = [self._parameter_file(param, full_name) for param in entity.get('param', [])]
        remaps = [
            (evaluator.text(remap, 'from'), evaluator.text(remap, 'to'))
            for remap in entity.get('remap', [])
        ]
        command += node_command.ros_arguments(
            name, namespace, scope.parameters or [], files, [*(scope.remaps or []), *remaps]
        )
        label = evaluator.optional(entity, 'exec_name')
        return self._process(entity, command, label, full_name)

    def _words(self, entity: Entity, name: str) -> list[str]:
        if name not in entity:
            return []
        return self._evaluator.call(
            entity, name, lambda: node_command.words(entity.get(name), self._evaluator)
        )

    def _node_executable(self, entity: Entity) -> str:
        executable = self._evaluator.text(entity, 'exec')
        package = self._evaluator.optional(entity, 'pkg')
        if package is None:
            return executable
        return self._evaluator.call(
            entity,
            'exec',
            lambda: packages.package_executable(package, executable, self._evaluator.environment),
        )

    def _parameter_file(self, param: Entity, node: str | None) -> str:
        """Return a parameter file: the given one, or one written for the given value."""
        evaluator = self._evaluator
        if 'from' not in param:
            values = evaluator.call(param, 'value', lambda: parameter_values(param, evaluator))
            return str(self._write_parameters(parameter_file(node, values)))
        file = Path(evaluator.text(param, 'from'))
        if not file.is_file():
            raise param.error(f"parameter file '{file}' does not exist", 'from')
        if param.get('allow_substs', False):
            content = file.read_text(encoding='utf-8')
            file = self._write_parameters(
                evaluator.call(param, 'from', lambda: parse(content).evaluate(evaluator))
            )
        load_yaml(file)  # a broken file is better found here than by each node
        return str(file)

    def _write_parameters(self, text: str) -> Path:
        self._file_count += 1
        file = self._folder / f'parameters_{self._file_count}.yaml'
        file.write_text(text, encoding='utf-8')
        return file

    def _process(
        self, entity: Entity, command: list[str], label: str | None, node: str | None
    ) -> Process:
        evaluator = self._evaluator
        environment = dict(evaluator.environment)
        for variable in entity.get('env', []):
            environment[evaluator.text(variable, 'name')] = evaluator.text(variable, 'value')
        cwd = evaluator.optional(entity, 'cwd')
        if cwd is not None and not Path(cwd).is_dir():
            raise entity.error(f"folder '{cwd}' does not exist", 'cwd')
        self._check_program(entity, command[0], environment, cwd)
        self._count += 1
        respawn = evaluator.optional(entity, 'respawn') or 'false'
        return Process(
            name=f'{label or os.path.basename(command[0])}-{self._count}',
            command=tuple(command),
            environment=child_environment(environment),
            where=f'{entity.file}:{entity.line}',
            cwd=cwd,
            output=self._output(entity),
            required='on_exit' in entity,
            respawn=evaluator.call(entity, 'respawn', lambda: to_bool(respawn)),
            respawn_delay=entity.get('respawn_delay', 0.0),
            respawn_max_retries=entity.get('respawn_max_retries', -1),
            sigterm_timeout=self._timeout(entity, 'sigterm_timeout'),
            sigkill_timeout=self._timeout(entity, 'sigkill_timeout'),
            node=node,
        )

    def _output(self, entity: Entity) -> str:
        given = self._evaluator.optional(entity, 'output') or 'log'
        output = os.environ.get('OVERRIDE_LAUNCH_PROCESS_OUTPUT', given)
        if output not in OUTPUTS:
            raise entity.unsupported(f"output '{output}'", listed(OUTPUTS), 'output')
        return output

    def _timeout(self, entity: Entity, name: str) -> float:
        """Return the entity's own timeout, else the launch variable of that name, in seconds."""
        if name in entity:
            return float(entity.get(name))
        text = self._evaluator.configurations.get(name, str(TIMEOUTS[name]))
        try:
            return float(text)
        except ValueError:
            raise entity.error(f"variable '{name}' is a time in seconds, not '{text}'") from None

    def _check_program(
        self, entity: Entity, name: str, environment: Mapping[str, str], cwd: str | None
    ) -> None:
        if os.sep not in name:
            self._evaluator.call(entity, 'cmd', lambda: packages.program(name, environment))
        elif not os.access(Path(cwd or '.', name), os.X_OK):
            raise entity.error(f"program '{name}' does not exist or is not executable")
