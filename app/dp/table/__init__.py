"""The public facts about a table: columns, codes, conditions and bins, and the sums that engines compute."""
