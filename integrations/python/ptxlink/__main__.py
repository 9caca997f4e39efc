"""python -m ptxlink runs the command."""

import os
import subprocess
import sys

from . import executable, find_ptxas


def main() -> None:
    args = [executable(), *sys.argv[1:]]
    environment = dict(os.environ)
    ptxas = find_ptxas()
    if ptxas:
        environment["PATH"] = environment.get("PATH", os.defpath) + os.pathsep + os.path.dirname(ptxas)
    if os.name == "nt":
        sys.exit(subprocess.call(args, env=environment))
    os.execvpe(args[0], args, environment)


if __name__ == "__main__":
    main()
