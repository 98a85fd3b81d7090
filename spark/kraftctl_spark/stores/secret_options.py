"""Options that are secrets, by their names: no command takes them as arguments."""

from __future__ import annotations

import re

SECRET = re.compile(r"secret|key|token|password|sas|credential", re.IGNORECASE)
