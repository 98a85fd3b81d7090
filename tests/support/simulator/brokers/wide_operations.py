"""Operations of the model admin that let a run write every type of record and ask every API."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from kraftctl.metadata import features
from kraftctl_protocol.config_resource import BROKER, CLIENT_METRICS, CLUSTER_DEFAULT, GROUP
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.create_delegation_token_response import CreateDelegationTokenResponse
from kraftctl_protocol.generated.expire_delegation_token_request import ExpireDelegationTokenRequest
from kraftctl_protocol.generated.renew_delegation_token_request import RenewDelegationTokenRequest
from kraftctl_protocol.generated.unregister_controller_request import UnregisterControllerRequest
from kraftctl_protocol.message import Message
from tests.support.simulator.brokers import admin_requests, security_requests
from tests.support.simulator.brokers.admin_history import ABSENT, PRESENT, Operation, Outcome
from tests.support.simulator.brokers.intrusions import draw_intrusion
from tests.support.simulator.brokers.read_requests import draw_read
from tests.support.simulator.brokers.sender import Sender
from tests.support.simulator.checks.invariants import broken
from tests.support.simulator.cluster.users import ADMIN, ALICE, BOB, USERS

if TYPE_CHECKING:
    from tests.support.simulator.brokers.admin import ModelAdmin

WIDE_OPERATIONS: Final = (
    "alter_acl",
    "alter_user",
    "alter_quota",
    "alter_resource",
    "alter_min_isr",
    "create_token",
    "renew_token",
    "expire_token",
    "update_metadata_version",
    "unregister_controller",
    "read",
    "intrude",
)

RESOURCES: Final = (
    (BROKER, CLUSTER_DEFAULT, "log.retention.ms", 1),
    (BROKER, CLUSTER_DEFAULT, "min.insync.replicas", 1),
    (BROKER, "101", "log.retention.ms", 1),
    (CLIENT_METRICS, "metrics-1", "interval.ms", 100),
    (GROUP, "group-1", "consumer.session.timeout.ms", 45_000),
)
"""Configs that are set and removed, with their lowest value."""

MIN_ISR: Final = "min.insync.replicas"
MECHANISMS: Final = (1, 2)
ITERATIONS: Final = (4096, 4096, 4096, 1)
"""The last one is too few."""
TOKENS_MAX: Final = 4
NO_CONTROLLER: Final = 9999
LONG_MS, SHORT_MS = -1, 2_000
"""Lifetimes of tokens: the longest possible, or one that ends within a run."""


class WideOperations:
    """`table` has them by name. What is set can be removed again; the history knows both."""

    def __init__(self, admin: ModelAdmin) -> None:
        self._admin = admin
        self._tokens: list[tuple[str, bytes]] = []
        """Token id and secret of those that were created last."""

    def table(self) -> dict[str, Callable[[], None]]:
        return {
            "alter_acl": self._alter_acl,
            "alter_user": self._alter_user,
            "alter_quota": self._alter_quota,
            "alter_resource": self._alter_resource,
            "alter_min_isr": self._alter_min_isr,
            "create_token": self._create_token,
            "renew_token": self._renew_token,
            "expire_token": self._expire_token,
            "update_metadata_version": self._update_metadata_version,
            "unregister_controller": self._unregister_controller,
            "read": self._read,
            "intrude": self._intrude,
        }

    def _alter_acl(self) -> None:
        admin = self._admin
        present = self._present("alter_acl")
        if present and admin.rng.random() < 0.4:
            binding = admin.rng.choice(present)
            request: Message = security_requests.delete_acl(binding)
            value = ABSENT
        else:
            binding = admin.rng.choice(security_requests.BINDINGS)
            request = security_requests.create_acl(binding)
            value = PRESENT
        if ("alter_acl", binding) not in admin.busy:
            admin.perform("alter_acl", binding, value, request)

    def _present(self, kind: str) -> list[Any]:
        """The subjects that are there as far as the admin knows."""
        history = self._admin.history
        last = {subject: history.of(kind, subject)[-1] for subject in history.subjects(kind)}
        return [
            subject
            for subject, operation in last.items()
            if operation.outcome is Outcome.ACKNOWLEDGED and operation.value == PRESENT
        ]

    def _alter_user(self) -> None:
        admin = self._admin
        rng = admin.rng
        mechanism, name = rng.choice(MECHANISMS), rng.choice(USERS)
        value, request = PRESENT, security_requests.upsert_user(name, mechanism, rng.choice(ITERATIONS))
        present = self._present("alter_user")
        if present and rng.random() < 0.4:
            mechanism, name = rng.choice(present)
            value, request = ABSENT, security_requests.delete_user(name, mechanism)
        if ("alter_user", (mechanism, name)) not in admin.busy:
            admin.perform("alter_user", (mechanism, name), value, request)

    def _alter_quota(self) -> None:
        admin = self._admin
        entity, key = admin.rng.choice(security_requests.QUOTAS)
        if ("alter_quota", (entity, key)) in admin.busy:
            return
        value = admin.next_number() if admin.rng.random() < 0.6 else None
        request = security_requests.alter_quota(entity, key, value)
        admin.perform("alter_quota", (entity, key), value, request)

    def _alter_resource(self) -> None:
        """In either way: AlterConfigs leaves nothing else set on the resource."""
        admin = self._admin
        kind, name, key, lowest = admin.rng.choice(RESOURCES)
        subject = (kind, name, key)
        if any(
            ("alter_resource", resource[:3]) in admin.busy for resource in RESOURCES if resource[0] == kind
        ):
            return
        value: int | None = None
        if admin.rng.random() < 0.6:
            value = lowest + (admin.rng.randint(0, 2) if key == MIN_ISR else admin.next_number())
        if kind != BROKER and admin.rng.random() < 0.6:
            request: Message = admin_requests.replace_configs(kind, name, key, value)
        else:
            request = admin_requests.alter_config(kind, name, key, value)
        admin.perform("alter_resource", subject, value, request)

    def _alter_min_isr(self) -> None:
        """Of a topic: eligible leader replicas may not be eligible any more (KIP-966)."""
        admin = self._admin
        name = admin.topic()
        if name is not None and ("alter_configs", (name, MIN_ISR)) not in admin.busy:
            value = admin.rng.randint(1, 3)
            request = admin_requests.set_topic_config(name, MIN_ISR, str(value))
            admin.perform("alter_configs", (name, MIN_ISR), value, request)

    def _create_token(self) -> None:
        """Through a broker mostly: a client that connects without authentication gets none."""
        admin = self._admin
        rng = admin.rng
        lifetime_ms = rng.choice((LONG_MS, LONG_MS, SHORT_MS))
        request = security_requests.create_token(rng.choice(("", "", BOB)), ALICE, lifetime_ms)

        def created(operation: Operation, response: Message | None) -> None:
            if operation.outcome is not Outcome.ACKNOWLEDGED:
                return
            assert isinstance(response, CreateDelegationTokenResponse)
            self._tokens = [*self._tokens[1 - TOKENS_MAX :], (response.token_id, response.hmac)]
            if lifetime_ms == LONG_MS:
                operation.value = response.token_id

        sender = Sender(rng.choice(USERS), forwarded_share=0.9)
        admin.perform("create_token", admin.next_number(), None, request, created, sender)

    def _renew_token(self) -> None:
        if self._tokens:
            admin = self._admin
            _, secret = admin.rng.choice(self._tokens)
            request = RenewDelegationTokenRequest(hmac=secret, renew_period_ms=-1)
            sender = Sender(admin.rng.choice(USERS), forwarded_share=0.9)
            admin.perform("renew_token", admin.next_number(), None, request, sender=sender)

    def _expire_token(self) -> None:
        """By its owner, or by a renewer, who may do that too; others are refused."""
        if self._tokens:
            admin = self._admin
            token_id, secret = admin.rng.choice(self._tokens)
            if ("expire_token", token_id) in admin.busy:
                return
            request = ExpireDelegationTokenRequest(hmac=secret, expiry_time_period_ms=-1)
            sender = Sender(admin.rng.choice(USERS), forwarded_share=0.9)
            admin.perform("expire_token", token_id, ABSENT, request, sender=sender)

    def _update_metadata_version(self) -> None:
        """Up where the nodes allow it, and down where nothing of the metadata would be lost."""
        admin = self._admin
        if ("update_features", features.METADATA_VERSION) not in admin.busy:
            level = admin.rng.randint(features.IBP_3_9_IV0, features.LATEST_PRODUCTION)
            kind = admin.rng.choice((1, 1, 2, 3))
            request = admin_requests.update_feature(features.METADATA_VERSION, level, kind)
            admin.perform("update_features", features.METADATA_VERSION, level, request)

    def _unregister_controller(self) -> None:
        """A live one registers again; one id of a node that is none is drawn, too."""
        admin = self._admin
        controller_id = admin.rng.choice((*admin.world.bootstrap, NO_CONTROLLER))
        admin.ask(UnregisterControllerRequest(controller_id=controller_id), Sender(ADMIN))

    def _read(self) -> None:
        """From any controller."""
        admin = self._admin
        request = draw_read(admin.rng, list(admin.topics))
        user = admin.rng.choice((ADMIN, *USERS))
        admin.ask(request, Sender(user, node_id=admin.rng.choice(admin.world.bootstrap)))

    def _intrude(self) -> None:
        """Where there is an authorizer; without one everybody has all rights."""
        admin = self._admin
        if not admin.world.mix.has_authorizer:
            return
        rng = admin.rng
        node_id = rng.choice(admin.world.bootstrap)
        broker_id = rng.choice(admin.brokers).broker_id
        request = draw_intrusion(rng, admin.world.cluster_id, broker_id, node_id)
        admin.ask(request, Sender(rng.choice(USERS), forwarded_share=0.0, node_id=node_id), check_refused)


def check_refused(response: Message) -> None:
    """The request was that of a user who has no right to it."""
    if admin_requests.error_of_answer(response) == Errors.NONE:
        broken("OnlyWhoMayDo", f"{response!r} for a user who has no right to that")
