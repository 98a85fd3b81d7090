"""Faults in what is installed, and in what says whether it may be."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

IMAGES = "tests/packaging/test_images.py"
LOCKS = "tests/supply_chain/test_lock_files.py"
AUDIT = "tests/supply_chain/audit.py"

FAULTS = (
    PlantedFault(
        "the-documented-first-start-names-no-voters",
        "docs/operations/releases.md",
        "kraftctl format --standalone -t",
        "kraftctl format -t",
        ("tests/supply_chain/test_packages.py",),
        "The first command after an installation fails.",
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
)
