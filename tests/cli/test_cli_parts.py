"""Parts of the command line: names of streams, progress on a terminal, the note that kernels are compiled, alarms."""

from __future__ import annotations

import signal
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from retewave.cli import inputs
from retewave.cli.inputs import Stopper, stream_name
from retewave.cli.notes import Notes, progress
from retewave.errors import UsageError

pytestmark = pytest.mark.usefixtures("folder")


def test_a_run_that_does_not_come_to_read_is_interrupted_but_not_while_it_writes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(inputs, "PATIENCE", 0.01)
    stopper, fired = Stopper(), threading.Event()
    with stopper.listening(), pytest.raises(KeyboardInterrupt):
        with stopper.writing():
            signal.raise_signal(signal.SIGTERM)
            assert not fired.wait(0.05)
        fired.wait(60)
    assert stopper.asked


def test_an_interrupt_that_something_loses_ends_a_run_all_the_same() -> None:
    stopper = Stopper()
    with pytest.raises(KeyboardInterrupt), stopper.listening():
        signal.raise_signal(signal.SIGINT)
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        raise RuntimeError("no compiled object yet")


def test_an_error_of_a_run_that_no_interrupt_has_caused_is_told() -> None:
    stopper = Stopper()
    with pytest.raises(RuntimeError, match="its own"), stopper.listening():
        signal.raise_signal(signal.SIGINT)
        raise RuntimeError("its own")


def test_an_alarm_does_not_go_off_once_the_run_has_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "PATIENCE", 0.01)
    stopper = Stopper()
    with stopper.listening():
        signal.raise_signal(signal.SIGINT)
        stopper.noticed()
        assert not threading.Event().wait(0.05)


def test_streams_name_is_split_at_the_last_equals_sign_unless_the_path_exists() -> None:
    assert stream_name("http://e/?a=b=d.nt") == ("http://e/?a=b", "d.nt")
    Path("a=b.nt").write_text("")
    assert stream_name("a=b.nt") == (None, "a=b.nt")
    with pytest.raises(UsageError):
        stream_name("s=d.nt")


class Terminal:
    """A file that takes itself for a terminal."""

    def __init__(self) -> None:
        self.text = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        pass


def test_progress_is_shown_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    with progress(terminal, 100, lambda: "7 triples") as tick:  # type: ignore[arg-type]
        tick(50)
    assert "7 triples" in terminal.text
    assert "50%" in terminal.text
    with Path("pipe").open("w") as pipe, progress(pipe, 100, lambda: "7 triples") as tick:
        tick(50)
    assert Path("pipe").read_text() == ""


def test_first_compilation_is_told_once_and_only_then() -> None:
    from numba import njit

    terminal = Terminal()
    with Notes(terminal).compiling():  # type: ignore[arg-type]
        compiled = njit(lambda x: x + 1)
        assert terminal.text == ""
        compiled(1)
        compiled(1.5)
    assert terminal.text.count("compiling the kernels") == 1
