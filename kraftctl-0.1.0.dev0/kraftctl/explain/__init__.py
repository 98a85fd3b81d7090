"""Explains why the metadata is as it is: causes as pure functions of a replayed log, and what a quorum adds.

`replayed_log` replays a log into an image and marks which record set what; `evidence` has all that an
explanation may use. There is a module for each subject: `why_broker`, `why_partition`, `why_topic`,
`why_reassignment`, `why_quorum`, `why_feature` and `why_controller`.
"""
