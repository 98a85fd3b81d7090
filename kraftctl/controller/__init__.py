"""The metadata state machine: requests in, records and responses out.

`quorum_controller` is the state machine, and `request_handlers` names the handler of each API. A handler
returns a `controller_result`; `prepared_result` encodes and checks its records before any is appended.
`sliced_request` and `sliced_works` carry out what is too long for one turn of the loop. `refusal_lines`
says why a request was refused where its response has no room for the reason. `committed_replay` applies
what others have committed.
"""
