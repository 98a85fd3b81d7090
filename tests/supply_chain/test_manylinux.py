"""A wheel gets the tag of each Linux that it fits; one with something of this machine is refused."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import setuptools

from tests.supply_chain.locked_distributions import ROOT
from tests.supply_chain.manylinux import foreign_libraries, searched_directories, with_manylinux_tag

SOURCE = """
#include <Python.h>
int foreign(void);
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "one", NULL, -1, NULL};
PyMODINIT_FUNC PyInit_one(void) { FOREIGN return PyModule_Create(&definition); }
"""

SETUP = """
from setuptools import Extension, setup
setup(name="one", version="1.dev3+gabc", ext_modules=[Extension("one", ["one.c"], {})])
"""

SECONDS = 1_800_000_000


def build(directory: Path, *, foreign: bool = False) -> Path:
    """A wheel of this machine with one object, linked as setuptools does it without more."""
    (directory / "one.c").write_text(SOURCE.replace("FOREIGN", "foreign();" if foreign else ""))
    (directory / "foreign.c").write_text("int foreign(void) { return 1; }\n")
    link = f'library_dirs=["{directory}"], runtime_library_dirs=["{directory}"], libraries=["foreign"]'
    (directory / "setup.py").write_text(SETUP.format(link if foreign else ""))
    library = ["cc", "-shared", "-fPIC", "foreign.c", "-Wl,-soname,libforeign.so", "-o", "libforeign.so"]
    subprocess.run(library, cwd=directory, check=True)
    flags = "" if foreign else " ".join(["cc", "-shared"])
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        "made",
        ".",
    ]
    variables = {**os.environ, "PYTHONPATH": "", "CFLAGS": "-g0"} | ({"LDSHARED": flags} if flags else {})
    subprocess.run(command, cwd=directory, check=True, env=variables)
    (wheel,) = (directory / "made").iterdir()
    return wheel


def test_a_wheel_has_the_tag_of_each_linux_that_it_fits(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    names = []
    for directory in (first, second):
        directory.mkdir()
        names.append(with_manylinux_tag(build(directory), SECONDS).name)
    assert re.search(r"^one-1\.dev3\+gabc-cp\d+-cp\d+-(\w+\.)?manylinux_2_\d+_\w+\.whl$", names[0])
    (wheel,) = (first / "made").iterdir()
    assert wheel.read_bytes() == (second / "made" / names[1]).read_bytes()


def test_a_wheel_with_something_of_this_machine_is_refused(tmp_path: Path) -> None:
    wheel = build(tmp_path, foreign=True)
    assert foreign_libraries(wheel) == ["libforeign.so"]
    assert str(tmp_path) in ":".join(searched_directories(wheel))
    with pytest.raises(SystemExit, match=r"fits this machine alone: .*libforeign\.so"):
        with_manylinux_tag(wheel, SECONDS)
    assert wheel.exists()


def test_objects_look_for_libraries_where_the_system_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever directory of its own the interpreter of the builder has."""
    given: dict[str, Any] = {}
    monkeypatch.setattr(setuptools, "setup", lambda **arguments: given.update(arguments))
    monkeypatch.setenv("KRAFTCTL_PURE", "1")
    runpy.run_path(str(ROOT / "setup.py"))
    command = given["cmdclass"]["build_ext"](setuptools.Distribution())
    command.compiler = SimpleNamespace(linker_so=["cc", "-shared", "-L/own/lib", "-Wl,-rpath,/own/lib"])
    command.extensions, command.parallel = [], 1
    command.build_extensions()
    assert command.compiler.linker_so == ["cc", "-shared", "-L/own/lib"]


def test_a_wheel_of_sources_stays_as_it_is(tmp_path: Path) -> None:
    wheel = tmp_path / "kraftctl-1-py3-none-any.whl"
    assert with_manylinux_tag(wheel, SECONDS) == wheel
