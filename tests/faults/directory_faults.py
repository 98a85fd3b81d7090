"""Planted faults in the choice of the directory of the log, and in what is said of a file that fails."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

DIRECTORIES = "tests/storage/test_log_directories.py"
RUNNING = (
    "tests/server/controllers/test_disk_failures.py"
    "::test_what_ends_a_running_controller_names_file_action_and_next_step"
)
CALLS = "tests/storage/test_file_errors.py"

FAULTS = (
    PlantedFault(
        "a-supervisor-formats-where-the-log-was",
        "kraftctl/storage/formatter.py",
        "        if self.ignore_formatted and not self.log_is_lost:\n",
        "        if False:\n",
        ("tests/storage/test_log_directories.py::test_a_supervisor_does_not_format_where_the_log_was",),
        "A disk that is not mounted is a new node, with the id of one that has voted.",
    ),
    PlantedFault(
        "reordered-directories-start",
        "kraftctl/storage/log_directories.py",
        "    refuse_log_elsewhere(directories)\n    for reason",
        "    for reason",
        (f"{DIRECTORIES}::test_it_is_refused_before_anything_is_written",),
        "A controller whose log.dirs were reordered begins an empty log, and votes again.",
    ),
    PlantedFault(
        "promises-are-no-evidence",
        "kraftctl/storage/metadata_evidence.py",
        "    of_promises = _of_promises(log_dir) if RECOVERY_POINT in names else None\n",
        "    of_promises = None\n",
        (f"{DIRECTORIES}::test_it_is_refused_before_anything_is_written",),
        "A voter whose log was moved away votes again from another directory.",
    ),
    PlantedFault(
        "format-makes-a-second-log",
        "kraftctl/storage/formatter.py",
        "        refuse_log_elsewhere(directories)\n",
        "",
        (f"{DIRECTORIES}::test_format_makes_no_second_log",),
        "A new first entry of log.dirs is formatted as the directory of the log beside the real one.",
    ),
    PlantedFault(
        "a-directory-that-left-the-list-is-forgotten",
        "kraftctl/cli/start.py",
        "    note_data_directories(directories, directory_id)\n",
        "",
        (f"{DIRECTORIES}::test_a_log_whose_directory_has_left_the_list",),
        "The first entry of log.dirs is dropped, and the next one begins an empty log.",
    ),
    PlantedFault(
        "an-unformatted-directory-is-ignored",
        "kraftctl/storage/log_directories.py",
        "    for log_dir in ensemble.empty:\n",
        "    for log_dir in ensemble.empty[:0]:\n",
        (f"{DIRECTORIES}::test_it_is_refused_before_anything_is_written",),
        "A disk that is not mounted goes unnoticed, which Kafka refuses.",
    ),
    PlantedFault(
        "what-cannot-be-read-is-not-there",
        "kraftctl/storage/properties_file.py",
        "    except FileNotFoundError:\n        return None\n",
        "    except OSError:\n        return None\n",
        (f"{DIRECTORIES}::test_it_is_refused_before_anything_is_written",),
        "A meta.properties without permissions counts as none, and format is the advice.",
    ),
    PlantedFault(
        "descriptors-are-closed-twice",
        "kraftctl/storage/segment.py",
        "        if descriptor != CLOSED:\n            os.close(descriptor)\n"
        "        self.offset_index.close()\n",
        "        os.close(descriptor)\n        self.offset_index.close()\n",
        (f"{CALLS}::test_each_call_of_a_life",),
        "A segment that cannot be removed ends the controller with 'Bad file descriptor'.",
    ),
    PlantedFault(
        "a-failing-write-has-no-path",
        "kraftctl/storage/snapshots.py",
        "        try:\n            write_all(self._descriptor, data)\n        except OSError as error:\n"
        "            raise self._cannot_write(error) from error\n        self.size_bytes",
        "        write_all(self._descriptor, data)\n        self.size_bytes",
        (f"{CALLS}::test_each_call_of_a_life",),
        "A full disk during a download is '[Errno 28] No space left on device', and nothing else.",
    ),
    PlantedFault(
        "every-errno-has-the-same-next-step",
        "protocol/kraftctl_protocol/file_errors.py",
        "    step = OTHERWISE if number is None else NEXT_STEPS.get(number, OTHERWISE)\n",
        "    step = OTHERWISE\n",
        (RUNNING,),
        "A full disk and a missing permission have the advice to look at the disk.",
    ),
    PlantedFault(
        "a-meta-properties-that-lost-its-lines-is-of-zookeeper",
        "kraftctl/storage/meta_properties.py",
        "    if not is_whole or find_evidence(log_dir).shows > Shows.NOTHING:\n",
        "    if not is_whole and False:\n",
        (f"{DIRECTORIES}::test_it_is_refused_before_anything_is_written",),
        "After a power failure the operator leaves the directory that holds the log.",
    ),
    PlantedFault(
        "an-own-directory-that-is-not-mounted-is-new",
        "kraftctl/storage/log_directories.py",
        "        if note is not None and note.metadata_log_dir == str(log_dir.absolute()):\n",
        "        if note is not None and note.metadata_log_dir == str(other):\n",
        (f"{DIRECTORIES}::test_it_is_refused_before_anything_is_written",),
        "The mount point is formatted, and the node votes again with an empty log.",
    ),
    PlantedFault(
        "a-note-of-a-later-release-is-replaced",
        "kraftctl/storage/data_directory_note.py",
        "    except DamagedNoteError:\n",
        "    except StorageError:\n",
        (f"{DIRECTORIES}::test_a_note_of_another_release_is_left_as_it_is",),
        "A downgrade deletes what the later release has noted, and says nothing.",
    ),
    PlantedFault(
        "an-unreadable-note-guards-nothing",
        "kraftctl/storage/log_directories.py",
        "        note = None if other == log_dir else read_data_directory_note(other)\n",
        "        try:\n            note = None if other == log_dir else read_data_directory_note(other)\n"
        "        except StorageError:\n            continue\n",
        (f"{DIRECTORIES}::test_a_note_that_cannot_be_read_guards_the_log_all_the_same",),
        "A supervisor formats the mount point of the log, because a note is damaged.",
    ),
    PlantedFault(
        "a-directory-id-that-is-lost-is-a-new-replica",
        "kraftctl/storage/meta_properties.py",
        "        if point is None or is_reserved(point.directory_id):\n",
        "        if point is None or point is not None:\n",
        (f"{DIRECTORIES}::test_a_replica_whose_meta_properties_lost_its_directory_id_stays_itself",),
        "The voter becomes an observer, and its promises are dropped.",
    ),
)
