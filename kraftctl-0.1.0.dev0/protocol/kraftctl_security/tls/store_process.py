"""Reads the stores of one listener in a process of its own, which has limits and may be killed.

Dynamic configs name files and have keys that a stranger may have written: what opening them takes is not
known before. And keys are checked by calls that let no other thread run, half a second for RSA of 4,096 bits.
"""

from __future__ import annotations

import base64
import json
import resource
import signal
import sys

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, load_der_private_key

from kraftctl_security.tls.contexts import Stores
from kraftctl_security.tls.ssl_stores import KeyStoreConfig, TrustStoreConfig
from kraftctl_security.tls.store_error import StoreError
from kraftctl_security.tls.stores import KeyStore, PrivateKey, load_keystore, load_truststore, plain_key


class ReadLimits:
    """What a process may take: time of the processor, all time, and addresses, of which a tenth is used."""

    def __init__(
        self, processor_seconds: int = 10, seconds: int = 20, memory_bytes: int = 512 * 1024 * 1024
    ) -> None:
        self.processor_seconds = processor_seconds
        self.seconds = seconds
        self.memory_bytes = memory_bytes


def request_of(
    keystore: KeyStoreConfig | None, truststore: TrustStoreConfig | None, limits: ReadLimits
) -> bytes:
    """Returns what the process reads from its standard input. It has passwords: no argument may."""
    return json.dumps(
        [None if each is None else vars(each) for each in (keystore, truststore, limits)]
    ).encode()


def answer(request: bytes) -> bytes:
    """Returns what the process writes: the content of the stores, or why they cannot be read."""
    keystore, truststore, limits = json.loads(request)
    _limit(ReadLimits(**limits))
    try:
        key = None if keystore is None else load_keystore(KeyStoreConfig(**keystore))
        trusted = None if truststore is None else load_truststore(TrustStoreConfig(**truststore))
    except StoreError as error:
        return json.dumps({"error": str(error)}).encode()
    content = {
        "key": None if key is None else _text(plain_key(key.key)),
        "chain": [] if key is None else _texts(key.chain),
        "trusted": None if trusted is None else _texts(trusted),
    }
    return json.dumps(content).encode()


def stores_of(answered: bytes) -> Stores:
    """Returns the stores that a process has read. Raises StoreError with its reason."""
    content = json.loads(answered)
    if "error" in content:
        raise StoreError(content["error"])
    keystore = None
    if content["key"] is not None:
        # The process has checked it.
        key = load_der_private_key(_bytes(content["key"]), None, unsafe_skip_rsa_key_validation=True)
        assert isinstance(key, PrivateKey)
        keystore = KeyStore(key, _certificates(content["chain"]))
    trusted = content["trusted"]
    return Stores(keystore, None if trusted is None else _certificates(trusted))


def main() -> None:
    """Runs in the process."""
    sys.stdout.buffer.write(answer(sys.stdin.buffer.read()))


def _limit(limits: ReadLimits) -> None:
    """Has the kernel end this process beyond its limits, even if nobody waits for it any more."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(limits.seconds)
    for limit, value in (
        (resource.RLIMIT_CPU, limits.processor_seconds),
        (resource.RLIMIT_AS, limits.memory_bytes),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(limit)[1]
        resource.setrlimit(limit, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))


def _texts(certificates: list[x509.Certificate]) -> list[str]:
    return [_text(each.public_bytes(Encoding.DER)) for each in certificates]


def _certificates(texts: list[str]) -> list[x509.Certificate]:
    return [x509.load_der_x509_certificate(_bytes(each)) for each in texts]


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _bytes(text: str) -> bytes:
    return base64.b64decode(text)
