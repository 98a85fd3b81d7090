"""Log lines, the audit log and the authorizer's log go to files and outputs that may be slow or full.

`logging` has the form of a line, `log_handler` and `background_file` write it on another thread, and
`log_files` opens the files of `audit_log` and `authorizer_logger`. `log_levels` lists the loggers;
`rate_limited_log` bounds lines that clients can provoke.
"""
