"""Faults in what a chart makes of a quorum."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

FORMAT = "deploy/kubernetes/chart/files/format.sh"
STOP = "deploy/kubernetes/chart/files/stop.sh"
SCRIPTS = "tests/kubernetes/test_scripts.py"
FILES = "tests/kubernetes/test_chart_files.py"

FAULTS = (
    PlantedFault(
        "the-first-pod-waits-for-a-leader",
        FORMAT,
        '*"leads epoch "* | *"leader of epoch "[1-9]*)',
        '*"leads epoch "*)',
        (f"{SCRIPTS}::test_a_volume_is_formatted",),
        "The first pod waits for ever where the others have a quorum without a leader.",
    ),
    PlantedFault(
        "the-first-pod-asks-only-who-answers",
        FORMAT,
        'answers that there is one: $said" >&2\n      return\n',
        'answers that there is one: $said" >&2\n',
        (f"{SCRIPTS}::test_the_first_one_waits_for_all_answers",),
        "With an empty volume it begins a second quorum while those that have the first one start.",
    ),
    PlantedFault(
        "each-pod-begins-a-quorum",
        FORMAT,
        'if [ "$NODE_ID" = "$FIRST_NODE_ID" ] && [ -z',
        "if [ -z",
        (f"{SCRIPTS}::test_a_volume_is_formatted",),
        "Three quorums of one.",
    ),
    PlantedFault(
        "a-formatted-volume-is-not-looked-at",
        FORMAT,
        "  exec kraftctl format -g -t",
        "  exit 0; kraftctl format -g -t",
        (f"{SCRIPTS}::test_a_formatted_volume_is_left_alone",),
        "A controller with the volume of another cluster starts.",
    ),
    PlantedFault(
        "the-gate-opens-where-nothing-is-known",
        STOP,
        "    0) exit 0 ;;",
        "    0 | 2) exit 0 ;;",
        (f"{SCRIPTS}::test_another_one_waits_and_says_why",),
        "A pod stops in the middle of an election.",
    ),
    PlantedFault(
        "the-gate-waits-for-one-voter",
        STOP,
        "    3) case $CONTROLLERS in *,*,*) ;; *) exit 0 ;; esac ;;\n",
        "",
        (f"{SCRIPTS}::test_a_stop_that_costs_nothing_or_always_the_same_does_not_wait",),
        "Each stop of a single controller takes two minutes.",
    ),
    PlantedFault(
        "a-value-without-a-meaning",
        "deploy/kubernetes/chart/values.yaml",
        "restartGate:\n",
        "restartsGate:\n",
        (f"{FILES}::test_each_value_has_a_default_and_a_meaning",),
        "The default is ignored, and a copy of it is refused.",
    ),
    PlantedFault(
        "a-pod-runs-as-root",
        "deploy/kubernetes/kraftctl.yaml",
        "        runAsNonRoot: true\n",
        "",
        (f"{FILES}::test_a_pod_satisfies_the_restricted_profile",),
        "A namespace with the restricted profile refuses the pods.",
    ),
    PlantedFault(
        "a-pod-is-killed-in-its-gate",
        "deploy/kubernetes/kraftctl.yaml",
        "terminationGracePeriodSeconds: 180",
        "terminationGracePeriodSeconds: 120",
        (f"{FILES}::test_a_pod_has_time_for_its_gate",),
        "A leader does not resign, and its log is not closed.",
    ),
)
