"""Planted faults in `kraftctl dev`: what it asks of a machine, and how it keeps its nodes running."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

PREREQUISITES = "tests/dev/test_prerequisites.py"
RESTARTS = "tests/dev/test_restarts.py"

FAULTS = (
    PlantedFault(
        "any-java-will-do",
        "kraftctl/dev/prerequisites.py",
        "    if int(version.group(1)) < JAVA_MIN:\n",
        "    if int(version.group(1)) < 8:\n",
        (PREREQUISITES,),
        "Brokers end with UnsupportedClassVersionError, after all has been fetched.",
    ),
    PlantedFault(
        "maven-is-always-needed",
        "kraftctl/dev/kafka_distribution.py",
        "    return why_unfit(with_maven=not is_remembered)\n",
        "    return why_unfit(with_maven=True)\n",
        (PREREQUISITES,),
        "A cluster whose jars are there does not start without Maven.",
    ),
    PlantedFault(
        "java-home-is-not-looked-at",
        "kraftctl/dev/prerequisites.py",
        "    if home and (java := ",
        "    if not home and (java := ",
        (PREREQUISITES,),
        "The Java of the PATH runs brokers, not the one that JAVA_HOME names.",
    ),
    PlantedFault(
        "tools-of-another-release",
        "kraftctl/dev/tools.py",
        "    return next((name for name in candidates if distribution.has_class(name)), None)",
        "    return candidates[-1] if candidates else None",
        ("tests/dev/test_tools.py::test_each_script_names_a_class_of_its_release",),
        "A cluster of Kafka 4.4 has a script kafka-configs that cannot start.",
    ),
    PlantedFault(
        "only-a-killed-node-starts-again",
        "kraftctl/dev/restarts.py",
        "        if node.running:\n",
        "        if node.running or (node.process and node.process.exit_code != -signal.SIGKILL):\n",
        (f"{RESTARTS}::test_a_broker_that_ends_in_any_way_starts_again",),
        "A broker that is stopped, or ends with an error, stays away.",
    ),
    PlantedFault(
        "a-node-that-cannot-run-is-started-twice-a-second",
        "kraftctl/dev/restarts.py",
        "is_quick = now_s - self._started_s < QUICK_END_S",
        "is_quick = False",
        (f"{RESTARTS}::test_a_node_that_ends_again_and_again_waits_longer_up_to_a_limit",),
        "A controller that cannot start takes a processor, and nothing names its log.",
    ),
    PlantedFault(
        "probes-on-another-port-in-each-run",
        "kraftctl/dev/session.py",
        "    port = _port_near(state.probes_port)\n",
        "    port = free_port()\n",
        ("tests/dev/test_settings.py::test_the_port_of_the_probes_is_the_same_in_each_run",),
        "A dashboard or a script of one run finds nothing in the next.",
    ),
    PlantedFault(
        "dev-ends-with-a-node-that-cannot-start",
        "kraftctl/dev/restarts.py",
        "        except OSError as error:\n",
        "        except ZeroDivisionError as error:\n",
        ("tests/dev/test_restarts.py::test_a_node_that_cannot_be_started_leaves_the_others_running",),
        "A full disk ends the whole cluster with a traceback.",
    ),
)
