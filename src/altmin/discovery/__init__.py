"""From a table to the factors that it holds, without choosing an algorithm first.

table.py        any input: complete rows to search, others held out, all of them for the winner
look.py         what can be seen at once: signs, counts, zeros, holes, copies, scales
dimensions.py   how many dimensions predict cells that were held out
held_out.py     how well factors predict held-out cells, in the same units for every family
screen.py       whether sparse combinations are worth a search
sparsity.py     whether a few factors make up a row, against rows without structure
families.py     what may be in the table, which estimators find it, and with how many components
search.py       discover: try, compare, judge, fit the winner on all rows
law.py          the same for a table with a target
ctrl_c.py       how a search is ended early
result.py       Discovery: the answer, in words, tables and code
words.py        its sentences
page.py         its page
"""

from altmin.discovery.result import Candidate, Discovery
from altmin.discovery.search import discover

__all__ = ["Candidate", "Discovery", "discover"]
