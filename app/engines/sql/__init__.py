"""The grammar of exact sums as sqlglot nodes, rendered for each dialect."""
