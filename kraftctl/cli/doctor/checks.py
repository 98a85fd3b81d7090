"""The table of checks: a new one is one row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from kraftctl.cli.doctor.certificate_checks import check_certificates
from kraftctl.cli.doctor.configuration_checks import (
    check_configuration,
    check_keys,
    check_listeners,
    check_readable_secrets,
)
from kraftctl.cli.doctor.diagnosis import Diagnosis
from kraftctl.cli.doctor.directory_checks import (
    check_access,
    check_flushes,
    check_identity,
    check_open_files,
    check_room,
)
from kraftctl.cli.doctor.named_file_checks import check_named_files
from kraftctl.cli.doctor.peer_checks import (
    check_addresses,
    check_clock,
    check_peer_identity,
    check_versions,
)
from kraftctl.cli.doctor.principal_checks import check_principals
from kraftctl.cli.doctor.subject import Subject
from kraftctl.cli.doctor.upgrade import check_upgrade


class Needs(Enum):
    """What has to be there for a check."""

    FILE = auto()
    CONFIGURATION = auto()
    """A file that a controller starts with."""
    NETWORK = auto()
    """The same, and other controllers may be asked."""


@dataclass(frozen=True)
class DoctorCheck:
    """A row of the table."""

    name: str
    needs: Needs
    run: Callable[[Subject], Iterator[Diagnosis]]


KEYS_CHECK: Final = "keys"
FLUSHES_CHECK: Final = "flushes"

CHECKS: Final = (
    DoctorCheck("configuration", Needs.FILE, check_configuration),
    DoctorCheck("listeners", Needs.FILE, check_listeners),
    DoctorCheck(KEYS_CHECK, Needs.FILE, check_keys),
    DoctorCheck("secrets", Needs.FILE, check_readable_secrets),
    DoctorCheck("files", Needs.CONFIGURATION, check_named_files),
    DoctorCheck("principals", Needs.CONFIGURATION, check_principals),
    DoctorCheck("certificates", Needs.CONFIGURATION, check_certificates),
    DoctorCheck("identity", Needs.CONFIGURATION, check_identity),
    DoctorCheck("access", Needs.CONFIGURATION, check_access),
    DoctorCheck("room", Needs.CONFIGURATION, check_room),
    DoctorCheck(FLUSHES_CHECK, Needs.CONFIGURATION, check_flushes),
    DoctorCheck("open-files", Needs.FILE, check_open_files),
    DoctorCheck("addresses", Needs.NETWORK, check_addresses),
    DoctorCheck("peers", Needs.NETWORK, check_peer_identity),
    DoctorCheck("clock", Needs.NETWORK, check_clock),
    DoctorCheck("versions", Needs.NETWORK, check_versions),
)

UPGRADE_CHECK: Final = DoctorCheck("upgrade", Needs.CONFIGURATION, check_upgrade)


def diagnoses(
    subject: Subject, *, with_upgrade: bool, with_flushes: bool = True
) -> list[tuple[str, Diagnosis]]:
    """Carries out the checks whose needs are met; each result has the name of its check.

    Without `with_flushes` nothing is written.
    """
    met = {Needs.FILE}
    if subject.config is not None:
        met.add(Needs.CONFIGURATION)
        if not subject.is_offline:
            subject.ask_peers()
            met.add(Needs.NETWORK)
    rows = (*CHECKS, UPGRADE_CHECK) if with_upgrade else CHECKS
    return [
        (row.name, each)
        for row in rows
        if row.needs in met and (with_flushes or row.name != FLUSHES_CHECK)
        for each in row.run(subject)
    ]
