"""Planted faults in `kraftctl doctor` and `debug-bundle`: what is called OK or whole, and is neither."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

UNCHECKED = "tests/cli/test_doctor_unchecked.py"
BUNDLE = "tests/cli/test_debug_bundle.py"

FAULTS = (
    PlantedFault(
        "a-private-key-is-no-secret",
        "kraftctl/cli/doctor/configuration_checks.py",
        "    others += readable_secret_files(subject.properties).items()\n",
        "",
        (UNCHECKED,),
        "The doctor says that no account can read a secret, and all can read the private key.",
    ),
    PlantedFault(
        "rights-end-at-the-top",
        "kraftctl/cli/doctor/directory_checks.py",
        "    elif (unusable := _unusable(log_dir)) is not None:\n",
        "    elif (unusable := None) is not None:\n",
        (UNCHECKED,),
        "The doctor finds the rights in order, and the start cannot write to the log.",
    ),
    PlantedFault(
        "a-lock-is-only-read",
        "kraftctl/cli/doctor/directory_checks.py",
        "        is_written = path.name == LOCK_FILE or ",
        "        is_written = ",
        (UNCHECKED,),
        "The doctor finds the rights in order, and the start cannot take the lock of another account.",
    ),
    PlantedFault(
        "a-full-log-is-renamed-without-a-right",
        "kraftctl/cli/doctor/named_file_checks.py",
        "    elif path.is_file() and not os.access(path.parent, os.W_OK):\n",
        "    elif False:\n",
        ("tests/cli/test_doctor_files.py",),
        "The doctor says that the audit log can be used, and its lines are lost once it is full.",
    ),
    PlantedFault(
        "every-cluster-is-this-one",
        "kraftctl/cli/doctor/peer_checks.py",
        "    if cluster_id is None:\n        of = ",
        "    if cluster_id == '':\n        of = ",
        (UNCHECKED,),
        "Before its format, a controller of another cluster is said to be of this one.",
    ),
    PlantedFault(
        "a-bundle-shows-urls-as-they-are",
        "kraftctl/cli/hidden_values.py",
        "        key: URL.sub(_shown_url, value) if",
        "        key: value if",
        (BUNDLE,),
        "A bundle that is sent away has the password of a URL.",
    ),
    PlantedFault(
        "a-slash-ends-each-password",
        "kraftctl/cli/hidden_values.py",
        '    return "@" in url["rest"] + (url["query"] or "")\n',
        "    return False\n",
        (BUNDLE,),
        "A bundle that is sent away has a password, because a slash is in it.",
    ),
    PlantedFault(
        "a-log-shows-urls-as-they-are",
        "kraftctl/cli/hidden_values.py",
        "                hidden[key] = _secrets_of_urls(value)\n",
        "                continue\n",
        (BUNDLE,),
        "The log in a bundle has the password of a URL that the properties do not show.",
    ),
    PlantedFault(
        "a-directory-is-left-out-silently",
        "kraftctl/cli/debug_bundle.py",
        "os.walk(log_dir, onerror=leave_out)",
        "os.walk(log_dir)",
        (BUNDLE,),
        "A bundle lacks the directory that is in trouble, and nothing says so.",
    ),
    PlantedFault(
        "root-takes-the-right-of-the-service",
        "kraftctl/cli/readable_secrets.py",
        "    if status.st_uid == 0 and status.st_gid != 0:\n",
        "    if status.st_uid == 0 and status.st_gid < 0:\n",
        (UNCHECKED,),
        "The doctor has root close the packaged file, and the next start cannot read it.",
    ),
    PlantedFault(
        "a-copy-of-root-is-an-error",
        "kraftctl/cli/doctor/directory_checks.py",
        "        if (is_written or is_read) and path.is_file()",
        "        if path.is_file()",
        (UNCHECKED,),
        "The doctor is red beside a file that no start opens.",
    ),
    PlantedFault(
        "lost-and-found-makes-a-bundle-incomplete",
        "kraftctl/cli/debug_bundle.py",
        "        if os.path.basename(error.filename) != LOST_AND_FOUND:\n",
        "        if error.filename:\n",
        (BUNDLE,),
        "On each mount of ext4 a bundle ends with status 1, though nothing is missing.",
    ),
)
