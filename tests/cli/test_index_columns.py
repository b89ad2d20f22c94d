"""Tables that pandas wrote with their index, whose column has no name."""

import numpy as np

from altmin.cli.tables import Wanted, read_table


def test_a_column_without_a_name_is_no_target(shell, tmp_path):
    X = np.random.default_rng(0).random((40, 4)).round(3)
    lines = [",a,b,c,d", *(",".join(map(str, (i, *row))) for i, row in enumerate(X.tolist()))]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    frame = read_table("t.csv")
    assert frame.y is None
    assert frame.aside[""].tolist() == list(range(40))
    np.testing.assert_allclose(frame.X, X)
    assert read_table("t.csv", Wanted(target="a")).y.tolist() == X[:, 0].tolist()
    said = shell("discover", "t.csv", "--budget", "quick", "--out", "t.html", "-q")
    assert "target" not in said  # no law of the rows' numbers


def test_names_of_columns_that_fit_are_no_reason_for_a_warning(shell, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.dirichlet(np.full(3, 0.4), 60) @ rng.random((3, 5))
    rows = [f"w{i}," + ",".join(f"{value:.4f}" for value in row) for i, row in enumerate(X)]
    (tmp_path / "t.csv").write_text("\n".join(["well,a,b,c,d,e", *rows]))
    shell("fit", "and", "t.csv", "-n", "3", "--out", "m.altmin")
    for words in (("guarantee", "m.altmin", "t.csv"), ("transform", "m.altmin", "t.csv", "--out", "c.csv")):
        assert "feature names" not in shell(*words)
