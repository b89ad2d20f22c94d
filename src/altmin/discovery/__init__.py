"""From a table to the factors that it holds, without choosing an algorithm first.

look.py         what can be seen at once: signs, counts, zeros, holes, copies, scales
dimensions.py   how many dimensions predict cells that were held out
held_out.py     how well factors predict held-out cells, in the same units for every family
families.py     what may be in the table, which estimator finds it, and with how many components
search.py       discover: try, compare, judge, fit the winner on all rows
result.py       Discovery: the answer, in words, tables and code
"""

from altmin.discovery.result import Candidate, Discovery
from altmin.discovery.search import discover

__all__ = ["Candidate", "Discovery", "discover"]
