"""Answers planned requests in one transaction: releases, batches, derived statistics, reuse, exact sums, history."""
