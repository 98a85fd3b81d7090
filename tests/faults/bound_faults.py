"""Planted faults that remove a bound of records, of work per entry, or of what replicas may hold."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

ACL_INDEX = "tests/image/test_acl_index.py"
BOUNDED_RECORDS = "tests/controller/test_bounded_records.py"
PARKED_FETCHES = "tests/raft/test_parked_fetches.py"
RAFT_BOUNDS = "tests/raft/test_bounds.py"
ACL_SCAN = "tests/controller/test_acl_scan.py"

FAULTS = (
    PlantedFault(
        "appended-items-are-compared-one-by-one",
        "kraftctl/controller/configuration_control/incremental_alter_configs.py",
        "        if item not in known:\n",
        "        if item not in items:\n",
        ("tests/controller/test_changed_lists.py",),
        "One list of 32 KB blocks the loop for half a second.",
    ),
    PlantedFault(
        "prefixed-acls-are-not-looked-up",
        "kraftctl/image/acl_index.py",
        "            if length <= name_length:\n",
        "            if length < name_length:\n",
        (ACL_INDEX, ACL_SCAN),
        "A DENY for a prefix does not hold for the resource that has just this name.",
    ),
    PlantedFault(
        "an-acl-that-is-undone-stays-in-the-index",
        "kraftctl/image/acls_image.py",
        "            self.index.remove(key, present)\n",
        "            pass\n",
        (ACL_INDEX,),
        "A right that was never committed, or was taken away, is still granted.",
    ),
    PlantedFault(
        "delete-acls-of-any-number-of-matches",
        "kraftctl/controller/security/acl_control.py",
        "        if matches > MATCHES_PER_REQUEST_MAX:\n",
        "        if len(doomed) > MATCHES_PER_REQUEST_MAX:\n",
        (ACL_SCAN,),
        "A small request that repeats one filter has an answer of gigabytes.",
    ),
    PlantedFault(
        "delete-acls-of-any-number-of-comparisons",
        "kraftctl/controller/security/acl_control.py",
        "        comparisons += len(candidates)\n",
        "        comparisons = len(candidates)\n",
        (ACL_SCAN,),
        "A request of many filters blocks the loop for minutes.",
    ),
    PlantedFault(
        "one-record-of-any-size",
        "kraftctl/controller/prepared_result.py",
        "            reason = why_batch_too_large(batch.values)\n",
        "            reason = why_batch_too_large(batch.values) if len(batch.values) > 1 else None\n",
        (BOUNDED_RECORDS,),
        "A registration writes a batch of 19 MB, which every broker fetches and keeps.",
    ),
    PlantedFault(
        "the-batch-of-a-timer-of-any-size",
        "kraftctl/controller/quorum_controller.py",
        "                assert prepared is None or prepared.why_too_large() is None,",
        "                assert prepared is None or True,",
        (BOUNDED_RECORDS,),
        "A timer writes a batch that no client could have written.",
    ),
    PlantedFault(
        "registrations-with-any-number-of-listeners",
        "kraftctl/metadata/registration_limits.py",
        "    if len(listeners) > LISTENERS_MAX:\n",
        "    if len(listeners) > 1 << 20:\n",
        ("tests/metadata/test_registration_limits.py", BOUNDED_RECORDS, RAFT_BOUNDS),
        "Each snapshot and each node's memory has megabytes of one broker.",
    ),
    PlantedFault(
        "registrations-with-any-number-of-directories",
        "kraftctl/controller/cluster_control/register_broker.py",
        "        or why_directories_too_many(len(request.log_dirs))\n",
        "",
        (BOUNDED_RECORDS,),
        "600,000 log directories are registered for one broker.",
    ),
    PlantedFault(
        "heartbeats-with-any-number-of-directories",
        "kraftctl/controller/cluster_control/process_broker_heartbeat.py",
        "    ) or _why_directories_refused(request)\n",
        "    )\n",
        (BOUNDED_RECORDS,),
        "A heartbeat writes any number of cordoned directories.",
    ),
    PlantedFault(
        "leaders-with-any-number-of-endpoints",
        "kraftctl/raft/join_leader.py",
        "    if why_listeners_too_large(listeners) is not None:\n",
        "    if why_listeners_too_large(listeners[:1]) is not None:\n",
        (RAFT_BOUNDS,),
        "A BeginQuorumEpoch leaves megabytes of endpoints in the state of each voter.",
    ),
    PlantedFault(
        "a-full-lot-turns-voters-away",
        "kraftctl/raft/parked_fetches.py",
        "        if missing > sum(self._bytes_by_rank[: fetch.rank]):\n",
        "        if missing > 0:\n",
        (PARKED_FETCHES,),
        "Readers without an id make every follower fetch thousands of times a second.",
    ),
    PlantedFault(
        "a-waiting-fetch-counts-the-same-whatever-it-holds",
        "kraftctl/raft/handle_fetch.py",
        "        held_bytes=PARKED_FETCH_BYTES + _text_bytes(request, partition),\n",
        "",
        (PARKED_FETCHES,),
        "Fetches that wait hold a gigabyte in their texts.",
    ),
    PlantedFault(
        "deadlines-of-answered-fetches-stay",
        "kraftctl/raft/parked_fetches.py",
        "        if len(self._deadlines) > 2 * len(self._by_request_id) + STALE_DEADLINES_MAX:\n",
        "        if len(self._deadlines) > 1 << 40:\n",
        (PARKED_FETCHES,),
        "Memory grows with each Fetch that asks to wait for weeks.",
    ),
    PlantedFault(
        "followers-do-not-pause",
        "kraftctl/raft/handle_responses.py",
        "            state.pause_fetching(core.now_ms + pause_ms)\n",
        "            pass\n",
        (PARKED_FETCHES,),
        "A busy leader is asked again immediately, by each follower that it asked to wait.",
    ),
    PlantedFault(
        "a-line-for-each-vote",
        "kraftctl/raft/limited_notices.py",
        "        if self._lines >= LINES_PER_INTERVAL_MAX:\n",
        "        if self._lines >= 1 << 30:\n",
        (RAFT_BOUNDS,),
        "A candidate of ever higher epochs fills the disk with the log of the process.",
    ),
    PlantedFault(
        "an-observer-that-fetches-is-forgotten",
        "kraftctl/raft/states.py",
        "        state = self.observer_states.pop(key, None)\n",
        "        state = self.observer_states.get(key)\n",
        (RAFT_BOUNDS,),
        "New ids drive out the brokers that have fetched for days.",
    ),
    PlantedFault(
        "present-configs-are-validated-without-a-limit",
        "kraftctl/controller/configuration_control/config_alteration.py",
        "        self._characters += sum([len(value) for value in present.values()])\n",
        "",
        ("tests/controller/test_changed_lists.py",),
        "A small request that appends to 10,000 long lists blocks the loop for ten seconds.",
    ),
    PlantedFault(
        "the-ninth-acl-of-a-pattern-replaces-another",
        "kraftctl/image/acl_index.py",
        "                self._by_client.setdefault((acl[1].principal, acl[1].host), []).append(acl)\n",
        "                self._by_client[(acl[1].principal, acl[1].host)] = [acl]\n",
        (ACL_INDEX,),
        "A DENY is lost when a resource gets its ninth entry.",
    ),
)
