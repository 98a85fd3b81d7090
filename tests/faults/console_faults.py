"""Planted faults in `kraftctl console`: what others may read, what a name does in a page, wrong troubles."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

PAGES = "tests/console/test_served_pages.py"
TROUBLES = "tests/console/test_troubles.py"
EVENTS = "tests/console/test_event_words.py"
MARKS = "tests/console/test_trouble_marks.py"

FAULTS = (
    PlantedFault(
        "console-shows-no-stall",
        "kraftctl/console/troubles.py",
        "    elif evidence.quorum is not None and evidence.quorum.uncommitted_ms >= STALLED_MS:",
        "    elif evidence.quorum is not None and evidence.quorum.uncommitted_ms < 0:",
        (TROUBLES,),
        "The page is green while no record is committed.",
    ),
    PlantedFault(
        "console-does-not-escape",
        "kraftctl/console/page_drawing.py",
        "autoescape=True",
        "autoescape=False",
        (f"{PAGES}::test_names_of_others_are_only_texts",),
        "A client that may create a topic runs a script in the browser of an operator.",
    ),
    PlantedFault(
        "console-under-any-name",
        "kraftctl/console/access.py",
        "return name in self._names",
        "return bool(name)",
        (f"{PAGES}::test_another_name_of_this_host_is_refused",),
        "A page of others reads the console under a name that it owns.",
    ),
    PlantedFault(
        "console-keeps-the-token-in-a-cookie",
        "kraftctl/console/access.py",
        "hmac.compare_digest(value, self._cookie)",
        "hmac.compare_digest(value, self._token)",
        (f"{PAGES}::test_a_browser_exchanges_the_token_for_a_cookie",),
        "The token itself would be a cookie.",
    ),
    PlantedFault(
        "console-takes-anyone",
        "kraftctl/console/access.py",
        "elif self._is_bearer(headers) or self._has_cookie(headers):",
        "elif headers:",
        (f"{PAGES}::test_without_the_token_nothing_is_shown",),
        "Everyone in the network reads the metadata.",
    ),
    PlantedFault(
        "console-shows-secrets",
        "kraftctl/console/event_words.py",
        "value = shown_value(record.resource_type, record.name, record.value)",
        "value = record.value",
        (f"{EVENTS}::test_no_event_has_a_secret",),
        "A password is on the page.",
    ),
    PlantedFault(
        "console-has-no-stuck-reassignment",
        "kraftctl/console/troubles.py",
        "if any(replica_trouble(evidence, partition, each) is not None for each in missing):",
        "if not missing:",
        (TROUBLES,),
        "A reassignment to a dead broker is a note.",
    ),
    PlantedFault(
        "console-counts-what-it-found",
        "kraftctl/console/troubles.py",
        "left = max(count, len(found)) - sum(",
        "left = len(found) - sum(",
        (f"{TROUBLES}::test_what_is_not_looked_at_is_counted",),
        "Thousands of partitions without leader are 200.",
    ),
    PlantedFault(
        "console-drops-the-marks-of-troubles",
        "kraftctl/console/trouble_marks.py",
        "if not _is_sound(image.topics.partition(topic_id, index))",
        "if _is_sound(image.topics.partition(topic_id, index))",
        (MARKS,),
        "It is not known since when a partition has no leader.",
    ),
    PlantedFault(
        "console-ends-with-a-replaced-log",
        "kraftctl/console/live_log.py",
        "        if log is None or self._begins_again:\n",
        "        if log is None:\n",
        ("tests/console/test_live_log.py",),
        "The page stays at a log that is not there any more.",
    ),
    PlantedFault(
        "the-age-of-a-fetch-replaces-the-cause-of-a-fencing",
        "kraftctl/explain/why_broker.py",
        "    if broker_id not in evidence.contacts or not _has_expired(marks):\n",
        "    if not contact or not _has_expired(marks):\n",
        ("tests/explain/test_why_node.py",),
        "The first cause is how long ago a dead broker fetched, and not why it is fenced.",
    ),
    PlantedFault(
        "console-stops-with-a-picture-that-fails",
        "kraftctl/console/painter.py",
        "            return Painting(number, json.dumps(failed).encode(), self._draw(failed), 0)\n",
        "            raise\n",
        ("tests/console/test_painter.py::test_a_picture_that_fails_is_a_problem_until_the_next",),
        "One partition that the console cannot draw ends the page for good.",
    ),
    PlantedFault(
        "a-token-of-two-lines-is-taken",
        "kraftctl/cli/operate_access.py",
        "    if not is_header_text(token):\n",
        "    if not token.isascii():\n",
        ("tests/cli/test_operate_access.py",),
        "A header with a line break fails at each request, and the traceback has the token.",
    ),
    PlantedFault(
        "contacts-of-another-cluster",
        "kraftctl/console/quorum_reading.py",
        " and each.epoch in (None, view.leader_epoch)",
        "",
        ("tests/console/test_node_status.py",),
        "The page has heartbeats of brokers of another cluster.",
    ),
)
