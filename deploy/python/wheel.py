"""Makes the wheel: the program as a script, and the `toolroom` module that tools import.

Usage: wheel.py PROGRAM VERSION PLATFORM OUT
Two runs with the same program give the same bytes.
"""

import base64
import hashlib
import pathlib
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
MODULE = HERE.parents[1] / "crates/worker/python/toolroom"

METADATA = """Metadata-Version: 2.1
Name: toolroom
Version: {version}
Summary: One gateway in front of your scripts and MCP servers, with keys, approvals, limits and an audit log.
License: Apache-2.0
Requires-Python: >=3.9
Description-Content-Type: text/markdown

{readme}"""

WHEEL = """Wheel-Version: 1.0
Generator: toolroom
Root-Is-Purelib: false
Tag: py3-none-{platform}
"""


def main(program, version, platform, out):
    files = {}
    for path in sorted(MODULE.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            files[f"toolroom/{path.relative_to(MODULE).as_posix()}"] = path.read_bytes()
    files["toolroom/__main__.py"] = (HERE / "__main__.py").read_bytes()
    scripts = f"toolroom-{version}.data/scripts/toolroom"
    files[scripts] = pathlib.Path(program).read_bytes()
    info = f"toolroom-{version}.dist-info"
    readme = (HERE.parents[1] / "README.md").read_text()
    files[f"{info}/METADATA"] = METADATA.format(version=version, readme=readme).encode()
    files[f"{info}/WHEEL"] = WHEEL.format(platform=platform).encode()
    record = "".join(f"{name},sha256={digest(data)},{len(data)}\n" for name, data in files.items())
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    wheel = pathlib.Path(out) / f"toolroom-{version}-py3-none-{platform}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if name == scripts else 0o100644) << 16
            archive.writestr(entry, data)


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


main(*sys.argv[1:])
