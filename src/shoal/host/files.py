"""Write files so that nobody ever reads half of one."""

import os
import threading
from pathlib import Path


def write(path: Path, content: str | bytes, mode: int = 0o644) -> bool:
    """Make `path` hold `content`; return whether that changed anything."""
    data = content.encode() if isinstance(content, str) else content
    if path.is_file() and path.read_bytes() == data and path.stat().st_mode & 0o777 == mode:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}")
    scratch.write_bytes(data)
    scratch.chmod(mode)
    scratch.replace(path)
    return True
