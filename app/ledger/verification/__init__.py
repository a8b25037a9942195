"""Whether what is stored is what was written: everything that can be computed again is compared."""
