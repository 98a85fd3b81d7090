"""`kraftctl-export forget` replaces the name of a principal or of a topic by a pseudonym, in all files."""

from __future__ import annotations

import argparse
import logging
from typing import TYPE_CHECKING

from kraftctl_protocol.counted_text import counted
from kraftctl_spark.commands.name_flags import add_name_flags, name_of
from kraftctl_spark.commands.output_flag import add_output_flags, output_of, store_of
from kraftctl_spark.commands.publish_flags import add_catalog_flags, check_formats, targets_of

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

    from kraftctl_spark.forgetting.forget import Planned
    from kraftctl_spark.forgetting.wanted_name import WantedName
    from kraftctl_spark.stores.durable import Hook
    from kraftctl_spark.tables.commit import Commit
    from kraftctl_spark.tables.forgot import Forgot, ForgottenName
    from kraftctl_spark.tables.output import Output

NEEDED = ("pyarrow",)

LONGER_PLACES_SHOWN_MAX = 20

log = logging.getLogger(__name__)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_output_flags(parser)
    add_name_flags(parser)
    parser.add_argument(
        "--everywhere",
        action="store_true",
        help="replace the word also where it may be something else: in names of other things, and within"
        " values of configurations and other texts",
    )
    parser.add_argument(
        "--accept-present",
        action="store_true",
        help="where the cluster has the name still, forget it all the same: what is exported of it later has "
        "the name again",
    )
    parser.add_argument(
        "--as",
        dest="continued",
        metavar="PSEUDONYM",
        help="continue with the pseudonym that this name has already, as status shows it [a new one]",
    )
    parser.add_argument(
        "--execute", action="store_true", help="do it; without this flag, only say what would be done"
    )
    add_catalog_flags(parser)


def run(options: argparse.Namespace, hook: Hook) -> int:
    """Returns 0 when the name is nowhere, or --execute is not given; 1 if some places still have it, or
    nothing was replaced and longer words have it.
    """
    from kraftctl_spark.forgetting.forget import plan, unfinished
    from kraftctl_spark.forgetting.still_there import unknown_before

    name, status = _name(options), 0
    with output_of(options, hook, to_write=options.execute) as output:
        output.check_exists()
        _check_continued(output, name, options.continued)
        _check_gone(output, name, accepted=options.accept_present)
        options.formats = _formats(output)
        check_formats(options, store_of(options))
        if options.execute:
            status = _executed(options, hook, output, name)
        else:
            with output.undisturbed():
                planned = plan(output, name)
            for line in _planned(planned, unfinished(output), options.formats):
                print(line)
        if end := unknown_before(output):
            print(
                f"the records before offset {end} have expired, and no history beside the tables has them: a "
                "history elsewhere still has it: delete that directory"
            )
    return status


def _executed(options: argparse.Namespace, hook: Hook, output: Output, name: WantedName) -> int:
    from kraftctl_spark.forgetting.forget import (
        finish,
        replace_name,
        tables_with_old_files,
        unfinished,
    )
    from kraftctl_spark.forgetting.search import Search
    from kraftctl_spark.publish.publication import PublicationFailedError
    from kraftctl_spark.publish.publisher import Publisher

    commit = replace_name(output, name)
    if commit is not None and commit.forgot is not None:
        print(_done(commit, name, commit.forgot))
    else:
        print(f"no record has this {name.kind}: nothing was replaced")
    due, targets = tables_with_old_files(output), list(targets_of(options, hook, store_of(options)))
    found = Search(name)
    try:
        for target in targets:
            Publisher(output, target).publish(removed=due)
            found.published(output, target)
    except PublicationFailedError as error:
        log.error("the publication failed: %s; its tables may still have the name: repeat it", error)
        return 1
    found.all_of(output.log.store)
    for place, count in sorted(found.found.items()):
        print(f"left: {place}: {count} times")
    for line in _within(found.within):
        print(line)
    print(f"searched {found.files} files with {found.bytes} bytes, pages decoded")
    is_replaced = commit is not None or options.continued is not None
    if found.found:
        for line in _what_is_next(output, name, is_replaced):
            print(line)
        return 1
    finish(output, name)
    for one in sorted({one.pseudonym for one in unfinished(output) if one.kind == name.kind}):
        print(f"not finished: {one}: if it was this name, repeat the command with --as {one}")
    print("the name was found nowhere" + (" except within longer words" if found.within else ""))
    if found.within and not is_replaced:
        print("nothing was replaced: give the whole name if one of these words is meant")
        return 1
    return 0


