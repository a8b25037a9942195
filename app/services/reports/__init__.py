"""Reports: batches that are released and published when a dataset succeeds another, within a budget set before."""
