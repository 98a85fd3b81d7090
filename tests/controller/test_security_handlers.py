"""ACLs, the authorizer that reads them, SCRAM credentials and client quotas."""

from __future__ import annotations

import base64
import hashlib
import hmac

import pytest

from kraftctl.apis.api import NO_CLUSTER_RIGHT, Owner
from kraftctl.apis.api_table import API_TABLE
from kraftctl.controller.state.authorization import ResourceType
from kraftctl.controller.state.standard_authorizer import StandardAuthorizer, host_address
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.metadata import features
from kraftctl_protocol.acl_operation import AclOperation
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from kraftctl_protocol.generated.alter_user_scram_credentials_request import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from kraftctl_protocol.generated.client_quota_record import ClientQuotaRecord
from kraftctl_protocol.generated.client_quota_record import EntityData as StoredEntity
from kraftctl_protocol.generated.create_acls_request import AclCreation, CreateAclsRequest
from kraftctl_protocol.generated.delete_acls_request import DeleteAclsFilter, DeleteAclsRequest
from kraftctl_protocol.generated.describe_acls_request import DescribeAclsRequest
from kraftctl_protocol.generated.user_scram_credential_record import UserScramCredentialRecord
from kraftctl_protocol.principal import KafkaPrincipal
from tests.support.active_controller import ActiveController, refusal_code, request_type

RFC_7677_SALT = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
RFC_7677_AUTH_MESSAGE = (
    b"n=user,r=rOprNGfwEbeRWgbNEkqO,"
    b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,"
    b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
)
"""The example conversation of RFC 7677: user `user`, password `pencil`."""

ADMIN = KafkaPrincipal("User", "admin")
ALICE = KafkaPrincipal("User", "alice")
ANY, MATCH, LITERAL, PREFIXED = 1, 2, 3, 4
DENY, ALLOW = 2, 3


def secured(metadata_version=features.LATEST_PRODUCTION, **properties):
    return ActiveController(
        metadata_version,
        authorizer_class_name="org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        super_users="User:admin;User:ANONYMOUS",
        **properties,
    )


def acl(
    operation,
    *,
    kind=ResourceType.TOPIC,
    name="t",
    pattern=LITERAL,
    principal="User:alice",
    host="*",
    permission=ALLOW,
):
    return AclCreation(
        resource_type=kind,
        resource_name=name,
        resource_pattern_type=pattern,
        principal=principal,
        host=host,
        operation=operation,
        permission_type=permission,
    )


def everything():
    return DescribeAclsRequest(
        resource_type_filter=ANY,
        resource_name_filter=None,
        pattern_type_filter=ANY,
        principal_filter=None,
        host_filter=None,
        operation=ANY,
        permission_type=ANY,
    )


def grant(active, *acls):
    response = active.request(CreateAclsRequest(creations=list(acls)))
    assert [result.error_code for result in response.results] == [0] * len(acls)


def may(active, operation, name="t", kind=ResourceType.TOPIC, principal=ALICE):
    context = active.context(everything(), None, principal=principal)
    return active.controller.state.authorizer.allows(context, operation, kind, name)


