"""Code, definitions, tables and SQL are generated here; nothing that is shipped imports it."""
