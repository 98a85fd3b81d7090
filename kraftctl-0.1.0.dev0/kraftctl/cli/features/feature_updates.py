"""`kraftctl features upgrade`, `downgrade` and `disable`: one UpdateFeatures, and a line for each feature."""

from __future__ import annotations

from dataclasses import dataclass

from kraftctl_admin.admin_client import AdminClient
from kraftctl_admin.errors import RefusedError
from kraftctl_protocol.errors import Errors, error_of
from kraftctl_protocol.escaped_text import escaped
from kraftctl_protocol.generated.update_features_request import FeatureUpdateKey, UpdateFeaturesRequest
from kraftctl_protocol.generated.update_features_response import UpdateFeaturesResponse

UPGRADE = "upgrade"
DOWNGRADE = "downgrade"

TO_UPGRADE = 1
TO_DOWNGRADE_SAFELY = 2
TO_DOWNGRADE_UNSAFELY = 3
"""The kinds of UpdateFeatures (KIP-778)."""


@dataclass(frozen=True)
class FeatureChange:
    """The operation (upgrade, downgrade or disable), and the levels that it sets."""

    operation: str
    levels: dict[str, int]
    unsafe: bool
    dry_run: bool

    def request(self, timeout_ms: int) -> UpdateFeaturesRequest:
        if self.operation == UPGRADE:
            kind = TO_UPGRADE
        else:
            kind = TO_DOWNGRADE_UNSAFELY if self.unsafe else TO_DOWNGRADE_SAFELY
        updates = [
            FeatureUpdateKey(feature=feature, max_version_level=level, upgrade_type=kind)
            for feature, level in self.levels.items()
        ]
        return UpdateFeaturesRequest(
            timeout_ms=timeout_ms, feature_updates=updates, validate_only=self.dry_run
        )


@dataclass(frozen=True)
class ChangedFeatures:
    """The outcome; `failures` maps each feature that was refused to the reason."""

    change: FeatureChange
    failures: dict[str, str]

    def text(self) -> str:
        """Returns the lines of kafka-features, by feature."""
        return "\n".join(map(self._line, sorted(self.change.levels)))

    def value(self) -> dict[str, object]:
        """Returns the same for JSON."""
        outcomes = [
            {"feature": feature, "level": level, "error": self.failures.get(feature)}
            for feature, level in sorted(self.change.levels.items())
        ]
        return {"operation": self.change.operation, "dryRun": self.change.dry_run, "features": outcomes}

    def _line(self, feature: str) -> str:
        operation, dry_run = self.change.operation, self.change.dry_run
        name, level = escaped(feature), self.change.levels[feature]
        is_disabling = operation not in (UPGRADE, DOWNGRADE)
        reason = self.failures.get(feature)
        if reason is None:
            done = "disabled" if is_disabling else f"{operation}d to {level}"
            return f"{name} {'can be' if dry_run else 'was'} {done}."
        what = f"{operation} {name}" if is_disabling else f"{operation} {name} to {level}"
        return f"{'Can not' if dry_run else 'Could not'} {what}. {escaped(reason)}"


def update_features(client: AdminClient, change: FeatureChange) -> ChangedFeatures:
    """Returns when the change is committed, or refused. Raises UnavailableError."""
    request = change.request(client.timeout_ms)
    try:
        response = client.call(request, UpdateFeaturesResponse, _error_in)
    except RefusedError as refused:
        return ChangedFeatures(change, dict.fromkeys(change.levels, refused.reason))
    failures: dict[str, str] = {}
    for result in response.results:
        error = error_of(result.error_code)
        if error != Errors.NONE:
            failures[result.feature] = result.error_message or error.message
    return ChangedFeatures(change, failures)


def _error_in(response: UpdateFeaturesResponse) -> tuple[Errors, str | None]:
    return error_of(response.error_code), response.error_message
