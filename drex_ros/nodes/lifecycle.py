# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The lifecycle of our nodes: four hooks that may raise, and what becomes of it."""

import traceback
from collections.abc import Callable
from typing import Any

from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn

from drex_ros.nodes.entities import EntityScope
from drex_ros.nodes.parameters import ParameterError
from drex_ros.nodes.process import ConfigurationError, StopRequest

SUCCESS = TransitionCallbackReturn.SUCCESS
FAILURE = TransitionCallbackReturn.FAILURE
ERROR = TransitionCallbackReturn.ERROR


class HookedNode(LifecycleNode):
    """A lifecycle node whose transitions are the hooks below.

    When `configure` or `activate` raises ConfigurationError or ParameterError, the transition is
    refused and the node lives on in the state it had. Any other exception is a crash: the node
    releases what it can, and `run` ends the process with the traceback.
    """

    def __init__(self, name: str, **node_options: Any) -> None:
        super().__init__(name, **node_options)
        # Replaced by `run`: whether the process has been asked to end.
        self.stop = StopRequest()
        self.crash: Exception | None = None
        self._crashed_hook = ''
        self._refusal: Exception | None = None
        self._active = False
        self._scope = EntityScope(self)
        self._serve_change_state = self._service_change_state.callback
        self._service_change_state.callback = self._on_change_state

    # Hooks for subclasses

    def configure(self) -> None:
        """Create publishers, subscriptions, services; raise ConfigurationError to refuse."""

    def activate(self) -> None:
        """Start; lifecycle publishers already publish. Raise ConfigurationError to refuse."""

    def deactivate(self) -> None:
        """Stop; lifecycle publishers still publish. Also runs after an `activate` that failed."""

    def cleanup(self) -> None:
        """Release what `configure` made beside ROS entities (devices, files, threads)."""

    # State

    @property
    def is_active(self) -> bool:
        return self._active

    @property
    def state_label(self) -> str:
        """Lifecycle state: unconfigured, inactive, active, finalized, or one between them."""
        return str(self._state_machine.current_state[1])

    def start(self) -> None:
        """Configure and activate, unless asked to stop. Raises what the hooks raised."""
        for trigger in (self.trigger_configure, self.trigger_activate):
            if self.stop.requested:
                return
            if trigger() != SUCCESS:
                raise self.crash or self._refusal or RuntimeError('transition failed')

    def shut_down(self) -> None:
        """Go to finalized from any state, through `deactivate` and `cleanup`."""
        if self.state_label == 'active':
            self.trigger_deactivate()
        if self.state_label == 'inactive':
            self.trigger_cleanup()
        if self.state_label == 'unconfigured':
            self.trigger_shutdown()

    # Transitions, as rclpy calls them

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        self._scope.open()
        result = self._call(self.configure, may_refuse=True)
        if result != SUCCESS:
            self._release()
        return result

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        super().on_activate(state)
        result = self._call(self.activate, may_refuse=True)
        if result == SUCCESS:
            self._active = True
        else:
            self._call(self.deactivate)
            super().on_deactivate(state)
        return result

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        self._active = False
        result = self._call(self.deactivate)
        super().on_deactivate(state)
        return result

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        result = self._call(self.cleanup)
        self._release()
        return result

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        if state.label == 'active':
            self.on_deactivate(state)
        if state.label in ('active', 'inactive'):
            self.on_cleanup(state)
        return SUCCESS

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """After a crash: release what can be released."""
        if self._crashed_hook in ('activate', 'deactivate'):
            self._call(self.cleanup)
        self._release()
        return SUCCESS

    def _call(
        self, hook: Callable[[], None], may_refuse: bool = False
    ) -> TransitionCallbackReturn:
        """Call a hook; what it raises is kept, because rclpy would swallow it."""
        try:
            hook()
        except Exception as error:
            if may_refuse and isinstance(error, (ConfigurationError, ParameterError)):
                self._refusal = error
                return FAILURE
            if self.crash is None:
                self.crash, self._crashed_hook = error, hook.__name__
            else:  # one crash is reported at the end of the process; no other may get lost
                traceback.print_exception(error)
            return ERROR
        return SUCCESS

    def _release(self) -> None:
        self._scope.close()

    def _on_change_state(self, request: Any, response: Any) -> Any:
        """Serve ~/change_state; a transition that is not possible now is refused.

        rclpy would raise in the service callback, and any client could end the node.
        """
        wanted = request.transition
        possible = {t[0]: t[1] for t in self._state_machine.available_transitions}
        if not (wanted.label in possible.values() if wanted.label else wanted.id in possible):
            self.get_logger().warning(
                f'transition {wanted.label or wanted.id} refused: the node is '
                f'{self.state_label}, must be one of '
                + ', '.join(sorted(f'{label} ({number})' for number, label in possible.items()))
            )
            response.success = False
            return response
        self._refusal = None
        response = self._serve_change_state(request, response)
        if self._refusal is not None:
            self.get_logger().error(str(self._refusal))
        return response
