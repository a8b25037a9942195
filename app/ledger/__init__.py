"""Every invariant of the privacy budget: accounts, allowances, entries, idempotency keys, stored releases.

Functions take a session first and never commit: a use case owns its transaction.
"""
