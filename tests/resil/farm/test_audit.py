# SPDX-License-Identifier: Apache-2.0
"""Rows of workers that others simulate again: some of each, a difference in any is found."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from resil.errors import ConsistencyError
from resil.farm.audit import FIRST, TOGETHER, AuditBook, numbers_of
from resil.folder.parts import SCHEMA
from testkit.errors import about

FOLDER = Path("run")


def rows(numbers, **changed):
    columns = {
        field.name: np.array(numbers)
        if field.name == "injection"
        else [0] * len(numbers)
        if field.type == pa.int64()
        else [""] * len(numbers)
        for field in SCHEMA
    }
    return pa.table({**columns, **changed}, schema=SCHEMA)


def others(name):
    return lambda producer: producer != name


def test_the_first_portion_of_a_worker_and_a_part_of_all_are_audited():
    book = AuditBook(0.01)
    book.note("a", 0, rows(range(1000)))
    assert book.waiting == FIRST
    book.note("a", 0, rows(range(1000, 3000)))
    assert book.waiting == FIRST + 20
    book.note("a", 0, rows(range(3000, 3010)))
    assert book.waiting == FIRST + 21
    book.note("b", 0, rows(range(5)))
    assert book.waiting == FIRST + 26


def test_nobody_audits_what_it_made_itself():
    book = AuditBook(1.0)
    book.note("a", 0, rows(range(200)))
    assert book.take(others("a"), 10**6, all_=True) == []
    assert numbers_of(book.take(others("b"), 10**6, all_=False)).tolist() == list(range(200))
    assert book.waiting == 0


def test_few_rows_wait_for_more_until_nothing_else_is_left():
    book = AuditBook(1.0)
    book.note("a", 0, rows(range(TOGETHER - 1)))
    book.note("a", 1, rows(range(1000, 1000 + TOGETHER)))
    assert book.take(others("b"), 10**6, all_=False) == []
    first = book.take(others("b"), 10**6, all_=True)
    assert {own.position for own in first} == {0}
    book.give_back(first)
    assert book.waiting == 2 * TOGETHER - 1


def test_a_long_run_has_more_rows_audited_together():
    """So that a quarter more of the run is simulated at most until a wrong worker is found."""
    book = AuditBook(1.0, compared=4 * TOGETHER)
    book.note("a", 0, rows(range(2 * TOGETHER - 1)))
    assert len(book.take(others("b"), 10**6, all_=False)) == 1
    book.compared = 8 * TOGETHER
    book.note("a", 0, rows(range(2 * TOGETHER - 1)))
    assert book.take(others("b"), 10**6, all_=False) == []
    book.note("c", 0, rows([5000]))
    assert len(book.take(others("b"), 10**6, all_=False)) == 2


@pytest.mark.parametrize(("most", "expected"), [(100, [6]), (30, [3, 3]), (11, [2, 2, 2]), (1, [1] * 6)])
def test_in_the_end_many_auditors_share_what_is_left(most, expected):
    book = AuditBook(1.0)
    for place in range(6):
        book.note("a", 0, rows(range(10 * place, 10 * place + 10)))
    assert book.take(others("a"), most, all_=True) == []
    taken = []
    while audits := book.take(others("b"), most, all_=True):
        taken.append(len(audits))
    assert (taken, book.waiting) == (expected, 0)


def test_before_that_an_audit_has_no_more_rows_than_are_wanted_and_enough_to_be_worth_while():
    book = AuditBook(1.0)
    for place in range(6):
        book.note("a", 0, rows(range(60 * place, 60 * place + 60)))
    assert len(book.take(others("b"), 150, all_=False)) == 3
    assert len(book.take(others("b"), 0, all_=False)) == 2
    assert book.take(others("b"), 150, all_=False) == []


def test_the_same_rows_in_another_order_are_the_same():
    book = AuditBook(1.0)
    book.note("a", 0, rows([4, 9, 2]))
    book.note("c", 0, rows([7, 1]))
    taken = book.take(others("b"), 10**6, all_=True)
    book.compare(taken, "b", rows([9, 7, 4, 2, 1], corruption=["seen later"] * 5), FOLDER)
    assert book.compared == 5


@pytest.mark.parametrize("column", ["outcome", "end_cycle", "output_hash", "alarm"])
def test_one_wrong_value_is_found_and_both_workers_are_named(column):
    book = AuditBook(1.0)
    book.note("a", 0, rows([4, 9, 2]))
    taken = book.take(others("b"), 10**6, all_=True)
    values = rows([2, 4, 9])[column].to_pylist()
    values[1] = 7 if isinstance(values[1], int) else "x"
    with pytest.raises(ConsistencyError, check=about("injections[4]")):
        book.compare(taken, "b", rows([2, 4, 9], **{column: values}), FOLDER)


def test_the_book_keeps_no_more_than_what_it_has_chosen():
    book = AuditBook(0.005)
    book.note("a", 0, rows(range(8000)))
    (sampled,) = book.take(others("b"), 10**6, all_=True)
    assert sampled.rows.num_rows == 40
    assert dataclasses.is_dataclass(sampled)