class TestAcls:
    @pytest.mark.parametrize(
        "request_",
        [
            CreateAclsRequest(creations=[acl(AclOperation.READ)]),
            DeleteAclsRequest(filters=[DeleteAclsFilter(resource_type_filter=2)]),
            everything(),
        ],
        ids=["create", "delete", "describe"],
    )
    def test_without_an_authorizer(self, request_):
        active = ActiveController()
        before = active.end_offset
        assert str(int(Errors.SECURITY_DISABLED)) in repr(active.request(request_))
        assert active.end_offset == before

    def test_duplicates_are_a_success_without_record(self):
        active = secured()
        before = active.end_offset
        grant(active, acl(AclOperation.READ), acl(AclOperation.READ), acl(AclOperation.WRITE))
        grant(active, acl(AclOperation.READ))
        assert active.end_offset == before + 2

    @pytest.mark.parametrize(
        "creation",
        [
            acl(AclOperation.ANY),
            acl(0),
            acl(AclOperation.READ, kind=1),
            acl(AclOperation.READ, pattern=MATCH),
            acl(AclOperation.READ, permission=1),
            acl(AclOperation.READ, name=""),
            acl(AclOperation.READ, principal="alice"),
            acl(AclOperation.READ, kind=ResourceType.CLUSTER, name="other"),
        ],
    )
    def test_invalid(self, creation):
        response = secured().request(CreateAclsRequest(creations=[creation, acl(AclOperation.READ)]))
        assert [result.error_code for result in response.results] == [Errors.INVALID_REQUEST, 0]

    @pytest.mark.parametrize(
        ("metadata_version", "host", "error"),
        [
            pytest.param(31, "", Errors.INVALID_REQUEST, id="empty"),
            pytest.param(32, "", Errors.INVALID_REQUEST, id="empty-too"),
            pytest.param(31, "no-address", Errors.NONE, id="not-checked"),
            pytest.param(32, "no-address", Errors.NONE, id="not-checked-either"),
            pytest.param(31, "10.0.0.0/8", Errors.UNSUPPORTED_VERSION, id="network-below-the-level"),
            pytest.param(31, "no/network", Errors.UNSUPPORTED_VERSION, id="level-before-form"),
            pytest.param(32, "10.0.0.0/8", Errors.NONE, id="network"),
            pytest.param(32, "2001:db8::/32", Errors.NONE, id="ipv6-network"),
            pytest.param(32, "10.0.0.0/33", Errors.INVALID_REQUEST, id="too-long"),
            pytest.param(32, "no/network", Errors.INVALID_REQUEST, id="no-network"),
        ],
    )
    def test_hosts(self, metadata_version, host, error):
        """KIP-1276: the host is looked at last, and other entries of the request are created."""
        active = secured(metadata_version)
        wrong = [acl(AclOperation.READ, host=host, name=name) for name in ("a", "")]
        response = active.request(CreateAclsRequest(creations=[*wrong, acl(AclOperation.READ)]))
        assert [result.error_code for result in response.results] == [error, Errors.INVALID_REQUEST, 0]
        assert response.results[1].error_message == "Invalid empty resource name"

    def test_describe_groups_by_resource(self):
        active = secured()
        grant(active, acl(AclOperation.READ), acl(AclOperation.WRITE), acl(AclOperation.READ, name="u"))
        resources = active.request(everything()).resources
        assert [(r.resource_name, len(r.acls)) for r in resources] == [("t", 2), ("u", 1)]

    def test_match_finds_every_pattern_that_covers_a_name(self):
        active = secured()
        grant(
            active,
            acl(AclOperation.READ, name="foo-1"),
            acl(AclOperation.READ, name="foo", pattern=PREFIXED),
            acl(AclOperation.READ, name="*"),
            acl(AclOperation.READ, name="bar"),
        )
        request = everything()
        request.resource_type_filter, request.resource_name_filter = ResourceType.TOPIC, "foo-1"
        request.pattern_type_filter = MATCH
        assert sorted(r.resource_name for r in active.request(request).resources) == ["*", "foo", "foo-1"]
        request.pattern_type_filter = LITERAL
        assert [r.resource_name for r in active.request(request).resources] == ["foo-1"]

    def test_delete(self):
        active = secured()
        grant(active, acl(AclOperation.READ), acl(AclOperation.WRITE), acl(AclOperation.READ, name="u"))
        wanted = DeleteAclsFilter(
            resource_type_filter=2,
            resource_name_filter="t",
            pattern_type_filter=LITERAL,
            operation=ANY,
            permission_type=ANY,
            principal_filter=None,
            host_filter=None,
        )
        unknown = DeleteAclsFilter(
            resource_type_filter=0, pattern_type_filter=LITERAL, operation=ANY, permission_type=ANY
        )
        response = active.request(DeleteAclsRequest(filters=[wanted, unknown, wanted]))
        assert [len(result.matching_acls) for result in response.filter_results] == [2, 0, 2]
        assert [r.error_code for r in response.filter_results] == [0, Errors.INVALID_REQUEST, 0]
        assert len(active.controller.image.acls.acls) == 1


