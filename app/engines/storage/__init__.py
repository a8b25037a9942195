"""Stored tables, their stored sums, and files that belong to no dataset."""
