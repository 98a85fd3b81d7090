"""Hosts of ACLs are the networks that they are for Kafka's own class, and have the same addresses."""

from __future__ import annotations

import base64
import random
from ipaddress import ip_address
from pathlib import Path

import pytest

from kraftctl.controller.state.standard_authorizer import host_address
from kraftctl.image.acl_entry import AclEntry
from kraftctl.image.acl_index import PatternAcls
from kraftctl.image.network_host import network_of
from tests.support.effort import FIRST_SEED, scaled
from tests.support.processes.oracle import kafkas_answers

pytestmark = pytest.mark.java

ORACLE = Path(__file__).parent / "NetworkHostOracle.java"

HOSTS = """
10.0.0.0/8 10.0.0.5/8 010.0.0.0/8 10.0.0.0/32 10.0.0.1/32 0.0.0.0/0 0.0.0.0/32 0.0.0.0/31 255.255.255.255/32
10.0.0.0/33 10.0.0.0/-1 10.0.0.0/ 10.0.0.0/255.0.0.0 10.0.0/8 256.0.0.0/8 h/8 /8 / // 10.0.0.0/8/8
10.0.0.0/08 10.0.0.0/008 10.0.0.0/+8 10.0.0.0/8.0 10.0.0.0//8 0010.0.0.0/8 10.0.0.0.0/8 .10.0.0/8 10..0.0/8
10.0.0.-1/8 ١٠.0.0.0/8 10.0.0.0/٨ 999.0.0.0/8 10.0.0.999/8 0x10.0.0.0/8 127.0.0.1/31 127.0.0.1/30
128.0.0.0/1 10.0.0.0/7 ::1/128 fe80::/10 ::/0 2001:DB8::/32 [::1]/128 ::/129 1::2::3/64 ::1/
::ffff:10.0.0.0/104 ::ffff:a00:0/104 ::10.0.0.1/128 ::10.0.0.1/96 ::010.0.0.1/96 ::10.0.0/96 ::256.0.0.0/96
::10.0.0.1.1/96 1:2:3:4:5:6:10.0.0.1/64 1:2:3:4:5:6:7:10.0.0.1/64 ::ffff:0:0/96 0:0:0:0:0:ffff:a00:1/128
::fffe:a00:1/128 ::/+0 ::/00 ::/-0 ::/-1 ::/٨ ::/2147483648 ::/0/0 ::1/64/ :/8 :::/8 ::1::/8 1:/8 :1/8 1:2/8
1:2:3:4:5:6:7:8/64 1:2:3:4:5:6:7:8:9/64 1:2:3:4:5:6:7::/64 ::2:3:4:5:6:7:8/64 1:2:3:4:5:6:7:8::/64
::1:2:3:4:5:6:7:8/64 1:2:3:4::5:6:7:8/64 00001::/16 0000000001::/16 10000::/16 fffff::/8 g::/8 [::1/128
::1]/128 []/8 [[::1]]/128 [fe80::]/10 /::64 //:: ::1%1/64 fe80::1%1/64 fe80::%1/10 :10.0.0.0/8
10.0.0.0:9092/8 [10.0.0.0]/8 [::1]:9092/128 1::/16x ::G/8 ::1%/64 ::%1%2/64
"""

ADDRESSES = """
0.0.0.0 0.0.0.1 10.0.0.0 10.0.0.1 10.255.255.255 11.0.0.0 9.255.255.255 127.0.0.1 127.0.0.0 128.0.0.0
255.255.255.255 :: ::1 fe80::1 fe80::2 2001:db8::1 2001:db9::1 1:: 1::1 1:2:3:4::1 1:2:3:4:5:6:7:8 ::a00:1
::fffe:a00:1 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
"""


def hosts() -> list[str]:
    found = [
        *HOSTS.split(),
        " 10.0.0.0/8",
        "10.0.0.0/8 ",
        "10.0.0.0 /8",
        " ::/0",
        "::/ 0",
        "::1 /8",
        "10.0.0.0/8\n",
        "::/0\n",
    ]
    rng = random.Random(FIRST_SEED)
    for _ in range(scaled(1_500)):
        address = ip_address(rng.choice(ADDRESSES.split()))
        text = rng.choice([str(address), host_address(address.packed)])
        host = f"{text}/{rng.randint(0, 33 if address.version == 4 else 130)}"
        if rng.random() < 0.4:
            at = rng.randrange(len(host) + 1)
            host = (
                host[:at]
                + rng.choice(["", "0", "1", "f", ".", ":", "/", "::", "-"])
                + host[at + rng.randint(0, 1) :]
            )
        if "/" in host:
            found.append(host)
    return found


def ours(host: str) -> str:
    if network_of(host) is None:
        return "-"
    entry = AclEntry(
        resource_type=2,
        resource_name="t",
        pattern_type=3,
        principal="User:a",
        host=host,
        operation=3,
        permission_type=3,
    )
    pattern = PatternAcls()
    pattern.add(bytes(16), entry)
    packed = [ip_address(text).packed for text in ADDRESSES.split()]
    return "n" + "".join(str(len(pattern.applying("User:a", host_address(each), each))) for each in packed)


def test_networks_and_their_addresses_are_kafkas() -> None:
    addresses = "\t".join(host_address(ip_address(text).packed) for text in ADDRESSES.split())
    cases = hosts()
    lines = [f"{base64.b64encode(host.encode()).decode()}\t{addresses}" for host in cases]
    theirs = kafkas_answers(ORACLE, lines, version="4.4.0")
    found = list(map(ours, cases))
    differences = [case for case in zip(cases, theirs, found, strict=True) if case[1] != case[2]]
    assert not differences, "\n".join(map(str, differences[:20]))
    assert min(theirs.count("-"), len(theirs) - theirs.count("-")) > len(theirs) // 10
