"""How much memory a process has, as the operating system counts it. Needs Linux."""

import subprocess
import time
from pathlib import Path

POLL_SECONDS = 0.02


def wait_and_measure_peak(process: "subprocess.Popen[bytes]") -> float:
    """Waits for the end of a process. Returns the megabytes that it had at most."""
    # The usage that the kernel reports at the end counts the memory of our own process at the fork too.
    peak = 0.0
    while process.poll() is None:
        peak = max(peak, read_megabytes("VmHWM", process.pid))
        time.sleep(POLL_SECONDS)
    return peak


def read_megabytes(name: str, pid: int | str = "self") -> float:
    """Returns a value such as `VmRSS` (now) or `VmHWM` (at most); 0 for a process that has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0.0
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith(f"{name}:")), 0) / 1_000
