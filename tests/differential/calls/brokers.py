"""Calls of brokers, and whole lives of brokers."""

from __future__ import annotations

from tests.differential.call import Call, Ref
from tests.differential.calls.avoided import MADE_SHARE
from tests.differential.calls.chooser import BROKERS, RACKS, Chooser, directory_id
from tests.differential.codec import Body
from tests.differential.picture import Partition
from tests.differential.schemas import ZERO_UUID
from tests.differential.sides import CLUSTER_ID

FEATURES = {
    "metadata.version": (1, 40),
    "group.version": (0, 1),
    "transaction.version": (0, 2),
    "kraft.version": (0, 1),
    "eligible.leader.replicas.version": (0, 1),
    "share.version": (0, 2),
    "streams.version": (0, 1),
}


def registration(pick: Chooser, broker: int, incarnation: str | None = None) -> Call:
    directories = [directory_id(broker, index) for index in range(pick.one((1, 1, 1, 2, 3)))]
    if pick.often(0.03):
        directories = [*directories, pick.one((ZERO_UUID, directories[0], directory_id(broker + 1, 0)))]
    version = pick.version("BrokerRegistration")
    features = [
        {"Name": name, "MinSupportedVersion": low, "MaxSupportedVersion": high}
        for name, (low, high) in FEATURES.items()
    ]
    if pick.often(0.08):
        changed = pick.one(features)
        changed["MaxSupportedVersion"] = pick.one((0, 1, 14, 20))
        changed["MinSupportedVersion"] = pick.one((0, 1, 20, 35))
        if pick.often(0.3):
            features.remove(changed)
    listeners = [
        {"Name": name, "Host": "localhost", "Port": 9000 + broker, "SecurityProtocol": 0}
        for name in pick.one((("PLAINTEXT",), ("PLAINTEXT", "INTERNAL")))
    ]
    if pick.often(0.02):
        listeners.append(dict(listeners[0]))
    body = {
        "BrokerId": broker,
        "ClusterId": CLUSTER_ID if pick.often(0.98) else pick.one(("", "other")),
        "IncarnationId": incarnation or pick.uuid(),
        "Listeners": listeners,
        "Features": features,
        "Rack": pick.one(RACKS),
        "IsMigratingZkBroker": pick.often(0.01),
        "LogDirs": directories if pick.often(0.97) else [],
        "PreviousBrokerEpoch": Ref("epoch", broker)
        if pick.often(0.6)
        else pick.one((-1, Ref("epoch", broker, -1))),
    }
    return Call("BrokerRegistration", version, body)


def heartbeat(pick: Chooser, broker: int, *, fence: bool = False, shut_down: bool = False) -> Call:
    pick.contacted.add(broker)
    if shut_down:
        pick.shut_down.add(broker)
    body: Body = {
        "BrokerId": broker,
        "BrokerEpoch": pick.epoch(broker),
        "CurrentMetadataOffset": Ref("end", 0, -1)
        if pick.often(0.95)
        else pick.one((-1, 0, Ref("epoch", broker))),
        "WantFence": fence,
        "WantShutDown": shut_down,
        "OfflineLogDirs": [],
        "CordonedLogDirs": [],
    }
    if pick.often(0.06):
        stays = not shut_down and fence != (broker in pick.live_brokers())
        if stays or pick.often(MADE_SHARE):
            body["OfflineLogDirs"] = pick.some(lambda: pick.directory(broker), 2)
    if pick.often(0.06):
        body["CordonedLogDirs"] = pick.some(lambda: pick.directory(broker), 2)
    return Call("BrokerHeartbeat", pick.version("BrokerHeartbeat"), body)


def plain_heartbeat(broker: int, *, fence: bool = False) -> Call:
    """It only keeps the session, or fences the broker."""
    body = {
        "BrokerId": broker,
        "BrokerEpoch": Ref("epoch", broker),
        "CurrentMetadataOffset": Ref("end", 0, -1),
        "WantFence": fence,
        "WantShutDown": False,
    }
    return Call("BrokerHeartbeat", 0, body)


def broker_heartbeat(pick: Chooser) -> list[Call]:
    return [heartbeat(pick, pick.broker(), fence=pick.often(0.15), shut_down=pick.often(0.05))]


def broker_registration(pick: Chooser) -> list[Call]:
    """Kafka refuses another incarnation of one that has just been shut down, and kraftctl takes it."""
    broker = pick.broker()
    known = pick.picture.brokers.get(broker)
    again = (broker in pick.shut_down and not pick.often(MADE_SHARE)) or pick.often(0.2)
    incarnation = known.incarnation if known and again else None
    return [registration(pick, broker, incarnation)]


