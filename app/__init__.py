"""Snapledger: true statistics of a sensitive table, at a privacy cost that is exact, capped and on record."""
