"""Planted faults in the containment of failing requests and in the bounds of decoding."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

CONTAINMENT = "tests/node/test_containment.py"
FRAMES = "tests/protocol/test_frames.py"
INCOMING_FRAMES = "tests/server/connections/test_incoming_frames.py"

THROTTLED = "tests/server/connections/test_throttled_clients.py"

FAULTS = (
    PlantedFault(
        "a-client-that-has-used-up-its-quota-is-served",
        "kraftctl/server/connections/connection.py",
        "        self._mute(muted_seconds(answer))\n",
        "",
        (THROTTLED,),
        "A client of old versions that does not wait by itself creates any number of partitions.",
    ),
    PlantedFault(
        "a-response-that-is-encoded-before-the-commit-mutes-no-client",
        "kraftctl/server/connections/throttled_clients.py",
        "    response = unshared(response)\n",
        "",
        (THROTTLED,),
        "As above, of all requests that are accepted.",
    ),
    PlantedFault(
        "a-muted-client-sends-whole-frames",
        "kraftctl/server/connections/connection.py",
        "        waits = self.busy or self._state == states.MUTED\n",
        "        waits = self.busy\n",
        (f"{THROTTLED}::test_a_frame_that_is_not_whole_stays_with_it",),
        "Clients that wait for their quota hold megabytes each, and those of others are closed.",
    ),
    PlantedFault(
        "a-request-of-a-muted-client-is-older-than-it-is-read",
        "kraftctl/server/connections/connection.py",
        "            self.last_active = self._owner.now()  # Kafka reads it no earlier\n",
        "            pass\n",
        (f"{THROTTLED}::test_a_request_that_waited_counts_from_when_it_is_served",),
        "It times out where Kafka serves it, and the longest duration is that of the quota.",
    ),
    PlantedFault(
        "the-timer-of-a-muted-client-keeps-its-connection",
        "kraftctl/server/connections/connection.py",
        "            self._muted.cancel()\n",
        "            pass\n",
        (f"{THROTTLED}::test_it_is_forgotten_when_it_leaves",),
        "Clients of a tiny quota that leave and return fill the memory for weeks.",
    ),
    PlantedFault(
        "every-version-of-a-listed-api-is-served",
        "kraftctl/apis/api_table.py",
        "    return api if api is not None and api.serves(version) else None\n",
        "    return api\n",
        ("tests/server/connections/test_connection.py",),
        "A request is handled in a version that ApiVersions does not list.",
    ),
    PlantedFault(
        "an-owner-has-any-number-of-tokens",
        "kraftctl/controller/security/token_limits.py",
        "    if tokens.count_of(token.owner) >= limits.per_owner_max:\n",
        "    if False:\n",
        ("tests/controller/test_token_limits.py",),
        "Every authenticated user fills the memory of all nodes.",
    ),
    PlantedFault(
        "renewers-have-any-length",
        "kraftctl/controller/security/token_limits.py",
        "    if names_bytes > NAMES_BYTES_MAX:\n",
        "    if False:\n",
        ("tests/controller/test_token_limits.py",),
        "8,800 tokens had 1.0 GB of renewers.",
    ),
    PlantedFault(
        "tokens-have-no-quota",
        "kraftctl/controller/security/token_limits.py",
        "        error = quota.admit(1)\n",
        "        error = None\n",
        ("tests/controller/test_token_limits.py",),
        "One user renews tokens at any rate, and each renewal is a record in the log.",
    ),
    PlantedFault(
        "removed-tokens-count",
        "kraftctl/image/delegation_tokens_image.py",
        "self.count_of(token.owner) - 1)\n",
        "self.count_of(token.owner))\n",
        ("tests/controller/test_token_limits.py",),
        "An owner whose tokens have ended gets no new ones.",
    ),
    PlantedFault(
        "an-owner-without-a-type-gets-a-token",
        "kraftctl/controller/security/delegation_token_control.py",
        "request.owner_principal_name and request.owner_principal_type is None:",
        "False:",
        ("tests/controller/test_delegation_tokens.py",),
        "Kafka refuses it: the token would be of a user that the client has not named.",
    ),
    PlantedFault(
        "tokens-expire-by-the-monotonic-clock",
        "kraftctl/controller/security/delegation_token_control.py",
        "        token for token in state.image.delegation_tokens.tokens.values()"
        " if _expired(token, moment.wall_ms)\n",
        "        token for token in state.image.delegation_tokens.tokens.values()"
        " if _expired(token, moment.now_ms)\n",
        ("tests/controller/test_delegation_tokens.py",),
        "Expired tokens stay valid, or valid ones are removed, after the wall clock was set.",
    ),
    PlantedFault(
        "create-topics-hides-what-is-stored",
        "kraftctl/controller/state/effective_configs.py",
        "                if value is not None or (as_stored and text is not None):\n",
        "                if value is not None:\n",
        ("tests/controller/test_unusable_values.py",),
        "CreateTopics shows another value than Kafka does.",
    ),
    PlantedFault(
        "inherited-settings-are-looked-up-once-for-ever",
        "kraftctl/image/configurations_image.py",
        "            self.broker_changes += 1\n",
        "            pass\n",
        ("tests/controller/test_topic_settings.py",),
        "A changed min.insync.replicas of the cluster is obeyed after the next restart only.",
    ),
    PlantedFault(
        "settings-of-the-image-before",
        "kraftctl/controller/state/controller_state.py",
        "        self.topic_settings = TopicSettings(image, self.config)\n",
        "",
        ("tests/controller/test_topic_settings.py",),
        "After a snapshot was loaded, elections obey configs of before, and the old image stays in memory.",
    ),
    PlantedFault(
        "refusal-lines-of-any-length",
        "kraftctl/controller/results/refusal_lines.py",
        "    reason = shortened(error.reason, REASON_LENGTH_MAX)\n",
        "    reason = error.reason\n",
        ("tests/controller/test_refusal_lines.py",),
        "A client fills the log with 32 KB per refusal.",
    ),
    PlantedFault(
        "failed-handler-ends-the-controller",
        "kraftctl/node/controller_node.py",
        "        except Exception as error:  # noqa: BLE001 - see docs/adr/0005\n"
        "            if not has_begun:\n",
        "        except ZeroDivisionError as error:\n            if not has_begun:\n",
        (CONTAINMENT,),
        "One request on which a handler fails ends the quorum, node by node.",
    ),
    PlantedFault(
        "failed-task-ends-the-controller",
        "kraftctl/controller/quorum_controller.py",
        "            except Exception as error:  # noqa: BLE001"
        " - nothing is appended yet: the task alone fails\n",
        "            except ZeroDivisionError as error:\n",
        (CONTAINMENT,),
        "A timer that fails ends the controller, and again at each start.",
    ),
    PlantedFault(
        "answer-is-not-encoded-before-the-append",
        "kraftctl/controller/quorum_controller.py",
        "                pending.encoded = encoded_once(response, context.version)\n"
        "            self._replay_ahead(prepared, moment.next_offset)\n        except Exception:\n",
        "                pass\n"
        "            self._replay_ahead(prepared, moment.next_offset)\n        except Exception:\n",
        (CONTAINMENT,),
        "Records are appended for a request whose answer can never be sent.",
    ),
    PlantedFault(
        "a-refusal-keeps-the-bytes-of-the-answer",
        "kraftctl/controller/pending_request.py",
        "        self.encoded = None\n",
        "",
        ("tests/node/test_what_waits.py",),
        "A leader that resigns acknowledges changes that are undone.",
    ),
    PlantedFault(
        "what-is-in-an-envelope-leaves-without-it",
        "kraftctl/node/response_delivery.py",
        "                response, encoded = enclose_response(pending, self._controller.failures), None\n",
        "                enclose_response(pending, self._controller.failures)\n",
        (CONTAINMENT,),
        "A broker cannot decode the responses to what it forwards.",
    ),
    PlantedFault(
        "envelope-lends-its-rights",
        "kraftctl/node/request_gate.py",
        "            error = self._controller.why_refused(pending.context)\n        context, request",
        "            error = None\n        context, request",
        ("tests/node/test_rights.py",),
        "Any client may do through a broker what the broker may do.",
    ),
    PlantedFault(
        "two-requests-are-taken-for-one",
        "kraftctl/server/connections/incoming_frames.py",
        "        if read_i32_be(data, 0) != payload_bytes or",
        "        if",
        (INCOMING_FRAMES,),
        "A client that sends its requests ahead is disconnected.",
    ),
    PlantedFault(
        "the-rest-of-a-frame-is-taken-for-one",
        "kraftctl/server/connections/incoming_frames.py",
        "        return None if decoder.held_bytes else data[SIZE_PREFIX_BYTES:]\n",
        "        return data[SIZE_PREFIX_BYTES:]\n",
        (INCOMING_FRAMES,),
        "What is inside of a request is carried out as a request of its own.",
    ),
    PlantedFault(
        "a-whole-frame-of-any-size",
        "kraftctl/server/connections/incoming_frames.py",
        " != payload_bytes or payload_bytes > decoder.max_frame_bytes:\n",
        " != payload_bytes:\n",
        (INCOMING_FRAMES,),
        "A client sends more before SASL has authenticated it than the listener allows.",
    ),
    PlantedFault(
        "a-request-is-served-beside-the-one-before",
        "kraftctl/server/connections/connection.py",
        "            self._state == states.IDLE\n            and self._flow == states.READING\n",
        "            self._flow == states.READING\n",
        ("tests/server/connections/test_connection.py",),
        "The response to the first request is sent for the second one.",
    ),
    PlantedFault(
        "no-request-is-described",
        "kraftctl/server/connections/request_log.py",
        "        self._describes = logger.isEnabledFor(logging.DEBUG)\n",
        "        self._describes = False\n",
        ("tests/server/connections/test_request_log.py",),
        "At level DEBUG there is no line about a slow request.",
    ),
    PlantedFault(
        "frame-of-any-size",
        "protocol/kraftctl_protocol/frames.py",
        "            if size < 0 or size > self.max_frame_bytes:\n",
        "            if size < 0:\n",
        (FRAMES,),
        "An unauthenticated peer decides how much memory its request takes.",
    ),
    PlantedFault(
        "array-of-any-length",
        "protocol/kraftctl_protocol/primitives.py",
        "        if length * element_size_min > self.end - self.position:\n",
        "        if length > 1 << 31:\n",
        (
            "tests/protocol/test_primitives.py::test_an_array_longer_than_the_rest_is_refused_before_any_element",
        ),
        "CVE-2022-34917: memory is allocated for elements that the request does not have.",
    ),
)
