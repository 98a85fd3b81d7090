"""`python -m kraftctl` is the `kraftctl` command."""

from __future__ import annotations

import sys

from kraftctl.cli import main

if __name__ == "__main__":
    sys.exit(main())
