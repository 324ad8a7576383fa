"""What isosne raises and warns with.

Every message is one string: what must hold, what came, what to do.
"""


class IsosneError(Exception):
    """Base of all errors that isosne raises on purpose."""


class ParameterError(IsosneError, ValueError):
    """A parameter has a value that its rule does not allow."""


class DataError(IsosneError, ValueError):
    """The data cannot be used as they are."""


class DivergedError(IsosneError, FloatingPointError):
    """The map left all bounds."""


class MissingPackageError(IsosneError, ImportError):
    """A package of an extra is needed and not installed."""


class OutputError(IsosneError, OSError):
    """A result could not be written; nothing is left under its name."""


class IsosneWarning(UserWarning):
    """Base of all warnings of isosne."""


class DegenerateRowsWarning(IsosneWarning):
    """Some points have no usable bandwidth; their rows take the limit that the message names."""


class IsolatedPointsWarning(IsosneWarning):
    """Some points share no cell with any other point."""
