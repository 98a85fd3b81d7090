"""The subcommands of `kraftctl-export`, one to a file.

Each has `NEEDED`, the modules without which it cannot run, `add_arguments(parser)`, and `run(options, hook)`,
which returns the exit code. What is heavy is imported inside of `run`: `--help` needs no Spark and no Arrow.
"""
