"""From a plan to an answer in one transaction: releases, batches, derived statistics, reuse, exact sums, history."""
