"""Side by side with others: problems, data sets and solvers in small files, one clock for all of them."""
