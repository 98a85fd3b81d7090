"""Planted faults in rights: who may do what, on its own connection and behind a broker."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

AUTHORIZER = "kraftctl/controller/state/standard_authorizer.py"
INDEX = "kraftctl/image/acl_index.py"
ENVELOPE = "kraftctl/controller/envelope.py"
TOKENS = "kraftctl/controller/security/delegation_token_control.py"
HANDLERS = "tests/controller/test_security_handlers.py"
SCAN = "tests/controller/test_acl_scan.py"
TABLE = "tests/node/test_rights_table.py"
CHANGES = "tests/controller/test_acl_changes.py"

FAULTS = (
    PlantedFault(
        "a-broker-fetches-as-a-voter",
        "kraftctl/controller/state/node_principals.py",
        "        return [node_id for node_id in (request.replica_id, request.replica_state.replica_id)",
        "        return [node_id for node_id in (request.replica_id,)",
        ("tests/node/test_node_principals.py",),
        "A broker whose key was stolen moves the high watermark in the name of a voter.",
    ),
    PlantedFault(
        "super-users-arrive-in-envelopes",
        "kraftctl/controller/quorum_controller.py",
        "        if context.envelope:\n",
        "        if False:\n",
        ("tests/node/test_envelope_principals.py",),
        "The binding of ids contains nothing: a stolen key creates ACLs in the name of a super user.",
    ),
    PlantedFault(
        "a-stolen-key-has-no-line",
        "kraftctl/controller/quorum_controller.py",
        "                self.state.noted_refusals.append(refused_envelope(context, forwarded))\n",
        "",
        ("tests/node/test_envelope_principals.py",),
        "Somebody tries super users with the key of a broker, and no log shows it.",
    ),
    PlantedFault(
        "one-user-hides-the-refusals-of-all",
        "kraftctl/server/logs/notice_log.py",
        "        self._noted_refusals = {kind: NotedRefusals(now) for kind in KINDS}\n",
        "        self._noted_refusals = dict.fromkeys(KINDS, NotedRefusals(now))\n",
        ("tests/server/logs/test_noted_refusals.py",),
        "Requests for tokens, which everybody may send, use up the lines about stolen keys.",
    ),
    PlantedFault(
        "nodes-arrive-in-envelopes",
        "kraftctl/controller/state/envelope_principals.py",
        "        elif any(is_of_node(principal, template) for template in self._templates):\n",
        "        elif False:\n",
        ("tests/node/test_envelope_principals.py",),
        "A broker acts as another node, whose id it may not claim itself.",
    ),
    PlantedFault(
        "names-of-nodes-are-not-compared",
        "kraftctl/node/request_gate.py",
        "        error = error or self._why_not_of_node(context, request)\n",
        "",
        ("tests/node/test_node_principals.py",),
        "Brokers act as one another although the operator has forbidden it.",
    ),
    PlantedFault(
        "forwarded-requests-have-the-principal-of-the-broker",
        ENVELOPE,
        "        principal=principal,\n",
        "        principal=outer.principal,\n",
        (f"{TABLE}::test_behind_a_broker",),
        "Every client may do through a broker what the broker may do.",
    ),
    PlantedFault(
        "levels-of-loggers-need-no-right",
        "kraftctl/controller/configuration_control/alter_log_levels.py",
        "    if not state.authorizer.allows_on_cluster(context, AclOperation.CLUSTER_ACTION):\n",
        "    if False:\n",
        (f"{TABLE}::test_on_its_own_connection",),
        "A request that Kafka refuses is not refused for its sender's rights.",
    ),
    PlantedFault(
        "a-right-on-a-topic-is-not-asked-for",
        "kraftctl/controller/replication_control/create_partitions.py",
        "AclOperation.ALTER, ResourceType.TOPIC, name",
        "AclOperation.DESCRIBE, ResourceType.TOPIC, name",
        (f"{TABLE}::test_on_its_own_connection",),
        "Who may only describe a topic adds partitions to it.",
    ),
    PlantedFault(
        "a-refusal-names-the-topic-behind-an-id",
        "kraftctl/controller/replication_control/delete_topics.py",
        " if self._may(AclOperation.DESCRIBE, topic.name) else None\n",
        "\n",
        ("tests/controller/test_delete_topics.py",),
        "Who knows an id learns a name that it may not see.",
    ),
    PlantedFault(
        "prefixes-deny-nothing",
        AUTHORIZER,
        "                    if entry.permission_type == DENY:\n",
        "                    if entry.permission_type == DENY and entry.pattern_type != 4:\n",
        (f"{HANDLERS}::TestAuthorizer",),
        "A client does what an entry for the prefix of a name denies.",
    ),
    PlantedFault(
        "hosts-of-few-entries-are-not-compared",
        INDEX,
        " if acl[1].principal == principal and acl[1].host == host]\n",
        " if acl[1].principal == principal]\n",
        (f"{SCAN}::test_rights",),
        "What is allowed from one host is allowed from everywhere.",
    ),
    PlantedFault(
        "super-users-are-known-by-name-alone",
        AUTHORIZER,
        '        principal = f"{context.principal.type}:{context.principal.name}"\n',
        '        principal = f"User:{context.principal.name}"\n',
        (f"{HANDLERS}::TestAuthorizer",),
        "A forwarded group that is called like a super user may do everything.",
    ),
    PlantedFault(
        "a-type-with-a-colon-takes-the-entries-of-another",
        AUTHORIZER,
        'return WILDCARD_PRINCIPAL if ":" in principal.type else ',
        "return ",
        (f"{CHANGES}::test_a_type_with_a_colon_has_no_entry_of_another_principal",),
        "A principal of an unknown type has the rights of a user.",
    ),
    PlantedFault(
        "a-deletion-takes-others-of-its-client-along",
        INDEX,
        "        kept = [acl for acl in self._by_client[client] if acl[0] != acl_id]\n",
        "        kept = [acl for acl in self._by_client[client] if acl[1].permission_type != 2]\n",
        (f"{CHANGES}::test_a_denial_stays_when_others_of_its_resource_are_deleted",),
        "CVE-2024-27309: what an entry denies is allowed once another one is deleted.",
    ),
    PlantedFault(
        "tokens-make-tokens",
        TOKENS,
        "    if context.principal.token_authenticated:\n",
        "    if False:\n",
        ("tests/controller/test_delegation_tokens.py",),
        "A token that was stolen lives forever, in its descendants (KIP-48).",
    ),
    PlantedFault(
        "tokens-are-their-owners-by-spelling",
        TOKENS,
        '    if ":" not in principal.type and (name',
        "    if (name",
        ("tests/controller/test_delegation_tokens.py",),
        "A principal of an unknown type renews or ends the tokens of a user.",
    ),
    PlantedFault(
        "forwarded-requests-come-from-the-broker",
        ENVELOPE,
        "        client_address=_unmapped(envelope.client_host_address),\n",
        "        client_address=outer.client_address,\n",
        ("tests/controller/test_envelope.py",),
        "Entries for hosts of clients are compared with the host of a broker.",
    ),
    PlantedFault(
        "forwarded-ipv4-addresses-hide-within-ipv6",
        ENVELOPE,
        "        client_address=_unmapped(envelope.client_host_address),\n",
        "        client_address=envelope.client_host_address,\n",
        ("tests/controller/test_envelope.py",),
        "An entry that denies a host does not apply.",
    ),
)
