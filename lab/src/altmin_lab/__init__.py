"""The laboratory of altmin: claims of the papers, peers, calibration, benchmarks and acceptance runs."""
