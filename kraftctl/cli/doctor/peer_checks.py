"""Checks what the addresses of the file say: they are controllers of this cluster, with the right ids."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kraftctl.cli.admin.node_answers import NodeAnswers
from kraftctl.cli.doctor.diagnosis import ERROR, UNKNOWN, WARN, Diagnosis, of_sentence, ok
from kraftctl.cli.doctor.subject import Subject, own_addresses
from kraftctl.metadata import features
from kraftctl_admin.errors import AdminError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.uuids import ZERO_UUID, uuid_to_string
from kraftctl_security.blocking_connection import Endpoint, endpoint_text

VOTERS: Final = "controller.quorum.voters"
SERVERS: Final = "controller.quorum.bootstrap.servers"

CLOCK_WARNING_MS: Final = 5_000
"""Certificates, delegation tokens and times in logs are compared with the clocks of other hosts."""


def check_addresses(subject: Subject) -> Iterator[Diagnosis]:
    """Checks that each address has a controller that answers; those of this one may have none."""
    if subject.asking_failed is not None:
        yield of_sentence(UNKNOWN, f"no controller is asked: {subject.asking_failed}", ())
        return
    own = own_addresses(subject.checked())
    for endpoint, answers in subject.answers.items():
        yield _address(endpoint, answers, key_of(subject, endpoint), is_own=endpoint in own)


def check_peer_identity(subject: Subject) -> Iterator[Diagnosis]:
    """Compares cluster ids and node ids with what controllers at these addresses say."""
    meta = subject.meta()
    cluster_id = None if meta is None else meta.cluster_id
    ids = {address: node_id for node_id, address in subject.checked().controller_quorum_voters.items()}
    clusters = sorted({each.cluster_id for each in subject.answers.values() if each.cluster_id is not None})
    if cluster_id is None and len(clusters) > 1:
        text = f"the addresses are of several clusters: {', '.join(clusters)}"
        yield Diagnosis(ERROR, text, "correct those that are not of this cluster", SERVERS)
    for endpoint, answers in subject.answers.items():
        if answers.is_controller:
            yield from _identity(answers, cluster_id, ids.get(endpoint), key_of(subject, endpoint))
    yield from _directory_id(subject)


def check_clock(subject: Subject) -> Iterator[Diagnosis]:
    """Compares the clock of this host with that of the leader, if it is there and says its time."""
    for endpoint, answers in subject.answers.items():
        leader_ms = _leader_clock_ms(answers)
        if leader_ms is None:
            continue
        ahead_ms = answers.described_ms - leader_ms
        text = f"the clock of this host is {abs(ahead_ms)} ms {'ahead of' if ahead_ms > 0 else 'behind'}"
        text += f" that of the leader at {endpoint_text(endpoint)}"
        if abs(ahead_ms) < CLOCK_WARNING_MS:
            yield ok(text)
        else:
            yield Diagnosis(WARN, text, "synchronize the clocks (chronyc tracking)")
        return


def check_versions(subject: Subject) -> Iterator[Diagnosis]:
    """Shows what each controller supports, and whether this release supports what is finalized."""
    finalized = 0
    for endpoint, answers in subject.answers.items():
        supported = answers.supported.get(features.METADATA_VERSION)
        finalized = max(finalized, answers.finalized.get(features.METADATA_VERSION, 0))
        if supported is not None:
            names = [features.metadata_version_name(level) for level in supported]
            yield ok(f"{endpoint_text(endpoint)} supports metadata.version {names[0]} to {names[1]}")
    if finalized > features.LATEST_PRODUCTION:
        text = f"the cluster has metadata.version {finalized}, and this release knows the levels up to"
        yield Diagnosis(ERROR, f"{text} {features.LATEST_PRODUCTION}", "start a later release of kraftctl")
    elif finalized:
        yield ok(f"the cluster has metadata.version {features.metadata_version_name(finalized)}")


def key_of(subject: Subject, endpoint: Endpoint) -> str:
    """Returns the key that has this address."""
    return VOTERS if endpoint in subject.checked().controller_quorum_voters.values() else SERVERS


def _address(endpoint: Endpoint, answers: NodeAnswers, key: str, *, is_own: bool) -> Diagnosis:
    where = endpoint_text(endpoint)
    if answers.is_reached:
        if answers.is_controller:
            return ok(f"{where} answers", key)
        text = f"{where} is no controller: it does not serve votes"
        return Diagnosis(ERROR, text, "name the controller listener of that node", key)
    if answers.is_unknown_name:
        text = f"{where} has no address: {answers.problem}"
        return Diagnosis(ERROR, text, "correct the name, or see that name servers know it", key)
    if answers.keys_to_check is not None:
        text = f"{where} is not asked: {answers.problem}"
        return Diagnosis(ERROR, text, f"check {answers.keys_to_check}", key)
    if is_own:
        return ok(
            f"{where} is this controller, which does not answer, as before its start: {answers.problem}", key
        )
    text = f"{where} does not answer: {answers.problem}"
    return Diagnosis(WARN, text, "start that controller, or correct the address", key)


def _identity(
    answers: NodeAnswers, cluster_id: str | None, expected_id: int | None, key: str
) -> Iterator[Diagnosis]:
    where = endpoint_text(answers.endpoint)
    is_other = answers.cluster_id is not None and cluster_id not in (None, answers.cluster_id)
    if is_other or answers.fetch_error == Errors.INCONSISTENT_CLUSTER_ID:
        other = f" {answers.cluster_id}" if answers.cluster_id is not None else ""
        text = f"{where} is a controller of another cluster{other}, and this one is of {cluster_id}"
        yield Diagnosis(ERROR, text, "correct the address, or mount the directory of this cluster", key)
        return
    if answers.cluster_id is None and answers.epoch < 0:
        text = f"{where} does not confirm its cluster id ({answers.fetch_error.name})"
        yield Diagnosis(WARN, text, "give the principal of this controller CLUSTER_ACTION there", key)
        return
    here = [each for each in answers.registered or [] if (each.host, each.port) == answers.endpoint]
    if expected_id is not None and here and here[0].node_id != expected_id:
        text = f"{where} is controller {here[0].node_id}, not {expected_id}"
        yield Diagnosis(ERROR, text, f"correct the id in {VOTERS}", key)
        return
    if cluster_id is None:
        of = (
            "a cluster that it does not name"
            if answers.cluster_id is None
            else f"cluster {answers.cluster_id}"
        )
        text = f"{where} is of {of}, and no meta.properties here has an id to compare with"
        yield Diagnosis(UNKNOWN, text, "see the check of the identity", key)
        return
    yield ok(f"{where} is of this cluster" + (f", controller {here[0].node_id}" if here else ""), key)


def _directory_id(subject: Subject) -> Iterator[Diagnosis]:
    """Compares the directory of this controller with the voter of its id."""
    meta, node_id = subject.meta(), subject.checked().node_id
    quorums = [each.quorum for each in subject.answers.values() if each.quorum is not None]
    if meta is None or meta.directory_id is None or not quorums:
        return
    quorum = max(quorums, key=lambda each: each.leader_epoch)
    for voter in quorum.voters:
        if voter.replica_id == node_id and voter.directory_id not in (ZERO_UUID, meta.directory_id):
            yield Diagnosis(
                ERROR,
                f"the voter {node_id} has directory.id {uuid_to_string(voter.directory_id)}, and that"
                f" here is {uuid_to_string(meta.directory_id)}: this controller does not vote",
                "kraftctl quorum replace-voter, if the old directory is lost",
                "metadata.log.dir",
            )


def _leader_clock_ms(answers: NodeAnswers) -> int | None:
    if answers.quorum is None:
        return None
    try:
        return answers.quorum.leader().last_fetch_ms
    except AdminError:
        return None
