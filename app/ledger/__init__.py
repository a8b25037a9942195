"""The rules of the privacy budget: accounts, allowances, entries, idempotency keys and stored releases.

Every function takes a session as its first argument and never commits: the caller owns the transaction.
"""
