"""Planted faults that remove a bound of records, of work per entry, or of what replicas may hold."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

ACL_INDEX = "tests/image/test_acl_index.py"
ACL_SCAN = "tests/controller/test_acl_scan.py"

FAULTS = (
    PlantedFault(
        "appended-items-are-compared-one-by-one",
        "kraftctl/controller/configuration_control/incremental_alter_configs.py",
        "        if item not in known:\n",
        "        if item not in items:\n",
        ("tests/controller/test_changed_lists.py",),
        "One list of 32 KB blocks the loop for half a second.",
    ),
    PlantedFault(
        "prefixed-acls-are-not-looked-up",
        "kraftctl/image/acl_index.py",
        "            if length <= name_length:\n",
        "            if length < name_length:\n",
        (ACL_INDEX, ACL_SCAN),
        "A DENY for a prefix does not hold for the resource that has just this name.",
    ),
    PlantedFault(
        "an-acl-that-is-undone-stays-in-the-index",
        "kraftctl/image/acls_image.py",
        "            self.index.remove(key, present)\n",
        "            pass\n",
        (ACL_INDEX,),
        "A right that was never committed, or was taken away, is still granted.",
    ),
    PlantedFault(
        "delete-acls-of-any-number-of-matches",
        "kraftctl/controller/security/acl_control.py",
        "        if matches > MATCHES_PER_REQUEST_MAX:\n",
        "        if len(doomed) > MATCHES_PER_REQUEST_MAX:\n",
        (ACL_SCAN,),
        "A small request that repeats one filter has an answer of gigabytes.",
    ),
    PlantedFault(
        "delete-acls-of-any-number-of-comparisons",
        "kraftctl/controller/security/acl_control.py",
        "        comparisons += len(candidates)\n",
        "        comparisons = len(candidates)\n",
        (ACL_SCAN,),
        "A request of many filters blocks the loop for minutes.",
    ),
)
