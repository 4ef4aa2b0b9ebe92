"""SIGINT and SIGTERM, received whatever Python is doing, with an end in time whatever it is stuck in.

asyncio removes its handlers before its loop is closed, and Python runs a handler only when the main thread is free.
`signal.set_wakeup_fd` always writes the signal's number into a pipe, and a thread waits at its other end.
"""

import asyncio
import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress

SIGNALS = (signal.SIGINT, signal.SIGTERM)
"""The runner cancels a job by SIGINT, 7.5 s later SIGTERM, and kills it 2.5 s later (ProcessInvoker.cs)."""
EXIT_CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
"""Exit codes after a signal, as shells have them. Typer makes the first one of a KeyboardInterrupt."""
SHUTDOWN_SECONDS = 4.0
"""From the first signal to the timeout callback. Later signals change nothing."""
TIMEOUT_CALLBACK_SECONDS = 0.8


class SignalHandler:
    """Remembers the first signal, and calls whoever asked for it. Receives nothing until `listen`."""

    def __init__(self) -> None:
        self.signal_number = 0
        """The first signal; 0 before it."""
        self._received_at = 0.0
        self._callbacks: list[Callable[[], None]] = []
        self._timeout_callback: Callable[[], None] = lambda: None
        self._lock = threading.Lock()

    def listen(self) -> None:
        """Receive both signals until the process ends, and those that were blocked until now."""
        read_end, write_end = os.pipe()
        os.set_blocking(write_end, False)
        threading.Thread(target=self._wait_for_signal, args=(read_end,), daemon=True, name="signals").start()
        signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
        for number in SIGNALS:
            signal.signal(number, lambda *_: None)  # without a handler, nothing is written into the pipe
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)

    def on_signal(self, callback: Callable[[], None]) -> None:
        """Call `callback` at the first signal, from another thread; at once if it has been received."""
        with self._lock:
            self._callbacks.append(callback)
            is_received = bool(self.signal_number)
        if is_received:
            callback()

    def cancel_on_signal(self) -> asyncio.Event:
        """Return an event of the running loop that the first signal sets."""
        loop, cancelled = asyncio.get_running_loop(), asyncio.Event()

        def set_from_other_thread() -> None:
            with suppress(RuntimeError):  # the loop is closed: the run is over
                loop.call_soon_threadsafe(cancelled.set)

        self.on_signal(set_from_other_thread)
        return cancelled

    def before_forced_exit(self, callback: Callable[[], None]) -> None:
        """Call `callback` if the process still runs after `SHUTDOWN_SECONDS`; then the process is ended."""
        self._timeout_callback = callback

    def seconds_left(self) -> float:
        """Seconds until the timeout callback; infinite before a signal."""
        return self._received_at + SHUTDOWN_SECONDS - time.monotonic() if self.signal_number else float("inf")

    def _wait_for_signal(self, read_end: int) -> None:
        """Wait for the first signal, call the callbacks, and after `SHUTDOWN_SECONDS` end the process."""
        while (number := os.read(read_end, 1)[0]) not in SIGNALS:
            continue
        with self._lock:
            self._received_at, self.signal_number = time.monotonic(), number
            callbacks = list(self._callbacks)
        for callback in callbacks:
            callback()
        time.sleep(SHUTDOWN_SECONDS)
        exit_timer = threading.Timer(TIMEOUT_CALLBACK_SECONDS, os._exit, (128 + number,))
        exit_timer.daemon = True
        exit_timer.start()
        try:
            self._timeout_callback()
        finally:
            os._exit(128 + number)
