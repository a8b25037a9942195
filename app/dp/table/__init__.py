"""What is known of a table: columns, codes, conditions, bins, and the sums that are asked of it."""
