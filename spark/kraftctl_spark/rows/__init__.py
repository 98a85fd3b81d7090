"""Records as rows, and rows as Arrow columns; without Spark."""
