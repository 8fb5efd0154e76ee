# Copyright 2026 The drex_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What a managed node owns between `configure` and `cleanup`, in this process."""

from typing import Any

import pytest
from rclpy.context import Context
from std_msgs.msg import Float64
from std_srvs.srv import Trigger

from drex_ros.nodes.base import ConfigurationError, ManagedNode


class Owner(ManagedNode):
    NAME = 'owner'
    refuse = False

    def configure(self) -> None:
        self.create_publisher(Float64, 'plain', 1)
        self.managed = self.create_lifecycle_publisher(Float64, 'managed', 1)
        self.monitored_subscription(Float64, 'in', lambda message: None, 1)
        self.polled_subscription(Float64, 'polled', 1)
        self.monitored_service(Trigger, 'serve', lambda request, response: response)
        self.create_client(Trigger, 'client')
        self.monitored_timer(0.1, lambda: None, name='timer')
        if self.refuse:
            raise ConfigurationError('refused')


def owned(node: ManagedNode) -> dict[str, int]:
    return {
        kind: len(list(getattr(node, kind)))
        for kind in ('publishers', 'subscriptions', 'services', 'clients', 'timers', 'waitables')
    }


def test_what_configure_made_is_gone_after_cleanup(context: Context) -> None:
    node = Owner(context=context)
    before = owned(node)
    for _ in range(3):
        node.start()
        assert node.is_active
        made = {kind: count - before[kind] for kind, count in owned(node).items()}
        # Publishers and subscriptions bring the waitables of their events.
        assert made.pop('waitables') > 0
        assert list(made.values()) == [2, 2, 1, 1, 1]
        node.trigger_deactivate()
        assert not node.is_active
        node.trigger_cleanup()
        assert owned(node) == before
    node.shut_down()
    assert node.state_label == 'finalized'
    node.destroy_node()


def test_a_refused_configure_leaves_nothing(context: Context) -> None:
    node = Owner(context=context)
    before = owned(node)
    node.refuse = True
    with pytest.raises(ConfigurationError, match='refused'):
        node.start()
    assert node.state_label == 'unconfigured'
    assert owned(node) == before
    node.refuse = False
    node.start()
    assert node.state_label == 'active'
    node.shut_down()
    node.destroy_node()


def test_simulated_time_switched_on_later_survives_cleanup(context: Context) -> None:
    node = Owner(context=context)
    node.start()
    assert node.set_parameters([_use_sim_time()])[0].successful
    node.trigger_deactivate()
    node.trigger_cleanup()
    assert [s.topic_name for s in node.subscriptions] == ['/clock']
    node.shut_down()
    node.destroy_node()


def test_an_action_server_is_gone_after_cleanup(context: Context) -> None:
    actions = pytest.importorskip('drex_interfaces.action', reason='interfaces are not built')
    from rclpy.action import ActionServer

    action = next(getattr(actions, name) for name in sorted(dir(actions)) if name[0].isupper())

    class Acting(ManagedNode):
        NAME = 'acting'

        def configure(self) -> None:
            ActionServer(self, action, 'act', lambda goal: None)

    node = Acting(context=context)
    before = owned(node)
    for _ in range(2):
        node.start()
        assert owned(node)['waitables'] == before['waitables'] + 1
        node.trigger_deactivate()
        node.trigger_cleanup()
        assert owned(node) == before
    node.shut_down()
    node.destroy_node()


def test_an_async_callback_is_refused(context: Context) -> None:
    async def later(message: Any) -> None:
        pass

    class Wrong(ManagedNode):
        NAME = 'wrong'

        def configure(self) -> None:
            self.monitored_subscription(Float64, 'in', later, 1)  # type: ignore[arg-type]

    node = Wrong(context=context)
    with pytest.raises(TypeError, match='later: given an async function'):
        node.start()
    node.shut_down()
    node.destroy_node()


def _use_sim_time() -> Any:
    from rclpy.parameter import Parameter

    return Parameter('use_sim_time', value=True)
