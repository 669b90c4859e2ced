"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, BinaryIO


def whole_file(path: str, fill: Callable[[BinaryIO], Any]) -> None:
    """Writes a file with what ``fill`` writes. If that fails, an earlier file stays as it is."""
    part = f"{path}.{os.getpid()}.part"
    try:
        with open(part, "wb") as file:
            fill(file)
        os.replace(part, path)
    except FileNotFoundError as error:
        raise FileNotFoundError(error.errno, f"cannot write: {error.strerror}", path) from None
    finally:
        if os.path.exists(part):
            os.remove(part)
