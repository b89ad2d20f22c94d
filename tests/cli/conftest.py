"""The shell, called in this process, in a folder of the test's own."""

import pytest

from altmin.cli.app import main


@pytest.fixture
def shell(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def call(*words, code=0):
        monkeypatch.setattr("sys.argv", ["altmin", *map(str, words)])
        with pytest.raises(SystemExit) as stop:
            main()
        said = "".join(capsys.readouterr())
        assert (stop.value.code or 0) == code, said
        return said

    return call
