"""`kraftctl doctor` looks for what will not work in the properties file of a controller and around it.

`checks` is the table of all checks. Each is a function of a Subject: the file, and what was read and asked
before. They take no lock, and write nothing but a file without a name, to measure the disk.
"""
