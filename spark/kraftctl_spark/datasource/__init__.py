"""A metadata log as a Spark data source, and the wide table made from it."""
