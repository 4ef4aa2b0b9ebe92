"""Which model is asked first: that of the call, or the fallback after it had to answer."""

STAND_IN_SECONDS = 600.0
"""How long the fallback is asked first. Most runs are shorter."""


class StandIns:
    """The models whose fallback stands in for them. Times are seconds of the run's monotonic clock."""

    def __init__(self) -> None:
        self._until: dict[str, float] = {}

    def has_stand_in(self, model: str, now: float) -> bool:
        return now < self._until.get(model, now)

    def begin(self, model: str, now: float) -> None:
        """The fallback answered after the model had failed: it is asked first for ten minutes."""
        self._until[model] = now + STAND_IN_SECONDS

    def end(self, model: str) -> None:
        """The model answered after its fallback had failed."""
        self._until.pop(model, None)
