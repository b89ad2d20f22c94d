"""Our own regressions: time, peak memory, share of GEMM, growth; a family a class, three sizes each."""