class TestAuthorizer:
    @pytest.mark.prevents("KAFKA-14265", "CVE-2024-27309")
    @pytest.mark.parametrize("deny_first", [True, False])
    def test_deny_wins_whatever_the_order(self, deny_first):
        active = secured()
        acls = [
            acl(AclOperation.READ, name="t", permission=DENY),
            acl(AclOperation.ALL, name="*"),
            acl(AclOperation.WRITE),
        ]
        grant(active, *(acls if deny_first else reversed(acls)))
        assert not may(active, AclOperation.READ)
        assert may(active, AclOperation.WRITE)
        assert may(active, AclOperation.READ, "u")

    def test_a_prefix_denies(self):
        active = secured()
        grant(active, acl(AclOperation.ALL, name="*"))
        grant(active, acl(AclOperation.READ, name="pre", pattern=PREFIXED, permission=DENY))
        assert may(active, AclOperation.READ, "pr")
        assert not may(active, AclOperation.READ, "prefix")
        assert may(active, AclOperation.WRITE, "prefix")

    def test_what_implies_describe_and_what_does_not(self):
        active = secured()
        grant(active, acl(AclOperation.READ), acl(AclOperation.ALTER_CONFIGS, name="c"))
        grant(active, acl(AclOperation.ALL, name="d"), acl(AclOperation.READ, name="d", permission=DENY))
        assert may(active, AclOperation.DESCRIBE)
        assert not may(active, AclOperation.DESCRIBE_CONFIGS)
        assert may(active, AclOperation.DESCRIBE_CONFIGS, "c")
        assert may(active, AclOperation.DESCRIBE, "d")
        assert not may(active, AclOperation.READ, "d")

    def test_patterns_principals_and_hosts(self):
        active = secured()
        grant(
            active,
            acl(AclOperation.READ, name="pre", pattern=PREFIXED),
            acl(AclOperation.READ, name="all", principal="User:*"),
            acl(AclOperation.READ, name="here", host="127.0.0.1"),
            acl(AclOperation.READ, name="there", host="10.0.0.1"),
        )
        assert may(active, AclOperation.READ, "prefix")
        assert not may(active, AclOperation.READ, "pr")
        assert may(active, AclOperation.READ, "all", principal=KafkaPrincipal("User", "bob"))
        assert may(active, AclOperation.READ, "here")
        assert not may(active, AclOperation.READ, "there")
        assert not may(active, AclOperation.READ, "prefix", kind=ResourceType.GROUP)

    @pytest.mark.parametrize("allow", [True, False])
    def test_no_entry_for_the_resource(self, allow):
        active = secured(allow_everyone_if_no_acl_found=str(allow).lower())
        assert may(active, AclOperation.READ) == allow
        grant(active, acl(AclOperation.READ, principal="User:bob"))
        assert not may(active, AclOperation.READ)

    @pytest.mark.prevents("KAFKA-13649")
    def test_before_the_log_is_read_only_super_users(self):
        authorizer = StandardAuthorizer(MetadataImage(), ["User:admin"], True)
        active = ActiveController()
        for principal, expected in ((ADMIN, True), (ALICE, False)):
            context = active.context(everything(), None, principal=principal)
            assert authorizer.allows_on_cluster(context, AclOperation.CLUSTER_ACTION) == expected

    def test_a_super_user_is_a_type_and_a_name(self):
        active = secured()
        assert may(active, AclOperation.READ, principal=KafkaPrincipal("User", "admin"))
        for principal in (KafkaPrincipal("Group", "admin"), KafkaPrincipal("User", "Admin")):
            assert not may(active, AclOperation.READ, principal=principal)

    def test_addresses_as_java_writes_them(self):
        assert host_address(b"\x0a\0\0\1") == "10.0.0.1"
        assert host_address(bytes(15) + b"\1") == "0:0:0:0:0:0:0:1"

    @pytest.mark.parametrize("api_key", API_TABLE, ids=lambda key: ApiKey(key).name)
    def test_every_api_for_a_principal_without_rights(self, api_key):
        active = secured()
        api = API_TABLE[api_key]
        request = request_type(api_key)()
        context = active.context(request, None, principal=ALICE)
        if api.cluster_operation == NO_CLUSTER_RIGHT:
            assert refusal_code(active.controller, context) == api.refusal
            assert active.handle(request, context=context).records == []
            return
        assert refusal_code(active.controller, context) == Errors.CLUSTER_AUTHORIZATION_FAILED
        grant(active, acl(api.cluster_operation, kind=ResourceType.CLUSTER, name="kafka-cluster"))
        assert active.controller.why_refused(context) is None

    @pytest.mark.parametrize("api_key", API_TABLE, ids=lambda key: ApiKey(key).name)
    def test_before_the_acls_are_read_a_refusal_can_be_retried(self, api_key):
        active = secured()
        api = API_TABLE[api_key]
        request = request_type(api_key)()
        context = active.context(request, None, principal=ALICE)
        active.controller.state.authorizer = StandardAuthorizer(MetadataImage(), [], False)
        if api.cluster_operation == NO_CLUSTER_RIGHT:
            expected = api.refusal
        elif api.owner in (Owner.ACTIVE, Owner.NODE):
            expected = Errors.NOT_CONTROLLER
        else:
            expected = Errors.UNKNOWN_SERVER_ERROR
        assert refusal_code(active.controller, context) == expected


