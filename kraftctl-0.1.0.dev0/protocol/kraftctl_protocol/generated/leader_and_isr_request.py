"""@generated from schemas/message/LeaderAndIsrRequest.json by `python -m kraftctl_codegen`; edit that instead."""

from __future__ import annotations

from typing import ClassVar

from librt.strings import read_i32_be, write_i32_be, write_i64_be
from mypy_extensions import i64, mypyc_attr

from kraftctl_protocol.codec_errors import cannot_read, cannot_write, missing_field
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import (
    EMPTY,
    Reader,
    Writer,
    write_compact_string,
    write_int8,
    write_string,
    write_uuid,
    write_uvarint,
)
from kraftctl_protocol.tagged_fields import write_tagged_fields
from kraftctl_protocol.uuids import ZERO_UUID


@mypyc_attr(acyclic=True)
class LeaderAndIsrPartitionState(Message):
    NAME: ClassVar[str] = "LeaderAndIsrPartitionState"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("topic_name", "TopicName", "string", versions=(0, 1), default="", ignorable=True),
        Field("partition_index", "PartitionIndex", "int32"),
        Field("controller_epoch", "ControllerEpoch", "int32"),
        Field("leader", "Leader", "int32"),
        Field("leader_epoch", "LeaderEpoch", "int32"),
        Field("isr", "Isr", "[]int32", default=()),
        Field("partition_epoch", "PartitionEpoch", "int32"),
        Field("replicas", "Replicas", "[]int32", default=()),
        Field("adding_replicas", "AddingReplicas", "[]int32", versions=(3, 32767), default=(), ignorable=True),
        Field("removing_replicas", "RemovingReplicas", "[]int32", versions=(3, 32767), default=(), ignorable=True),
        Field("is_new", "IsNew", "bool", versions=(1, 32767), default=False, ignorable=True),
        Field("leader_recovery_state", "LeaderRecoveryState", "int8", versions=(6, 32767)),
    )

    def __init__(
        self,
        topic_name: str = "",
        partition_index: int = 0,
        controller_epoch: int = 0,
        leader: int = 0,
        leader_epoch: int = 0,
        isr: list[int] = EMPTY,
        partition_epoch: int = 0,
        replicas: list[int] = EMPTY,
        adding_replicas: list[int] = EMPTY,
        removing_replicas: list[int] = EMPTY,
        is_new: bool = False,
        leader_recovery_state: int = 0,
    ) -> None:
        self.topic_name: str = topic_name
        self.partition_index: int = partition_index
        self.controller_epoch: int = controller_epoch
        self.leader: int = leader
        self.leader_epoch: int = leader_epoch
        self.isr: list[int] = [] if isr is EMPTY else isr
        self.partition_epoch: int = partition_epoch
        self.replicas: list[int] = [] if replicas is EMPTY else replicas
        self.adding_replicas: list[int] = [] if adding_replicas is EMPTY else adding_replicas
        self.removing_replicas: list[int] = [] if removing_replicas is EMPTY else removing_replicas
        self.is_new: bool = is_new
        self.leader_recovery_state: int = leader_recovery_state
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version <= 1:
            write_string(writer, self.topic_name)
        write_i32_be(writer, self.partition_index)
        write_i32_be(writer, self.controller_epoch)
        write_i32_be(writer, self.leader)
        write_i32_be(writer, self.leader_epoch)
        if version >= 4:
            write_uvarint(writer, len(self.isr) + 1)
        else:
            write_i32_be(writer, len(self.isr))
        for isr_item in self.isr:
            write_i32_be(writer, isr_item)
        write_i32_be(writer, self.partition_epoch)
        if version >= 4:
            write_uvarint(writer, len(self.replicas) + 1)
        else:
            write_i32_be(writer, len(self.replicas))
        for replicas_item in self.replicas:
            write_i32_be(writer, replicas_item)
        if version >= 3:
            if version >= 4:
                write_uvarint(writer, len(self.adding_replicas) + 1)
            else:
                write_i32_be(writer, len(self.adding_replicas))
            for adding_replicas_item in self.adding_replicas:
                write_i32_be(writer, adding_replicas_item)
        if version >= 3:
            if version >= 4:
                write_uvarint(writer, len(self.removing_replicas) + 1)
            else:
                write_i32_be(writer, len(self.removing_replicas))
            for removing_replicas_item in self.removing_replicas:
                write_i32_be(writer, removing_replicas_item)
        if version >= 1:
            writer.append(1 if self.is_new else 0)
        if version >= 6:
            write_int8(writer, self.leader_recovery_state)
        elif self.leader_recovery_state != 0:
            raise missing_field("LeaderRecoveryState", version)
        if version >= 4:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> LeaderAndIsrPartitionState:
        if reader.position >= reader.pause_at:
            reader.pause()
        topic_name: str = ""
        if version <= 1:
            topic_name = reader.read_string()
        at = reader.take(16)
        buffer = reader.buffer
        partition_index: int = read_i32_be(buffer, at)
        controller_epoch: int = read_i32_be(buffer, at + 4)
        leader: int = read_i32_be(buffer, at + 8)
        leader_epoch: int = read_i32_be(buffer, at + 12)
        isr: list[int] = [reader.read_int32() for _ in range(reader.read_compact_array_length(4, 42))] if version >= 4 else [reader.read_int32() for _ in range(reader.read_array_length(4, 42))]
        partition_epoch: int = reader.read_int32()
        replicas: list[int] = [reader.read_int32() for _ in range(reader.read_compact_array_length(4, 42))] if version >= 4 else [reader.read_int32() for _ in range(reader.read_array_length(4, 42))]
        adding_replicas: list[int] = []
        if version >= 3:
            adding_replicas = [reader.read_int32() for _ in range(reader.read_compact_array_length(4, 42))] if version >= 4 else [reader.read_int32() for _ in range(reader.read_array_length(4, 42))]
        removing_replicas: list[int] = []
        if version >= 3:
            removing_replicas = [reader.read_int32() for _ in range(reader.read_compact_array_length(4, 42))] if version >= 4 else [reader.read_int32() for _ in range(reader.read_array_length(4, 42))]
        is_new: bool = False
        if version >= 1:
            is_new = reader.read_bool()
        leader_recovery_state: int = 0
        if version >= 6:
            leader_recovery_state = reader.read_int8()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 4:
            unknown = reader.read_unknown_tagged_fields()
        message = LeaderAndIsrPartitionState(topic_name, partition_index, controller_epoch, leader, leader_epoch, isr, partition_epoch, replicas, adding_replicas, removing_replicas, is_new, leader_recovery_state)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class LeaderAndIsrTopicState(Message):
    NAME: ClassVar[str] = "LeaderAndIsrTopicState"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("topic_name", "TopicName", "string", versions=(2, 32767), default=""),
        Field("topic_id", "TopicId", "uuid", versions=(5, 32767), default=ZERO_UUID, ignorable=True),
        Field("partition_states", "PartitionStates", "[]LeaderAndIsrPartitionState", versions=(2, 32767), default=(), struct=LeaderAndIsrPartitionState),
    )

    def __init__(
        self,
        topic_name: str = "",
        topic_id: bytes = ZERO_UUID,
        partition_states: list[LeaderAndIsrPartitionState] = EMPTY,
    ) -> None:
        self.topic_name: str = topic_name
        self.topic_id: bytes = topic_id
        self.partition_states: list[LeaderAndIsrPartitionState] = [] if partition_states is EMPTY else partition_states
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version >= 4:
            write_compact_string(writer, self.topic_name)
        else:
            write_string(writer, self.topic_name)
        if version >= 5:
            write_uuid(writer, self.topic_id)
        if version >= 4:
            write_uvarint(writer, len(self.partition_states) + 1)
        else:
            write_i32_be(writer, len(self.partition_states))
        for partition_states_item in self.partition_states:
            partition_states_item.write(writer, version)
        if version >= 4:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> LeaderAndIsrTopicState:
        if reader.position >= reader.pause_at:
            reader.pause()
        topic_name: str = reader.read_compact_string() if version >= 4 else reader.read_string()
        topic_id: bytes = ZERO_UUID
        if version >= 5:
            topic_id = reader.read_uuid()
        partition_states: list[LeaderAndIsrPartitionState] = [LeaderAndIsrPartitionState.read(reader, version) for _ in range(reader.read_compact_array_length(24, 402))] if version >= 4 else [LeaderAndIsrPartitionState.read(reader, version) for _ in range(reader.read_array_length(29, 402))]
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 4:
            unknown = reader.read_unknown_tagged_fields()
        message = LeaderAndIsrTopicState(topic_name, topic_id, partition_states)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True)
