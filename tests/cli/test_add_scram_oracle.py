"""`--add-scram`: the verdict and the record of Kafka's ScramParser, for each kind of argument."""

from __future__ import annotations

import base64
import random

import pytest

from kraftctl.cli.add_scram import scram_record
from kraftctl.storage.errors import StorageError
from kraftctl_protocol.scram import MECHANISM_NUMBERS, salt_password
from kraftctl_security.sasl.scram_users import ScramUserError, parse_scram_users
from tests.cli.storage_oracle import OK, storage_verdicts
from tests.support.effort import FIRST_SEED, scaled

SECRET = "hunter2-of-alice"
SALT = "salt=N3E="


def of_an_empty_password(mechanism: str, iterations: int) -> str:
    """What a script computes with a variable that is not set."""
    salted = salt_password(MECHANISM_NUMBERS[mechanism], b"", base64.b64decode("N3E="), iterations)
    fields = f"name=a,{SALT},iterations={iterations},saltedpassword={base64.b64encode(salted).decode()}"
    return f"{mechanism}=[{fields}]"


REFUSED_HERE = {
    of_an_empty_password("SCRAM-SHA-256", 4096): "an empty password, salted: clients other than Java log in",
    of_an_empty_password("SCRAM-SHA-512", 8192): "the same",
}
"""What Kafka accepts, and why it is refused here."""

VALUES = (
    *("", '""', '"', "''", " ", '" "', '"x', 'x"', '"""', '""""', "x=y", "==", "=", "\t", "ünï", "日本", "ﬁ"),
    *(
        "\u00a0",
        "\u2028",
        "a\u00adb",
        "\u212b",
        "\U0001f600",
        "]",
        "[",
        "[]",
        "${PASSWORD}",
        "\\",
        "%",
        "'x'",
    ),
)
"""Of a name, and of a password."""

ENCODED = (
    *("", '""', "N3E=", '"N3E="', "N3E", "N3E==", "N3E===", "N3", "N3==", "N3=", "N", "N=", "N==", "N3EA"),
    *("N3EA=", "N3EA====", "====", "=", "N3F=", "N3F", "N-E=", "N_E=", "N+/=", "N3 E=", " N3E=", "N3E= "),
    *("!", "é", "日本", "N3E=N3E=", "TjNF", "AAAA", "AA==", "A" * 44, "A" * 43 + "=", "A" * 88, "\u0661AA="),
)
"""Of a salt, and of a salted password."""

NUMBERS = (
    *("", "0", "-1", "4095", "4096", "04096", "+4096", "+8192", "-4096", "16384", "16385", "8192", " 8192"),
    *("8192 ", "8_192", "8,192", "8192.0", "8e3", "0x2000", "2147483648", "-2147483649", "99999999999999999"),
    *(
        "x",
        '"8192"',
        "٤٠٩٦",
        "\uff14\uff10\uff19\uff16",
        "⁴",
        "²",
        "\U0001d7d2\U0001d7ce\U0001d7d7\U0001d7d4",
    ),
)

SHAPES = (
    *("", " ", "=", "SCRAM-SHA-256", "SCRAM-SHA-256=", "SCRAM-SHA-256=[", "SCRAM-SHA-256=]", "[name=a]"),
    *("SCRAM-SHA-256=[]", "SCRAM-SHA-256=[,]", "SCRAM-SHA-256=[,,,]", "SCRAM-SHA-256=[ ]"),
    *(
        "SCRAM-SHA-256=[name=a,password=b",
        "SCRAM-SHA-256=name=a,password=b]",
        "SCRAM-SHA-256=name=a,password=b",
    ),
    *("SCRAM-SHA-256 =[name=a,password=b]", "SCRAM-SHA-256= [name=a,password=b]"),
    *("SCRAM-SHA-256=[name=a,password=b]]", "SCRAM-SHA-256=[[name=a,password=b]"),
    *("SCRAM-SHA-256=[name=a,password=b]x", "x=SCRAM-SHA-256=[name=a,password=b]"),
)

MECHANISMS = (
    *("SCRAM-SHA-256", "SCRAM-SHA-512", "scram-sha-256", "SCRAM-SHA-1", "SCRAM-SHA-384", "SCRAM_SHA_256"),
    *("PLAIN", "", "UNKNOWN", "SHA-256"),
)

AROUND = ("", " ", "\t", "\n", "\r\n", "\x01", "\x1f", "\x7f", "\u00a0", "\u2003", "\ufeff")

CONFIGURATIONS = (
    *("name=a", "password=b", "name=a,password", "name,password=b", "name=a,=b", "=,name=a,password=b"),
    *("name=a,password=b,", "name=a,password=b,,,", ",name=a,password=b", "name=a,,password=b"),
    *("password=b,name=a", "iterations=8192,password=b,salt=N3E=,name=a", "name=a, password=b"),
    *(" name=a,password=b", "name =a,password=b", "name= a,password= b", "Name=a,password=b"),
    *("name=a,PASSWORD=b", "name=a,password=b,color=red", "name=a,password=b,=", "name=a,password=b,x="),
    *("name=a,name=b,password=c", "name=a,password=,password=b", "name=a,password=b,password="),
    *("name=a,password=b,salt=!,salt=N3E=", "name=a,password=b,iterations=1,iterations=4096"),
    *('name="a,b",password=c', 'name=a,password="b,c"', 'name=a,password="b,password=c"'),
    *(
        "name=a,saltedpassword=YCE=",
        "name=a,salt=N3E=",
        "name=a,iterations=4096",
        "salt=N3E=,saltedpassword=YCE=",
    ),
    *("name=a,salt=N3E=,saltedpassword=YCE=,password=", "name=a,salt=N3E=,saltedpassword=,password=b"),
    *("name=a,salt=N3E=,saltedpassword=!,password=b", "name=a,salt=N3E=,saltedpassword=YCE=,password=b"),
    *("name=a,saltedpassword=!,password=b", "name=a,salt=,saltedpassword=YCE="),
)


