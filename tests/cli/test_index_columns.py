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
