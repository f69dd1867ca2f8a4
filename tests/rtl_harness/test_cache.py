# SPDX-License-Identifier: Apache-2.0
import errno
import fcntl
import os
import signal
import stat
import sys
import threading
import time
from contextlib import nullcontext
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from resil.rtl_harness.cache import (
    NotMadeError,
    build_meanwhile,
    building_nothing,
    cache_root,
    cached_folder,
    content_key,
    is_cached,
    observe_builds,
    write_atomically,
)
from resil.rtl_harness.errors import HarnessError
from testkit.errors import about


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("RESIL_CACHE", str(tmp_path / "cache"))


def test_root_follows_the_environment(tmp_path):
    assert cache_root() == tmp_path / "cache"


def test_root_is_the_users_cache_folder_else(tmp_path, monkeypatch):
    monkeypatch.delenv("RESIL_CACHE")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_root() == tmp_path / "xdg" / "resil"


def test_key_depends_on_content_not_on_place(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.sv").write_text("module x; endmodule")
    assert content_key(tmp_path / "a" / "x.sv") == content_key(tmp_path / "b" / "x.sv")
    (tmp_path / "b" / "x.sv").write_text("module y; endmodule")
    assert content_key(tmp_path / "a" / "x.sv") != content_key(tmp_path / "b" / "x.sv")


def test_mapping_counts_by_sorted_key():
    assert content_key({"a": 1, "b": 2}) == content_key({"b": 2, "a": 1})


@given(st.lists(st.text(max_size=4)), st.lists(st.text(max_size=4)))
def test_keys_tell_sequences_apart(a, b):
    assert (content_key(a) == content_key(b)) == (a == b)


def test_types_are_told_apart():
    assert len({content_key(v) for v in (1, "1", b"1", 1.0, True, None, ["1"])}) == 7


def test_builds_once():
    calls = []
    for _ in range(2):
        folder = cached_folder("kind", "key", lambda f: (calls.append(f), (f / "out").write_text("done")))
    assert calls == [folder]
    assert (folder / "out").read_text() == "done"


def test_failed_build_leaves_nothing():
    def fail(folder):
        (folder / "half").write_text("x")
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        cached_folder("kind", "key", fail)
    assert list(cached_folder("kind", "key", lambda f: None).glob("half")) == []


def test_killed_build_is_done_again():
    folder = cached_folder("kind", "key", lambda f: (f / "out").write_text("old"))
    (folder / ".complete").unlink()
    cached_folder("kind", "key", lambda f: (f / "out").write_text("new"))
    assert (folder / "out").read_text() == "new"


@pytest.mark.parametrize("damage", ["changed", "cut", "lost", "mark"])
def test_a_damaged_result_is_made_again(damage):
    def build(folder):
        (folder / "sub").mkdir()
        (folder / "sub" / "out").write_text("right")

    out = cached_folder("kind", "key", build) / "sub" / "out"
    match damage:
        case "changed":
            out.write_text("wrong")
        case "cut":
            out.write_text("")
        case "lost":
            out.unlink()
        case "mark":
            (out.parents[1] / ".complete").write_text("{")
    assert not is_cached("kind", "key")
    cached_folder("kind", "key", build)
    assert out.read_text() == "right"
    assert is_cached("kind", "key")


def test_files_that_a_result_got_later_are_no_damage():
    folder = cached_folder("kind", "key", lambda f: (f / "out").write_text("done"))
    (folder / "later").touch()
    cached_folder("kind", "key", lambda f: pytest.fail("built again"))


def test_concurrent_builders_build_once():
    calls, barrier = [], threading.Barrier(4)

    def ask():
        barrier.wait()
        cached_folder("kind", "key", calls.append)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1


def test_a_lock_does_not_outlive_its_build_in_forked_processes():
    """The fault: workers that are forked while a thread builds keep the lock for as long as they live."""
    forked = []

    def build(folder):
        if child := os.fork():
            forked.append(child)
        else:
            time.sleep(60)
            os._exit(0)

    folder = cached_folder("kind", "key", build)
    try:
        with folder.with_suffix(".lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        os.kill(forked[0], signal.SIGKILL)
        os.waitpid(forked[0], 0)


def test_atomic_write(tmp_path):
    path = tmp_path / "file"
    write_atomically(path, b"one")
    write_atomically(path, b"two")
    assert path.read_bytes() == b"two"
    assert list(tmp_path.glob("file*")) == [path]


@pytest.mark.parametrize("name", ["a b", "a'b", "a$b", "a#b", "a:b"])
def test_a_path_that_make_takes_apart_is_refused(name, tmp_path, monkeypatch):
    monkeypatch.setenv("RESIL_CACHE", str(tmp_path / name))
    with pytest.raises(HarnessError, match=r"found .* in it; set RESIL_CACHE"):
        cached_folder("kind", "key", lambda folder: None)
    assert not (tmp_path / name).exists()


def test_a_cache_that_cannot_be_written_is_refused_and_what_it_holds_is_used(tmp_path, monkeypatch):
    monkeypatch.setenv("RESIL_CACHE", str(tmp_path / "cache"))
    held = cached_folder("kind", "held", lambda folder: None)

    opened = os.open

    def refuse(path, flags, *further, **named):
        if flags & (os.O_WRONLY | os.O_RDWR):
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return opened(path, flags, *further, **named)

    monkeypatch.setattr(os, "open", refuse)
    assert cached_folder("kind", "held", lambda folder: None) == held
    with pytest.raises(HarnessError, check=about("RESIL_CACHE")):
        cached_folder("kind", "other", lambda folder: None)


def test_a_cache_below_a_file_is_refused(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("RESIL_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(HarnessError, match="set RESIL_CACHE to another folder"):
        cached_folder("kind", "key", lambda folder: None)


def test_the_cache_is_made_for_its_user_alone(tmp_path):
    before = os.umask(0)
    try:
        cached_folder("kind", "key", lambda folder: None)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "cache").stat().st_mode) == 0o700


def test_a_cache_that_everybody_can_write_to_is_refused_though_the_result_is_there(tmp_path):
    cached_folder("kind", "key", lambda folder: None)
    (tmp_path / "cache").chmod(0o777)
    with pytest.raises(HarnessError, check=about("RESIL_CACHE")):
        cached_folder("kind", "key", lambda folder: None)


def test_an_error_of_what_is_built_stays_what_it_is(tmp_path, monkeypatch):
    monkeypatch.setenv("RESIL_CACHE", str(tmp_path / "cache"))
    with pytest.raises(FileNotFoundError):
        cached_folder("kind", "key", lambda folder: Path("/no/such/file").read_text())


def test_what_is_built_meanwhile_is_waited_for_and_not_told():
    begun, go_on, told, made = threading.Event(), threading.Event(), [], []

    def slow(folder):
        begun.set()
        assert go_on.wait(60)
        made.append("slow")

    def broken(folder):
        raise RuntimeError("no")

    def observer(kind):
        told.append((kind, list(made)))
        go_on.set()
        return nullcontext()

    observe_builds(observer)
    try:
        build_meanwhile(
            lambda: cached_folder("broken", "key", broken),
            lambda: cached_folder("slow", "key", slow),
        )
        assert begun.wait(60)
        cached_folder("slow", "key", lambda folder: made.append("again"))
        assert (made, told) == (["slow"], [("slow", [])])
        with pytest.raises(RuntimeError, match="no"):
            cached_folder("broken", "key", broken)
    finally:
        observe_builds(lambda kind: nullcontext())


def test_what_is_not_there_is_not_built_where_nothing_may_be():
    with building_nothing():
        with pytest.raises(NotMadeError):
            cached_folder("kind", content_key("a"), lambda folder: pytest.fail("built"))
        assert not (cache_root() / "kind").exists()
    made = cached_folder("kind", content_key("a"), lambda folder: (folder / "file").write_text("x"))
    with building_nothing():
        assert cached_folder("kind", content_key("a"), lambda folder: pytest.fail("built")) == made
