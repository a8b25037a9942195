"""Verification: everything in the ledger that can be recomputed is recomputed and compared."""
