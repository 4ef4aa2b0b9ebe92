"""SIGINT and SIGTERM: heard whatever Python is at, and the end in time whatever it is stuck in.

asyncio drops its handlers before its loop is closed, and Python runs a handler only when the main thread gets to it.
The number of a signal goes into a pipe in any case (`signal.set_wakeup_fd`), and a thread waits at the other end.
"""

import os
import signal
import threading
import time
from collections.abc import Callable

SIGNALS = (signal.SIGINT, signal.SIGTERM)
"""How the runner cancels a job: SIGINT, 7.5 s later SIGTERM, 2.5 s later it kills (ProcessInvoker.cs)."""
SHUTDOWN_SECONDS = 4.0
"""From the first signal to the last words; later signals change nothing."""
TIMEOUT_CALLBACK_SECONDS = 0.8


class SignalHandler:
    """What was heard. Without `listen` nothing ever is."""

    def __init__(self) -> None:
        self.signal_number = 0
        """Of the first signal; 0 before there was one."""
        self._received_at = 0.0
        self._callbacks: list[Callable[[], None]] = []
        self._timeout_callback: Callable[[], None] = lambda: None
        self._lock = threading.Lock()

    def listen(self) -> None:
        """Take over both signals until the process ends, also those that were held back (blocked) so far."""
        ear, mouth = os.pipe()
        os.set_blocking(mouth, False)
        threading.Thread(target=self._wait_for_signal, args=(ear,), daemon=True, name="signals").start()
        signal.set_wakeup_fd(mouth, warn_on_full_buffer=False)
        for number in SIGNALS:
            signal.signal(number, lambda *_: None)  # without one, nothing is written into the pipe
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)

    def on_signal(self, hearer: Callable[[], None]) -> None:
        """Have the hearer called at the first signal, in another thread; at once when that has come already."""
        with self._lock:
            self._callbacks.append(hearer)
            heard = self.signal_number
        if heard:
            hearer()

    def on_timeout(self, last_words: Callable[[], None]) -> None:
        """What to do when time is up and the process still runs."""
        self._timeout_callback = last_words

    def seconds_left(self) -> float:
        """Until the last words; infinite before a signal."""
        return self._received_at + SHUTDOWN_SECONDS - time.monotonic() if self.signal_number else float("inf")

    def _wait_for_signal(self, ear: int) -> None:
        while (number := os.read(ear, 1)[0]) not in SIGNALS:
            continue
        with self._lock:
            self._received_at, self.signal_number = time.monotonic(), number
            hearers = list(self._callbacks)
        for hearer in hearers:
            hearer()
        time.sleep(SHUTDOWN_SECONDS)
        ending = threading.Timer(TIMEOUT_CALLBACK_SECONDS, os._exit, (128 + number,))
        ending.daemon = True
        ending.start()
        try:
            self._timeout_callback()
        finally:
            os._exit(128 + number)
