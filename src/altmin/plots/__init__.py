"""Pictures of fits (matplotlib, the extra ``altmin[plot]``)."""
