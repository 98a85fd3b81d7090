"""`kraftctl container`: the first process of a container, configured as that of the apache/kafka image."""
