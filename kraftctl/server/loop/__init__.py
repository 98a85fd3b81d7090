"""The loop around the pure node knows no socket, thread or file, so that a simulation runs it as well."""