def cases() -> list[str]:
    """Each value at each place, the rest as it should be."""
    found = [*SHAPES, *REFUSED_HERE]
    found += [f"SCRAM-SHA-256=[{text}]" for text in CONFIGURATIONS]
    found += [f"{mechanism}=[name=a,{SALT},password=b]" for mechanism in MECHANISMS]
    found += [f"{blank}SCRAM-SHA-256=[name=a,{SALT},password=b]" for blank in AROUND]
    found += [f"SCRAM-SHA-256=[name=a,{SALT},password=b]{blank}" for blank in AROUND]
    for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
        found += [f"{mechanism}=[name={value},{SALT},password=b]" for value in VALUES]
        found += [f"{mechanism}=[name=a,{SALT},password={value}]" for value in VALUES]
        found += [f"{mechanism}=[name=a,salt={value},password=b]" for value in ENCODED]
        found += [f"{mechanism}=[name=a,{SALT},saltedpassword={value}]" for value in ENCODED]
        found += [f"{mechanism}=[name=a,{SALT},password=b,iterations={value}]" for value in NUMBERS]
    return found


def random_cases(count: int) -> list[str]:
    rng = random.Random(FIRST_SEED)
    values = {
        "name": ("a", "alice", *VALUES),
        "password": ("b", "c", *VALUES),
        "salt": ("N3E=", "N3E", *ENCODED),
        "saltedpassword": ("YCE=", "YCE", *ENCODED),
        "iterations": ("4096", "8192", *NUMBERS),
        "color": ("red",),
    }
    weights = (10, 8, 6, 3, 3, 1)
    found = []
    for _ in range(count):
        keys = rng.choices(list(values), weights, k=rng.randint(1, 6))
        fields = [f"{key}={rng.choice(values[key][: rng.choice((2, 2, 99))])}" for key in keys]
        fields += rng.choices(("", "x", "name=a"), k=rng.choice((0, 0, 0, 1)))
        opened, closed = rng.choice((("[", "]"),) * 9 + (("", "]"),))
        found.append(f"{rng.choice(MECHANISMS[:2])}={opened}{','.join(fields)}{closed}")
    return found


def our_record(argument: str) -> str:
    """In hex; the reason of a refusal, in which no value is."""
    try:
        found = scram_record(argument)
    except StorageError as error:
        return f"refused: {error}"
    return found.record.encode(found.version).hex()


@pytest.mark.java
def test_every_verdict_is_kafkas() -> None:
    arguments = [*cases(), *random_cases(scaled(200))]
    accepted = 0
    for argument, theirs in zip(
        arguments, storage_verdicts("scram", [[each] for each in arguments]), strict=True
    ):
        ours = our_record(argument)
        if argument in REFUSED_HERE:
            assert theirs.startswith(OK), argument
            assert "empty password" in ours
        elif theirs.startswith(OK):
            accepted += 1
            has_random_salt = "salt=" not in argument.replace("saltedpassword=", "")
            assert not ours.startswith("refused"), (argument, ours)
            assert has_random_salt or ours == theirs.removeprefix(f"{OK} "), argument
        else:
            assert ours.startswith("refused"), (argument, theirs)
    assert len(arguments) - 50 > accepted > 75


def test_an_argument_that_is_refused_shows_no_value() -> None:
    encoded = base64.b64encode(SECRET.encode()).decode()
    refused = 0
    for case in cases():
        argument = case.replace("password=b", f"password={SECRET}").replace("YCE=", encoded)
        ours = our_record(argument)
        if ours.startswith("refused"):
            refused += 1
            assert SECRET not in ours
            assert encoded not in ours
    assert refused > 100


EMPTY = (
    *("SCRAM-SHA-256=[name=admin,password=]", 'SCRAM-SHA-512=[name=admin,password=""]'),
    *("SCRAM-SHA-256=[password=,name=admin]", "SCRAM-SHA-256=[name=admin,password=,]"),
    *(
        "SCRAM-SHA-256=[name=admin,salt=N3E=,saltedpassword=]",
        "SCRAM-SHA-512=[name=admin,password=,iterations=8192]",
    ),
    *('SCRAM-SHA-256=[name=admin,salt=N3E=,saltedpassword=""]', *REFUSED_HERE),
)


@pytest.mark.parametrize("argument", EMPTY)
def test_an_empty_password_is_refused(argument: str) -> None:
    """It is what is left of a shell variable that is not set."""
    with pytest.raises(StorageError, match=r"empty.* Next step: give a password") as refusal:
        scram_record(argument)
    assert "admin" not in str(refusal.value)


@pytest.mark.parametrize("argument", EMPTY)
def test_an_empty_password_in_a_file_of_users_is_refused(argument: str) -> None:
    with pytest.raises(ScramUserError, match=r"line 2: .*empty.* Next step: give a password"):
        parse_scram_users(f"SCRAM-SHA-256=[name=other,password=x]\n{argument}\n")


def test_an_empty_name_in_a_file_of_users_is_refused() -> None:
    with pytest.raises(ScramUserError, match=r"line 1: The 'name' value is empty"):
        parse_scram_users("SCRAM-SHA-256=[name=,password=x]")


def test_an_argument_that_is_not_utf_8_is_refused() -> None:
    """Python has such bytes as surrogates, which no client could send."""
    with pytest.raises(StorageError, match="not UTF-8"):
        scram_record("SCRAM-SHA-256=[name=a,password=b\udcff]")
