"""Planted faults in what has to know every record type, every API or every metadata.version."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

ROWS = "protocol/kraftctl_protocol/record_types.py"
SERVICE = "tests/record_types/test_service.py"
EXPORTER = "tests/record_types/test_exporter.py"
IN_SNAPSHOT = f"{SERVICE}::test_a_snapshot_has_what_it_did"

FAULTS = (
    PlantedFault(
        "a-snapshot-without-delegation-tokens",
        "kraftctl/image/delegation_tokens_image.py",
        "        if not features.is_delegation_token_supported(metadata_version):\n",
        "        if metadata_version >= 0:\n",
        (IN_SNAPSHOT,),
        "Once the log is trimmed, delegation tokens are gone.",
    ),
    PlantedFault(
        "a-snapshot-without-controllers",
        "kraftctl/image/cluster_image.py",
        "        if features.is_controller_registration_supported(metadata_version):\n",
        "        if metadata_version < 0:\n",
        (IN_SNAPSHOT,),
        "Once the log is trimmed, the registrations of controllers are gone.",
    ),
    PlantedFault(
        "a-part-of-the-image-is-in-no-snapshot",
        "kraftctl/image/image_writer.py",
        "list(image.parts.values())\n",
        "list(image.parts.values())[:-1]\n",
        (IN_SNAPSHOT,),
        "A controller replays its records, and has lost them after its next snapshot.",
    ),
    PlantedFault(
        "a-rollback-forgets-a-removed-acl",
        "kraftctl/image/acls_image.py",
        "            self._journal.remember(self, record.id, self.acls[record.id])\n",
        "",
        (f"{SERVICE}::test_a_rollback_takes_it_back",),
        "A leader that resigns denies, or allows, what its followers do not.",
    ),
    PlantedFault(
        "replay-ignores-a-field",
        "kraftctl/image/cluster_image.py",
        "            cordoned_directories=record.cordoned_log_dirs,\n",
        "",
        (f"{SERVICE}::test_every_field_matters_to_the_image",),
        "New replicas are placed in directories that an operator has cordoned.",
    ),
    PlantedFault(
        "a-snapshot-repeats-a-field-wrong",
        "kraftctl/metadata/broker_registration.py",
        "            record.is_migrating_zk_broker = self.is_migrating_zk_broker\n",
        "            pass\n",
        (f"{SERVICE}::test_a_snapshot_repeats_every_field_that_it_sets", IN_SNAPSHOT),
        "A registration is another one after the next snapshot.",
    ),
    PlantedFault(
        "a-registration-of-a-controller-is-not-logged",
        "kraftctl/controller/results/record_notices.py",
        "    if isinstance(record, RegisterControllerRecord):\n",
        "    if isinstance(record, RegisterControllerRecord) and record.controller_id < 0:\n",
        (f"{SERVICE}::test_a_log_line_says_it",),
        "The log does not show when a controller came back.",
    ),
    PlantedFault(
        "a-secret-field-is-not-in-its-row",
        ROWS,
        'secret="salt stored_key server_key"',
        'secret="salt stored_key"',
        ("tests/cli/test_dump.py", "tests/spark/test_tables.py"),
        "Dumps and exports have a key of each SCRAM user.",
    ),
    PlantedFault(
        "a-version-of-a-record-has-no-level",
        ROWS,
        '"3.3-IV3 3.3-IV3 3.7-IV2 4.3-IV0"',
        '"3.3-IV3 3.3-IV3 3.7-IV2"',
        (f"{SERVICE}::test_the_metadata_version_that_allows_each_version_is_known",),
        "The first cordoned directory stops the controller.",
    ),
    PlantedFault(
        "the-history-ignores-a-field",
        ROWS,
        'values="incarnation_id zk_migration_ready end_points features"',
        'values="incarnation_id end_points features"',
        (f"{EXPORTER}::test_the_history_takes_every_field",),
        "A change of it is in no version and in no event.",
    ),
    PlantedFault(
        "a-difference-without-quotas",
        "spark/kraftctl_spark/views/difference.py",
        "for kind in KINDS if kind not in (PARTITIONS, QUORUM))\n",
        'for kind in KINDS if kind not in (PARTITIONS, QUORUM) and kind.name != "quotas")\n',
        (f"{EXPORTER}::test_a_difference_compares_what_it_changes",),
        "Two states with other quotas are reported as equal.",
    ),
    PlantedFault(
        "no-view-of-features",
        "spark/kraftctl_spark/views/registration.py",
        "for kind in KINDS if kind != QUORUM}\n",
        'for kind in KINDS if kind != QUORUM and kind.name != "features"}\n',
        (f"{EXPORTER}::test_a_view_of_the_state_shows_what_it_changes",),
        "A question about the levels at a point in time has no view.",
    ),
    PlantedFault(
        "the-timeline-has-no-tokens",
        "spark/kraftctl_spark/report/queries/timeline.py",
        "\"history_table IN ('scram_credentials', 'delegation_tokens')\"",
        "\"history_table IN ('scram_credentials')\"",
        (f"{EXPORTER}::test_the_report_has_a_mark_for_it",),
        "A report shows no sign of a delegation token.",
    ),
    PlantedFault(
        "a-level-that-changes-metadata-does-not-say-so",
        "protocol/kraftctl_protocol/metadata_versions.py",
        '    MetadataVersion(30, "4.3-IV0", changes_metadata=True),\n',
        '    MetadataVersion(30, "4.3-IV0"),\n',
        ("tests/metadata/test_features.py::test_a_level_that_allows_a_record_changes_metadata",),
        "A downgrade that loses cordoned directories is allowed.",
    ),
    PlantedFault(
        "a-constant-is-another-level",
        "kraftctl/metadata/features.py",
        "IBP_3_6_IV0: Final = 12\n",
        "IBP_3_6_IV0: Final = 13\n",
        ("tests/metadata/test_features.py::test_the_constants_are_the_levels_of_their_names",),
        "Leader epochs rise, or stay, where Kafka's do not.",
    ),
    PlantedFault(
        "a-refusal-of-acls-has-no-items",
        "kraftctl/controller/results/error_responses.py",
        "    ApiKey.DELETE_ACLS: _delete_acls,\n",
        "",
        ("tests/test_apis.py::test_a_refusal_has_the_error_wherever_the_response_has_a_place_for_one",),
        "A client whose DeleteAcls is refused believes that nothing matched.",
    ),
)
