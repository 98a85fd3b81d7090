"""Planted faults in what is asked of a machine before real brokers are started."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

PREREQUISITES = "tests/dev/test_prerequisites.py"

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
)
