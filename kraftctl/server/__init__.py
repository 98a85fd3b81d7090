"""The IO rim: sockets, the event loop, the clock and the log lines."""
