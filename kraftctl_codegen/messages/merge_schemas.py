"""The union of one message as two Kafka releases define it.

The newer release decides every version it accepts. Versions that only the older one accepts get their fields,
ranges and nullability from there. A field that only the older one has is placed after the field it followed.
"""

from __future__ import annotations

from typing import Any

from kraftctl_codegen.messages.versions import VERSION_MAX, Versions

Facts = dict[str, Any]


def merge_message(old: Facts | None, new: Facts | None) -> Facts | None:
    """Returns None when neither release accepts any version."""
    usable = [one for one in (old, new) if one is not None and Versions.parse(one["validVersions"])]
    if not usable:
        return None
    if len(usable) == 1 or old is None or new is None:
        return usable[0]
    old_valid, new_valid = Versions.parse(old["validVersions"]), Versions.parse(new["validVersions"])
    if new_valid.covers(old_valid):
        return new
    if old_valid.highest > new_valid.highest:
        raise ValueError(f"{new['name']}: the newer release lost version {old_valid.highest}")
    merged = dict(new)
    merged["validVersions"] = str(old_valid.hull(new_valid))
    below = Versions(old_valid.lowest, new_valid.lowest - 1)
    if new["flexibleVersions"] != old["flexibleVersions"]:
        merged["flexibleVersions"] = _merge_range(old, new, "flexibleVersions", below)
    merged["fields"] = _merge_fields(old["fields"], new["fields"], below)
    if "commonStructs" in old or "commonStructs" in new:
        merged["commonStructs"] = _merge_structs(old, new, below)
    return merged


def _merge_structs(old: Facts, new: Facts, below: Versions) -> list[Facts]:
    olds = {one["name"]: one for one in old.get("commonStructs", [])}
    news = {one["name"]: one for one in new.get("commonStructs", [])}
    merged = []
    for name, struct in news.items():
        if name in olds:
            struct = dict(struct)
            struct["versions"] = _merge_range(olds[name], struct, "versions", below)
            struct["fields"] = _merge_fields(olds[name]["fields"], struct["fields"], below)
        merged.append(struct)
    return merged + [struct for name, struct in olds.items() if name not in news]


def _merge_fields(old: list[Facts], new: list[Facts], below: Versions) -> list[Facts]:
    olds = {one["name"]: one for one in old}
    merged = [_merge_field(olds[one["name"]], one, below) if one["name"] in olds else one for one in new]
    names = [one["name"] for one in merged]
    for position, field in enumerate(old):
        if field["name"] in names or not Versions.parse(field["versions"]) & below:
            continue
        predecessors = [names.index(one["name"]) for one in old[:position] if one["name"] in names]
        place = max(predecessors, default=-1) + 1
        kept = dict(field)
        kept["versions"] = str(Versions.parse(field["versions"]) & Versions(0, below.highest))
        merged.insert(place, kept)
        names.insert(place, field["name"])
    return merged


def _merge_field(old: Facts, new: Facts, below: Versions) -> Facts:
    merged = dict(new)
    for key in ("versions", "nullableVersions", "taggedVersions"):
        if old.get(key) != new.get(key):
            value = _merge_range(old, new, key, below)
            if value != "none":
                merged[key] = value
    for key in ("type", "tag", "default"):
        if old.get(key) != new.get(key) and Versions.parse(old["versions"]) & below:
            raise ValueError(f"{new['name']}: {key} differs between the releases")
    if "fields" in old or "fields" in new:
        merged["fields"] = _merge_fields(old.get("fields", []), new.get("fields", []), below)
    return merged


def _merge_range(old: Facts, new: Facts, key: str, below: Versions) -> str:
    """Returns the newer range, changed so that the older release decides about the versions `below`."""
    inside_old = Versions.parse(old.get(key, "none")) & below
    inside_new = Versions.parse(new.get(key, "none")) & Versions(below.highest + 1, VERSION_MAX)
    return str(inside_old.hull(inside_new))
