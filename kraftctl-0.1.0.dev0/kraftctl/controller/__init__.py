"""The metadata state machine: requests in, records and responses out.

`quorum_controller` is the state machine, and `request_handlers` names the handler of each API. `state` is
what all handlers share, and `results` what they return: records that are encoded and checked before any is
appended, and why a request was refused. `sliced_works` carries out what is too long for one turn of the
loop. `committed_replay` applies what others have committed.
"""
