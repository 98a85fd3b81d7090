"""The reference of commands: docs/reference/commands.md and the pages of man, from the parsers."""
