"""A disk that keeps what real processes forced to it, and loses the rest when the power fails."""
