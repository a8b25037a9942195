"""Liu's "Verifying Snapping Mechanism" (draft of 2020-02-21), completed: language, semantics and privacy theorem.

`expressions` is its language as data, `semantics` its Figure 1 with the two mistakes mended, `snap` the mechanism in
that language, `cases` its case analysis bounded by the intervals of the semantics, and `theorem` the bound that holds
for all inputs. `notes` is the sampler of Covington's notes, whose 53-bit U the draft takes for a real number.
"""
