"""Rollback journals, as SQLite's file format describes them: bytes of a stranger, or of a killed writer."""

import struct

MAGIC = bytes.fromhex("d9d505f920a163d7")
SECTOR = 512


def page_size(file):
    (size,) = struct.unpack(">H", file.read_bytes()[16:18])
    return 65536 if size == 1 else size


def hot(file, size=None, pages=None, old=()):
    """A journal of FILE that SQLite applies: OLD has numbers of pages, and their contents before the change."""
    size = size or page_size(file)
    pages = file.stat().st_size // size if pages is None else pages
    head = (MAGIC + struct.pack(">IIIII", len(old), 1, pages, SECTOR, size)).ljust(SECTOR, b"\0")
    return head + b"".join(page(number, content) for number, content in old)


def page(number, content):
    """The sum has every 200th byte, from the end on, and the 1 of `hot`."""
    total = 1 + sum(content[at] for at in range(len(content) - 200, 0, -200))
    return struct.pack(">I", number) + content + struct.pack(">I", total)


def super_journal(file, name):
    """The end of a journal that names a super-journal."""
    name = str(name).encode()
    total = sum(each - 256 if each > 127 else each for each in name)
    return (struct.pack(">I", 0x40000000 // page_size(file) + 1) + name
            + struct.pack(">iI", len(name), total & 0xFFFFFFFF) + MAGIC)  # fmt: skip
