"""Codes and exact sums over a table: one grammar of sqlglot nodes for every engine, and the tables that it reads."""
