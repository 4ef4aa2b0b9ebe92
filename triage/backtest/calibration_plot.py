"""The calibration plot: whether files with a chance of 70 % are right in seven of ten cases."""

import math
from dataclasses import dataclass

from triage.backtest.score import Band

SIZE = 300
"""Of the square, in the units of the drawing."""
_Z = 1.645
"""Of an interval that holds the truth in nine of ten cases."""
_MIN_RADIUS, _MAX_RADIUS = 4.0, 14.0


@dataclass(frozen=True)
class Point:
    """A band in the coordinates of the drawing, whose y axis points down."""

    x: float
    y: float
    radius: float
    top: float
    bottom: float
    """Ends of the interval in which the share of right files lies."""
    label: str


def make_points(bands: list[Band]) -> list[Point]:
    """Return one point for each band: the more issues, the larger."""
    most = max((band.issues for band in bands), default=1)
    return [_make_point(band, most) for band in bands]


def _make_point(band: Band, most: int) -> Point:
    low, high = compute_interval(band.right, band.issues)
    return Point(
        x=round(band.mean_chance * SIZE, 1),
        y=round((1 - band.right / band.issues) * SIZE, 1),
        radius=round(_MIN_RADIUS + (_MAX_RADIUS - _MIN_RADIUS) * math.sqrt(band.issues / most), 1),
        top=round((1 - high) * SIZE, 1),
        bottom=round((1 - low) * SIZE, 1),
        label=f"{band.right} of {band.issues} right at a chance of {band.mean_chance:.0%}",
    )


def compute_interval(right: int, of: int) -> tuple[float, float]:
    """Return Wilson's interval of a share (E. B. Wilson, 1927)."""
    share, spread = right / of, _Z**2 / of
    middle = (share + spread / 2) / (1 + spread)
    half = _Z / (1 + spread) * math.sqrt(share * (1 - share) / of + spread / (4 * of))
    return max(0.0, middle - half), min(1.0, middle + half)
