"""Nothing here is collected: tests/properties/test_golden.py runs the cases."""

collect_ignore_glob = ["*.py"]
