"""Stored answers: releases, idempotency keys, and the storage format of both."""
