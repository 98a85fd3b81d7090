"""The subcommands of `kraftctl-export`, one per file.

Each has `NEEDED`, the modules without which it cannot run, `add_arguments(parser)`, and `run(options, hook)`,
which returns the exit code. `run` imports Spark and Arrow itself, so that `--help` works without them.
"""
