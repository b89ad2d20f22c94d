"""Claims of the papers, one file a figure, table or theorem."""
