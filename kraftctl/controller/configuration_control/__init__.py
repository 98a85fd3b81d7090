"""Dynamic configurations: altering, describing and validating them, and the values in effect.

`effective_configs` computes the value that applies to a topic, and `node_configs` the dynamic configs that
this controller obeys itself. `validate_configs` decides which values are accepted.
"""
