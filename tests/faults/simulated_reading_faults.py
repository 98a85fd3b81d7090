"""Planted faults that all controllers have alike, or that only who reads can see."""

from __future__ import annotations

from tests.faults.simulated_fault import SimulatedFault, planted

FAULTS: tuple[SimulatedFault, ...] = (
    planted(
        "leaders-of-a-change-do-not-count-as-imbalanced",
        "kraftctl/image/topics_image.py",
        "        if old.leader != new.leader or old.replicas is not new.replicas:\n",
        "        if old.replicas is not new.replicas:\n",
        "No controller returns partitions to their preferred leaders.",
        "isrs",
    ),
    planted(
        "configs-of-a-removed-topic-stay",
        "kraftctl/image/replay.py",
        "        image.configurations.replay_topic_removed("
        "image.topics.replay_remove_topic(record.topic_id))\n",
        "        image.topics.replay_remove_topic(record.topic_id)\n",
        "A topic that is created anew has the configs of its predecessor, on every controller.",
        "brokers",
    ),
    planted(
        "other-features-are-not-described",
        "kraftctl/controller/cluster_control/api_versions.py",
        "    levels = dict(committed.levels)\n",
        "    levels: dict[str, int] = {}\n",
        "Clients do without what is finalized.",
    ),
)
