"""The command line `snapledger`: every command that talks to a running service."""
