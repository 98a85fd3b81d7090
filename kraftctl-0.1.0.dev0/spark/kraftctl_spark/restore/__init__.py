"""Gives back the topics, configs, ACLs and quotas that a cluster had at an offset or a time.

`past_state` reads it from the history, `live_state` from a running cluster; both are a `ClusterState`. A
`plan` is what to restore of it, `comparison` what a cluster lacks of a plan, `changes` does it.
"""
