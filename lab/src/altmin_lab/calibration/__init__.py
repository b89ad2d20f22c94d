"""The calibration of the guarantee reports: random problems with known answers, verdicts held against them.

One file a family says which problems are drawn and what counts as true; ``campaign`` fits them and writes a
line a problem; ``tally`` counts; ``page`` writes the table and the picture of the documentation.
"""
