"""The asynchronous half, from which `make client` generates the synchronous one."""
