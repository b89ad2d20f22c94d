"""Self-contained HTML pages, and the page about one model."""
