"""Signals, each in a process of its own: handlers belong to the whole process."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
START = """
import os, signal, sys, threading, time
sys.path.insert(0, {root!r})
from triage.base import os_signals as signals
from triage.base.os_signals import SignalHandler

def send(number):
    os.kill(os.getpid(), number)

signals.SHUTDOWN_SECONDS = 60.0
handler = SignalHandler()
called = threading.Event()
"""


def run(script: str) -> subprocess.CompletedProcess[str]:
    whole = START.format(root=str(ROOT)) + script
    return subprocess.run([sys.executable, "-c", whole], capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_calls_the_callback_and_nothing_else(number: signal.Signals):
    done = run(
        f"handler.listen(); handler.on_signal(called.set); send({number:d}); print(called.wait(10), handler.signal_number)"
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, f"True {number:d}\n", "")


def test_a_blocked_signal_is_received_by_listen():
    done = run(
        "signal.pthread_sigmask(signal.SIG_BLOCK, signals.SIGNALS); send(15); "
        "handler.on_signal(called.set); handler.listen(); print(called.wait(10), handler.signal_number)"
    )
    assert (done.stdout, done.stderr) == ("True 15\n", "")


def test_a_callback_after_the_signal_is_called_at_once():
    done = run(
        "handler.listen(); handler.on_signal(called.set); send(2); called.wait(10); handler.on_signal(lambda: print('called'))"
    )
    assert done.stdout == "called\n"


def test_the_first_signal_counts():
    done = run(
        "handler.listen(); handler.on_signal(called.set); send(2); called.wait(10); send(15); print(handler.signal_number)"
    )
    assert (done.returncode, done.stdout) == (0, "2\n")


def test_the_time_left_is_infinite_until_a_signal_comes():
    done = run(
        "handler.listen(); handler.on_signal(called.set); print(handler.seconds_left()); send(2); called.wait(10); "
        "print(50 < handler.seconds_left() <= 60)"
    )
    assert done.stdout == "inf\nTrue\n"


def test_a_stuck_process_runs_the_timeout_callback_and_ends():
    done = run(
        "signals.SHUTDOWN_SECONDS = 0.1; handler.listen(); "
        "handler.before_forced_exit(lambda: print('last words', flush=True)); send(15); "
        "lock = threading.Lock(); lock.acquire(); lock.acquire()"
    )
    assert (done.returncode, done.stdout, done.stderr) == (143, "last words\n", "")


@pytest.mark.parametrize("words", ["time.sleep(600)", "1 // 0"])
def test_a_timeout_callback_that_hangs_or_fails_does_not_keep_the_process(words: str):
    done = run(
        f"signals.SHUTDOWN_SECONDS = 0.1; handler.listen(); handler.before_forced_exit(lambda: {words}); send(2); time.sleep(600)"
    )
    assert done.returncode == 130
    assert done.stderr == ""


def test_nothing_is_received_without_listen():
    done = run("print(handler.signal_number, handler.seconds_left())")
    assert done.stdout == "0 inf\n"
