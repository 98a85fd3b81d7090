"""Planted faults in what forgets a name."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

FORGETTING = "spark/kraftctl_spark/forgetting"
FORGET = "tests/spark/test_forget.py"
EXPIRED = "tests/spark/test_forget_expired.py"
AS_IF_EXPIRED = f"{EXPIRED}::test_it_is_as_if_the_log_had_had_the_pseudonym"
FLAGS = "tests/spark/test_forget_flags.py"
AS_IF = f"{FORGET}::test_everything_else_is_as_if_the_log_had_the_pseudonym"
ELSEWHERE = f"{FORGET}::test_where_it_may_be_something_else_is_said"

FAULTS = (
    PlantedFault(
        "a-forgotten-name-stays-in-replaced-files",
        f"{FORGETTING}/forget.py",
        "        output.remove_replaced(0, even_published=True)\n",
        "",
        (f"{AS_IF}[topic]",),
        "The files that had the name are kept for open scans.",
    ),
    PlantedFault(
        "a-forgotten-name-stays-in-the-history",
        f"{FORGETTING}/forget.py",
        "        elif history is not None and found.computes_history:\n",
        "        elif False:\n",
        (f"{AS_IF}[topic]",),
        "Versions and events have the name still.",
    ),
    PlantedFault(
        "a-forgotten-name-stays-in-lists",
        f"{FORGETTING}/record_texts.py",
        '_TEXTS: Final = ("string", "[]string")',
        '_TEXTS: Final = ("string",)',
        (f"{AS_IF}[principal]",),
        "A delegation token has the name among its renewers.",
    ),
    PlantedFault(
        "a-forgotten-name-stays-within-structs",
        f"{FORGETTING}/record_texts.py",
        '                    self.make(one, f"{above}{field.name}.")',
        "                    pass",
        (f"{AS_IF}[principal]",),
        "A quota has the user's name.",
    ),
    PlantedFault(
        "a-longer-name-is-forgotten-too",
        f"{FORGETTING}/wanted_name.py",
        "        return text == self.whole or self._bare_word.search(text) is not None",
        "        return self.bare in text",
        (f"{FORGET}::test_a_longer_name_is_another_one",),
        "Another topic is said to be the one that was to be forgotten.",
    ),
    PlantedFault(
        "a-search-does-not-open-bytes-of-records",
        f"{FORGETTING}/search.py",
        "                    self._payloads(rows)",
        "                    pass",
        (f"{FORGET}::test_a_search_finds_what_is_only_in_bytes",),
        "The raw bytes of a record have the name, and the command says that nothing has it.",
    ),
    PlantedFault(
        "a-search-finds-no-word-in-texts",
        f"{FORGETTING}/wanted_name.py",
        "self._bare_word.search(text) is not None",
        "text == self.bare",
        (f"{ELSEWHERE}[text]",),
        "The name in a reason is not found.",
    ),
    PlantedFault(
        "a-search-takes-punctuation-for-letters",
        f"{FORGETTING}/wanted_name.py",
        '_WITHIN_WORDS: Final = r"[\\w@-]"',
        '_WITHIN_WORDS: Final = r"[\\w@^$-]"',
        (f"{ELSEWHERE}[expression]",),
        "The name in an expression is not found, and the command says that nothing has it.",
    ),
    PlantedFault(
        "bytes-that-are-not-understood-are-removed-unasked",
        f"{FORGETTING}/without_name.py",
        "Changed(None, True, False) if name.everywhere else None",
        "Changed(None, True, False)",
        (f"{FORGET}::test_bytes_that_are_not_understood_are_removed_on_demand[undecodable]",),
        "A record is lost that has the name within another one, or by accident.",
    ),
    PlantedFault(
        "forgetting-finishes-another-name",
        f"{FORGETTING}/forget.py",
        "{one.pseudonym for one in unfinished(output)} & {name.pseudonym}:",
        "{one.pseudonym for one in unfinished(output)}:",
        (f"{FORGET}::test_another_name_is_not_finished",),
        "A name that is still there is said to be forgotten.",
    ),
    PlantedFault(
        "forgetting-is-finished-before-the-search",
        "spark/kraftctl_spark/commands/forget.py",
        "        if found.found:\n",
        "        if False:\n",
        (f"{ELSEWHERE}[config]",),
        "The command says that the name is nowhere although it has found it.",
    ),
    PlantedFault(
        "a-forgotten-name-stays-in-manifests",
        "spark/kraftctl_spark/publish/publication.py",
        "        if is_new:\n",
        "        if False:\n",
        ("tests/spark/publish/test_forgotten.py::test_no_byte_of_a_published_name_is_left[iceberg]",),
        "Iceberg's manifests have the least and the greatest value of each column.",
    ),
    PlantedFault(
        "a-forgotten-name-stays-where-records-have-expired",
        f"{FORGETTING}/forget.py",
        "        if history is not None and found.history is not None and found.history_rows:\n",
        "        if False:\n",
        (f"{AS_IF_EXPIRED}[topic-certain]",),
        "A history that cannot be computed again keeps the name.",
    ),
    PlantedFault(
        "a-forgotten-name-stays-in-events-of-partitions",
        f"{FORGETTING}/event_texts.py",
        "            return self._partition(subject), before, after\n",
        "            return subject, before, after\n",
        (f"{AS_IF_EXPIRED}[topic-certain]",),
        "Events name the partitions of a topic.",
    ),
    PlantedFault(
        "a-forgotten-name-stays-in-events-of-what-ended",
        f"{FORGETTING}/event_texts.py",
        "        if before.valid_to_offset is not None and before.ended_by != GAP:\n",
        "        if False:\n",
        (f"{AS_IF_EXPIRED}[principal-certain]",),
        "The event of a removed ACL has the principal.",
    ),
    PlantedFault(
        "a-forgotten-name-stays-in-what-was-never-set",
        f"{FORGETTING}/history_without_name.py",
        "        if table == NOT_KNOWN:\n",
        "        if False:\n",
        (f"{AS_IF_EXPIRED}[principal-certain]",),
        "A record about a user that the log never set has its name.",
    ),
    PlantedFault(
        "a-digest-of-a-forgotten-name-stays",
        f"{FORGETTING}/version_texts.py",
        '    if kind is CONFIGS and is_redacted(row["value"] or ""):\n',
        "    if False:\n",
        (f"{EXPIRED}::test_a_digest_of_a_value_is_one_of_the_name",),
        "Who has the key finds a short name by trying some.",
    ),
    PlantedFault(
        "a-name-that-is-in-use-is-forgotten",
        "spark/kraftctl_spark/commands/forget.py",
        "    if found.by_table:\n",
        "    if False:\n",
        (f"{FLAGS}::test_a_name_that_the_cluster_has_is_refused[topics-none]",),
        "The next records bring the name back, and the history takes it for another one.",
    ),
    PlantedFault(
        "a-name-in-use-is-looked-for-in-an-old-history",
        "spark/kraftctl_spark/history/history_tables.py",
        "        for batches in _together([one for one in raw if one.end > state.end]):\n",
        "        for batches in ():\n",
        (f"{FLAGS}::test_a_name_that_the_cluster_has_is_refused[acls-behind]",),
        "What the last batch has set is not found.",
    ),
    PlantedFault(
        "a-second-line-of-a-name-is-ignored",
        "spark/kraftctl_spark/commands/name_flags.py",
        "    if len(lines) != 1 or not lines[0]:\n",
        "    if not lines:\n",
        (f"{FLAGS}::test_a_file_without_exactly_one_name_is_refused",),
        "Another name of the file stays, and the command says that it is done.",
    ),
)
