"""The last line that a user sees of a failed query."""

from __future__ import annotations

from kraftctl_spark.datasource.failure_cause import cause_of

FULL_DISK = """An exception was raised by the Python Proxy. Return Message: Traceback (most recent call last):
  File "clientserver.py", line 644, in _call_proxy
py4j.protocol.Py4JJavaError: An error occurred while calling z:PythonRDD.collectAndServe.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 3.0 failed 1 times
OSError: [Errno 28] Error writing bytes to file. Detail: [errno 28] No space left on device

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "durable.py", line 37, in writing
OSError: [Errno 28] no space to write a.parquet: make room and start again

\tat org.apache.spark.api.python.BasePythonRunner$ReaderIterator.handlePythonException(PythonRunner.scala:1)
Caused by: org.apache.spark.api.python.PythonException: Traceback (most recent call last):
\t... 1 more
=== Streaming Query ===
Identifier: kraftctl-export
"""

LOST_PLANNER = """[STREAM_FAILED] Query terminated with exception: SQLSTATE: XXKST
java.io.EOFException
\tat java.base/java.io.DataInputStream.readFully(DataInputStream.java:210)
"""


def test_the_last_exception_that_says_something() -> None:
    wanted = "OSError: [Errno 28] no space to write a.parquet: make room and start again"
    assert cause_of(FULL_DISK) == wanted
    assert cause_of(LOST_PLANNER).startswith("EOFException: a Python process of Spark (the planner of")


def test_no_exception_in_it() -> None:
    assert cause_of("\nsomething else\nhappened") == "something else"
    assert cause_of("") == "no reason was given"
