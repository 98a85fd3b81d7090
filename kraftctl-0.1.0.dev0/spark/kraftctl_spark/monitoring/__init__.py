"""The metrics of a running export: their table, their values, and the listener that serves them."""
