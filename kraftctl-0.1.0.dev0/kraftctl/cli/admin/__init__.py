"""The addresses, the flags and the answers of commands that ask a running cluster, with `kraftctl_admin`."""
