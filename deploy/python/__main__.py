"""`python -m toolroom`: runs the program that was installed with this package."""

import os
import sys
import sysconfig


def program():
    """Where pip, uv or `--target` put the program."""
    package = os.path.dirname(os.path.abspath(__file__))
    folders = [
        sysconfig.get_path("scripts"),
        sysconfig.get_path("scripts", scheme=sysconfig.get_preferred_scheme("user")),
        os.path.join(os.path.dirname(package), "bin"),
    ]
    for folder in folders:
        path = os.path.join(folder, "toolroom")
        if os.path.isfile(path):
            return path
    sys.exit("toolroom: the program is not beside this package. Install it again: pip install --force-reinstall toolroom")


if __name__ == "__main__":
    path = program()
    os.execv(path, [path, *sys.argv[1:]])
