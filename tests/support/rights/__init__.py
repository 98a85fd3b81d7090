"""The table of rights: each API with what it needs, and what principals are answered that have it or not."""
