"""Planted faults in `kraftctl explain`: causes that are not the first, and times that no record has."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

LIMITS = "tests/explain/test_feature_limits.py"
NODES = "tests/explain/test_why_node.py"
PARTITIONS = "tests/explain/test_why_partition.py"
REPLAYED = "tests/explain/test_replayed_log.py"
COMMAND = "tests/cli/test_explain.py"
ASKED_BROKER = "tests/cli/test_explain_asked_broker.py"

FAULTS = (
    PlantedFault(
        "a-printed-time-is-before-its-event",
        "protocol/kraftctl_protocol/asked_time.py",
        "0 if",
        "0 if True or",
        ("tests/explain/test_as_of.py",),
        "`--as-of` with the time that is printed shows the state before the event.",
    ),
    PlantedFault(
        "ages-end-with-the-last-record",
        "kraftctl/explain/as_of.py",
        "max(self.time_ms or 0, log.last_timestamp_ms)",
        "log.last_timestamp_ms",
        ("tests/explain/test_as_of.py",),
        "A broker that is down for an hour seems to have gone in this moment.",
    ),
    PlantedFault(
        "an-upgrade-has-no-cost",
        "kraftctl/explain/why_feature.py",
        """        offer = f"{cost[0].upper()}{cost[1:]}. To raise it: {command}"
""",
        """        offer = f"To raise it: {command}"