def _name(options: argparse.Namespace) -> WantedName:
    from kraftctl_protocol.record_types import PRINCIPAL, TOPIC_NAME
    from kraftctl_spark.forgetting.wanted_name import WantedName, new_pseudonym
    from kraftctl_spark.tables.manifest import ExportRefusedError

    is_topic, whole = name_of(options)
    kind = TOPIC_NAME if is_topic else PRINCIPAL
    name = WantedName(kind, whole, options.continued or new_pseudonym(), options.everywhere)
    if kind == PRINCIPAL and not (":" in whole and whole.partition(":")[0]):
        raise ExportRefusedError("a principal is written with its type, as User:alice: repeat it so")
    if name.bare in ("", "*"):
        raise ExportRefusedError(f"{whole!r} is no name of one {kind}: give that of one")
    return name


def _check_continued(output: Output, name: WantedName, continued: str | None) -> None:
    from kraftctl_spark.tables.manifest import ExportRefusedError

    known = {(one.kind, one.pseudonym) for one in output.log.state().forgotten}
    if continued is not None and (name.kind, continued) not in known:
        raise ExportRefusedError(
            f"--as {continued}: no {name.kind} of {output.where} has this pseudonym: status shows them"
        )


def _check_gone(output: Output, name: WantedName, *, accepted: bool) -> None:
    """Refuses a name that the cluster has still. It is not written: the log of this command stays."""
    if accepted:
        return
    from kraftctl_spark.forgetting.still_there import still_there, unknown_before
    from kraftctl_spark.tables.manifest import ExportRefusedError

    found = still_there(output, name)
    if found.by_table:
        things = ", ".join(f"{count} of {table}" for table, count in sorted(found.by_table.items()))
        raise ExportRefusedError(
            f"before offset {found.end} of {output.where}, the cluster has this {name.kind} still: {things}. "
            "Remove it from the cluster, export that with kraftctl-export run, and repeat the command. With "
            "--accept-present, it is forgotten all the same, and later records may bring it back"
        )
    if end := unknown_before(output):
        raise ExportRefusedError(
            f"what was before offset {end} of {output.where} is not known: its records have expired, and no "
            f"history beside the tables has them. The cluster may have this {name.kind} still: look there. "
            "With --accept-present, it is forgotten all the same, and later records may bring it back"
        )


def _planned(found: Planned, left: list[ForgottenName], formats: list[str]) -> Iterator[str]:
    yield f"would replace the name in {found.records} records"
    for batch, records in found.batches:
        yield f"  offsets {batch.start} to {batch.end - 1}: {records} records, {len(batch.files)} files"
    if found.losing:
        yield f"would remove bytes that are not understood, and have the name, from {found.losing} of them"
    if found.computes_history and found.records:
        yield "would compute the history again"
    if found.history_rows:
        rows = counted(sum(found.history_rows.values()), "row")
        files = counted(len(found.history_rows), "file")
        yield f"would replace it in {rows} of the history, {files}: records have expired that made them"
    yield f"would delete the old files, and {found.removed_files} that were replaced before, immediately"
    for kind in formats if found.is_needed else ():
        yield f"would remove these tables as {kind} and publish them again: their versions begin again"
    if left:
        yield f"{len(left)} earlier ones are not finished"
    yield "nothing was done: --execute does it"


def _done(commit: Commit, name: WantedName, forgot: Forgot) -> str:
    done = f"commit {commit.number} has {name.pseudonym} in {counted(forgot.records, 'record')}"
    files = 0 if commit.history is None else len(commit.history.added)
    return f"{done} and in {counted(files, 'file')} of the history" if files else done


def _what_is_next(output: Output, name: WantedName, is_replaced: bool) -> Iterator[str]:
    """Yields what to do where some places are left."""
    from kraftctl_spark.tables.uploads import LEFTOVER_SECONDS

    if young := output.young_uploads():
        yield (
            f"{counted(young, 'file')} of the store may be of an upload that was interrupted: this command "
            f"deletes those that are {LEFTOVER_SECONDS // 3_600} hours old"
        )
    if not name.everywhere:
        yield "it may be something else there: --everywhere replaces it in such places, too"
    if is_replaced:
        yield f"--as {name.pseudonym} continues it with the same pseudonym"


def _within(places: Counter[str]) -> Iterator[str]:
    for place, count in places.most_common(LONGER_PLACES_SHOWN_MAX):
        yield f"within longer words, which stay: {place}: {count} times"
    if len(places) > LONGER_PLACES_SHOWN_MAX:
        yield f"within longer words in {len(places) - LONGER_PLACES_SHOWN_MAX} more places"


def _formats(output: Output) -> list[str]:
    """Returns the formats in which the tables were ever published."""
    from kraftctl_spark.publish.publication_state import publication_states

    return [name.lower() for name in publication_states(output.log.store)]
