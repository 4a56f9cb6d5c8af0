"""A directory stream as C has it: names with their positions, to seek and to rewind."""

import ctypes
import os

LIBC = ctypes.CDLL(None, use_errno=True)


class Dirent(ctypes.Structure):
    _fields_ = [
        ("d_ino", ctypes.c_uint64),
        ("d_off", ctypes.c_int64),
        ("d_reclen", ctypes.c_ushort),
        ("d_type", ctypes.c_ubyte),
        ("d_name", ctypes.c_char * 256),
    ]


LIBC.opendir.restype = ctypes.c_void_p
LIBC.readdir.restype = ctypes.POINTER(Dirent)
LIBC.readdir.argtypes = [ctypes.c_void_p]
LIBC.telldir.restype = ctypes.c_long
LIBC.telldir.argtypes = [ctypes.c_void_p]
LIBC.seekdir.argtypes = [ctypes.c_void_p, ctypes.c_long]
LIBC.rewinddir.argtypes = [ctypes.c_void_p]
LIBC.closedir.argtypes = [ctypes.c_void_p]


class DirStream:
    """`with DirStream(path) as stream:`"""

    def __init__(self, path):
        self.path = path

    def __enter__(self):
        self.stream = LIBC.opendir(os.fsencode(self.path))
        if not self.stream:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(self.path))
        return self

    def __exit__(self, *_):
        LIBC.closedir(self.stream)

    def next(self):
        """The next name; None at the end."""
        ctypes.set_errno(0)
        entry = LIBC.readdir(self.stream)
        if entry:
            return entry.contents.d_name
        if ctypes.get_errno():
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), str(self.path))
        return None

    def rest(self):
        return [name for name in iter(self.next, None) if name not in (b".", b"..")]

    def tell(self):
        return LIBC.telldir(self.stream)

    def seek(self, position):
        LIBC.seekdir(self.stream, position)

    def rewind(self):
        LIBC.rewinddir(self.stream)
