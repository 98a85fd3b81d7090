"""Faults in what a chart makes of a quorum."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

FORMAT = "deploy/kubernetes/chart/files/format.sh"
STOP = "deploy/kubernetes/chart/files/stop.sh"
SCRIPTS = "tests/kubernetes/test_scripts.py"
VALUES = "tests/kubernetes/test_refused_values.py"
REFUSED = "deploy/kubernetes/chart/templates/_refused.tpl"
UNCHANGED = "deploy/kubernetes/chart/templates/_unchanged.tpl"
MONITORING = "deploy/kubernetes/chart/templates/monitoring.yaml"
SET = "deploy/kubernetes/chart/templates/statefulset.yaml"
NOTES = "deploy/kubernetes/chart/templates/NOTES.txt"
CHANGES = "tests/kubernetes/test_refused_changes.py"
CHART = "tests/kubernetes/test_chart.py"
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
        "  exec kraftctl format -g",
        "  exit 0; kraftctl format -g",
        (f"{SCRIPTS}::test_a_formatted_volume_is_left_alone",),
        "A controller with the volume of another cluster starts.",
    ),
    PlantedFault(
        "an-id-with-a-dash-is-a-flag",
        FORMAT,
        'exec kraftctl format "--cluster-id=$CLUSTER_ID"',
        'exec kraftctl format -t "$CLUSTER_ID"',
        (f"{SCRIPTS}::test_an_id_that_begins_with_a_dash_is_formatted",),
        "The pods of an old cluster with such an id never start.",
    ),
    PlantedFault(
        "a-certificate-is-waited-for",
        REFUSED,
        "(not .Values.tls.secretName) (not .Values.tls.issuerRef)",
        "(not .Values.tls.secretName) (not .Values.tls)",
        (f"{VALUES}::test_certificates_and_passwords_are_whole_or_refused",),
        "Pods with TLS wait for ever for a secret that nothing makes.",
    ),
    PlantedFault(
        "certificates-are-given-in-vain",
        REFUSED,
        "(not .Values.tls.enabled) (or .Values.tls.secretName .Values.tls.issuerRef)",
        "(not .Values.tls.enabled) .Values.tls.secretName",
        (f"{VALUES}::test_certificates_and_passwords_are_whole_or_refused",),
        "Controllers listen in clear text beside a Certificate.",
    ),
    PlantedFault(
        "a-limit-below-its-request",
        REFUSED,
        "{{- if gt (float64",
        "{{- if lt (float64",
        (f"{VALUES}::test_values_that_do_not_fit_each_other_are_refused",),
        "More memory is requested, and Kubernetes makes no pod.",
    ),
    PlantedFault(
        "a-key-of-the-chart-in-config",
        "deploy/kubernetes/chart/templates/_refused_config.tpl",
        "config.providers ssl.keystore. ssl.truststore.",
        "config.providers ssl.keystore.",
        (f"{VALUES}::test_each_key_that_the_chart_writes_is_refused_in_config",),
        "Controllers trust others than the commands beside them.",
    ),
    PlantedFault(
        "a-value-that-is-null",
        "deploy/kubernetes/chart/values.schema.json",
        '"required": ["repository", "tag", "digest", "pullPolicy", "pullSecrets"]',
        '"required": ["tag", "digest", "pullPolicy", "pullSecrets"]',
        (f"{VALUES}::test_no_value_but_the_storage_class_may_be_null",),
        "The image of the pods has no name.",
    ),
    PlantedFault(
        "commands-without-the-keys-of-ssl",
        "deploy/kubernetes/chart/templates/_config.tpl",
        '  {{- include "kraftctl.clientKeys" . }}\n',
        "",
        (f"{VALUES}::test_the_commands_beside_a_controller_have_its_keys_of_ssl",),
        "The first pod cannot ask the others, and waits for ever.",
    ),
    PlantedFault(
        "two-voters-go-together",
        UNCHANGED,
        "{{- if lt (int $root.Values.replicas) $count -}}",
        "{{- if lt (int $root.Values.replicas) (sub $count 1) -}}",
        (f"{CHANGES}::test_an_upgrade_does_not_scale_down",),
        "Of three controllers one is left, and the quorum has no majority.",
    ),
    PlantedFault(
        "another-release-of-the-cluster",
        UNCHANGED,
        "if and $begins (eq (include",
        "if and false (eq (include",
        (f"{CHANGES}::test_another_release_begins_no_second_quorum_of_the_cluster",),
        "A second, empty quorum has the id of the cluster.",
    ),
    PlantedFault(
        "volumes-of-another-release",
        UNCHANGED,
        "(and $begins (eq $cluster",
        "(and false (eq $cluster",
        (f"{CHANGES}::test_another_release_begins_no_second_quorum_of_the_cluster",),
        "The log of the cluster is on volumes that no pod uses.",
    ),
    PlantedFault(
        "voters-move-one-by-one",
        UNCHANGED,
        "if and $before (ne $before $after)",
        "if and false (ne $before $after)",
        (f"{CHANGES}::test_a_change_is_refused",),
        "After an update no voter reaches another one.",
    ),
    PlantedFault(
        "a-quorum-that-was-not-joined-is-forgotten",
        UNCHANGED,
        "(lt $ready $count)",
        "(lt $ready 1)",
        (f"{CHANGES}::test_a_quorum_that_exists_is_named_until_all_have_joined",),
        "The first pod begins a quorum beside the one that it was to join.",
    ),
    PlantedFault(
        "a-template-of-volumes-changes",
        UNCHANGED,
        "{{- $found = default dict .metadata.annotations -}}\n",
        "",
        (f"{CHANGES}::test_volumes_have_the_id_of_their_cluster",),
        "Kubernetes refuses each upgrade of an earlier chart.",
    ),
    PlantedFault(
        "one-volume-of-three-is-enough",
        UNCHANGED,
        "{{- if $without -}}",
        "{{- if and false $without -}}",
        (f"{CHANGES}::test_without_their_set_all_volumes_are_begun_with",),
        "After a repair one controller is left of three voters.",
    ),
    PlantedFault(
        "volumes-forget-which-quorum-they-join",
        UNCHANGED,
        "{{- if and $joined (not .Values.existingQuorum) -}}",
        "{{- if and false (not .Values.existingQuorum) -}}",
        (f"{CHANGES}::test_without_their_set_volumes_know_the_quorum_that_they_join",),
        "After a repair the first pod begins a quorum beside the one that it was to join.",
    ),
    PlantedFault(
        "leaders-are-not-reached",
        REFUSED,
        "(or (not $clients) (eq (toJson",
        "(and (not $clients) (eq (toJson",
        (f"{VALUES}::test_values_that_do_not_fit_each_other_are_refused",),
        "A pod leads the quorum of brokers that cannot connect to it.",
    ),
    PlantedFault(
        "process-one-ignores-its-end",
        FORMAT,
        "trap 'exit 143' TERM\n",
        "",
        (f"{SCRIPTS}::test_one_that_waits_ends_when_its_pod_is_deleted",),
        "A pod that waits takes three minutes to end.",
    ),
    PlantedFault(
        "two-namespaces-have-one-job",
        MONITORING,
        "{{ .Release.Namespace }}/{{",
        "{{",
        (f"{CHART}::test_each_release_has_a_job_of_its_own",),
        "Alerts take two clusters for one.",
    ),
    PlantedFault(
        "users-are-always-fixed",
        SET,
        "{{- if .Values.fixedUser }}",
        "{{- if true }}",
        (f"{CHART}::test_a_cluster_may_assign_users_and_groups",),
        "OpenShift makes no pod.",
    ),
    PlantedFault(
        "pods-outlive-their-set",
        NOTES,
        "delete statefulset {{",
        "delete --cascade=orphan statefulset {{",
        (f"{CHART}::test_notes_and_page_repair_what_an_upgrade_does_not",),
        "The upgrade waits for the same pods again.",
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
