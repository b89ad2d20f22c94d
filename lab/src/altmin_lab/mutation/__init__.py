"""Would the tests notice? Plausible bugs are planted one at a time, and the tests that reach them are run.

operators.py   the bugs: a comparison flipped, a bound ten times as wide, a term dropped, a row left out ...
reach.py       which tests reach which functions, recorded once by a pytest plugin
campaign.py    draw bugs with a seed, run each against its tests, keep a line of each
page.py        the table by package, and the survivors
"""
