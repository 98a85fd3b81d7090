"""Finds the cause in the hundreds of lines that Spark prints about a failed query."""

from __future__ import annotations

import re

_RAISED = re.compile(
    r"^(?:Caused by: )?(?:[\w.$]+\.)?(\w+(?:Error|Exception|Refused))\b:? ?(.*)$", re.MULTILINE
)
_WRAPPERS = ("PythonException", "Py4JException", "Py4JJavaError", "SparkException", "StreamingQueryException")

PROCESS_ENDED = (
    "a Python process of Spark (the planner of the source, or a worker) ended unexpectedly, for example "
    "killed for lack of memory. Start again: everything committed is complete"
)


def cause_of(failure: str) -> str:
    """Returns the last exception that does not wrap another one; the first line if there is none."""
    raised = [(name, text) for name, text in _RAISED.findall(failure) if name not in _WRAPPERS]
    if raised:
        name, text = raised[-1]
        if name == "EOFException":
            return f"{name}: {text or PROCESS_ENDED}"
        return f"{name}: {text}"
    return next((line for line in failure.splitlines() if line.strip()), "no reason was given")
