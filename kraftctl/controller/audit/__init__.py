"""The audit log's lines: who asked for which change, and what came of it."""
