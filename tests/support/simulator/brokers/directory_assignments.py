"""AssignmentsManager of a model broker: reports the log directory of each replica (KIP-858)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.assign_replicas_to_dirs_request import (
    AssignReplicasToDirsRequest,
    DirectoryData,
    PartitionData,
    TopicData,
)
from kraftctl_protocol.generated.assign_replicas_to_dirs_response import AssignReplicasToDirsResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.uuids import Uuid
from tests.support.simulator.brokers.broker_image import PartitionKey
from tests.support.simulator.brokers.clients import Time

RETRY_US = 200_000


class DirectoryAssignments:
    """One request in flight, with all assignments that wait; what fails is sent again."""

    def __init__(
        self,
        broker_id: int,
        time: Time,
        send: Callable[[Message, Callable[[Message | None], None]], None],
        counts: Counter[str],
    ) -> None:
        self._broker_id = broker_id
        self._time = time
        self._send = send
        self._counts = counts
        self._waiting: dict[PartitionKey, Uuid] = {}
        self._in_flight: dict[PartitionKey, Uuid] = {}
        self.epoch = -1

    def assign(self, key: PartitionKey, directory: Uuid) -> None:
        """The newest assignment of a replica counts."""
        self._waiting[key] = directory

    def send(self) -> None:
        """Whatever waits, unless a request is in flight."""
        if self._in_flight or not self._waiting or self.epoch < 0:
            return
        self._in_flight, self._waiting = self._waiting, {}
        directories: dict[Uuid, DirectoryData] = {}
        for (topic_id, index), directory in self._in_flight.items():
            data = directories.setdefault(directory, DirectoryData(id=directory, topics=[]))
            topic = TopicData(topic_id=topic_id, partitions=[PartitionData(partition_index=index)])
            data.topics.append(topic)
        request = AssignReplicasToDirsRequest(
            broker_id=self._broker_id, broker_epoch=self.epoch, directories=list(directories.values())
        )
        self._send(request, self._answered)

    def _answered(self, response: Message | None) -> None:
        sent, self._in_flight = self._in_flight, {}
        if not isinstance(response, AssignReplicasToDirsResponse) or response.error_code != Errors.NONE:
            self._waiting = sent | self._waiting
            self._time.call_after(RETRY_US, self.send)
            return
        for directory in response.directories:
            for topic in directory.topics:
                for partition in topic.partitions:
                    name = Errors(partition.error_code).name
                    self._counts[f"directory assignment {name}"] += 1
        self.send()
