"""A handler gets a moment and a context, and returns records and a response, which are checked here.

`controller_result` is what a handler returns; `prepared_result` encodes and checks its records before any is
appended. `sliced_request` carries out what is too long for one turn of the loop. `refusal_lines` says why a
request was refused where its response has no room for the reason.
"""