class TestScram:
    def upsertion(self, name, iterations=4_096, mechanism=1):
        return ScramCredentialUpsertion(
            name=name,
            mechanism=mechanism,
            iterations=iterations,
            salt=b"salt",
            salted_password=hashlib.pbkdf2_hmac("sha256", b"pencil", RFC_7677_SALT, 4_096),
        )

    def test_rfc_7677_keys(self):
        active = ActiveController()
        response = active.request(AlterUserScramCredentialsRequest(upsertions=[self.upsertion("user")]))
        assert [(result.user, result.error_code) for result in response.results] == [("user", 0)]
        record = active.records[-1]
        assert isinstance(record, UserScramCredentialRecord)
        signature = hmac.digest(record.server_key, RFC_7677_AUTH_MESSAGE, "sha256")
        assert base64.b64encode(signature) == b"6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
        proof = base64.b64decode("dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=")
        client_signature = hmac.digest(record.stored_key, RFC_7677_AUTH_MESSAGE, "sha256")
        client_key = bytes(a ^ b for a, b in zip(proof, client_signature, strict=True))
        assert hashlib.sha256(client_key).digest() == record.stored_key
        assert (record.name, record.mechanism, record.salt, record.iterations) == ("user", 1, b"salt", 4_096)

    def test_errors_per_user(self):
        active = ActiveController()
        request = AlterUserScramCredentialsRequest(
            deletions=[
                ScramCredentialDeletion(name="ghost", mechanism=1),
                ScramCredentialDeletion(name="twice", mechanism=1),
                ScramCredentialDeletion(name="odd", mechanism=9),
            ],
            upsertions=[
                self.upsertion("twice"),
                self.upsertion("few", 4_095),
                self.upsertion("many", 16_385),
                self.upsertion(""),
                ScramCredentialUpsertion(name="open", mechanism=1, iterations=4_096, salt=b"salt"),
                self.upsertion("fine", mechanism=2),
            ],
        )
        results = {result.user: result.error_code for result in active.request(request).results}
        assert results == {
            "ghost": Errors.RESOURCE_NOT_FOUND,
            "twice": Errors.RESOURCE_NOT_FOUND,
            "odd": Errors.UNSUPPORTED_SASL_MECHANISM,
            "few": Errors.UNACCEPTABLE_CREDENTIAL,
            "many": Errors.UNACCEPTABLE_CREDENTIAL,
            "": Errors.UNACCEPTABLE_CREDENTIAL,
            "open": Errors.UNACCEPTABLE_CREDENTIAL,
            "fine": 0,
        }
        deletion = ScramCredentialDeletion(name="fine", mechanism=2)
        response = active.request(AlterUserScramCredentialsRequest(deletions=[deletion]))
        assert response.results[0].error_code == 0
        assert active.controller.image.scram.credentials == {}

    def test_old_levels(self):
        active = ActiveController(features.IBP_3_5_IV1)
        response = active.request(AlterUserScramCredentialsRequest(upsertions=[self.upsertion("user")]))
        assert response.results[0].error_code == Errors.UNSUPPORTED_VERSION


