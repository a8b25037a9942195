"""Answers as they were given: releases, idempotency keys, and how both are stored."""