class LeaderAndIsrLiveLeader(Message):
    NAME: ClassVar[str] = "LeaderAndIsrLiveLeader"
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("broker_id", "BrokerId", "int32"),
        Field("host_name", "HostName", "string", default=""),
        Field("port", "Port", "int32"),
    )

    def __init__(
        self,
        broker_id: int = 0,
        host_name: str = "",
        port: int = 0,
    ) -> None:
        self.broker_id: int = broker_id
        self.host_name: str = host_name
        self.port: int = port
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        write_i32_be(writer, self.broker_id)
        if version >= 4:
            write_compact_string(writer, self.host_name)
        else:
            write_string(writer, self.host_name)
        write_i32_be(writer, self.port)
        if version >= 4:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> LeaderAndIsrLiveLeader:
        if reader.position >= reader.pause_at:
            reader.pause()
        broker_id: int = reader.read_int32()
        host_name: str = reader.read_compact_string() if version >= 4 else reader.read_string()
        port: int = reader.read_int32()
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 4:
            unknown = reader.read_unknown_tagged_fields()
        message = LeaderAndIsrLiveLeader(broker_id, host_name, port)
        message.unknown_tagged_fields = unknown
        return message


@mypyc_attr(acyclic=True, free_list_len=1)
class LeaderAndIsrRequest(Message):
    NAME: ClassVar[str] = "LeaderAndIsrRequest"
    API_KEY: ClassVar[int] = 4
    LOWEST_VERSION: ClassVar[int] = 0
    HIGHEST_VERSION: ClassVar[int] = 7
    FIRST_FLEXIBLE_VERSION: ClassVar[int] = 4
    LISTENERS: ClassVar[tuple[str, ...]] = ("zkBroker",)
    FIELDS: ClassVar[tuple[Field, ...]] = (
        Field("controller_id", "ControllerId", "int32"),
        Field("is_kraft_controller", "isKRaftController", "bool", versions=(7, 32767), default=False),
        Field("controller_epoch", "ControllerEpoch", "int32"),
        Field("broker_epoch", "BrokerEpoch", "int64", versions=(2, 32767), default=-1, ignorable=True),
        Field("type", "Type", "int8", versions=(5, 32767)),
        Field("ungrouped_partition_states", "UngroupedPartitionStates", "[]LeaderAndIsrPartitionState", versions=(0, 1), default=(), struct=LeaderAndIsrPartitionState),
        Field("topic_states", "TopicStates", "[]LeaderAndIsrTopicState", versions=(2, 32767), default=(), struct=LeaderAndIsrTopicState),
        Field("live_leaders", "LiveLeaders", "[]LeaderAndIsrLiveLeader", default=(), struct=LeaderAndIsrLiveLeader),
    )

    def __init__(
        self,
        controller_id: int = 0,
        is_kraft_controller: bool = False,
        controller_epoch: int = 0,
        broker_epoch: int = -1,
        type: int = 0,
        ungrouped_partition_states: list[LeaderAndIsrPartitionState] = EMPTY,
        topic_states: list[LeaderAndIsrTopicState] = EMPTY,
        live_leaders: list[LeaderAndIsrLiveLeader] = EMPTY,
    ) -> None:
        self.controller_id: int = controller_id
        self.is_kraft_controller: bool = is_kraft_controller
        self.controller_epoch: int = controller_epoch
        self.broker_epoch: int = broker_epoch
        self.type: int = type
        self.ungrouped_partition_states: list[LeaderAndIsrPartitionState] = [] if ungrouped_partition_states is EMPTY else ungrouped_partition_states
        self.topic_states: list[LeaderAndIsrTopicState] = [] if topic_states is EMPTY else topic_states
        self.live_leaders: list[LeaderAndIsrLiveLeader] = [] if live_leaders is EMPTY else live_leaders
        self.unknown_tagged_fields = None

    def write(self, writer: Writer, version: i64) -> None:
        if version < 0 or version > 7:
            raise cannot_write("LeaderAndIsrRequest", version)
        write_i32_be(writer, self.controller_id)
        if version >= 7:
            writer.append(1 if self.is_kraft_controller else 0)
        elif self.is_kraft_controller:
            raise missing_field("isKRaftController", version)
        write_i32_be(writer, self.controller_epoch)
        if version >= 2:
            write_i64_be(writer, self.broker_epoch)
        if version >= 5:
            write_int8(writer, self.type)
        elif self.type != 0:
            raise missing_field("Type", version)
        if version <= 1:
            write_i32_be(writer, len(self.ungrouped_partition_states))
            for ungrouped_partition_states_item in self.ungrouped_partition_states:
                ungrouped_partition_states_item.write(writer, version)
        elif self.ungrouped_partition_states:
            raise missing_field("UngroupedPartitionStates", version)
        if version >= 2:
            if version >= 4:
                write_uvarint(writer, len(self.topic_states) + 1)
            else:
                write_i32_be(writer, len(self.topic_states))
            for topic_states_item in self.topic_states:
                topic_states_item.write(writer, version)
        elif self.topic_states:
            raise missing_field("TopicStates", version)
        if version >= 4:
            write_uvarint(writer, len(self.live_leaders) + 1)
        else:
            write_i32_be(writer, len(self.live_leaders))
        for live_leaders_item in self.live_leaders:
            live_leaders_item.write(writer, version)
        if version >= 4:
            if self.unknown_tagged_fields is None:
                writer.append(0)
            else:
                write_tagged_fields(writer, [], self.unknown_tagged_fields)
        else:
            if self.unknown_tagged_fields:
                raise missing_field("unknown tagged fields", version)

    @staticmethod
    def read(reader: Reader, version: i64) -> LeaderAndIsrRequest:
        if version < 0 or version > 7:
            raise cannot_read("LeaderAndIsrRequest", version)
        controller_id: int = reader.read_int32()
        is_kraft_controller: bool = False
        if version >= 7:
            is_kraft_controller = reader.read_bool()
        controller_epoch: int = reader.read_int32()
        broker_epoch: int = -1
        if version >= 2:
            broker_epoch = reader.read_int64()
        type: int = 0
        if version >= 5:
            type = reader.read_int8()
        ungrouped_partition_states: list[LeaderAndIsrPartitionState] = []
        if version <= 1:
            ungrouped_partition_states = [LeaderAndIsrPartitionState.read(reader, version) for _ in range(reader.read_array_length(30, 402))]
        topic_states: list[LeaderAndIsrTopicState] = []
        if version >= 2:
            topic_states = [LeaderAndIsrTopicState.read(reader, version) for _ in range(reader.read_compact_array_length(3, 202))] if version >= 4 else [LeaderAndIsrTopicState.read(reader, version) for _ in range(reader.read_array_length(6, 202))]
        live_leaders: list[LeaderAndIsrLiveLeader] = [LeaderAndIsrLiveLeader.read(reader, version) for _ in range(reader.read_compact_array_length(10, 74))] if version >= 4 else [LeaderAndIsrLiveLeader.read(reader, version) for _ in range(reader.read_array_length(10, 74))]
        unknown: list[tuple[int, bytes]] | None = None
        if version >= 4:
            unknown = reader.read_unknown_tagged_fields()
        message = LeaderAndIsrRequest(controller_id, is_kraft_controller, controller_epoch, broker_epoch, type, ungrouped_partition_states, topic_states, live_leaders)
        message.unknown_tagged_fields = unknown
        return message

    @staticmethod
    def decode(data: bytes, version: i64) -> LeaderAndIsrRequest:
        reader = Reader(data)
        message = LeaderAndIsrRequest.read(reader, version)
        reader.expect_end()
        return message
