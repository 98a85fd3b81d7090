"""Where files of tables are kept: `store` is what every place promises, `local_store` a directory."""
