"""The texts of errors of object stores: what was tried, where, the store's code, and the next step.

A client's own text may contain a signature, a key or a whole answer. Ours is made from its codes alone.
"""

from __future__ import annotations

import re

CREDENTIALS = {
    "s3": "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (profiles are not read: "
    "`aws configure export-credentials --format env` prints them), or give the machine or pod a role",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS to the file of a service account, or give the machine or pod one",
    "az": "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY, or the variables of a service principal "
    "or a managed identity",
}
RIGHTS = {
    "s3": "s3:GetObject, s3:PutObject, s3:DeleteObject, s3:AbortMultipartUpload on its objects and "
    "s3:ListBucket on the bucket",
    "gs": "the role Storage Object Admin on the bucket",
    "az": "the role Storage Blob Data Contributor on the container",
}

_STATUS = re.compile(r"status code: (\d{3})")
CODE = re.compile(r"<Code>(\w{1,64})</Code>")

_ROLES = r"169\.254\.|/latest/(?:api/token|meta-data)|metadata\.google|/metadata/identity|v2/credentials"
"""These services give a machine or a pod its role."""

_REGION = (
    r"AuthorizationHeaderMalformed|PermanentRedirect|BareRedirect|IllegalLocationConstraint"
    r"|status code: 301|redirect without LOCATION"
)
_NOT_ACCEPTED = (
    r"InvalidAccessKeyId|XAdminUserNotFound|SignatureDoesNotMatch|InvalidToken|ExpiredToken"
    r"|TokenRefreshRequired|AuthenticationFailed|status code: 401"
)

RULES: tuple[tuple[str, str, str], ...] = (
    (
        r"\bBadScheme\b",
        "its endpoint is http, which obstore refuses: without TLS, others can read and change what is sent",
        "name an https endpoint, or give --store-option allow_http=true",
    ),
    (
        rf"{_ROLES}|MissingAccessKey|MissingSecretAccessKey|MissingAccount|Missing.*[Cc]redential",
        "there are no credentials",
        "set {credentials}",
    ),
    (
        r"NoSuchBucket|ContainerNotFound|specified bucket does not exist",
        "it does not exist",
        "check its name, the account and the endpoint, or create it",
    ),
    (
        _REGION,
        "it is in another region",
        "set AWS_REGION, or --store-option region=REGION, to the region of the bucket",
    ),
    (
        _NOT_ACCEPTED,
        "it does not accept the credentials",
        "set valid ones: {credentials}. If they are right, compare the clock of this machine",
    ),
    (r"status code: 403", "it denies access", "give the account {rights}"),
    (
        r"SlowDown|TooManyRequests|status code: (?:503|429)",
        "it limits the rate of requests",
        "start again later, with a longer --interval; everything committed is complete",
    ),
    (
        r"status code: 501",
        "it lacks this request",
        "use a store that has conditional writes (If-None-Match: *)",
    ),
    (
        r"status code: 5\d\d",
        "it fails",
        "look at its state and start again; everything committed is complete",
    ),
    (
        r"dns error|failed to lookup address",
        "the name of its endpoint is not known",
        "check the endpoint and the resolver (getent hosts)",
    ),
    (
        r"[Cc]ertificate|UnknownIssuer|InvalidContentType|received corrupt message",
        "its endpoint offers no TLS that this machine trusts",
        "install the certificate of its authority on this machine, or correct the endpoint",
    ),
    (
        r"kind: Connect\b|tcp connect error|Connection refused",
        "its endpoint refuses connections",
        "start it, or check host and port of the endpoint",
    ),
    (
        r"kind: Timeout|TimedOut|timed out|kind: (?:Request|Interrupted|Unknown|Decode)|HTTP error",
        "it does not answer",
        "check the network; --store-option timeout=5min waits longer for one request",
    ),
)
"""Pattern in the text of the client, reason, next step; the first that matches decides."""

START_AGAIN = "start again; everything committed is complete"


class ObjectStoreError(OSError):
    """A store that cannot be used now; the message says what to do. It has no secrets."""


class StoreRefusedError(Exception):
    """A store, or options of one, that tables may not be written to; the message says what to do."""


def store_error(error: Exception, action: str, url: str) -> ObjectStoreError:
    """Returns the error with our text: `cannot ACTION in URL: REASON (CODE). Next step: ...`."""
    found = str(error)
    scheme = url.partition(":")[0]
    matching = ((reason, step) for pattern, reason, step in RULES if re.search(pattern, found))
    reason, step = next(matching, ("the client could not complete it", START_AGAIN))
    step = step.format(
        credentials=CREDENTIALS.get(scheme, "them"), rights=RIGHTS.get(scheme, "the rights to read and write")
    )
    return ObjectStoreError(f"cannot {action} in {url}: {reason}{code_of(error)}. Next step: {step}.")


def code_of(error: Exception) -> str:
    """Returns ` (STATUS CODE)`, as far as the store gave them; else the class of the client's error."""
    text = str(error)
    known = [found[1] for pattern in (_STATUS, CODE) if (found := pattern.search(text))]
    return f" ({' '.join(known) or type(error).__name__})"
