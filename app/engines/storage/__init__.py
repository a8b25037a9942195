"""Stored tables, their kept sums, and files that belong to no dataset."""
