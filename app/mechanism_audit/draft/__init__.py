"""Liu's "Verifying Snapping Mechanism" (draft of 2020-02-21), completed: language, semantics and privacy theorem.

`expressions` has its language as data, `semantics` its Figure 1 with two mistakes corrected, and `snap` the mechanism
in that language. `cases` has its case analysis, bounded by the intervals of the semantics, and `theorem` a bound that
holds for all inputs. `notes` has the sampler of Covington's notes; the draft treats its U of 53 bits as a real number.
"""
