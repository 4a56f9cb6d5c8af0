"""Listings while a program reads them: what is asked before it is wanted, and what a refresh leaves
of what is known."""

import os

from harness import mounts

PAGE = 1000


def test_a_long_listing_is_read_ahead(mount, branch, proxy):
    """Who has come to the second page will want the third."""
    path, _ = branch.put_jobs(2 * PAGE + 100)
    m = mount()
    proxy.fault("page_size", times=None, items=PAGE)
    with os.scandir(m / path) as entries:
        for _ in range(PAGE + 400):
            next(entries)
        mounts.wait_until(lambda: m.counts()["Query"] >= 3, "the third page")


def test_what_is_told_after_a_refresh_is_no_older(mount, branch, make_map):
    """The open listing goes on with its names, and the records are read again."""
    path, names = branch.put_jobs(600)
    m = mount(map_file=make_map(lambda text: text.replace('"mtime": ', '"ttl": 3600, "mtime": ')))
    with os.scandir(m / path) as entries:
        next(entries)
        for name in names[-3:]:
            key = {"pk": {"S": "PLATFORM#shopify#SHOP#acct-index"}, "sk": {"S": f"JOB#{name}"}}
            branch.put("jobs", [{**key, "note": {"S": "new"}}])
        m.refresh(path)
        assert len(list(entries)) == len(names) - 1
        assert all(b'"note": "new"' in (m / path / name).read_bytes() for name in names[-3:])
