"""Finds what real brokers need of this machine: Java to run them, and Maven to fetch them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

JAVA_MIN = 17
"""Kafka's brokers and tools are compiled for this version since release 4.0."""

RESPONSE_SECONDS_MAX = 20


def java_binary() -> str | None:
    """Returns the `java` of JAVA_HOME, else of the PATH, else None."""
    home = os.environ.get("JAVA_HOME")
    if home and (java := shutil.which(os.path.join(home, "bin", "java"))):
        return java
    return shutil.which("java")


def why_unfit(*, with_maven: bool) -> str | None:
    """Returns a line that says what is missing or too old, and what to do; None when brokers can start.

    `with_maven`: Apache Kafka's jars have still to be fetched.
    """
    problems = [_why_no_java(), _why_no_maven() if with_maven else None]
    found = [problem for problem in problems if problem is not None]
    return f"{'; '.join(found)}. Next step: install what is missing, then run this again." if found else None


def _why_no_java() -> str | None:
    needed = f"Apache Kafka's brokers need Java {JAVA_MIN} or newer, and "
    java = java_binary()
    if java is None:
        home = os.environ.get("JAVA_HOME")
        there = f", nor is JAVA_HOME={home} one" if home else ""
        return f"{needed}there is no java on the PATH{there}"
    try:
        done = subprocess.run(
            [java, "-version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=RESPONSE_SECONDS_MAX,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{needed}`{java} -version` fails: {error}"
    said = done.stdout.decode("utf-8", "replace")
    version = re.search(r'version "(?:1\.)?(\d+)', said)
    if done.returncode != 0 or version is None:
        first = said.strip().splitlines()[:1] or [f"exit status {done.returncode}"]
        return f"{needed}`{java} -version` says: {first[0]}"
    if int(version.group(1)) < JAVA_MIN:
        return f"{needed}{java} is Java {version.group(1)}"
    return None


def _why_no_maven() -> str | None:
    if shutil.which("mvn"):
        return None
    return "Maven fetches Apache Kafka's jars, once, and there is no mvn on the PATH"
