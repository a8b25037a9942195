"""What the ledger seals and how: entries, the hash chain, the audit log, checkpoints and their keys."""
