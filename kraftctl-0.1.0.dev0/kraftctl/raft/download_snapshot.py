"""KIP-630: a follower whose log lacks what the leader has only in a snapshot downloads that, slice by slice.

1. The response to a Fetch names a snapshot: `begin_download`.
2. FetchSnapshot takes the place of Fetch; each slice is written immediately, under a temporary name.
3. With the last slice the file is checked and gets its name: `SnapshotDownloaded`.
4. It takes the place of the whole log. All of it is committed, so nothing that counts is lost.

A snapshot has the size that its leader announces first. More is not taken, and what does not fit onto the
disk is not begun.
"""

from __future__ import annotations

from typing import Final

from kraftctl.raft.core import RaftCore
from kraftctl.raft.effects import ERROR, INFO, FinishSnapshot, SaveSnapshotSlice, StartOver
from kraftctl.raft.events import SnapshotDownloaded
from kraftctl.raft.fetching import contradict, leader_answered
from kraftctl.raft.log_state import SnapshotInfo
from kraftctl.raft.states import Follower, SnapshotDownload
from kraftctl.raft.voter_set import voter_set_from_record
from kraftctl_protocol.errors import Errors, error_of
from kraftctl_protocol.generated.fetch_snapshot_response import PartitionSnapshot
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch

DOWNLOADS: Final = "downloads"
"""The kind of lines that a leader can cause at any rate."""


def begin_download(core: RaftCore, state: Follower, snapshot_id: OffsetAndEpoch) -> bool:
    """Starts to fetch this snapshot. Returns False when the leader's response is invalid."""
    if snapshot_id.epoch < 0 or snapshot_id.offset < 1:
        core.limited_notice(DOWNLOADS, ERROR, f"The leader names {snapshot_id}, which is not a snapshot id")
        return False
    if snapshot_id.offset < core.committed_floor():
        contradict(core, f"wants the log to start over at snapshot {snapshot_id}")
        return False
    if core.log.snapshot(snapshot_id) is not None:
        text = f"The leader names snapshot {snapshot_id}, which this replica has"
        core.limited_notice(DOWNLOADS, ERROR, text)
        return False
    if core.damaged_downloads.is_pausing(core.now_ms):
        return False
    if state.download is None or state.download.snapshot_id != snapshot_id:
        state.download = SnapshotDownload(snapshot_id)
        core.limited_notice(DOWNLOADS, INFO, f"Fetching snapshot {snapshot_id} from {state.leader_id}")
    return True


def take_slice(core: RaftCore, state: Follower, partition: PartitionSnapshot) -> None:
    """Writes the slice. After an unusable response the next request waits for a backoff."""
    download = state.download
    if download is None or download.is_complete:
        return
    leader_answered(core, state, usable=_take_slice(core, state, download, partition))


def _take_slice(
    core: RaftCore, state: Follower, download: SnapshotDownload, partition: PartitionSnapshot
) -> bool:
    if partition.error_code != Errors.NONE:
        state.download = None
        name = error_of(partition.error_code).name
        text = f"Fetching snapshot {download.snapshot_id} ended with {name}: fetching another one"
        core.limited_notice(DOWNLOADS, INFO, text)
        return False
    reason = download.why_unusable(partition, core.config.fetch_snapshot_bytes_max)
    if reason is not None:
        core.limited_notice(DOWNLOADS, ERROR, reason)
        core.damaged_downloads.pause(core.now_ms)
        state.download = None
        return False
    position, data = download.position, download.take(partition)
    if not data:
        return False  # the leader was busy with its files: this slice is fetched again after a pause
    core.emit(SaveSnapshotSlice(download.snapshot_id, position, data, download.size_bytes))
    if download.is_whole:
        download.is_complete = True
        core.emit(FinishSnapshot(download.snapshot_id))
    return True


def snapshot_downloaded(core: RaftCore, event: SnapshotDownloaded) -> None:
    """Handles that the file has its final name or was discarded. No other event came after
    `FinishSnapshot`.
    """
    state = core.state
    if isinstance(state, Follower):
        state.download = None
        # Meanwhile the leader was not asked: its silence means nothing.
        state.restart_fetch_timer(core.fetch_deadline_ms())
    snapshot_id = event.snapshot_id
    if event.size_bytes == 0:
        pause_ms = core.damaged_downloads.add(core.now_ms)
        core.limited_notice(
            DOWNLOADS,
            ERROR,
            f"The downloaded snapshot {snapshot_id} is damaged, or does not fit, number"
            f" {core.damaged_downloads.count} in a row: fetching it again in {pause_ms} ms",
        )
        return
    core.damaged_downloads.reset()
    assert core.leader() is None, "only a follower downloads"
    assert snapshot_id.offset >= core.high_watermark
    core.log.add_snapshot(SnapshotInfo(snapshot_id, event.size_bytes))
    core.log.truncate_fully_to(snapshot_id)
    voters = None if event.voters is None else voter_set_from_record(event.voters)
    core.history.start_over(snapshot_id.offset, voters, event.kraft_version)
    core.emit(StartOver(snapshot_id))
    core.notice(INFO, f"The log starts over at snapshot {snapshot_id}")
    core.raise_high_watermark(snapshot_id.offset)
