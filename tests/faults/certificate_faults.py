"""Planted faults in stores and certificates: what is read, what replaces what, and when that is announced."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

STORES = "protocol/kraftctl_security/tls/stores.py"
REPLACEMENT = "protocol/kraftctl_security/tls/store_replacement.py"
RELOADING = "kraftctl/server/security/ssl_reloading.py"
WATCHED = "kraftctl/server/security/watched_stores.py"
EXPIRY = "protocol/kraftctl_security/tls/certificate_expiry.py"
EXPIRY_TESTS = "tests/security/tls/test_certificate_expiry.py"
RELOADING_TESTS = "tests/server/security/test_ssl_reloading.py"
REPLACEMENT_TESTS = "tests/security/tls/test_store_replacement.py"

FAULTS = (
    PlantedFault(
        "an-answer-follows-the-end-of-records",
        "kraftctl/server/security/ssl_transport.py",
        "            return  # as every transport; the end of records has been sent\n",
        "            pass\n",
        ("tests/server/security/test_ssl_ends.py",),
        "Each client that leaves early writes an ERROR into the log.",
    ),
    PlantedFault(
        "a-damaged-certificate-is-a-traceback",
        "protocol/kraftctl_security/tls/unreadable.py",
        "UNREADABLE: Final = (\n    ValueError,\n",
        "UNREADABLE: Final = (\n",
        ("tests/security/tls/test_stores.py::test_a_certificate_that_only_its_use_shows_to_be_damaged",),
        "A start with a damaged store ends with a traceback, a reload ends the reloading.",
    ),
    PlantedFault(
        "new-stores-are-read-but-not-used",
        RELOADING,
        "        self._security.ssl_listeners[listener].context = replacement.server\n",
        "",
        (f"{RELOADING_TESTS}::test_new_connections_get_the_new_certificate_and_old_ones_stay",),
        "The log says that the certificate is new, and clients see the old one until it expires.",
    ),
    PlantedFault(
        "other-controllers-are-shown-the-old-certificate",
        RELOADING,
        "            self._driver.use_ssl_context(replacement.client)\n",
        "            pass\n",
        (f"{RELOADING_TESTS}::test_new_connections_get_the_new_certificate_and_old_ones_stay",),
        "KAFKA-20025: the quorum ends with the old certificates.",
    ),
    PlantedFault(
        "files-are-read-while-they-are-written",
        WATCHED,
        "files != self._tried_files and files == self._seen_files",
        "files != self._tried_files",
        (f"{RELOADING_TESTS}::test_a_file_that_is_being_written_is_not_read",),
        "Each renewal writes an ERROR into the log.",
    ),
    PlantedFault(
        "links-are-looked-at-in-place-of-files",
        "protocol/kraftctl_security/tls/store_files.py",
        "        found = os.stat(location)\n",
        "        found = os.lstat(location)\n",
        (f"{RELOADING_TESTS}::test_links_that_are_swapped_together_as_kubernetes_does",),
        "A renewed secret of Kubernetes is never noticed.",
    ),
    PlantedFault(
        "a-bad-store-is-tried-again-and-again",
        WATCHED,
        "        self._tried_files = files\n",
        "        pass\n",
        (f"{RELOADING_TESTS}::test_a_keystore_that_cannot_be_used_changes_nothing",),
        "An ERROR every two seconds.",
    ),
    PlantedFault(
        "a-certificate-that-has-expired-replaces-a-valid-one",
        WATCHED,
        "        check_dates(stores, now)\n",
        "",
        (f"{RELOADING_TESTS}::test_a_keystore_that_cannot_be_used_changes_nothing[expired]",),
        "No broker can connect after a wrong file was copied.",
    ),
    PlantedFault(
        "the-first-dynamic-configs-are-compared",
        WATCHED,
        "        if not is_first:\n",
        "        if config:\n",
        (f"{RELOADING_TESTS}::test_the_first_dynamic_configs_after_a_start_are_not_compared",),
        "A controller that restarts does not use what it used before.",
    ),
    PlantedFault(
        "dynamic-configs-without-the-prefix-of-the-listener",
        WATCHED,
        "        prefix = listener_prefix(self.listener)\n",
        '        prefix = ""\n',
        (f"{RELOADING_TESTS}::test_stores_of_dynamic_configs",),
        "What kafka-configs alters is not used.",
    ),
    PlantedFault(
        "an-authority-may-be-replaced-in-one-step",
        REPLACEMENT,
        "    elif not is_first:\n",
        "    elif False:\n",
        (f"{REPLACEMENT_TESTS}::test_an_authority_is_replaced_in_three_steps",),
        "The first controller with the new authority leaves the quorum.",
    ),
    PlantedFault(
        "names-may-be-lost",
        REPLACEMENT,
        "    if lost and not config.allows_san_changes:\n",
        "    if lost and config.allows_san_changes:\n",
        (f"{REPLACEMENT_TESTS}::test_no_alternative_name_is_lost_unless_it_may_be",),
        "Brokers that reach the controller by that name do not accept its certificate.",
    ),
    PlantedFault(
        "an-expiry-is-announced-only-once",
        EXPIRY,
        "        return is_due\n",
        "        return is_due and key not in self._warned\n",
        (f"{EXPIRY_TESTS}::test_warnings_come_more_often",),
        "The only warning was 30 days ago.",
    ),
    PlantedFault(
        "an-expiry-is-announced-each-hour",
        EXPIRY,
        "now_ms - last_ms >= DAY_MS",
        "now_ms > last_ms",
        (f"{EXPIRY_TESTS}::test_warnings_come_more_often",),
        "The log is full of one warning.",
    ),
    PlantedFault(
        "authorities-are-taken-to-last-for-ever",
        EXPIRY,
        "for each in stores.trusted or []),\n",
        "for each in []),\n",
        (f"{EXPIRY_TESTS}::test_trusted_certificates_expire_too",),
        "All clients are refused on the same day, without a warning.",
    ),
    PlantedFault(
        "an-expiry-is-not-announced-after-a-reload",
        RELOADING,
        "self._wall_ms(), have_changed=have_changed)\n",
        "self._wall_ms())\n",
        (f"{RELOADING_TESTS}::test_what_expires_is_announced",),
        "A renewed certificate that lasts for a day is taken for a good one.",
    ),
    PlantedFault(
        "the-digest-of-a-jks-store-is-not-compared",
        "protocol/kraftctl_security/tls/jks.py",
        "    if password is not None:\n",
        "    if False:\n",
        ("tests/security/tls/test_jks.py",),
        "Who can write to a truststore can add an authority to it.",
    ),
    PlantedFault(
        "an-empty-truststore-password-is-none",
        "protocol/kraftctl_security/tls/ssl_stores.py",
        '    if kind == JKS and password is None and values.has("ssl.truststore.password"):\n',
        "    if False:\n",
        ("tests/security/tls/test_jks.py::test_an_empty_password_of_a_truststore_is_one",),
        "A variable that is not set turns the check of the truststore off.",
    ),
    PlantedFault(
        "a-length-in-a-jks-store-is-not-compared",
        "protocol/kraftctl_security/tls/jks.py",
        "        if size_bytes < 0 or end > len(self._data):\n",
        "        if False:\n",
        ("tests/security/tls/test_jks.py",),
        "A damaged store is a traceback, or other bytes than its own.",
    ),
)
