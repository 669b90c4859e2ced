"""The command ``fiedler``: ``python -m fiedler`` and the script of the wheel."""

from __future__ import annotations

import signal
import sys


def main() -> int:
    """Runs the command with the arguments of this process, and returns its exit status."""
    # The command answers Ctrl-C by itself, as the program does that Rust builds.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from ._desktop import quiet_without_desktop
    from ._fiedler import main as run

    quiet_without_desktop()

    return run(["fiedler", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
