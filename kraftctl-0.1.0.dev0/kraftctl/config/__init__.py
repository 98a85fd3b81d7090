"""The properties of a controller, parsed and checked: no file is read here.

`controller_config` has the keys that a controller uses, `kafka_config_checks` what Kafka refuses,
`own_keys` the keys that must not be misspelt, and `dynamic_keys` those that change while it runs.
"""
