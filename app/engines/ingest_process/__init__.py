"""Files are read in processes of their own: what a file makes them use is bounded, and given back when they end.

`fork_server` is a program that the service starts: it has imported what reading takes, has neither the service's
environment nor its connections, and forks a process for each file. `pool` is the service's side.
"""
