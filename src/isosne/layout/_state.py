"""What forces keep from one step to the next, besides the map."""

from isosne._types import Array


class Stateless:
    """Forces that depend on the map alone."""

    def state(self) -> dict[str, Array]:
        """Return nothing."""
        return {}

    def restore(self, state: dict[str, Array]) -> None:
        """Change nothing."""
