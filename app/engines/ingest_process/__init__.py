"""Read each file in a process of its own: what it can use is limited, and is returned when the process ends.

`fork_server` is a program that the service starts. It has imported what is needed to read files, has neither the
service's environment nor its connections, and forks a process for each file. `pool` is the service's side.
"""
