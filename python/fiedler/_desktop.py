"""What a machine without a desktop need not hear."""

from __future__ import annotations

import os
import sys


def quiet_without_desktop() -> None:
    """Disables Mesa's device-select layer where no desktop can be reached, as the command does.

    The layer asks the desktop which GPU shows it. Where there is none, it complains on standard error, and nothing
    silences it. Whoever selects a device through the layer keeps it.
    """
    chosen = ("WAYLAND_DISPLAY", "NODEVICE_SELECT", "MESA_VK_DEVICE_SELECT", "DRI_PRIME")
    folder = os.environ.get("XDG_RUNTIME_DIR", "")
    if sys.platform == "linux" and not os.path.isabs(folder) and not any(os.environ.get(name) for name in chosen):
        os.environ["NODEVICE_SELECT"] = "1"
