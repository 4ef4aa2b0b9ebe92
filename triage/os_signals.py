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
SECONDS = 4.0
"""From the first signal to the last words; later signals change nothing."""
LAST_WORDS_SECONDS = 0.8


class Signals:
    """What was heard. Without `listen` nothing ever is."""

    def __init__(self) -> None:
        self.number = 0
        """Of the first signal; 0 before there was one."""
        self._at = 0.0
        self._hearers: list[Callable[[], None]] = []
        self._last_words: Callable[[], None] = lambda: None
        self._lock = threading.Lock()

    def listen(self) -> None:
        """Take over both signals until the process ends, also those that were held back (blocked) so far."""
        ear, mouth = os.pipe()
        os.set_blocking(mouth, False)
        threading.Thread(target=self._hear, args=(ear,), daemon=True, name="signals").start()
        signal.set_wakeup_fd(mouth, warn_on_full_buffer=False)
        for number in SIGNALS:
            signal.signal(number, lambda *_: None)  # without one, nothing is written into the pipe
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)

    def tell(self, hearer: Callable[[], None]) -> None:
        """Have the hearer called at the first signal, in another thread; at once when that has come already."""
        with self._lock:
            self._hearers.append(hearer)
            heard = self.number
        if heard:
            hearer()

    def before_the_end(self, last_words: Callable[[], None]) -> None:
        """What to do when time is up and the process still runs."""
        self._last_words = last_words

    def seconds_left(self) -> float:
        """Until the last words; infinite before a signal."""
        return self._at + SECONDS - time.monotonic() if self.number else float("inf")

    def _hear(self, ear: int) -> None:
        while (number := os.read(ear, 1)[0]) not in SIGNALS:
            continue
        with self._lock:
            self._at, self.number = time.monotonic(), number
            hearers = list(self._hearers)
        for hearer in hearers:
            hearer()
        time.sleep(SECONDS)
        ending = threading.Timer(LAST_WORDS_SECONDS, os._exit, (128 + number,))
        ending.daemon = True
        ending.start()
        try:
            self._last_words()
        finally:
            os._exit(128 + number)
