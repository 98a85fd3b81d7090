"""After the faults: everything comes back, everything acknowledged is there, and all logs say the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, ConfigResource

from kraftctl.dev.nodes import KraftctlController, Node
from kraftctl.dev.polling import await_result
from kraftctl.image.metadata_image import MetadataImage
from kraftctl_protocol.log_file_names import parse_checkpoint_file_name
from kraftctl_protocol.record_batch import read_batches
from tests.chaos.clients import Clients, read_records
from tests.chaos.cluster import SIZE, ChaosCluster
from tests.chaos.finding import FindError
from tests.chaos.followed_log import FollowedLog
from tests.chaos.ledger import FoundTopic
from tests.chaos.watching import Watch
from tests.support.processes.clients import admin_client

SETTLED_SECONDS_MAX = 120.0
READ_SECONDS_MAX = 90.0

FAULT_LINES = re.compile(
    r"Encountered (?:non-)?fatal fault|Traceback \(most recent call last\)|OutOfMemoryError"
)
"""What Kafka's fault handlers and Python print."""

SHOWN_MAX = 5


def settle(cluster: ChaosCluster, watch: Watch) -> None:
    """Waits until all brokers are active, all replicas in sync and all voters at the end of the log."""
    reads = watch.reads_to_the_end
    # The first may have begun before the last change was acknowledged.
    wait(lambda: watch.reads_to_the_end >= reads + 2, "the log is read to its end", cluster, watch)
    if cluster.brokers:
        wait(lambda: watch.log.read(_unsettled) == [], "all replicas are in sync", cluster, watch)
    wait(lambda: _caught_up(watch), "all voters have the log", cluster, watch)


def wait(
    condition: Callable[[], bool],
    what: str,
    cluster: ChaosCluster,
    watch: Watch,
    seconds_max: float = SETTLED_SECONDS_MAX,
) -> None:
    def ask() -> bool:
        watch.check()
        cluster.check_processes()
        return condition()

    try:
        await_result(ask, what, seconds_max)
    except TimeoutError as error:
        unsettled = watch.log.read(_unsettled)[:SHOWN_MAX]
        raise FindError(f"{error}; voters at {watch.end_offsets}; {unsettled}") from error


def _unsettled(image: MetadataImage) -> list[str]:
    inactive = [f"broker {one} is fenced" for one in range(1, SIZE + 1) if not image.cluster.active(one)]
    return inactive + [
        f"{topic.name}-{index}: {partition!r}"
        for topic in image.topics.topics.values()
        for index, partition in topic.partitions.items()
        if not partition.has_leader or len(partition.isr) < len(partition.replicas)
    ]


def _caught_up(watch: Watch) -> bool:
    ends = watch.end_offsets
    return len(ends) == SIZE and min(ends.values()) >= watch.log.end_offset > 0


def compare_acknowledged(cluster: ChaosCluster, watch: Watch, clients: Clients) -> None:
    """In the metadata log, as each broker sees it, and in the partitions themselves. FindError."""
    expect_none("the metadata log", clients.topic_problems(watch.log.topics()))
    for broker in cluster.brokers:
        # On the broker's own port, its metadata; a topic that was just deleted may be seen a moment longer.
        problems: list[str] = ["never asked"]

        def seen(broker: Node = broker) -> bool:
            nonlocal problems
            try:
                with admin_client(broker.address) as admin:
                    problems = clients.topic_problems(topics_of(admin))
            except KafkaException as error:
                problems = [repr(error)]
            return problems == []

        try:
            await_result(seen, "", 30.0, 1.0)
        except TimeoutError:
            expect_none(f"{broker.name}", problems)
    expect_none(
        "the partitions", clients.records.problems(read_records(cluster.bootstrap_servers, READ_SECONDS_MAX))
    )


def topics_of(admin: AdminClient) -> dict[str, FoundTopic]:
    """What a broker says about all topics, except for values that are defaults."""
    described = admin.list_topics(timeout=20.0).topics
    names = [name for name in described if not name.startswith("__")]
    resources = [ConfigResource(ConfigResource.Type.TOPIC, name) for name in names]
    futures = admin.describe_configs(resources, request_timeout=20.0)
    configs = {resource.name: future.result() for resource, future in futures.items()}
    return {
        name: FoundTopic(
            len(described[name].partitions),
            {key: entry.value for key, entry in configs[name].items() if not entry.is_default},
        )
        for name in names
    }


def compare_directories(cluster: ChaosCluster, log: FollowedLog) -> None:
    """Once the controllers have stopped: each log is the one that was read, each snapshot equal to it."""
    for controller in cluster.controllers:
        directory = controller.metadata_directory
        expect_none(controller.name, log_problems(directory, log))
        if not isinstance(controller, KraftctlController):
            continue  # the snapshots of Kafka's have another order
        for path in sorted(directory.glob("*.checkpoint")):
            snapshot_id = parse_checkpoint_file_name(path.name)
            if snapshot_id is not None and 0 < snapshot_id.offset <= log.end_offset:
                log.checks.check_snapshot(controller.name, snapshot_id, path.read_bytes())


def log_problems(directory: Path, log: FollowedLog) -> list[str]:
    """Where the segments of a controller differ from what was committed."""
    lines = []
    end_offset = 0
    for path in sorted(directory.glob("*.log")):
        data = path.read_bytes()
        position = 0
        for batch in read_batches(data, partial_tail=True):
            header = batch.header
            raw = data[position : position + header.size_bytes]
            position += header.size_bytes
            end_offset = header.last_offset + 1
            if header.last_offset < log.end_offset and log.batches.get(header.base_offset) != raw:
                lines.append(
                    f"NoLogDivergence: the batch at {header.base_offset} of {path.name} is another one"
                )
    if end_offset < log.end_offset:
        lines.append(f"AckedValueNotLost: the log ends at {end_offset}, and is committed to {log.end_offset}")
    return lines


def unclean_ends(statuses: Mapping[str, int | None]) -> list[str]:
    """Exit statuses of kraftctl after SIGTERM, by name: a clean stop is 0, also without a majority."""
    return [f"{name} ended with {status}" for name, status in statuses.items() if status != 0]


def find_fault_lines(cluster: ChaosCluster) -> None:
    """FindError for a broker that met metadata it cannot apply, or an exception that nothing caught."""
    for node in cluster.nodes:
        text = node.log_file.read_text(errors="replace")
        lines = [line for line in text.splitlines() if FAULT_LINES.search(line)]
        expect_none(f"the output of {node.name}", lines)


def expect_none(where: str, problems: list[str]) -> None:
    if problems:
        more = f"\n  and {len(problems) - SHOWN_MAX} more" if len(problems) > SHOWN_MAX else ""
        raise FindError(f"{where}:\n  " + "\n  ".join(problems[:SHOWN_MAX]) + more)
