"""Which calls are made how often."""

from __future__ import annotations

from collections.abc import Callable

from tests.differential.call import SILENCE, Call
from tests.differential.calls import brokers, configs, features, quorum, replicas, security, topics
from tests.differential.calls.avoided import MADE_SHARE, before, slows_down, why_avoided, why_avoided_now
from tests.differential.calls.chooser import Chooser
from tests.differential.calls.odd import OF_RAFT, damaged, forwarded, with_an_odd_field
from tests.differential.schemas import Schemas

WEIGHTS: dict[Callable[[Chooser], list[Call]], int] = {
    topics.create_topics: 12,
    topics.delete_topics: 4,
    topics.create_partitions: 5,
    configs.incremental_alter_configs: 8,
    configs.alter_configs: 3,
    configs.describe_configs: 5,
    brokers.broker_starts: 6,
    brokers.broker_stops: 2,
    brokers.broker_leaves: 1,
    brokers.broker_heartbeat: 10,
    brokers.broker_registration: 3,
    brokers.alter_partition: 16,
    brokers.assign_replicas_to_dirs: 6,
    brokers.unregister_broker: 1,
    brokers.allocate_producer_ids: 2,
    replicas.alter_partition_reassignments: 12,
    replicas.list_partition_reassignments: 3,
    replicas.elect_leaders: 6,
    security.create_acls: 4,
    security.describe_acls: 3,
    security.delete_acls: 3,
    security.alter_user_scram_credentials: 3,
    security.alter_client_quotas: 4,
    security.create_delegation_token: 3,
    security.renew_delegation_token: 2,
    security.expire_delegation_token: 2,
    security.describe_delegation_token: 1,
    features.update_features: 3,
    features.controller_registration: 1,
    features.unregister_controller: 1,
    features.api_versions: 1,
    features.describe_cluster: 2,
    quorum.describe_quorum: 1,
    quorum.vote: 1,
    quorum.begin_quorum_epoch: 1,
    quorum.end_quorum_epoch: 1,
    quorum.fetch: 2,
    quorum.fetch_snapshot: 1,
    quorum.add_raft_voter: 1,
    quorum.remove_raft_voter: 1,
    quorum.update_raft_voter: 1,
}
ODD_SHARE = 0.12
DAMAGED_SHARE = 0.01
FORWARDED_SHARE = 0.2
CALLS_BETWEEN_SWEEPS = 60
"""So that no session of a live broker ends before it is meant to."""

SWEEPS_BETWEEN_SILENCES = 8


def next_calls(
    pick: Chooser, schemas: Schemas, kafka: str, without: frozenset[str] = frozenset()
) -> list[Call]:
    """Returns the next call, or a few that belong together; each may be made odd."""
    pick.made += 1
    if pick.made % CALLS_BETWEEN_SWEEPS == 0:
        if pick.made // CALLS_BETWEEN_SWEEPS % SWEEPS_BETWEEN_SILENCES == 0:
            pick.contacted.clear()
            pick.shut_down.clear()
            # Of sessions that end together, Kafka takes one by the order of a hash map.
            silent = [brokers.plain_heartbeat(broker, fence=True) for broker in pick.live_brokers()[1:]]
            return [*silent, Call(SILENCE, 0)]
        return [brokers.plain_heartbeat(broker) for broker in pick.live_brokers()]
    maker = pick.chance.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
    by_name = {schema.name: schema for schema in schemas.requests.values()}
    made = []
    for call in maker(pick):
        if call.api not in pick.versions or call.api in without:
            continue
        if pick.often(ODD_SHARE) and call.api != "UpdateRaftVoter":
            call = with_an_odd_field(pick, by_name[f"{call.api}Request"], call)
        if slows_down(call):
            continue
        avoided = why_avoided(call, kafka) | why_avoided_now(call, before(pick.picture))
        if avoided and not pick.often(MADE_SHARE):
            continue
        if pick.often(DAMAGED_SHARE):
            call = damaged(pick, call)
        if pick.often(FORWARDED_SHARE) and call.api not in (*OF_RAFT, "Fetch", "FetchSnapshot"):
            call = forwarded(pick, call)
        made.append(call)
    return made
