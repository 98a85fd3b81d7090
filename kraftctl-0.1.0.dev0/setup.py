"""Compile the pure packages, and what each request runs through, with mypyc.

Without a C compiler the sources are installed as they are. KRAFTCTL_PURE=1 asks for that, and KRAFTCTL_PURE=0
for an error instead.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

from setuptools import Command, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
PURE = os.environ.get("KRAFTCTL_PURE", "")
"""1 to install the sources as they are, 0 never to, empty to compile if there is a C compiler."""

OPT_LEVEL = os.environ.get("KRAFTCTL_OPT_LEVEL", "3")
"""How far the C compiler optimises: 3 for a release, g for a quick build (docs/adr/0008)."""

RELEASE_FLAGS = ["-flto", "-fno-semantic-interposition"] if OPT_LEVEL == "3" else []
"""Functions of other modules are inlined, too: up to 8 % less processor time (docs/performance.md)."""

METADATA_COMMANDS = {"egg_info", "dist_info", "sdist", "check_compiler"}
"""Commands that run before a build and do not need the extensions."""

GENERATED_GROUPS = 4
"""The number of shared objects for the generated messages: enough for two to four cores."""

PURE_CONTRACT = "The pure core"
"""The import contract in pyproject.toml that lists the pure, and therefore compiled, packages."""

OWN_SHARED_OBJECTS = {
    "kraftctl.controller": "kraftctl_controller",
    "kraftctl.raft": "kraftctl_raft",
    "kraftctl.node": "kraftctl_raft",
    "kraftctl_protocol": "kraftctl_wire",
}
"""The shared object of each pure package, the slowest first; all others share the last one."""

OTHER_SHARED_OBJECT = "kraftctl_image"

RIM_SHARED_OBJECT = "kraftctl_rim"
"""Of the modules around the pure core that each request runs through."""

TRASHCAN = ROOT / "native/trashcan.h"
"""Read before all native code; says why."""


class ParallelBuildExt(build_ext):
    """One C compiler per core; setuptools alone would run them one after the other. An interpreter that was
    built in a directory of its own would have its objects look for libraries there, on any machine.
    """

    def finalize_options(self) -> None:
        super().finalize_options()
        if self.parallel is None:
            self.parallel = os.cpu_count() or 1

    def build_extensions(self) -> None:
        linker = self.compiler.linker_so
        self.compiler.linker_so = [word for word in linker if not word.startswith("-Wl,-rpath")]
        super().build_extensions()


class BuildWithQuestions(build_py):
    """Writes the questions about a history in the SQL of each engine, which the tree has in one."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            roots = [str(ROOT / root) for root in (".", "protocol", "spark")]
            # What the build requires may be in a directory that only this process knows.
            path = os.pathsep.join([*roots, *filter(None, sys.path)])
            variables = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
            target = str(Path(self.build_lib, "kraftctl_spark/history/sql").absolute())
            shutil.rmtree(target, ignore_errors=True)  # `make build` keeps the results of earlier builds.
            writer = ("-m", "kraftctl_spark.history.questions.write", target)
            subprocess.run([sys.executable, *writer], check=True, env=variables)


def why_no_compiler() -> str | None:
    """What keeps an extension from being compiled here, in one line; None when nothing does."""
    compiler = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    include = sysconfig.get_path("include")
    with TemporaryDirectory() as directory:
        source, made = Path(directory, "trial.c"), Path(directory, "trial.so")
        source.write_text("#include <Python.h>\nint trial(void) { return PY_MAJOR_VERSION; }\n")
        command = [*shlex.split(compiler), "-shared", "-fPIC", f"-I{include}", str(source), "-o", str(made)]
        try:
            done = subprocess.run(command, capture_output=True, text=True)
        except OSError as error:
            return f"the C compiler `{compiler}` cannot be run: {error.strerror}"
    if done.returncode == 0:
        return None
    if not Path(include, "Python.h").exists():
        return f"{include} has no Python.h (python3-dev or python3-devel of the distribution installs it)"
    said = next(
        (line for line in done.stderr.splitlines() if "error" in line), f"exit status {done.returncode}"
    )
    return f"the C compiler `{compiler}` fails: {said}"