""",
        (LIMITS,),
        "An operator raises metadata.version, and reads afterwards that brokers cannot join any more.",
    ),
    PlantedFault(
        "an-upgrade-has-no-address",
        "kraftctl/explain/why_feature.py",
        "kraftctl features {evidence.connection} upgrade",
        "kraftctl features upgrade",
        (LIMITS,),
        "The command that is printed for an upgrade does not run: it names no controller.",
    ),
    PlantedFault(
        "a-restarted-leader-never-went",
        "kraftctl/explain/replayed_log.py",
        "            if epoch != self.leader_epoch:\n",
        "            if message.leader_id != self.leader_id:\n",
        (f"{REPLAYED}::test_a_leader_leads_since_the_begin_of_its_epoch",),
        "A leader that was restarted, and is elected again, leads since its first election.",
    ),
    PlantedFault(
        "a-quorum-that-commits-nothing-is-well",
        "kraftctl/explain/why_quorum.py",
        "    if stall is not None and not silent and not lagging:\n",
        "    if False:\n",
        ("tests/explain/test_verdicts.py",),
        "While the disk of the only voter is frozen, an operator reads that nothing is wrong.",
    ),
    PlantedFault(
        "a-leader-that-commits-nothing-is-healthy",
        "kraftctl/cli/health/verdict.py",
        "    reasons += _stall(collected, quorum)\n",
        "",
        ("tests/cli/test_health_verdict.py",),
        "While the disk of the only voter is frozen, monitoring says that the cluster is healthy.",
    ),
    PlantedFault(
        "records-of-this-moment-are-a-stall",
        "kraftctl/explain/commit_watch.py",
        "is_first or high_watermark >= self._end_offset",
        "is_first",
        ("tests/explain/test_commit_watch.py",),
        "A leader that is always writing is said to commit nothing.",
    ),
    PlantedFault(
        "explains-a-transaction-that-is-open",
        "kraftctl/explain/replayed_log.py",
        "            self._in_transaction.append((record, mark))",
        "            self.apply(record, mark)",
        (f"{REPLAYED}::test_a_transaction_has_its_effect_when_it_ends",),
        "A cause is explained by records that are aborted a moment later.",
    ),
    PlantedFault(
        "explains-half-of-a-batch",
        "spark/kraftctl_spark/history/log_files.py",
        "(row.place if row.batch is None else row.batch) > as_of.offset",
        "row.place > as_of.offset",
        ("tests/spark/test_past_explained.py::test_the_files_have_the_records_of_the_controller",),
        "An operator reads of a state that no node has had.",
    ),
    PlantedFault(
        "an-offset-within-a-batch-counts-without-the-batch",
        "kraftctl/explain/as_of.py",
        "batch.header.base_offset <= self.offset",
        "batch.header.last_offset <= self.offset",
        ("tests/explain/test_as_of.py",),
        "What was at an offset that the log has is said to be not known.",
    ),
    PlantedFault(
        "explains-what-is-not-committed",
        "kraftctl/explain/replayed_log.py",
        "if not self.end_offset <= record.offset < end_offset:",
        "if record.offset < self.end_offset:",
        (f"{REPLAYED}::test_records_from_the_end_of_the_log_on_are_left_out",),
        "A cause is explained by records that another leader truncates.",
    ),
    PlantedFault(
        "fenced-since-the-last-repetition",
        "kraftctl/explain/record_marks.py",
        "if change == FENCE and not before.fenced:",
        "if change == FENCE:",
        (f"{NODES}::test_a_broker_is_fenced_since_the_first_record_that_says_so",),
        "A broker that stops is fenced since its last heartbeat, not since it left its ISRs.",
    ),
    PlantedFault(
        "elr-beside-an-isr-may-lead",
        "kraftctl/explain/why_partition.py",
        "eligible = sorted(set(state.isr) or set(state.elr))",
        "eligible = sorted(set(state.isr) | set(state.elr))",
        (f"{PARTITIONS}::test_the_elr_may_lead_only_without_an_isr",),
        "An operator starts a broker that is not elected.",
    ),
    PlantedFault(
        "a-last-leader-that-is-no-replica-is-waited-for",
        "kraftctl/explain/why_partition.py",
        "    if len(known) == 1 and known[0] in state.replicas:\n",
        "    if len(known) == 1:\n",
        (f"{PARTITIONS}::test_the_first_cause_is_the_right_one",),
        "An operator is asked to start broker -1.",
    ),
    PlantedFault(
        "a-running-observer-is-a-ghost",
        "kraftctl/explain/why_controller.py",
        "controller_id not in voters and not is_running(evidence, controller_id)",
        "controller_id not in voters",
        (NODES,),
        "An operator unregisters a controller that runs.",
    ),
    PlantedFault(
        "the-next-step-of-an-upgrade-names-one-broker",
        "kraftctl/explain/why_feature.py",
        '(("controller", controllers), ("broker", brokers))',
        '(("controller", controllers[:1]), ("broker", brokers[:1]))',
        (f"{LIMITS}::test_the_next_step_names_all_nodes_that_limit_a_feature",),
        "An operator upgrades one broker after the other, each time to read of the next.",
    ),
    PlantedFault(
        "a-voter-that-limits-is-named-before-a-ghost",
        "kraftctl/explain/why_feature.py",
        "for controller_id in (*ghosts, *others):",
        "for controller_id in (*others, *ghosts):",
        (f"{LIMITS}::test_a_ghost_is_named_before_other_limits",),
        "An upgrade is planned around a controller that does not exist.",
    ),
    PlantedFault(
        "a-replaced-disk-hides-the-voter",
        "kraftctl/cli/explain/leader_view.py",
        "(*quorum.observers, *quorum.voters)",
        "(*quorum.voters, *quorum.observers)",
        ("tests/cli/test_leader_view.py",),
        "A voter that has lost its disk counts as none, and the majority as larger than it is.",
    ),
    PlantedFault(
        "a-broker-is-asked-for-the-log",
        "protocol/kraftctl_observer/observer.py",
        "            if self._connection.is_of_broker:\n",
        "            if not self._connection:\n",
        (f"{ASKED_BROKER}::test_a_broker_that_reaches_the_leader",),
        "An operator who names a broker reads UNKNOWN_TOPIC_ID, and no next step.",
    ),
    PlantedFault(
        "brokers-count-as-controllers",
        "kraftctl/cli/quorum/quorum_survey.py",
        "asked_count=len(self._threads.keys() - brokers),",
        "asked_count=len(self._threads),",
        (f"{ASKED_BROKER}::test_a_broker_that_reaches_no_leader",),
        "An operator who names a broker starts controllers that run.",
    ),
    PlantedFault(
        "explains-without-a-leader-late",
        "kraftctl/cli/explain/command.py",
        "ALL_MS = 4_000",
        "ALL_MS = 9_000",
        (f"{COMMAND}::test_a_leader_that_does_not_let_its_log_be_read_has_a_reason",),
        "An operator waits for the reason longer than five seconds.",
    ),
)
