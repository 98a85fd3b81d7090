"""Planted faults in the engine without Spark."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

ENGINES = "spark/kraftctl_spark/engines"
MONITORING = "spark/kraftctl_spark/monitoring"
TESTS = "tests/spark/test_local_engine.py"
METRICS = "tests/spark/test_export_metrics.py"

FAULTS = (
    PlantedFault(
        "a-batch-begins-where-the-tables-end",
        f"{ENGINES}/local_engine.py",
        "offset, epoch, batches = end.offset, end.epoch, batches + 1",
        "(offset, epoch), batches = (exporter.export_to(0, 0).offset, end.epoch), batches + 1",
        (f"{TESTS}::test_a_transaction_that_is_longer_than_a_batch",),
        "Behind a transaction that is longer than a batch, nothing is exported any more.",
    ),
    PlantedFault(
        "a-killed-worker-ends-the-export",
        f"{ENGINES}/worker_pool.py",
        "        if self._lost == ATTEMPTS:\n",
        "        if self._lost:\n",
        (f"{TESTS}::test_the_work_of_a_killed_worker_is_done_again",),
        "One worker that lacks memory ends what Spark would continue.",
    ),
    PlantedFault(
        "a-worker-may-be-killed-for-ever",
        f"{ENGINES}/worker_pool.py",
        "        self._lost += 1\n",
        "        self._lost = 1\n",
        (f"{TESTS}::test_a_worker_that_is_killed_every_time_ends_the_export",),
        "An export that never has enough memory starts workers without end, and no supervisor notices.",
    ),
    PlantedFault(
        "ctrl-c-ends-the-workers",
        f"{ENGINES}/worker_pool.py",
        "    signal.signal(signal.SIGINT, signal.SIG_IGN)\n",
        "",
        (f"{TESTS}::test_a_worker_ignores_ctrl_c",),
        "Ctrl-C breaks off the batch that an orderly stop waits for.",
    ),
    PlantedFault(
        "workers-outlive-their-parent",
        f"{ENGINES}/worker_pool.py",
        "    parent.poll(None)\n    os._exit(1)\n",
        "    parent.poll(None)\n",
        (f"{TESTS}::test_it_is_killed_a_dozen_times",),
        "Each killed export leaves its workers, waiting for tasks.",
    ),
    PlantedFault(
        "tasks-run-on-behind-a-failure",
        f"{ENGINES}/worker_pool.py",
        "            failed.callback(self._end)\n",
        "",
        (f"{TESTS}::test_no_task_runs_behind_a_failure",),
        "Leftovers are removed while tasks still write them.",
    ),
    PlantedFault(
        "a-stop-waits-for-ever",
        f"{ENGINES}/worker_pool.py",
        "            if now_s > self._stop_before_s:\n",
        "            if False:\n",
        (f"{TESTS}::test_a_stop_does_not_wait_for_ever",),
        "Without a quorum, a supervisor has to kill the export.",
    ),
    PlantedFault(
        "metrics-begin-with-empty-tables",
        f"{MONITORING}/export_metrics.py",
        "            self._rows = Counter({name: table.rows for name, table in before.tables.items()})\n",
        "",
        (f"{METRICS}::test_each_batch_changes_them",),
        "After each restart, the tables seem to have only what came since.",
    ),
    PlantedFault(
        "a-batch-of-exactly-a-bound-is-above-it",
        f"{MONITORING}/export_metrics.py",
        "bisect.bisect_left(DURATION_BOUNDS_S",
        "bisect.bisect_right(DURATION_BOUNDS_S",
        (f"{METRICS}::test_a_commit_with_a_number_has_it",),
        "Prometheus' buckets contain their bounds.",
    ),
    PlantedFault(
        "slow-clients-hold-the-listener",
        f"{MONITORING}/metrics_listener.py",
        "            connection.settimeout(left_s)\n",
        "",
        (f"{METRICS}::test_slow_clients_keep_nobody_away_for_long",),
        "Sixteen clients that say nothing hide an export from Prometheus until it is restarted.",
    ),
    PlantedFault(
        "a-thread-of-the-listener-is-never-free-again",
        f"{MONITORING}/metrics_listener.py",
        "        self.server.free.release()\n",
        "        pass\n",
        (f"{METRICS}::test_slow_clients_keep_nobody_away_for_long",),
        "After sixteen scrapes, there is no seventeenth.",
    ),
    PlantedFault(
        "each-engine-takes-every-flag",
        "spark/kraftctl_spark/commands/engine_flags.py",
        "is not None and options.engine != engine",
        "is not None and False",
        (f"{TESTS}::test_flags_of_the_other_engine_are_refused",),
        "Who gives a master believes that the tasks run on a cluster.",
    ),
)
