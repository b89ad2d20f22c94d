"""The demo: every algorithm at work on data inside pip packages, told in plain words and pictures."""
