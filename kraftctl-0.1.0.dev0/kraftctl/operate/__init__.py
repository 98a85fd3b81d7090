"""What orchestrators and dashboards ask of a controller over HTTP: probes and metrics, on their own thread.

`readiness` decides from facts, and `metric_table` has every metric: both are pure. `watch` looks at the
running controller once a second, on its loop; `listener` serves what it saw. A stuck loop is therefore seen.
"""
