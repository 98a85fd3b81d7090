"""Planted faults in what clients of other nodes believe: sizes, epochs, progress, addresses, texts."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

LEADER = "tests/raft/test_hostile_leader.py"
ALONE = "tests/spark/test_hostile_controllers.py::test_a_hostile_controller_alone"
EPOCHS = "tests/spark/test_hostile_controllers.py::test_an_epoch_that_a_hostile_controller_names_is_forgotten"
NODES = "tests/cli/test_hostile_nodes.py"

FAULTS = (
    PlantedFault(
        "a-response-of-any-size-is-received",
        "protocol/kraftctl_protocol/peer_limits.py",
        "    if isinstance(request, FetchRequest):\n",
        "    if True:\n        return 100_000_000\n    if isinstance(request, FetchRequest):\n",
        (f"{ALONE}[a-response-of-31-MB]", NODES),
        "A node that is asked for a few bytes fills the memory of its client.",
    ),
    PlantedFault(
        "a-leader-that-never-waits-is-asked-at-once",
        "kraftctl/raft/states.py",
        "        if was_early:\n",
        "        if was_early and now_ms < 0:\n",
        (f"{LEADER}::test_a_follower_of_a_hostile_leader",),
        "A leader that answers immediately without news keeps a core of each follower busy.",
    ),
    PlantedFault(
        "a-leader-may-take-back-its-records",
        "kraftctl/raft/follow.py",
        "    if core.log.end_offset < end_offset and state.has_appended:\n",
        "    if core.log.end_offset < end_offset and state.epoch < 0:\n",
        (f"{LEADER}::test_a_follower_of_a_hostile_leader",),
        "The log of a follower is written and cut hundreds of times a second.",
    ),
    PlantedFault(
        "every-epoch-is-joined-at-once",
        "kraftctl/raft/validation.py",
        "    if epoch <= core.state.epoch or not core.epoch_pace.is_exceeded(core.now_ms):\n",
        "    if epoch <= core.state.epoch or core.now_ms >= 0:\n",
        (LEADER, "tests/raft/test_bounds.py"),
        "A leader that raises the epoch with each response makes a follower write quorum-state each time.",
    ),
    PlantedFault(
        "an-epoch-is-not-counted-when-it-is-joined",
        "kraftctl/raft/quorum_state.py",
        "        core.epoch_pace.raised(core.now_ms)\n",
        "        pass\n",
        (LEADER, "tests/raft/test_bounds.py"),
        "The same.",
    ),
    PlantedFault(
        "followers-ask-any-address-that-is-named",
        "kraftctl/raft/handle_responses.py",
        "        if node.node_id == leader_id and is_address(node.host, node.port):\n",
        "        if node.node_id == leader_id:\n",
        (f"{LEADER}::test_a_follower_of_a_hostile_leader",),
        "Hosts of 30 kB and ports that do not exist are asked again and again.",
    ),
    PlantedFault(
        "a-snapshot-of-any-announced-size-is-begun",
        "protocol/kraftctl_protocol/snapshot_progress.py",
        "        if size_bytes > SNAPSHOT_BYTES_MAX:\n",
        "        if size_bytes < 0:\n",
        (f"{LEADER}::test_a_snapshot_of_a_hostile_leader",),
        "A leader has its followers download what fits onto their disks.",
    ),
    PlantedFault(
        "slices-may-be-short-without-end",
        "protocol/kraftctl_protocol/snapshot_progress.py",
        "self._slices_count > SHORT_SLICES_MAX + self.position // max(1, min(asked_bytes, 1024)):\n",
        "self._slices_count < 0:\n",
        (f"{LEADER}::test_a_snapshot_of_a_hostile_leader", f"{ALONE}[slices-of-a-byte]"),
        "A download of a byte at a time never ends.",
    ),
    PlantedFault(
        "an-unusable-slice-is-asked-for-again-at-once",
        "kraftctl/raft/download_snapshot.py",
        "        core.damaged_downloads.pause(core.now_ms)\n        state.download = None\n",
        "        state.download = None\n",
        (f"{LEADER}::test_a_snapshot_of_a_hostile_leader",),
        "A leader of useless snapshots is asked hundreds of times a second.",
    ),
    PlantedFault(
        "an-old-batch-is-progress",
        "protocol/kraftctl_observer/fetched_batches.py",
        "        if header.last_offset < offset or header.last_offset >= data.high_watermark:\n",
        "        if header.last_offset >= data.high_watermark:\n",
        (f"{ALONE}[the-same-old-batch]",),
        "The exporter asks a controller that repeats a batch without end.",
    ),
    PlantedFault(
        "batches-of-any-epoch-are-exported",
        "protocol/kraftctl_observer/fetched_batches.py",
        "        if not last_epoch <= header.partition_leader_epoch <= leader_epoch:\n",
        "        if not last_epoch <= header.partition_leader_epoch:\n",
        (f"{ALONE}[a-batch-of-a-later-epoch]",),
        "The checkpoint of an export names an epoch that no leader accepts.",
    ),
    PlantedFault(
        "an-epoch-that-is-named-stays",
        "protocol/kraftctl_observer/believed_epoch.py",
        "        if node != self._named_by and len(self._refused_by) < self._refusals_needed:\n",
        "        if node:\n",
        (EPOCHS,),
        "One response of one controller ends the reading for good.",
    ),
    PlantedFault(
        "an-epoch-is-forgotten-when-the-first-does-not-know-it",
        "protocol/kraftctl_observer/believed_epoch.py",
        "        if node != self._named_by and len(self._refused_by) < self._refusals_needed:\n",
        "        if not node:\n",
        ("tests/spark/test_hostile_controllers.py::test_a_majority_of_the_others_refuses_an_epoch",),
        "A controller that lags behind sends the reader back to a former leader.",
    ),
    PlantedFault(
        "news-of-epochs-need-no-pause",
        "protocol/kraftctl_observer/attempts.py",
        "self._without_pause < WITHOUT_PAUSE_MAX:\n",
        "self._without_pause >= 0:\n",
        (f"{ALONE}[an-epoch-that-grows]",),
        "A controller that names another epoch each time is asked as fast as it answers.",
    ),
    PlantedFault(
        "what-is-committed-is-planned-whatever-it-is",
        "spark/kraftctl_spark/log/log_range.py",
        "    if end - start > RANGES_MAX * OFFSETS_PER_RANGE:\n",
        "    if end - start < 0:\n",
        ("tests/spark/test_hostile_controllers.py::test_a_plan_has_an_end",),
        "A controller that calls all offsets committed takes the memory of Spark's driver.",
    ),
    PlantedFault(
        "a-message-of-a-node-has-lines",
        "protocol/kraftctl_admin/errors.py",
        "        self.reason = plain_text(message or error.message)\n",
        "        self.reason = message or error.message\n",
        (NODES,),
        "A node writes a next step of its own below the error.",
    ),
)
