"""Planted faults in what dynamic configs and BROKER_LOGGER change while a controller runs."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

COMMITTED = "kraftctl/node/committed_configs.py"
NODE_CONFIGS = "kraftctl/controller/configuration_control/node_configs.py"
COMMITTED_TESTS = ("tests/node/test_committed_configs.py",)
NODE_CONFIGS_TESTS = ("tests/controller/test_node_configs.py",)
STEPS = "kraftctl/controller/state/dynamic_broker_config.py"
STEPS_TESTS = ("tests/controller/test_dynamic_broker_config.py",)
LOG_LEVELS_TESTS = ("tests/controller/test_log_levels.py",)
RUNNING_TESTS = ("tests/server/controllers/test_running_settings.py",)

FAULTS = (
    PlantedFault(
        "dynamic-configs-are-obeyed-before-they-are-committed",
        COMMITTED,
        "    view = image.journal.open_view(stable_offset + 1)\n",
        "    view = image.journal.open_view(1 << 62)\n",
        COMMITTED_TESTS,
        "A limit applies that was lost with the leadership.",
    ),
    PlantedFault(
        "a-change-behind-a-commit-is-forgotten",
        COMMITTED,
        "        self._awaited_offset = NOTHING if last_offset <= stable_offset else last_offset\n",
        "        self._awaited_offset = NOTHING\n",
        COMMITTED_TESTS,
        "The last of two changes in quick succession is shown and not obeyed.",
    ),
    PlantedFault(
        "a-start-obeys-configs-that-were-replaced-long-ago",
        COMMITTED,
        "        if self._awaited_offset == NOTHING or not controller.state.metadata_loaded:\n",
        "        if self._awaited_offset == NOTHING:\n",
        COMMITTED_TESTS,
        "While the log is read, brokers are refused by a limit that an operator has taken back.",
    ),
    PlantedFault(
        "the-default-of-the-cluster-precedes-a-nodes-own-config",
        NODE_CONFIGS,
        "        return {**static, **self.cluster, **self.own}\n",
        "        return {**static, **self.own, **self.cluster}\n",
        RUNNING_TESTS,
        "What is described is not what is obeyed.",
    ),
    PlantedFault(
        "zero-connections-of-an-address-lock-everybody-out",
        NODE_CONFIGS,
        "    _let_some_client_connect(config, used)\n    return used\n",
        "    return used\n",
        RUNNING_TESTS,
        "No client can connect to take the config back.",
    ),
    PlantedFault(
        "a-limit-is-not-shown-as-it-is-in-effect",
        "kraftctl/controller/configuration_control/describe_node_configs.py",
        "    if not limits:\n",
        "    if len(limits) < 9:\n",
        NODE_CONFIGS_TESTS,
        "An operator believes that a controller has another limit.",
    ),
    PlantedFault(
        "describing-configs-changes-them",
        STEPS,
        "        future = DynamicBrokerConfig(self._config)\n",
        "        future = self\n",
        STEPS_TESTS,
        "After a failover, a controller shows what was never committed, until it is restarted.",
    ),
    PlantedFault(
        "all-configs-of-one-commit-are-one-step",
        STEPS,
        "            self._use(_stored_before(image, self._batch_ends.pop(0), list(self._stored)))\n",
        "            self._batch_ends.pop(0)\n"
        "            self._use(_stored_before(image, stable_end, list(self._stored)))\n",
        STEPS_TESTS,
        "A leader that commits much together shows other configs than its standbys.",
    ),
    PlantedFault(
        "configs-that-are-read-at-a-start-are-steps",
        "kraftctl/controller/state/controller_state.py",
        "        elif self.metadata_loaded:\n",
        "        else:\n",
        STEPS_TESTS,
        "What a controller shows depends on how much history its snapshot has dropped.",
    ),
    PlantedFault(
        "a-limit-without-effect-is-the-source-of-a-value",
        "kraftctl/controller/configuration_control/describe_node_configs.py",
        " if key in used or not is_limit(key)}\n",
        "}\n",
        NODE_CONFIGS_TESTS,
        "An operator takes a value of the properties file for a dynamic one that is obeyed.",
    ),
    PlantedFault(
        "truststores-without-effect-are-shown",
        "kraftctl/controller/state/dynamic_broker_config.py",
        " or (changes_trust(key) and not self._config.dynamic_trust):\n",
        ":\n",
        NODE_CONFIGS_TESTS,
        "An operator believes that a controller trusts whom the log names.",
    ),
    PlantedFault(
        "keys-that-are-not-dynamic-are-shown",
        "kraftctl/controller/state/dynamic_broker_config.py",
        "        if key in BROKER_CONFIG_KEYS and _dynamic_definition(key) is None:\n",
        "        if not key:\n",
        ("tests/controller/test_describe_configs_oracle.py",),
        "log.roll.hours of the cluster is shown as the value of topics, and no broker obeys it.",
    ),
    PlantedFault(
        "the-clusters-default-has-what-only-a-node-can-have",
        "kraftctl/controller/state/dynamic_broker_config.py",
        "        return base in CLUSTER_LISTENER_KEYS if prefix else key not in PER_BROKER_CONFIGS\n",
        "        return True\n",
        ("tests/controller/test_describe_configs_oracle.py",),
        "listeners of the cluster are shown, and no node has them.",
    ),
    PlantedFault(
        "values-that-do-not-fit-each-other-are-shown",
        "kraftctl/controller/state/dynamic_broker_config.py",
        "        if check_as_kafka(properties).errors:\n            return True\n",
        "",
        ("tests/controller/test_describe_configs_oracle.py",),
        "log.retention.ms=0 is shown as if a node of Kafka had taken it.",
    ),
    PlantedFault(
        "configs-are-shown-as-they-are-stored",
        "kraftctl/controller/configuration_control/describe_own_configs.py",
        "            if definition.internal:\n                return text\n",
        "            return text\n",
        ("tests/controller/test_describe_configs_oracle.py",),
        "A tool that compares with false reads FALSE.",
    ),
    PlantedFault(
        "a-group-inherits-nothing-from-its-nodes",
        "kraftctl/controller/configuration_control/describe_own_configs.py",
        "            inherited = self._nodes.value(GROUP_CONFIG_SYNONYMS[name])\n",
        "            inherited = definition.default\n",
        ("tests/controller/test_describe_configs_oracle.py",),
        "The session timeout of a group is shown as Kafkas default, whatever its brokers have.",
    ),
    PlantedFault(
        "an-empty-list-of-keys-describes-nothing",
        "kraftctl/controller/configuration_control/describe_configs.py",
        "    wanted = set(keys) if keys else None  # no keys are all keys, as in Kafka\n",
        "    wanted = None if keys is None else set(keys)\n",
        NODE_CONFIGS_TESTS,
        "Clients that ask so get all configs from Kafka.",
    ),
    PlantedFault(
        "the-limit-of-a-listener-is-not-counted",
        "kraftctl/server/listeners/connection_quotas.py",
        "        self.by_listener[listener] = self.by_listener.get(listener, 0) + 1\n",
        "        self.by_listener.setdefault(listener, 0)\n",
        RUNNING_TESTS,
        "listener.name.controller.max.connections has no effect.",
    ),
    PlantedFault(
        "new-connections-are-not-counted-for-their-rate",
        "kraftctl/server/listeners/acceptor.py",
        "            self._admission.accepted()\n",
        "",
        RUNNING_TESTS,
        "max.connection.creation.rate has no effect.",
    ),
    PlantedFault(
        "a-standby-sends-changes-of-its-own-loggers-away",
        "kraftctl/node/request_gate.py",
        "            error = None  # any controller changes the levels of its own loggers\n",
        "            pass\n",
        COMMITTED_TESTS,
        "Only the active controller can be asked for more lines.",
    ),
    PlantedFault(
        "levels-of-loggers-change-when-they-are-only-validated",
        "kraftctl/controller/configuration_control/incremental_alter_configs.py",
        "        return ControllerResult.atomic_of([], response)\n",
        "        return ControllerResult.atomic_of([], response, levels)\n",
        LOG_LEVELS_TESTS,
        "A trial writes a line per request.",
    ),
    PlantedFault(
        "the-authorizer-makes-no-more-lines-when-its-logger-wants-them",
        "kraftctl/controller/configuration_control/alter_log_levels.py",
        "            self._state.authorizer.log.threshold = levels.number(AUTHORIZER_LOGGER)\n",
        "            pass\n",
        LOG_LEVELS_TESTS,
        "The level is shown as DEBUG, and grants are not logged.",
    ),
    PlantedFault(
        "lines-of-requests-keep-the-level-of-the-start",
        "kraftctl/server/running_settings.py",
        "        self._server.logs.requests.follow_level()\n",
        "",
        RUNNING_TESTS,
        "kraftctl.server.request is shown as DEBUG, and no request is logged.",
    ),
)
