"""Packs the tree of a package as an RPM, with the scripts of the Debian package: rpmbuild is needed."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path

from tests.supply_chain.package_tree import CONFFILE, MAN_PAGES, PACKAGES, PYTHON

UNITS = "usr/lib/systemd/system"

SPEC = """\
%global __os_install_post %{{nil}}
%global debug_package %{{nil}}
%global _build_id_links none
Name: kraftctl
Version: {version}
Release: 1
Summary: KRaft controller for unmodified Apache Kafka brokers
License: none chosen yet
AutoReqProv: no
Requires: /usr/bin/{python}, libc.so.6(GLIBC_{libc})(64bit), libstdc++.so.6()(64bit), /usr/sbin/useradd

%description
A controller of the metadata quorum, its tools, and a systemd unit. After the installation, edit
/{conffile}, format the directory with kraftctl format, and start kraftctl.service.

%install
cp -a {root}/. %{{buildroot}}/

%post
if [ "$1" = 1 ]; then set -- configure; else set -- configure "the version before"; fi
{postinst}

%preun
if [ "$1" != 0 ]; then exit 0; fi
set -- remove
{prerm}

%postun
{postrm}

%files
%defattr(-,root,root)
%config(noreplace) %attr(0640,root,root) /{conffile}
/usr/bin/kraftctl
/usr/lib/kraftctl
/{units}/kraftctl.service
/{man_pages}/*.1.gz
"""


def pack(root: Path, made: Path, version: str, seconds: int) -> Path:
    """Returns the package of the tree, in `made`."""
    spec, built = made / "kraftctl.spec", made / "built"
    scripts = {name: (PACKAGES / name).read_text() for name in ("postinst", "prerm", "postrm")}
    spec.write_text(
        SPEC.format(
            version=version,
            python=PYTHON,
            libc=platform.libc_ver()[1],
            conffile=CONFFILE,
            units=UNITS,
            man_pages=MAN_PAGES,
            root=root,
            **scripts,
        )
    )
    fixed = {
        "_topdir": f"{made}/top",
        "_rpmdir": str(built),
        "_rpmfilename": "%{NAME}-%{VERSION}-%{RELEASE}.%{ARCH}.rpm",
        "_buildhost": "localhost",
        "use_source_date_epoch_as_buildtime": "1",
        "clamp_mtime_to_source_date_epoch": "1",
    }
    command = ["rpmbuild", "--quiet", "-bb", str(spec)]
    for name, value in fixed.items():
        command += ["--define", f"{name} {value}"]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(seconds)}
    subprocess.run(command, check=True, env=environment, stderr=subprocess.DEVNULL)
    (package,) = built.iterdir()
    return package
