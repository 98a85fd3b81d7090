"""Builds an image without an engine: the instructions of its Dockerfile, in trees below other roots.

The base is this machine's root, which has Debian and Python as the bases have, below layers on a tmpfs. Both
are mounted in a mount namespace of their own, so nothing of this machine changes. What runs in a tree has a
root that is read only, a user, /tmp and the volumes.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kraftctl.dev.processes import ManagedProcess

HOLD = 'mount -t tmpfs -o mode=755 tmpfs "$0" && echo mounted && exec sleep infinity'

MOUNT = """\
mount -t overlay overlay -o "$1" "$2"
mount --rbind /dev "$2/dev" && mount -t proc proc "$2/proc"
"""

INSTRUCTION = re.compile(r"^([A-Z]+)\s+(.*)$", re.DOTALL)

PYTHON_PATH = f"{sys.base_prefix}/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
"""Where the base has its Python. In the image it is /usr/local/bin."""


@dataclass
class Stage:
    """A stage of a Dockerfile: what is below it, and what its instructions say."""

    base: str
    instructions: list[tuple[str, str]] = field(default_factory=list)


def stages(dockerfile: Path, arguments: Mapping[str, str]) -> dict[str, Stage]:
    """The stages by name, the last one as "", with build arguments in their FROM."""
    text = re.sub(r"^\s*#.*\n", "", dockerfile.read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    found: dict[str, Stage] = {}
    known = dict(arguments)
    for line in filter(None, map(str.strip, text.splitlines())):
        match = INSTRUCTION.match(line)
        assert match is not None, line
        name, rest = match.groups()
        if name == "ARG" and not found:
            argument, _, value = rest.partition("=")
            known.setdefault(argument, value)
        elif name == "FROM":
            base, _, alias = rest.partition(" AS ")
            found[alias] = stage = Stage(re.sub(r"\$\{(\w+)\}", lambda each: known[each[1]], base))
        else:
            stage.instructions.append((name, rest))
    return found


class ImageTrees:
    """The layers of some images, for as long as it is entered."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._holder: subprocess.Popen[str] | None = None
        self._layers: dict[str, list[str]] = {}
        self._count = 0

    def __enter__(self) -> ImageTrees:
        self._directory.mkdir()
        self._holder = subprocess.Popen(
            ["unshare", "--mount", "--propagation", "private", "sh", "-c", HOLD, str(self._directory)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._holder.stdout is not None
        assert self._holder.stdout.readline() == "mounted\n"
        return self

    def __exit__(self, *_: object) -> None:
        assert self._holder is not None
        self._holder.kill()
        self._holder.wait()

    def add_base(self, name: str, script: str) -> None:
        """A base image: what a script writes into the current directory."""
        layer = self._new_directory("layer")
        self._inside("cd", layer, script=f"{script}\n")
        self._layers[name] = [layer]

    def build(self, image: str, dockerfile: Path, context: Path, arguments: Mapping[str, str]) -> BuiltImage:
        """Carries out the instructions. Raises AssertionError with the output of what fails."""
        mine: dict[str, list[str]] = {}
        for name, stage in stages(dockerfile, arguments).items():
            layer = self._new_directory("layer")
            below = mine.get(stage.base) or self._layers.get(stage.base, [])
            built = BuiltImage(self, [layer, *below])
            for instruction, rest in stage.instructions:
                self._carry_out(built, layer, mine, context, instruction, rest)
            mine[name] = built.layers
        self._layers[image] = mine[""]
        return built

    def _carry_out(
        self, built: BuiltImage, layer: str, mine: dict[str, list[str]], context: Path, name: str, rest: str
    ) -> None:
        match name:
            case "RUN":
                self._run_in(built, layer, [*built.shell, rest])
            case "COPY":
                *sources, target = [word for word in rest.split() if not word.startswith("--")]
                stage = re.search(r"--from=(\S+)", rest)
                root = mine[stage[1]][0] if stage else str(context)
                target = f"{layer}{os.path.join(built.directory, target)}".rstrip(".")
                many = "/" if target.endswith("/") or len(sources) > 1 else ""
                script = f"mkdir -p {shlex.quote(target if many else os.path.dirname(target))}\n"
                for source in sources:
                    is_tree = stage or (context / source).is_dir()
                    origin = f"{root}/{source.lstrip('/')}"
                    script += (
                        f"mkdir -p {target} && cp -a {origin}/. {target}\n"
                        if is_tree
                        else f"cp {origin} {target}\n"
                    )
                self._inside(script=script)
            case "ENV":
                for each in shlex.split(rest):
                    key, _, value = each.partition("=")
                    built.variables[key] = value
            case "USER":
                built.user = rest
            case "WORKDIR":
                built.directory = rest
            case "SHELL":
                built.shell = json.loads(rest)
            case "ENTRYPOINT":
                built.entrypoint = json.loads(rest)
            case "HEALTHCHECK":
                built.healthcheck = json.loads(rest[rest.index("[") :])
            case "ARG" | "LABEL" | "EXPOSE" | "VOLUME":
                pass
            case _:
                raise AssertionError(f"{name} is not carried out here")

    def _run_in(self, built: BuiltImage, layer: str, command: Sequence[str]) -> None:
        lower = ":".join([*built.layers[1:], "/"])
        options = f"lowerdir={lower},upperdir={layer},workdir={self._new_directory('work')}"
        script = (
            MOUNT + 'cd / && root=$2 dir=$3 && shift 3 && mkdir -p "$root$dir" && exec chroot "$root" "$@"'
        )
        entered = ["env", f"--chdir={built.directory}", *(f"{k}={v}" for k, v in built.variables.items())]
        pip = [f"{name}={value}" for name, value in os.environ.items() if name.startswith("PIP_")]
        words = [options, self._new_directory("root"), built.directory, *entered, f"PATH={PYTHON_PATH}", *pip]
        self._inside(*words, *command, script=script, own_namespace=True)

    def command_in(
        self,
        built: BuiltImage,
        words: Sequence[str],
        volumes: Mapping[str, Path],
        variables: Mapping[str, str],
    ) -> list[str]:
        """A command line that runs the words as the first process of a tree whose root is read only."""
        root = self._new_directory("root")
        script = MOUNT + 'root=$2; mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"\n'
        for target, source in volumes.items():
            script += f'mount --bind {shlex.quote(str(source))} "$root{target}"\n'
        script += "shift 2; exec chroot --userspec=" + shlex.quote(built.user) + ' --groups= "$root" "$@"'
        return [
            *self._entering(),
            *("unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec", script, "sh"),
            f"lowerdir={':'.join([*built.layers, '/'])}",
            root,
            *(
                "env",
                "-i",
                f"PATH={PYTHON_PATH}",
                *(f"{k}={v}" for k, v in {**built.variables, **variables}.items()),
            ),
            *words,
        ]

    def _entering(self) -> list[str]:
        assert self._holder is not None
        return ["nsenter", f"--mount=/proc/{self._holder.pid}/ns/mnt", "--"]

    def _new_directory(self, kind: str) -> str:
        self._count += 1
        name = f"{self._directory}/{kind}-{self._count}"
        self._inside("mkdir", name, script='"$@"')
        return name

    def _inside(self, *words: str, script: str, own_namespace: bool = False) -> str:
        apart = ["unshare", "--mount", "--pid", "--fork"] if own_namespace else []
        if words[:1] == ("cd",):
            script, words = f"cd {shlex.quote(words[1])}\n{script}", ()
        done = subprocess.run(
            [*self._entering(), *apart, "sh", "-ec", script, "sh", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{script}\n{words}\n{done.stdout}"
        return done.stdout

    def bytes_of(self, built: BuiltImage) -> int:
        """The size of what the image adds to its base."""
        return int(self._inside(built.layers[0], script='du -sb "$1"').split()[0])


class BuiltImage:
    """The layers of an image, topmost first, and how it is run."""

    def __init__(self, trees: ImageTrees, layers: list[str]) -> None:
        self._trees = trees
        self.layers = layers
        self.user = "0:0"
        self.directory = "/"
        self.shell = ["/bin/sh", "-c"]
        self.variables: dict[str, str] = {}
        self.entrypoint: list[str] = []
        self.healthcheck: list[str] = []
        self.seconds = 0.0
        """How long it took to build."""

    def size(self) -> int:
        """The bytes that it adds to its base."""
        return self._trees.bytes_of(self)

    def run(
        self,
        name: str,
        log: Path,
        volumes: Mapping[str, Path],
        variables: Mapping[str, str],
        words: Sequence[str] = (),
    ) -> ManagedProcess:
        command = self._trees.command_in(self, [*self.entrypoint, *words], volumes, variables)
        return ManagedProcess(name, command, log)


def first_process(container: ManagedProcess) -> int:
    """The process that is the container's first: it gets the signals of an engine."""
    (found,) = Path(f"/proc/{container.pid}/task/{container.pid}/children").read_text().split()
    return int(found)


def stop(container: ManagedProcess, seconds: float = 60.0) -> int | None:
    """As an engine does; returns the exit status."""
    os.kill(first_process(container), signal.SIGTERM)
    return container.wait(seconds)


def execute(container: ManagedProcess, user: str, words: Sequence[str]) -> tuple[int, str]:
    """Runs a command beside the first process, as an engine does for a health check."""
    uid, _, gid = user.partition(":")
    entering = [
        "nsenter",
        "-t",
        str(first_process(container)),
        "-m",
        "-p",
        "-r",
        "-w",
        "-S",
        uid,
        "-G",
        gid or uid,
    ]
    done = subprocess.run([*entering, *words], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr
