"""Faults in what is installed, and in what says whether it may be."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

IMAGES = "tests/packaging/test_images.py"
LOCKS = "tests/supply_chain/test_lock_files.py"
PINS = "tests/supply_chain/test_pins.py::test_all_that_is_fetched_is_pinned"
AUDIT = "tests/supply_chain/audit.py"
COMPOSE = "deploy/compose/docker-compose.yml"
PROFILES = "tests/packaging/test_compose_profiles.py"

FAULTS = (
    PlantedFault(
        "the-documented-first-start-names-no-voters",
        "docs/operations/releases.md",
        "kraftctl format --standalone -t",
        "kraftctl format -t",
        (
            "tests/supply_chain/test_packages.py"
            "::test_the_documented_commands_format_with_the_packaged_configuration",
        ),
        "The first command after an installation fails.",
    ),
    PlantedFault(
        "a-failed-upgrade-leaves-a-controller-stopped",
        "docs/operations/releases.md",
        "{ pip install --upgrade kraftctl-*.whl; systemctl start kraftctl; } &&",
        "pip install --upgrade kraftctl-*.whl &&\nsystemctl start kraftctl &&",
        ("tests/supply_chain/test_packages.py::test_an_upgrade_that_fails_leaves_no_controller_stopped",),
        "A wheel that does not fit ends a voter.",
    ),
    PlantedFault(
        "a-package-depends-on-the-time",
        "tests/supply_chain/package_tree.py",
        "gzip.compress(page.read_bytes(), mtime=0)",
        "gzip.compress(page.read_bytes(), mtime=1)",
        ("tests/supply_chain/test_packages.py::test_the_manual_is_packed_as_gzip_n_does",),
        "Two builds of one commit differ.",
    ),
    PlantedFault(
        "a-package-without-a-release-is-a-traceback",
        "tests/supply_chain/dist_check.py",
        "    if len(found) != 1:\n",
        "    if len(found) > 1:\n",
        ("tests/supply_chain/test_packages.py::test_without_one_release_it_says_what_to_make",),
        "`make deb` does not say that `make release` has to come first.",
    ),
    PlantedFault(
        "grafana-has-a-password-that-all-know",
        COMPOSE,
        '      GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION: "true"\n',
        "",
        (f"{PROFILES}::test_what_observes_has_no_rights_and_no_password_that_all_know",),
        "Who reaches the port of a trial administers it.",
    ),
    PlantedFault(
        "a-package-without-its-tool-is-a-traceback",
        "tests/supply_chain/package.py",
        "    check_tools(kind)\n",
        "",
        ("tests/supply_chain/test_packages.py::test_without_its_tool_a_package_says_which",),
        "`make rpm` does not say that rpmbuild is missing.",
    ),
    PlantedFault(
        "an-image-installs-without-hashes",
        "Dockerfile",
        "pip wheel --require-hashes --no-deps --no-build-isolation -r requirements-export.lock",
        "pip wheel --no-deps --no-build-isolation -r requirements-export.lock",
        (f"{IMAGES}::test_pip_takes_nothing_from_an_index_without_a_hash",),
        "A file that somebody has replaced in the index is in the image.",
    ),
    PlantedFault(
        "an-image-has-the-compiler",
        "Dockerfile",
        "FROM base AS controller\n",
        "FROM build AS controller\n",
        (f"{IMAGES}::test_an_image_has_no_compiler_and_another_user_than_root",),
        "Who gets into the container finds a compiler there.",
    ),
    PlantedFault(
        "a-base-has-no-digest",
        "Dockerfile",
        "@sha256:a8f8fbe1a0edc9e4dddafa64ba73f7e04be7be5ebc23f332362e779e0a2e4e52",
        "",
        (f"{IMAGES}::test_what_is_pulled_is_pinned_by_digest",),
        "The base is whatever its tag means on that day.",
    ),
    PlantedFault(
        "an-action-has-a-tag",
        ".github/workflows/ci.yml",
        "actions/setup-java@c1e323688fd81a25caa38c78aa6df2d33d3e20d9 # v4.8.0",
        "actions/setup-java@v4",
        (PINS,),
        "CI runs whatever the owner of the tag has moved it to.",
    ),
    PlantedFault(
        "make-installs-without-hashes",
        "Makefile",
        "$(PIP) install --require-hashes -r requirements-dev.lock",
        "$(PIP) install -r requirements-dev.lock",
        (PINS,),
        "Checks run with a file that somebody has replaced in the index.",
    ),
    PlantedFault(
        "a-figure-of-readme-is-older-than-the-page",
        "README.md",
        "| 308 ms |",
        "| 298 ms |",
        ("tests/documents/test_first_screen.py",),
        "The first thing that is read is not what was measured.",
    ),
    PlantedFault(
        "a-library-of-the-builder-is-linked",
        "tests/supply_chain/manylinux.py",
        "    if foreign:\n",
        "    if False:\n",
        ("tests/supply_chain/test_manylinux.py::test_a_wheel_with_something_of_this_machine_is_refused",),
        "A wheel is released that no other machine can load.",
    ),
    PlantedFault(
        "objects-look-for-libraries-of-the-builder",
        "setup.py",
        'if not word.startswith("-Wl,-rpath")',
        'if not word.startswith("-Wl,-rpaths")',
        ("tests/supply_chain/test_manylinux.py::test_objects_look_for_libraries_where_the_system_does",),
        "Another machine loads what somebody has put into a directory that only the builder should have.",
    ),
    PlantedFault(
        "a-version-that-brokers-refuse",
        "kraftctl/__init__.py",
        '__version__.partition("+")[0]',
        "__version__",
        ("tests/supply_chain/test_release.py::test_brokers_accept_what_it_says_of_itself",),
        "A build between releases has no connection to any broker: INVALID_REQUEST (KIP-511).",
    ),
    PlantedFault(
        "a-run-deletes-the-rows-of-others",
        "tests/supply_chain/artefact_table.py",
        "table.splitlines()[2:]",
        "table.splitlines()[:0]",
        ("tests/supply_chain/test_artefact_table.py::test_rows_of_another_run_stay",),
        "The page has no images after a check of the wheel.",
    ),
    PlantedFault(
        "a-lower-bound-is-not-tested",
        "pyproject.toml",
        '"cryptography>=45.0.1"',
        '"cryptography>=42"',
        (f"{LOCKS}::test_a_lower_bound_is_the_version_that_is_tested",),
        "kraftctl is installed beside a version that it never ran with.",
    ),
    PlantedFault(
        "what-was-not-audited-is-clean",
        AUDIT,
        "    if left_out:\n",
        "    if False:\n",
        ("tests/supply_chain/test_audit.py::test_the_verdict",),
        "An index that answers for no distribution makes the audit green.",
    ),
    PlantedFault(
        "any-service-is-believed",
        AUDIT,
        "    if not known:\n",
        "    if False:\n",
        ("tests/supply_chain/test_audit.py::test_the_verdict",),
        "A mirror that knows no vulnerabilities makes the audit green.",
    ),
    PlantedFault(
        "a-licence-without-a-name-is-allowed",
        "tests/supply_chain/licences.py",
        "    if not _symbols(expression):\n        return False\n",
        "    if not _symbols(expression):\n        return True\n",
        ("tests/supply_chain/test_licences.py::test_of_alternatives_one_is_enough",),
        "A distribution that may not be used at all is not noticed.",
    ),
    PlantedFault(
        "profiles-share-a-volume",
        COMPOSE,
        '["single-broker-1:/var',
        '["broker-1:/var',
        (f"{PROFILES}::test_profiles_share_no_volume",),
        "A broker with the partitions of one quorum starts with another.",
    ),
    PlantedFault(
        "a-password-that-everybody-knows",
        COMPOSE,
        "${ADMIN_PASSWORD:-}",
        "${ADMIN_PASSWORD:-admin-secret}",
        (f"{PROFILES}::test_no_password_of_the_super_user_is_no_start",),
        "Without the variable, who reads the file is a super user.",
    ),
    PlantedFault(
        "an-extra-needs-what-no-index-has",
        "protocol/kraftctl_protocol/extra_packages.py",
        "            yield from _packages(other[1], required)\n",
        "            yield match[1]\n",
        ("tests/packaging/test_extra_packages.py::test_an_extra_is_its_packages",),
        "The command that is advised fails.",
    ),
)
