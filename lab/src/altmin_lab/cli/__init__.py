"""The laboratory's command line: reproduce, bench, calibrate, accept."""
