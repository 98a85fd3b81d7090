"""Apache Kafka's jars from Maven Central, from which `kraftctl dev` and the tests start brokers.

Nothing of Kafka is kept in this repository. A small POM names what a broker and the command line tools need
at run time, Maven fetches it once, and the class path is remembered per Kafka version in the user's cache
directory.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from zipfile import ZipFile

from kraftctl.dev.prerequisites import java_binary, why_unfit

DEFAULT_KAFKA_VERSION = "4.3.1"

LOG4J_VERSION = "2.25.4"

DEPENDENCIES = (
    ("org.apache.kafka", "kafka_2.13", "{kafka}"),
    ("org.apache.kafka", "kafka-tools", "{kafka}"),
    ("org.apache.kafka", "kafka-server", "{kafka}"),
    ("org.apache.kafka", "kafka-metadata", "{kafka}"),
    ("org.apache.kafka", "kafka-raft", "{kafka}"),
    ("org.apache.kafka", "kafka-clients", "{kafka}"),
    ("org.apache.logging.log4j", "log4j-slf4j-impl", LOG4J_VERSION),
    ("org.apache.logging.log4j", "log4j-core", LOG4J_VERSION),
    ("org.apache.logging.log4j", "log4j-1.2-api", LOG4J_VERSION),
)
"""The dependencies as (group, artifact, version). log4j-1.2-api is for brokers before 4.0, which call
log4j 1 directly."""

DEPENDENCY_TEMPLATE = """\
    <dependency>
      <groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>
      <exclusions>
        <exclusion><groupId>org.slf4j</groupId><artifactId>slf4j-reload4j</artifactId></exclusion>
        <exclusion><groupId>ch.qos.reload4j</groupId><artifactId>reload4j</artifactId></exclusion>
      </exclusions>
    </dependency>
"""

JARS_WITH_TOOLS = ("kafka_2.13-", "kafka-tools-")

POM_TEMPLATE = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>kraftctl</groupId><artifactId>kafka-class-path</artifactId><version>1</version>
  <dependencies>
{dependencies}  </dependencies>
</project>
"""

LOG4J_CONFIGURATION = """\
status = error
appender.stdout.type = Console
appender.stdout.name = STDOUT
appender.stdout.layout.type = PatternLayout
appender.stdout.layout.pattern = [%d{yyyy-MM-dd HH:mm:ss,SSS}] %p %m (%c)%n
rootLogger.level = ${sys:kraftctl.log.level:-INFO}
rootLogger.appenderRef.stdout.ref = STDOUT
"""
"""It is in properties, not YAML: brokers before 4.0 lack the YAML parser that log4j needs."""

QUICK_JAVA_OPTIONS = (
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-XX:-UsePerfData",
    "-Xshare:auto",
    "-Djava.awt.headless=true",
)
"""The options for processes that run for seconds: only the quick compiler, no parallel collector threads."""


class KafkaUnavailableError(Exception):
    """Java or Maven is missing, or Maven could not resolve Kafka; the message says which and what to do."""


class KafkaDistribution:
    """One resolved version of Kafka: a class path, and how to run its main classes."""

    def __init__(self, version: str, directory: Path, classpath: str) -> None:
        self.version = version
        self.directory = directory
        self.classpath = classpath
        self.java = _java_binary()
        self._tool_classes: set[str] = set()

    def has_class(self, name: str) -> bool:
        """Returns whether one of the jars with Kafka's tools has this class."""
        if not self._tool_classes:
            for jar in self.classpath.split(os.pathsep):
                if os.path.basename(jar).startswith(JARS_WITH_TOOLS):
                    with ZipFile(jar) as archive:
                        self._tool_classes.update(archive.namelist())
        return f"{name.replace('.', '/')}.class" in self._tool_classes

    def command(
        self,
        main_class: str,
        *arguments: str,
        heap: str = "512m",
        log_level: str = "INFO",
        quick: bool = True,
    ) -> list[str]:
        """Returns the command line that runs `main_class`; not `quick`: as an installation would run it."""
        return [
            self.java,
            f"-Xmx{heap}",
            *(QUICK_JAVA_OPTIONS if quick else ()),
            f"-Dlog4j2.configurationFile={self.directory / 'log4j2.properties'}",
            f"-Dkraftctl.log.level={log_level}",
            "-cp",
            self.classpath,
            main_class,
            *arguments,
        ]

    def node_command(self, properties_file: Path, *, heap: str = "512m", quick: bool = True) -> list[str]:
        """Returns the command line of a broker or a Java controller."""
        return self.command("kafka.Kafka", str(properties_file), heap=heap, quick=quick)


