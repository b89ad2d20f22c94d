"""The engine: runs any algorithm of the contract in memory, out of core or on a stream."""

from altmin.engine.outcome import Outcome
from altmin.engine.plan import Plan, make_plan
from altmin.engine.progress import make_progress
from altmin.engine.rows import collect_rows, map_rows
from altmin.engine.run import Result, Settings, run
from altmin.engine.sources import AnySource, Source, SourceError, StreamSource, open_source

__all__ = [
    "AnySource",
    "Outcome",
    "Plan",
    "Result",
    "Settings",
    "Source",
    "SourceError",
    "StreamSource",
    "collect_rows",
    "make_plan",
    "make_progress",
    "map_rows",
    "open_source",
    "run",
]
