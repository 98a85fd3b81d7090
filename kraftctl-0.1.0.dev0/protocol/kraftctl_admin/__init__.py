"""A small blocking admin client, for commands that ask or change a running cluster.

The commands of kraftctl and of the exporter share it; it needs neither of them.
"""