def is_compiled() -> bool:
    """Whether extensions are compiled; says on standard error when a compiler is missing."""
    if PURE not in ("", "0"):
        return False
    why = why_no_compiler()
    if why is not None and PURE == "0":
        sys.exit(f"kraftctl cannot be compiled: {why}")
    if why is not None:
        print(f"kraftctl is not compiled, and needs several times the processor time: {why}", file=sys.stderr)
    return why is None


class CheckCompiler(Command):
    """`setup.py check_compiler`: say whether the build is about to compile, and for how long."""

    user_options: ClassVar[list[tuple[str, str | None, str]]] = []

    def initialize_options(self) -> None: ...

    def finalize_options(self) -> None: ...

    def run(self) -> None:
        if is_compiled():
            print("compiling kraftctl: this takes some minutes the first time", file=sys.stderr)


def sources_under(directory: Path) -> list[str]:
    """Every module below `directory`, relative to the root, in a stable order."""
    return sorted(str(path.relative_to(ROOT)) for path in directory.rglob("*.py"))


def tool_settings(tool: str) -> Any:
    """The settings of one tool in pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"][tool]


def pure_packages() -> list[str]:
    """The pure packages, as pyproject.toml lists them."""
    contracts = tool_settings("importlinter")["contracts"]
    (packages,) = [each["source_modules"] for each in contracts if each["name"].startswith(PURE_CONTRACT)]
    return list(packages)


def rim_sources() -> list[str]:
    """The modules around the pure core that are compiled: single ones, and those of whole folders."""
    rim = tool_settings("kraftctl")
    left_out = {f"{module.replace('.', '/')}.py" for module in rim["interpreted-rim"]}
    sources: list[str] = []
    for name in rim["compiled-rim"]:
        path = name.replace(".", "/")
        inside = [each for each in sources_under(ROOT / path) if not each.endswith("__init__.py")]
        sources += [each for each in inside or [f"{path}.py"] if each not in left_out]
    return sources


def groups() -> list[tuple[list[str], str | None]]:
    """The groups to compile, for mypycify: (files, name of the shared object)."""
    by_name: dict[str, list[str]] = {name: [] for name in OWN_SHARED_OBJECTS.values()}
    for package in pure_packages():
        root = ROOT / "protocol" if package == "kraftctl_protocol" else ROOT
        sources = sources_under(root / package.replace(".", "/"))
        by_name.setdefault(OWN_SHARED_OBJECTS.get(package, OTHER_SHARED_OBJECT), []).extend(sources)
    messages = [path for path in by_name["kraftctl_wire"] if "/generated/" in path]
    by_name["kraftctl_wire"] = [path for path in by_name["kraftctl_wire"] if path not in messages]
    for n in range(GENERATED_GROUPS):
        by_name[f"kraftctl_messages_{n}"] = messages[n::GENERATED_GROUPS]
    by_name[RIM_SHARED_OBJECT] = rim_sources()
    return [(files, name) for name, files in by_name.items() if files]


def extensions() -> list[Any]:
    """One extension per module, over a few shared objects of native code."""
    if METADATA_COMMANDS.intersection(sys.argv) or not is_compiled():
        return []
    import mypyc
    from mypyc.build import mypycify

    parts = groups()
    files = [path for group, _ in parts for path in group]
    # Without a cache: mypyc 2.4 loses attribute bitmaps of classes that it reads back from one.
    options = ["--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", os.devnull]
    # No object names a directory of this build: two builds of one commit are equal.
    directories = {str(ROOT): ".", str(Path(mypyc.__file__).parent): "mypyc"}
    renamed = [f"-ffile-prefix-map={path}={name}" for path, name in directories.items()]
    made = mypycify(options + files, opt_level=OPT_LEVEL, debug_level="0", separate=parts)
    for extension in made:
        # Those of single modules only import a shared object, and do not find mypyc's headers.
        if extension.name.endswith("__mypyc"):
            native = [*RELEASE_FLAGS, *renamed, "-include", str(TRASHCAN)]
            extension.extra_compile_args = [*extension.extra_compile_args, *native]
            extension.extra_link_args = [*extension.extra_link_args, f"-O{OPT_LEVEL}", *RELEASE_FLAGS]
            extension.depends = [*extension.depends, str(TRASHCAN)]
    return made


setup(
    ext_modules=extensions(),
    cmdclass={
        "build_ext": ParallelBuildExt,
        "build_py": BuildWithQuestions,
        "check_compiler": CheckCompiler,
    },
)
