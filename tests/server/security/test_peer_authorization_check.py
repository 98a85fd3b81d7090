"""A controller whose own principal lacks the right to take part says so, with the right and the next step."""

from __future__ import annotations

import asyncio
import logging

import pytest

from kraftctl.config.controller_config import STANDARD_AUTHORIZER, ControllerConfig
from kraftctl.controller.state.standard_authorizer import StandardAuthorizer
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.server.security import once_loaded
from kraftctl.server.security.peer_authorization_check import PeerAuthorizationCheck, own_principal
from kraftctl_protocol.acl_operation import AclOperation
from kraftctl_protocol.generated.access_control_entry_record import AccessControlEntryRecord
from tests.server.security.ssl_serving import authority, identity, stores
from tests.server.security.test_sasl_mechanisms import SASL, SCRAM_MODULE
from tests.server.serving import PROPERTIES, eventually

SSL = {"listener.security.protocol.map": "CONTROLLER:SSL", **stores(identity(), authority())}
REQUIRED = {**SSL, "ssl.client.auth": "required"}
SECURED = {"authorizer.class.name": STANDARD_AUTHORIZER}


@pytest.mark.parametrize(
    ("properties", "principal"),
    [
        pytest.param({}, "User:ANONYMOUS", id="plaintext"),
        pytest.param(SSL, "User:ANONYMOUS", id="ssl-without-certificate"),
        pytest.param(REQUIRED, "User:CN=controller", id="certificate"),
        pytest.param(
            {**REQUIRED, "ssl.principal.mapping.rules": "RULE:^CN=(.*)$/$1/U"}, "User:CONTROLLER", id="rule"
        ),
        pytest.param({**REQUIRED, "ssl.principal.mapping.rules": "RULE:^x$/y/"}, None, id="no-rule"),
        pytest.param(SASL, "User:controller", id="plain"),
        pytest.param(
            {**SASL, "sasl.mechanism.controller.protocol": "SCRAM-SHA-256"}, "User:controller", id="scram"
        ),
        pytest.param(
            {
                **SASL,
                "sasl.mechanism.controller.protocol": "SCRAM-SHA-256",
                "listener.name.controller.scram-sha-256.sasl.jaas.config": (
                    f'{SCRAM_MODULE} username="id" password="hmac" tokenauth="true";'
                ),
            },
            None,
            id="token",
        ),
    ],
)
def test_as_whom_it_connects_to_others(properties: dict[str, str], principal: str | None) -> None:
    found = own_principal(ControllerConfig({**PROPERTIES, **properties}))
    assert (None if found is None else str(found)) == principal


def cluster_action(principal: str, permission: int = 3) -> AccessControlEntryRecord:
    return AccessControlEntryRecord(
        id=bytes(16),
        resource_type=4,
        resource_name="kafka-cluster",
        pattern_type=3,
        principal=principal,
        host="*",
        operation=AclOperation.CLUSTER_ACTION,
        permission_type=permission,
    )


@pytest.mark.parametrize(
    ("properties", "entry", "at_start", "after_load"),
    [
        pytest.param({}, None, False, False, id="no-authorizer"),
        pytest.param({**SECURED, "super.users": "User:controller"}, None, False, False, id="super-user"),
        pytest.param(SECURED, None, True, True, id="no-right"),
        pytest.param(SECURED, cluster_action("User:controller"), True, False, id="an-acl"),
        pytest.param(SECURED, cluster_action("User:other"), True, True, id="an-acl-for-another"),
    ],
)
async def test_what_is_said(
    properties: dict[str, str],
    entry: AccessControlEntryRecord | None,
    at_start: bool,
    after_load: bool,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(once_loaded, "CHECK_SECONDS", 0.001)

    async def scenario() -> None:
        config = ControllerConfig({**PROPERTIES, **SASL, **properties})
        image = MetadataImage()
        authorizer = StandardAuthorizer(image, config.super_users, False)
        rights = PeerAuthorizationCheck(asyncio.get_running_loop(), config, authorizer)
        first = caplog.text
        assert ("User:controller, as which this controller connects to others" in first) == at_start
        assert "CLUSTER_ACTION on the cluster" in first or not at_start
        if entry is not None:
            image.acls.replay(entry, 0)
        authorizer.metadata_loaded()
        if at_start:
            later = rights._later
            assert later is not None
            await eventually(lambda: later._timer is None)
        rights.stop()
        assert ("No ACL allows User:controller" in caplog.text) == after_load
        assert "kafka-acls --add --allow-principal User:controller" in caplog.text or not after_load

    with caplog.at_level(logging.WARNING):
        await scenario()