def cache_directory() -> Path:
    """Returns where class paths are remembered: $KRAFTCTL_CACHE, else the user's cache directory."""
    if configured := os.environ.get("KRAFTCTL_CACHE"):
        return Path(configured)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kraftctl"


def why_unavailable(version: str = DEFAULT_KAFKA_VERSION) -> str | None:
    """Returns what this machine lacks to fetch and run `version`, as one line; None when it lacks nothing."""
    is_remembered = _remembered_classpath(cache_directory() / f"kafka-{version}", _pom(version)) is not None
    return why_unfit(with_maven=not is_remembered)


def resolve_kafka(
    version: str = DEFAULT_KAFKA_VERSION, progress: Callable[[str], None] | None = None
) -> KafkaDistribution:
    """Returns the distribution of `version`, fetched by Maven when it is not there yet.

    `progress` receives one line at a time while something is being fetched. Concurrent processes wait for
    the first one. Raises KafkaUnavailableError.
    """
    directory = cache_directory() / f"kafka-{version}"
    directory.mkdir(parents=True, exist_ok=True)
    with _locked(directory / ".lock"):
        pom = _pom(version)
        classpath = _remembered_classpath(directory, pom)
        if classpath is None:
            classpath = _resolve_with_maven(version, directory, pom, progress or _no_progress)
        configuration = directory / "log4j2.properties"
        if not configuration.exists() or configuration.read_text() != LOG4J_CONFIGURATION:
            configuration.write_text(LOG4J_CONFIGURATION)
    return KafkaDistribution(version, directory, classpath)


def _no_progress(line: str) -> None:
    """Prints nothing, whatever the line is."""


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with open(path, "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _pom(version: str) -> str:
    return POM_TEMPLATE.format(
        dependencies="".join(
            DEPENDENCY_TEMPLATE.format(group=group, artifact=artifact, version=wanted.format(kafka=version))
            for group, artifact, wanted in DEPENDENCIES
        )
    )


def _remembered_classpath(directory: Path, pom: str) -> str | None:
    pom_file, classpath_file = directory / "pom.xml", directory / "classpath.txt"
    if not pom_file.exists() or not classpath_file.exists() or pom_file.read_text() != pom:
        return None
    classpath = classpath_file.read_text().strip()
    return (
        classpath if classpath and all(os.path.exists(jar) for jar in classpath.split(os.pathsep)) else None
    )


def _resolve_with_maven(version: str, directory: Path, pom: str, progress: Callable[[str], None]) -> str:
    if (why := why_unfit(with_maven=True)) is not None:
        raise KafkaUnavailableError(why)
    progress(f"Fetching Apache Kafka {version} from Maven Central (once; remembered in {directory}) ...")
    (directory / "pom.xml").write_text(pom)
    output = directory / "classpath.new"
    command = [
        "mvn",
        "-B",
        "-f",
        str(directory / "pom.xml"),
        "dependency:build-classpath",
        f"-Dmdep.outputFile={output}",
    ]
    tail = _run_maven(command, progress)
    if not output.exists():
        raise KafkaUnavailableError(f"Maven could not resolve Apache Kafka {version}:\n" + "\n".join(tail))
    classpath = output.read_text().strip()
    output.replace(directory / "classpath.txt")
    progress(f"Apache Kafka {version} is ready (jars: {len(classpath.split(os.pathsep))}).")
    return classpath


def _run_maven(command: list[str], progress: Callable[[str], None]) -> list[str]:
    """Runs Maven, reporting every fifth jar; returns the last lines of the output."""
    tail: list[str] = []
    fetched = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            tail = [*tail[-30:], line.rstrip()]
            if "Downloaded from" in line and ".jar" in line:
                fetched += 1
                if fetched % 5 == 1:
                    jar = Path(line.split(".jar", 1)[0]).name
                    progress(f"  jars fetched: {fetched}, {jar} the latest")
    return tail


def _java_binary() -> str:
    java = java_binary()
    if java is None:
        raise KafkaUnavailableError(why_unfit(with_maven=False) or "there is no java on the PATH")
    return java


def print_progress(line: str) -> None:
    """Prints the progress for a terminal."""
    print(line, file=sys.stderr, flush=True)


def main() -> int:
    """Runs for `make dev`, before it installs a package: 1, and the reason, if brokers cannot be started."""
    why = why_unavailable()
    if why is not None:
        print(f"make dev: {why}", file=sys.stderr)
    return int(why is not None)


if __name__ == "__main__":
    sys.exit(main())
