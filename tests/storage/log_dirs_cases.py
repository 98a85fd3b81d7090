"""Nodes with several directories, and what became of them before a start: the kinds that operators meet."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from kraftctl.cli.initial_controllers import voter_node
from kraftctl.raft.election_state import ElectionState
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.voter_set import VoterSet
from kraftctl.storage.data_directory_note import write_data_directory_note
from kraftctl.storage.formatter import Formatter
from kraftctl.storage.meta_properties import read_meta_properties
from kraftctl.storage.metadata_partition import MetadataPartition
from kraftctl_protocol.log_file_names import META_PROPERTIES, PARTITION_DIRECTORY
from kraftctl_protocol.uuids import random_uuid
from tests.storage.batches import batch
from tests.support.partitions import always_now

NODE_ID = 1
CLUSTER_ID = "q1Sh-9_ISia_zwGINzRvyQ"
PARTITION = PARTITION_DIRECTORY
RECOVERY_POINT = "metadata-recovery-point"


class Node:
    """Directories below `root`, by short names."""

    def __init__(self, root: Path, *, dynamic: bool = False) -> None:
        self.root = root
        self.dynamic = dynamic
        self.rng = random.Random(7)

    def path(self, name: str) -> Path:
        return self.root / name

    def format(self, *names: str, node_id: int = NODE_ID, cluster_id: str = CLUSTER_ID) -> Node:
        """The first one for the metadata log."""
        voters = None
        if self.dynamic:
            voters = VoterSet([voter_node(node_id, "localhost", 9093, random_uuid(self.rng), "CONTROLLER")])
        Formatter(
            cluster_id=cluster_id,
            node_id=node_id,
            log_dirs=[self.path(name) for name in names],
            metadata_log_dir=self.path(names[0]),
            has_dynamic_quorum=self.dynamic,
            initial_voters=voters,
        ).format(self.rng, 0, lambda line: None)
        return self

    def run(self, name: str, *, epoch: int = 1) -> Node:
        """A controller has written a record there."""
        log_dir = self.path(name)
        meta = read_meta_properties(log_dir)
        assert meta is not None
        assert meta.directory_id is not None
        partition = MetadataPartition.open(log_dir, ReplicaKey(NODE_ID, meta.directory_id), now_ms=always_now)
        partition.write_quorum_state(ElectionState(epoch=epoch, leader_id=NODE_ID, data_version=1))
        partition.log.append(batch(partition.log.end_offset, epoch))
        partition.flush()
        partition.close()
        return self

    def of_kafka(self, name: str) -> Node:
        """Without the file that only kraftctl writes."""
        (self.path(name) / RECOVERY_POINT).unlink()
        return self

    def move(self, source: str, target: str) -> Node:
        self.path(source).rename(self.path(target))
        return self

    def remove(self, name: str) -> Node:
        path = self.path(name)
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        return self

    def write(self, name: str, text: str) -> Node:
        self.path(name).parent.mkdir(parents=True, exist_ok=True)
        self.path(name).write_text(text)
        return self

    def make(self, name: str) -> Node:
        """An empty directory."""
        self.path(name).mkdir()
        return self

    def copy(self, source: str, target: str) -> Node:
        shutil.copytree(self.path(source), self.path(target))
        return self

    def link(self, name: str, target: str) -> Node:
        self.path(name).symlink_to(self.path(target))
        return self

    def starts_with(self, log_dirs: str | None, metadata: str | None = None, **more: str) -> dict[str, str]:
        """Properties; names of directories are separated by commas."""
        found = {} if log_dirs is None else {"log.dirs": self.names(log_dirs)}
        if metadata is not None:
            found["metadata.log.dir"] = self.names(metadata)
        return found | {key.replace("_", "."): self.names(value) for key, value in more.items()}

    def names(self, names: str) -> str:
        return ",".join(f"{self.root}/{name}" if name else "" for name in names.split(","))


Build = Callable[[Path], dict[str, str]]
AN_EMPTY_ITEM, NO_ITEM, NO_VALUE = "has an empty item", "must have an item", "must not be empty"


@dataclass(frozen=True)
class Case:
    """`says` is what a refusal names; a case without it starts."""

    name: str
    build: Build
    says: tuple[str, ...] = ()
    why: str = ""
    """Not empty: Kafka starts, and this is why kraftctl does not."""


def _torn(text: str, at: Path) -> dict[str, str]:
    return lived(at).write(f"a/{MP}", text).starts_with("a,b")


def lived(root: Path, *, dynamic: bool = False, kafka: bool = False) -> Node:
    """Its log is in a; b and c hold none."""
    node = Node(root, dynamic=dynamic).format("a", "b", "c").run("a")
    return node.of_kafka("a") if kafka else node


CM, RP, MP = PARTITION, RECOVERY_POINT, META_PROPERTIES
"""Short, for the table."""

LOG = f"{CM}/00000000000000000000.log"
IN_A = ("the metadata log of this node is in {root}/a", "metadata.log.dir={root}/a", "Nothing was written")
NOT_SEEN = "Kafka looks at the name __cluster_metadata-0 alone; votes and records would be lost"
UNKNOWN_OWNER = "Kafka counts it as failed, and starts: whose it is is not known"
MAY_HOLD_IT = "Kafka counts it as failed, and starts: the log may be in it"
TWO = ("several directories show a metadata log", "{root}/a", "{root}/b", "move it back")

STARTS = [
    Case("as before", lambda at: lived(at).starts_with("a,b,c")),
    Case("the log is named", lambda at: lived(at).starts_with("b,a,c", "a")),
    Case("the rest is reordered", lambda at: lived(at).starts_with("a,c,b")),
    Case("a directory left", lambda at: lived(at).starts_with("a,c")),
    Case("only its own", lambda at: lived(at).starts_with("a", "a")),
    Case("of kafka", lambda at: lived(at, kafka=True).starts_with("a,b,c")),
    Case("dynamic, as before", lambda at: lived(at, dynamic=True).starts_with("a,b,c")),
    Case("the same twice", lambda at: lived(at).starts_with("a,a")),
    Case("log.dir alone", lambda at: lived(at).starts_with(None, log_dir="a")),
    Case("metadata.log.dir alone beside log.dirs", lambda at: lived(at).starts_with("b,c", "a")),
    Case("never ran, reordered", lambda at: Node(at).format("a", "b").starts_with("b,a")),
    Case(
        "the whole log was moved",
        lambda at: (lived(at).move(f"a/{CM}", f"b/{CM}").move(f"a/{RP}", f"b/{RP}")).starts_with("b,a,c"),
    ),
    Case(
        "a copy under another name beside the log",
        lambda at: lived(at).run("b").move(f"b/{CM}", f"b/{CM}.old").remove(f"b/{RP}").starts_with("a,b,c"),
    ),
    Case(
        "moved away to be fetched again",
        lambda at: lived(at).move(f"a/{CM}", f"a/{CM}.old").starts_with("a,b,c"),
    ),
]

REORDERED = [
    Case(
        "reordered",
        lambda at: lived(at).starts_with("b,a,c"),
        (*IN_A, "log.dirs={root}/b,{root}/a,{root}/c", LOG),
    ),
    Case("reordered, last", lambda at: lived(at).starts_with("c,b,a"), IN_A),
    Case("reordered, dynamic", lambda at: lived(at, dynamic=True).starts_with("b,a"), IN_A),
    Case("reordered, of kafka", lambda at: lived(at, kafka=True).starts_with("b,a"), IN_A),
    Case(
        "metadata.log.dir newly set",
        lambda at: lived(at).starts_with("a,b", "b"),
        (*IN_A, "metadata.log.dir={root}/b"),
    ),
    Case("to a new directory", lambda at: lived(at).starts_with("a,b", "m"), IN_A),
    Case("metadata.log.dir removed", lambda at: lived(at).starts_with("b,a"), IN_A),
    Case(
        "log.dir as a list",
        lambda at: lived(at).starts_with(None, log_dir="b,a"),
        (*IN_A, "log.dir={root}/b"),
    ),
    Case(
        "log.dirs newly set beside log.dir",
        lambda at: lived(at).starts_with("b,c", log_dir="a"),
        IN_A,
        why="Kafka does not look at a log.dir that log.dirs replaces",
    ),
    Case(
        "formatted for a dynamic quorum, never ran",
        lambda at: Node(at, dynamic=True).format("a", "b").starts_with("b,a"),
        IN_A,
    ),
    Case(
        "the log is moved away, the promises stay",
        lambda at: lived(at).remove(f"a/{CM}").starts_with("b,a"),
        (*IN_A, RP),
        why=NOT_SEEN,
    ),
    Case(
        "the promises are damaged",
        lambda at: lived(at).remove(f"a/{CM}").write(f"a/{RP}", "x").starts_with("b,a"),
        (*IN_A, RP),
        why=NOT_SEEN,
    ),
    Case(
        "under another name",
        lambda at: lived(at).move(f"a/{CM}", f"a/{CM}.old").of_kafka("a").starts_with("b,a"),
        ("{root}/a", f"{CM}.old", "its name"),
        why=NOT_SEEN,
    ),
    Case(
        "under another name in its own place",
        lambda at: lived(at).move(f"a/{CM}", f"a/{CM}-moved").of_kafka("a").starts_with("a,b"),
        ("{root}/a", f"{CM}-moved", "its name"),
        why=NOT_SEEN,
    ),
    Case(
        "quorum-state is all that is left",
        lambda at: lived(at, kafka=True).remove(f"a/{LOG}").starts_with("b,a"),
        IN_A,
    ),
    Case(
        "a link to the log",
        lambda at: lived(at).move(f"a/{CM}", "moved").link(f"a/{CM}", "moved").starts_with("b,a"),
        IN_A,
    ),
    Case(
        "a link that leads nowhere",
        lambda at: lived(at, kafka=True).remove(f"a/{CM}").link(f"a/{CM}", "gone").starts_with("b,a"),
        IN_A,
        why="Kafka does not see a link that leads nowhere: the disk of the log may not be mounted",
    ),
    Case(
        "an empty directory for it",
        lambda at: Node(at).format("a", "b").make(f"a/{CM}").starts_with("b,a"),
        IN_A,
    ),
    Case(
        "the directory is a link",
        lambda at: lived(at).link("l", "a").starts_with("b,l"),
        ("{root}/l", "metadata.log.dir={root}/l"),
    ),
    Case("two logs", lambda at: lived(at).run("b").starts_with("a,b"), TWO),
    Case(
        "two logs, the other first",
        lambda at: lived(at).run("b", epoch=3).starts_with("b,a"),
        (*TWO, "epoch 3", "epoch 1"),
    ),
    Case("two logs, neither chosen", lambda at: lived(at).run("b").starts_with("c,a,b"), TWO),
    Case("log and promises apart", lambda at: lived(at).move(f"a/{CM}", f"b/{CM}").starts_with("a,b"), TWO),
    Case(
        "log and promises apart, the other first",
        lambda at: lived(at).move(f"a/{CM}", f"b/{CM}").starts_with("b,a"),
        TWO,
        why=NOT_SEEN,
    ),
    Case(
        "the chosen one is not formatted",
        lambda at: lived(at).remove(f"b/{MP}").starts_with("b,a"),
        IN_A,
    ),
    Case("the chosen one is gone", lambda at: lived(at).remove("b").starts_with("b,a"), IN_A),
]


def noted(node: Node) -> Node:
    """A controller has started with all three."""
    meta = read_meta_properties(node.path("a"))
    assert meta is not None
    assert meta.directory_id is not None
    for name in ("b", "c"):
        write_data_directory_note(node.path(name), node.path("a"), meta.directory_id)
    return node


OF_ZOOKEEPER = f"version=0\nbroker.id=1\ncluster.id={CLUSTER_ID}\n"
TORN = {
    "has no bytes": "",
    "has zeros": "\0" * 120,
    "has no version": f"node.id=1\ncluster.id={CLUSTER_ID}\n",
    "is of version 0": OF_ZOOKEEPER,
}
"""All of version 0 to Kafka, over a metadata log."""

LOST_DISK_PAGE = "docs/operations/lost-disk.md"
IN_A = ("{root}/a/meta.properties", "directory.id", "restore")
UNUSABLE = [
    Case(
        "another is gone",
        lambda at: lived(at).remove("b").starts_with("a,b"),
        ("{root}/b", "has not been formatted", "mount"),
    ),
    Case(
        "another is empty",
        lambda at: lived(at).remove("b").make("b").starts_with("a,b"),
        ("{root}/b", "has not been formatted"),
    ),
    Case(
        "another is not formatted",
        lambda at: lived(at).remove(f"b/{MP}").starts_with("a,b"),
        ("{root}/b", "has not been formatted"),
    ),
    Case(
        "its own is gone",
        lambda at: lived(at).remove("a").starts_with("a,b"),
        ("{root}/a", "has not been formatted", "mount", "was a controller before", LOST_DISK_PAGE),
    ),
    Case(
        "its own is not mounted, of a node that ran",
        lambda at: noted(lived(at)).remove("a").starts_with("a,b"),
        ("{root}/a", "{root}/b/metadata-log-dir", "directory.id", "mount it", LOST_DISK_PAGE),
    ),
    Case(
        "its own is an empty mount point, of a node that ran",
        lambda at: noted(lived(at)).remove("a").make("a").starts_with("a,c,b"),
        ("{root}/a", "{root}/b/metadata-log-dir", "directory.id", "mount it", LOST_DISK_PAGE),
    ),
    Case(
        "its own is not formatted",
        lambda at: lived(at).remove(f"a/{MP}").starts_with("a,b"),
        ("{root}/a", "restore meta.properties"),
    ),
    Case(
        "its own is not formatted, of kafka",
        lambda at: lived(at, kafka=True).remove(f"a/{MP}").starts_with("a,b"),
        ("{root}/a", "restore meta.properties"),
    ),
    Case(
        "its own is not formatted, the promises alone",
        lambda at: lived(at).remove(f"a/{MP}").remove(f"a/{CM}").starts_with("a,b"),
        ("{root}/a", "restore meta.properties"),
    ),
    Case(
        "the log is one level below",
        lambda at: lived(at).make("d").move("a", "d/a").starts_with("d"),
        ("{root}/d/a", "metadata.log.dir={root}/d/a"),
    ),
    Case(
        "another is a file",
        lambda at: lived(at).remove("b").write("b", "x").starts_with("a,b"),
        ("{root}/b", "Not a directory"),
        why=MAY_HOLD_IT,
    ),
    Case(
        "its own is a file",
        lambda at: lived(at).remove("a").write("a", "x").starts_with("a,b"),
        ("{root}/a", "Not a directory"),
    ),
    Case(
        "another has garbage",
        lambda at: lived(at).write(f"b/{MP}", "x\\u12").starts_with("a,b"),
        ("{root}/b/meta.properties", "restore"),
        why=UNKNOWN_OWNER,
    ),
    Case(
        "another has no keys",
        lambda at: lived(at).write(f"b/{MP}", "").starts_with("a,b"),
        ("{root}/b/meta.properties",),
    ),
    Case(
        "another has half of the keys",
        lambda at: lived(at).write(f"b/{MP}", "version=1\nnode.id=1\n").starts_with("a,b"),
        ("{root}/b/meta.properties", "cluster.id"),
        why=UNKNOWN_OWNER,
    ),
    Case(
        "another is of version 0",
        lambda at: lived(at).write(f"b/{MP}", "version=0\nbroker.id=1\n").starts_with("a,b"),
        ("{root}/b/meta.properties", "version 0"),
    ),
    Case(
        "another is of version 7",
        lambda at: lived(at).write(f"b/{MP}", "version=7\nnode.id=1\ncluster.id=x\n").starts_with("a,b"),
        ("{root}/b/meta.properties", "version 7"),
        why=UNKNOWN_OWNER,
    ),
    Case(
        "its own has garbage",
        lambda at: lived(at).write(f"a/{MP}", "\0\1").starts_with("a,b"),
        ("{root}/a/meta.properties",),
    ),
    *[
        Case(f"its own {what}", partial(_torn, text), IN_A, why=UNKNOWN_OWNER * (text == OF_ZOOKEEPER))
        for what, text in TORN.items()
    ],
    Case(
        "a new one is of version 0",
        lambda at: Node(at).format("a").write(f"a/{MP}", OF_ZOOKEEPER).starts_with("a"),
        ("{root}/a/meta.properties", "name another directory"),
        why=UNKNOWN_OWNER,
    ),
    Case(
        "its own has half of the keys",
        lambda at: lived(at).write(f"a/{MP}", "version=1\nnode.id=1\n").starts_with("a,b"),
        IN_A,
    ),
    Case(
        "another's is a directory",
        lambda at: lived(at).remove(f"b/{MP}").make(f"b/{MP}").starts_with("a,b"),
        ("{root}/b/meta.properties", "Is a directory"),
        why=UNKNOWN_OWNER,
    ),
    Case(
        "its own is a directory",
        lambda at: lived(at).remove(f"a/{MP}").make(f"a/{MP}").starts_with("a,b"),
        ("{root}/a/meta.properties", "Is a directory"),
    ),
    Case(
        "another leads to itself",
        lambda at: lived(at).remove("b").link("b", "b").starts_with("a,b"),
        ("{root}/b", "symbolic links"),
        why=MAY_HOLD_IT,
    ),
    Case(
        "another leads nowhere",
        lambda at: lived(at).remove("b").link("b", "nowhere").starts_with("a,b"),
        ("{root}/b", "has not been formatted", "mount"),
    ),
    Case(
        "of another node",
        lambda at: (lived(at).remove("b"), Node(at).format("b", node_id=2))[0].starts_with("a,b"),
        ("{root}/b", "node.id 2, expected 1"),
    ),
    Case(
        "of another cluster",
        lambda at: (lived(at).remove("b"), Node(at).format("b", cluster_id="MkU3OEVBNTcwNTJENDM2Qg"))[
            0
        ].starts_with("a,b"),
        ("{root}/b", "another cluster"),
    ),
    Case(
        "a copy",
        lambda at: lived(at).remove("b").copy("a", "b").starts_with("a,b"),
        ("{root}/a", "{root}/b", "same directory.id", "take the other one out of log.dirs"),
    ),
    Case(
        "the same, with a slash",
        lambda at: lived(at).starts_with("a,a/"),
        ("{root}/a/", "the same directory"),
    ),
    Case(
        "the same, by a dot", lambda at: lived(at).starts_with("a,./a"), ("{root}/./a", "the same directory")
    ),
    Case("the same, by a parent", lambda at: lived(at).starts_with("a,b/../a"), ("the same directory",)),
    Case(
        "the same, by a link",
        lambda at: lived(at).link("l", "a").starts_with("a,l"),
        ("{root}/l", "the same directory"),
    ),
    Case(
        "the same, in metadata.log.dir",
        lambda at: lived(at).starts_with("a,b", "a/"),
        ("{root}/a/", "the same directory"),
    ),
    Case("an empty entry", lambda at: lived(at).starts_with("a,,b"), ("log.dirs", AN_EMPTY_ITEM)),
    Case("an empty entry at the end", lambda at: lived(at).starts_with("a,"), ("log.dirs", AN_EMPTY_ITEM)),
    Case("an empty entry first", lambda at: lived(at).starts_with(",a"), ("log.dirs", AN_EMPTY_ITEM)),
    Case("an empty list", lambda at: {**lived(at).starts_with(None), "log.dirs": ""}, ("log.dirs",)),
    Case(
        "an empty list beside log.dir",
        lambda at: {**lived(at).starts_with(None, log_dir="a"), "log.dirs": ""},
        ("log.dirs",),
    ),
    Case(
        "an empty metadata.log.dir",
        lambda at: {**lived(at).starts_with("a,b"), "metadata.log.dir": ""},
        ("metadata.log.dir",),
    ),
]

CASES = [*STARTS, *REORDERED, *UNUSABLE]


def read_tree(root: Path) -> dict[str, object]:
    """Every name below it with its content."""
    found: dict[str, object] = {}
    for directory, names, files in os.walk(root):
        for name in [*names, *files]:
            path = Path(directory) / name
            content = (
                os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
            )
            found[str(path)] = content
    return found
