"""Codes and exact sums of a table: one grammar of sqlglot nodes for all engines, and the tables that they read."""
