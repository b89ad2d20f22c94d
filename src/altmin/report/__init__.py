"""Self-contained HTML pages: the claims ledger, and a page about one model."""