class TestQuotas:
    def alter(self, entity, *ops, validate_only=False, copies=1):
        entry = EntryData(
            entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity],
            ops=[OpData(key=key, value=value, remove=remove) for key, value, remove in ops],
        )
        return AlterClientQuotasRequest(entries=[entry] * copies, validate_only=validate_only)

    def test_one_record_per_changed_key(self):
        active = ActiveController()
        request = self.alter(
            [("user", "u"), ("client-id", None)],
            ("producer_byte_rate", 1000.0, False),
            ("request_percentage", 12.5, False),
            ("consumer_byte_rate", 0.0, True),
        )
        start = active.end_offset
        assert active.request(request).entries[0].error_code == 0
        assert active.end_offset == start + 2
        assert isinstance(active.records[-1], ClientQuotaRecord)
        active.request(request)
        assert active.end_offset == start + 2
        removal = self.alter([("client-id", None), ("user", "u")], ("producer_byte_rate", 0.0, True))
        active.request(removal)
        assert active.records[-1].remove
        quotas = active.controller.image.client_quotas.quotas
        assert list(quotas.values()) == [{"request_percentage": 12.5}]

    @pytest.mark.parametrize(
        ("entity", "op"),
        [
            pytest.param([], ("producer_byte_rate", 1.0, False), id="empty"),
            pytest.param([("tribe", "x")], ("producer_byte_rate", 1.0, False), id="unknown-type"),
            pytest.param([("user", "")], ("producer_byte_rate", 1.0, False), id="empty-name"),
            pytest.param(
                [("ip", "10.0.0.1"), ("user", "a")],
                ("connection_creation_rate", 1.0, False),
                id="ip-with-user",
            ),
            pytest.param([("ip", "1.2.3.4/5")], ("connection_creation_rate", 1.0, False), id="no-address"),
            pytest.param([("ip", "::1")], ("producer_byte_rate", 1.0, False), id="key-of-users"),
            pytest.param([("user", "a")], ("connection_creation_rate", 1.0, False), id="key-of-ips"),
            pytest.param([("user", "a")], ("producer_byte_rate", 0.0, False), id="zero"),
            pytest.param([("user", "a")], ("producer_byte_rate", 1.5, False), id="fraction"),
            pytest.param([("user", "a")], ("producer_byte_rate", float("nan"), False), id="nan"),
            pytest.param([("ip", None)], ("connection_creation_rate", 2.0**31, False), id="too-big"),
        ],
    )
    def test_refused(self, entity, op):
        active = ActiveController()
        start = active.end_offset
        assert active.request(self.alter(entity, op)).entries[0].error_code == Errors.INVALID_REQUEST
        assert active.end_offset == start

    @pytest.mark.parametrize("name", ["web-1", "no-such-host.invalid", "null", "localhost.invalid"])
    def test_only_addresses_and_localhost_have_quotas(self, name):
        """Kafka's controller stores those of a host that it finds. A broker that does not leaves out others.

        What it has stored can be removed.
        """
        active = ActiveController()
        added = self.alter([("ip", name)], ("connection_creation_rate", 1.0, False))
        removed = self.alter([("ip", name)], ("connection_creation_rate", 0.0, True))
        local = self.alter([("ip", "localhost")], ("connection_creation_rate", 1.0, False))
        assert active.request(local).entries[0].error_code == 0
        for request in (added, removed):
            assert active.request(request).entries[0].error_code == Errors.INVALID_REQUEST
        stored = ClientQuotaRecord(
            entity=[StoredEntity(entity_type="ip", entity_name=name)],
            key="connection_creation_rate",
            value=1.0,
        )
        active.controller.image.client_quotas.replay(stored, active.end_offset)
        assert active.request(removed).entries[0].error_code == 0
        assert active.records[-1].remove

    def test_an_entity_twice(self):
        """Kafka refuses it, too, but does what the first of them says."""
        active = ActiveController()
        start = active.end_offset
        request = self.alter([("user", "a")], ("producer_byte_rate", 1.0, False), copies=2)
        codes = [entry.error_code for entry in active.request(request).entries]
        assert codes == [Errors.INVALID_REQUEST]
        assert active.end_offset == start

    def test_validate_only(self):
        active = ActiveController()
        start = active.end_offset
        request = self.alter([("user", "a")], ("producer_byte_rate", 1.0, False), validate_only=True)
        assert active.request(request).entries[0].error_code == 0
        assert active.end_offset == start
