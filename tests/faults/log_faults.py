"""Planted faults in what waits for others: readers of the log, name servers, files that are none."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

BACKGROUND = "kraftctl/server/logs/background_file.py"
OUTPUT = "protocol/kraftctl_security/standard_output.py"
LOOKUPS = "kraftctl/server/process/detached_calls.py"
FILES = "protocol/kraftctl_security/small_files.py"
UNREAD = "tests/server/logs/test_unread_output.py"
DESCRIPTORS = "tests/server/process/test_foreign_descriptors.py"
COMMANDS = "tests/cli/test_output_without_reader.py"
NAMES = "tests/server/logs/test_logger_names.py"
REFUSED = "tests/cli/test_refused_start.py"

FAULTS = (
    PlantedFault(
        "the-loop-waits-for-the-reader-of-the-log",
        "kraftctl/server/logs/logging.py",
        "    if descriptor is None:\n",
        "    if True:\n",
        ("tests/cli/test_unread_log.py::test_it_stops_while_the_log_is_not_read",),
        "A full pipe stops the controller: no request is answered.",
    ),
    PlantedFault(
        "lines-that-were-left-out-are-not-counted",
        BACKGROUND,
        "            last.count += 1\n",
        "            pass\n",
        (f"{UNREAD}::test_the_number_is_where_lines_are_missing",),
        "The log says that one line is missing, where there are thousands.",
    ),
    PlantedFault(
        "what-fails-is-tried-again-for-ever",
        BACKGROUND,
        "            self._missing = gap if gap.count else None\n",
        "            self._waiting.appendleft(gap)\n",
        (f"{UNREAD}::test_what_takes_nothing_is_tried_with_the_next_line_only",),
        "A controller whose log has no reader takes a processor to find that out.",
    ),
    PlantedFault(
        "the-last-lines-are-not-waited-for",
        BACKGROUND,
        "            self._thread.join(CLOSE_STEP_SECONDS)\n",
        "            self._thread.join(0)\n",
        (f"{UNREAD}::test_the_last_lines_are_written_while_the_reader_takes_some",),
        "The reason of a crash is not in the log.",
    ),
    PlantedFault(
        "old-lines-go-before-the-reason-of-the-end",
        BACKGROUND,
        "            if self._has_log:\n                self._leave_out_old()\n",
        "",
        (f"{UNREAD}::test_the_last_lines_go_before_older_ones_at_the_end",),
        "A reader that is slow gets old lines, and not the reason of the crash.",
    ),
    PlantedFault(
        "a-descriptor-that-does-not-block-loses-lines",
        OUTPUT,
        "        except BlockingIOError:\n            _await_room(descriptor)\n",
        "        except BlockingIOError:\n            return\n",
        (f"{UNREAD}::test_what_is_read_late_is_whole_and_in_order",),
        "Another process sets O_NONBLOCK, and lines are missing without a word.",
    ),
    PlantedFault(
        "a-line-that-cannot-be-formatted-ends-its-request",
        "kraftctl/server/logs/log_handler.py",
        "            line = self.format(_unformatted(record, error))\n",
        "            line = 'lost'\n",
        (f"{UNREAD}::test_a_line_that_cannot_be_formatted_is_named[an-object-without-a-text]",),
        "A wrong call of the logger fails what it is about.",
    ),
    PlantedFault(
        "what-is-printed-waits-for-its-reader",
        "kraftctl/server/logs/printed_lines.py",
        "    sys.stderr = PrintedLines()\n",
        "",
        (f"{UNREAD}::test_what_is_printed_on_standard_error_is_in_the_log",),
        "Standard error is a full pipe: a library prints a warning, and the controller stops.",
    ),
    PlantedFault(
        "a-refused-start-is-not-in-the-log",
        "kraftctl/cli/refused_start.py",
        '            logger.critical("Exiting: %s", reason)\n',
        "            pass\n",
        (f"{REFUSED}::test_the_log_and_standard_error_have_the_reason",),
        "The log of a container ends without a reason.",
    ),
    PlantedFault(
        "a-name-has-a-thread-for-each-attempt",
        LOOKUPS,
        "        if running is None:\n",
        "        if True:\n",
        (f"{DESCRIPTORS}::test_names_without_an_answer_delay_nothing",),
        "While a name server does not answer, each attempt of each peer adds a thread.",
    ),
    PlantedFault(
        "a-fifo-is-read-as-an-empty-file",
        FILES,
        "        if not stat.S_ISREG(found.st_mode):\n",
        "        if False:\n",
        (f"{DESCRIPTORS}::test_what_is_read_again_has_to_be_a_file",),
        "The error is about an empty keystore, after ten seconds.",
    ),
    PlantedFault(
        "a-format-ends-with-its-reader",
        OUTPUT,
        "                if self.ends_without_reader and error.errno == errno.EPIPE:\n",
        "                if error.errno == errno.EPIPE:\n",
        (f"{COMMANDS}::test_a_format_without_a_reader_is_whole",),
        "`kraftctl format | head` formats one of three directories.",
    ),
    PlantedFault(
        "a-failed-authentication-is-a-line-about-connections",
        "kraftctl/server/security/listener_security.py",
        "            refusals=self._logs.failed_authentications,\n",
        "            refusals=self._logs.refusals,\n",
        ("tests/server/security/test_sasl_connection.py::test_a_failure_is_one_line_of_the_log",),
        "Who looks for failed logins by the name of the logger finds none.",
    ),
    PlantedFault(
        "each-logger-has-a-limit-of-its-own",
        "kraftctl/server/logs/rate_limited_log.py",
        "        other._limit = self._limit\n",
        "        pass\n",
        (f"{NAMES}::test_loggers_share_the_limit_of_lines",),
        "A client that fails in several ways writes as many lines for each.",
    ),
)
