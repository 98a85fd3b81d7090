"""All handlers share this state: the image, the configuration, and the soft state of an active controller.

`controller_state` holds all of it. `effective_configs` computes the value that applies to a topic, and
`broker_heartbeat_manager` knows who has sent heartbeats. `standard_authorizer` decides who may do what,
`authorizer_log` has a line for each decision, and `node_principals` binds the ids of nodes to principals.
"""