def broker_starts(pick: Chooser) -> list[Call]:
    """It registers, catches up, and is unfenced by its second heartbeat."""
    down = [each for each in BROKERS if each not in pick.live_brokers() and each not in pick.contacted]
    if not down:
        return broker_heartbeat(pick)
    broker = pick.one(down)
    return [
        registration(pick, broker),
        heartbeat(pick, broker, fence=pick.often(0.5)),
        heartbeat(pick, broker),
    ]


def broker_stops(pick: Chooser) -> list[Call]:
    """A controlled shutdown: some heartbeats until it may stop."""
    broker = pick.broker()
    return [heartbeat(pick, broker, shut_down=True) for _ in range(pick.chance.randint(1, 3))]


def broker_leaves(pick: Chooser) -> list[Call]:
    """It stops, is unregistered, and returns as a new one."""
    broker = pick.broker()
    stopped = broker_stops(pick) if pick.often(0.5) else [heartbeat(pick, broker, fence=True)]
    unregistered = Call("UnregisterBroker", 0, {"BrokerId": broker})
    return [
        *stopped,
        heartbeat(pick, broker, fence=True),
        unregistered,
        registration(pick, broker),
        heartbeat(pick, broker),
    ]


def alter_partition(pick: Chooser) -> list[Call]:
    """The leader takes replicas into its ISRs, or out of them."""
    found = pick.partition()
    if found is None:
        return []
    leader = found[2].leader if pick.often(0.96) else pick.broker()
    also = [each for each in pick.picture.partitions() if each[2].leader == leader and each != found]
    more = pick.chance.sample(also, min(len(also), 2)) if pick.often(0.2) else []
    body = {
        "BrokerId": leader,
        "BrokerEpoch": pick.epoch(leader),
        "Topics": [
            {"TopicId": pick.topic_id(name), "Partitions": [_new_isr(pick, leader, index, partition)]}
            for name, index, partition in (found, *more)
        ],
    }
    return [Call("AlterPartition", pick.version("AlterPartition"), body)]


def _new_isr(pick: Chooser, leader: int, index: int, partition: Partition) -> Body:
    isr = partition.isr
    match pick.one(("all", "shrink", "subset", "same", "odd")):
        case "all":
            isr = partition.replicas
        case "shrink":
            isr = [leader]
        case "subset":
            isr = pick.chance.sample(partition.replicas, pick.chance.randint(0, len(partition.replicas)))
        case "odd" if pick.often(0.3):
            isr = [pick.broker() for _ in range(pick.chance.randint(0, 4))]
    odd_leader_epoch, odd_epoch = pick.often(0.05), pick.often(0.05)
    return {
        "PartitionIndex": index if pick.often(0.98) else 99,
        "LeaderEpoch": partition.leader_epoch + (pick.one((-1, 1)) if odd_leader_epoch else 0),
        "PartitionEpoch": partition.epoch + (pick.one((-1, 1)) if odd_epoch else 0),
        "NewIsr": isr,
        "NewIsrWithEpochs": [
            {"BrokerId": each, "BrokerEpoch": pick.epoch(each) if pick.often(0.95) else -1} for each in isr
        ],
        "LeaderRecoveryState": 0 if pick.often(0.97) else 1,
    }


def assign_replicas_to_dirs(pick: Chooser) -> list[Call]:
    broker = pick.broker()

    def partitions() -> Body:
        found = pick.partition()
        name, index = (found[0], found[1]) if found and pick.often(0.9) else (pick.topic(), 0)
        return {"TopicId": pick.topic_id(name), "Partitions": [{"PartitionIndex": index}]}

    def directory() -> Body:
        special = (ZERO_UUID, "AAAAAAAAAAAAAAAAAAAAAQ", "AAAAAAAAAAAAAAAAAAAAAg", pick.uuid())
        chosen = pick.directory(broker) if pick.often(0.92) else pick.one(special)
        return {"Id": chosen, "Topics": pick.some(partitions, 2)}

    body = {"BrokerId": broker, "BrokerEpoch": pick.epoch(broker), "Directories": pick.some(directory, 2)}
    return [Call("AssignReplicasToDirs", pick.version("AssignReplicasToDirs"), body)]


def unregister_broker(pick: Chooser) -> list[Call]:
    """Mostly one that is fenced: unregistering a live one makes Kafka's controller fail later."""
    fenced = [each for each, broker in sorted(pick.picture.brokers.items()) if broker.fenced]
    broker = pick.one(fenced) if fenced else pick.one((7, -1, 99))
    return [Call("UnregisterBroker", 0, {"BrokerId": broker})]


def allocate_producer_ids(pick: Chooser) -> list[Call]:
    broker = pick.broker()
    return [Call("AllocateProducerIds", 0, {"BrokerId": broker, "BrokerEpoch": pick.epoch(broker)})]
