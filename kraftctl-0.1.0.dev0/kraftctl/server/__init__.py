"""The IO around the pure node: sockets, the event loop, threads, the clock and the log lines.

`controller_server` makes a controller from its directory, and `driver` connects the node with the world.
Rooms, from the lowest: `process` has clock and threads, `logs` what is written about a run, `loop` steps the
node and carries out effects, `peers` are connections to other controllers, `connections` those of clients,
`security` is SSL and SASL, and `listeners` accept.
"""
