"""Records as rows, and rows as Arrow columns: no Spark in here."""
