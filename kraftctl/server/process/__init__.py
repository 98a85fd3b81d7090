"""A process has one clock, one collector and one event loop, and threads that wait for what may be slow."""
