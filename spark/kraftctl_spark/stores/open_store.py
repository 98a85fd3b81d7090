"""From a URL to a store: `s3://bucket/prefix`, `gs://bucket/prefix`, `az://container/prefix`, or a directory.

Credentials come from the environment or the machine, as obstore reads them; never from arguments, which every
account of a machine can list. What is not secret may be an option: endpoint, region, time-outs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kraftctl_protocol.extra_packages import install_command
from kraftctl_spark.log.local_path import local_path
from kraftctl_spark.stores.local_store import LocalStore
from kraftctl_spark.stores.secret_options import SECRET
from kraftctl_spark.stores.store_error import StoreRefusedError

if TYPE_CHECKING:
    from obstore.store import AzureStore, GCSStore, S3Store

    from kraftctl_spark.stores.object_store import ObjectStore

SCHEMES = {"s3": "s3", "s3a": "s3", "gs": "gs", "az": "az", "azure": "az", "abfs": "az", "abfss": "az"}
"""The schemes of URLs, by the name under which the others are known, too."""

TIMEOUT = "1m"
"""One request, with up to 16 MiB of data."""

CLIENT_OPTIONS = frozenset(
    (
        "allow_http",
        "allow_invalid_certificates",
        "connect_timeout",
        "http1_only",
        "http2_only",
        "pool_idle_timeout",
        "pool_max_idle_per_host",
        "proxy_ca_certificate",
        "proxy_excludes",
        "proxy_url",
        "randomize_addresses",
        "read_timeout",
        "root_certificate",
        "timeout",
        "user_agent",
    )
)
"""The options of obstore that are about the connection."""

FILES = ("proxy_ca_certificate", "root_certificate")
"""The options whose value is the name of a PEM file."""

PLACES = {
    "s3": {
        "endpoint": ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"),
        "region": ("AWS_REGION", "AWS_DEFAULT_REGION"),
        "allow_http": ("AWS_ALLOW_HTTP",),
    },
    "gs": {},
    "az": {
        "account_name": ("AZURE_STORAGE_ACCOUNT_NAME",),
        "endpoint": ("AZURE_STORAGE_ENDPOINT", "AZURE_ENDPOINT"),
    },
}
"""The options that say which store it is, with their variables: workers get them from the driver."""

_URL = re.compile(r"^([a-zA-Z][a-zA-Z0-9+.-]+)://([^/?#]*)(?:/([^?#]*))?$")
_NO_SECRETS = frozenset(("sse_kms_key_id", "sse_bucket_key_enabled", "aws_sse_kms_key_id"))
_USERS = re.compile(r"//[^/@]*@")


@dataclass(frozen=True)
class StoreLocation:
    """A store by its URL and options, without secrets: tasks get it and open it where they run."""

    url: str
    options: tuple[tuple[str, str], ...] = ()

    @staticmethod
    def here(url: str, options: Mapping[str, str]) -> StoreLocation:
        """Returns the location of a store, with the variables of this process that say which one it is."""
        parts = _parts(url)
        assert parts is not None
        found = {
            option: os.environ[name]
            for option, names in PLACES[parts[0]].items()
            for name in reversed(names)
            if os.environ.get(name)
        }
        return StoreLocation(url, tuple(sorted({**found, **options}.items())))

    @cache  # noqa: B019 (a task opens the store that the one before it had, with its connections)
    def open_objects(self) -> ObjectStore:
        """Returns the object store, without any request; StoreRefusedError for what it cannot be."""
        store = open_store(self.url, dict(self.options))
        assert not isinstance(store, LocalStore)
        return store


def is_object_store(url: str) -> bool:
    """Returns whether a URL is that of an object store, perhaps not a right one."""
    found = _URL.match(url)
    return found is not None and found[1].lower() in SCHEMES


def scheme_of(url: str) -> str:
    """Returns `s3`, `gs` or `az`, for the URL of an object store."""
    parts = _parts(url)
    assert parts is not None
    return parts[0]


def open_store(
    url: str, options: Mapping[str, str] | None = None, retry_seconds: float | None = None
) -> LocalStore | ObjectStore:
    """Returns the store of a URL, without any request; StoreRefusedError for what it cannot be."""
    parts = _parts(url)
    if parts is None:
        if options:
            raise StoreRefusedError(f"--store-option is for object stores, and {url} is a directory")
        try:
            return LocalStore(local_path(url))
        except ValueError as error:
            raise StoreRefusedError(str(error)) from error
    try:
        import obstore  # noqa: F401
    except ImportError:
        raise StoreRefusedError(f"{url} needs obstore: {install_command('export', ['obstore'])}") from None
    return _object_store(url, parts, dict(options or {}), retry_seconds)


def parse_options(given: list[str]) -> dict[str, str]:
    """Returns `KEY=VALUE` options by key; StoreRefusedError for others, and for secrets."""
    options: dict[str, str] = {}
    for one in given:
        key, equals, value = one.partition("=")
        key = key.strip().lower()
        if not equals or not key:
            raise StoreRefusedError("--store-option is KEY=VALUE, for example region=eu-central-1")
        if SECRET.search(key) and key not in _NO_SECRETS:
            raise StoreRefusedError(
                f"--store-option {key}: every account of this machine can list arguments. Set it in the "
                "environment, for example as AWS_SECRET_ACCESS_KEY"
            )
        options[key] = value
    return options


def _parts(url: str) -> tuple[str, str, str] | None:
    """Returns scheme, bucket and prefix; None for a path or the URL of a file."""
    found = _URL.match(url)
    if found is None or not is_object_store(url):
        return None
    bucket, prefix = found[2], (found[3] or "").strip("/")
    if "@" in bucket:
        raise StoreRefusedError(
            f"{_USERS.sub('//', url)}: name bucket or container, without account or user; the account is "
            "in the environment, for example AZURE_STORAGE_ACCOUNT_NAME"
        )
    if not bucket:
        raise StoreRefusedError(f"{url} names no bucket: {found[1]}://BUCKET/PREFIX")
    if any(part in ("", ".", "..") for part in prefix.split("/")) and prefix:
        raise StoreRefusedError(f"{url} has an empty part, '.' or '..' in its prefix: leave it out")
    return SCHEMES[found[1].lower()], bucket, prefix


def _object_store(
    url: str, parts: tuple[str, str, str], options: dict[str, str], retry_seconds: float | None
) -> ObjectStore:
    from obstore.exceptions import BaseError
    from obstore.store import AzureStore, GCSStore, S3Store

    from kraftctl_spark.stores.object_store import RETRY_SECONDS, ObjectStore

    scheme, bucket, prefix = parts
    kinds: dict[str, Any] = {"s3": S3Store, "gs": GCSStore, "az": AzureStore}
    client: dict[str, Any] = {"timeout": TIMEOUT}
    if "AWS_ALLOW_HTTP" in os.environ and scheme == "s3":
        client["allow_http"] = os.environ["AWS_ALLOW_HTTP"]
    for key in CLIENT_OPTIONS & set(options):
        client[key] = _client_option(key, options.pop(key))

    def make(below: str, retries: dict[str, Any]) -> S3Store | GCSStore | AzureStore:
        made: S3Store | GCSStore | AzureStore = kinds[scheme](
            bucket, prefix=below or None, config=options, client_options=client, retry_config=retries
        )
        return made

    def store(below: str, around: tuple[ObjectStore, ...]) -> ObjectStore:
        seconds = RETRY_SECONDS if retry_seconds is None else retry_seconds
        return ObjectStore(_shown(scheme, bucket, below), partial(make, below), seconds, around)

    names = prefix.split("/") if prefix else []
    try:
        return store(prefix, tuple(store("/".join(names[:count]), ()) for count in range(len(names))))
    except (BaseError, ValueError) as error:
        text = str(error).partition("\n")[0].partition("Debug")[0].strip()
        keys = ", ".join(sorted(options)) or "none"
        unknown = "UnknownConfigurationKey" in type(error).__name__
        reason = text if unknown else "a value of the environment or of the options is not one that it has"
        raise StoreRefusedError(
            f"cannot open {_shown(scheme, bucket, prefix)}: {reason} (options: {keys})"
        ) from None


def _shown(scheme: str, bucket: str, prefix: str) -> str:
    return f"{scheme}://{bucket}/{prefix}".rstrip("/")


def _client_option(key: str, value: str) -> Any:
    if key not in FILES:
        return value
    try:
        return Path(value).read_bytes()
    except OSError as error:
        raise StoreRefusedError(f"--store-option {key}={value}: {error.strerror}") from None
