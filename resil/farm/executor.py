# SPDX-License-Identifier: Apache-2.0
"""Missing injections go to workers of a farm, and their rows into part files."""

from __future__ import annotations

import math
import queue
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from resil.bench.bench import Bench
from resil.campaign.campaign import Campaign
from resil.campaign.text import campaign_text
from resil.errors import ConsistencyError
from resil.farm.audit import AuditBook, Sampled, numbers_of
from resil.farm.cluster import Farm, SchedulerGoneError
from resil.farm.crew import AHEAD, Crew, Job, Member
from resil.farm.ledger import FIRST, FarmError, FarmGoneError, Portion, PortionLedger
from resil.farm.order import Order, Reply, Result, rows_of
from resil.farm.pace import portion_seconds
from resil.farm.vet import WorkerFacts, question, unfit
from resil.farm.worker import simulate
from resil.faults.plan import FaultPlan, IntArray
from resil.faults.population import Population
from resil.folder.audits import Audits
from resil.folder.execute import PART_ROWS, PART_SECONDS, answers
from resil.folder.parts import PartError
from resil.folder.row_maker import RowMaker
from resil.folder.store import RunFolder
from resil.layout import source_digest
from resil.progress import Progress
from resil.rtl_harness.engine.contract import CampaignEngine

# Seconds between two looks at who is there; without a worker that is fit, until that is said, and until it is
# given up where all that are there were refused.
LOOK, WARN, GIVE_UP = 0.5, 30.0, 15.0
# Of what the run still takes, the time between two looks at when it ends, and the longest.
PART_OF_LOOK, LONGEST_LOOK = 1 / 50, 5.0
_COLLECT = 30.0
Call = Callable[..., object]
_KEPT = "what was simulated is kept; go on with --resume"


class Answers(Protocol):
    """What `queue.SimpleQueue` does, of jobs."""

    def put(self, item: Job) -> None:
        """Add a job whose answer has come."""
        ...

    def get(self, *, timeout: float) -> Job:
        """Return the next; raise queue.Empty if there is none for so many seconds."""
        ...


class FarmExecutor:
    """Has injections of plans simulated by a farm, and keeps them; only this process writes.

    Args:
        campaign: What is simulated.
        bench: Of the campaign.
        population: Which fault has which number.
        engines: Of this process: they audit what a single worker has answered.
        folder: Where the part files go.
        farm: Who simulates.
        audits: Notes what engines of workers, and workers of each other, have audited.
        progress: Shows every injection.
        clock: Seconds, monotonic.
        answers: Jobs whose answer has come, put there by other threads; who waits for one waits here.
    """

    def __init__(
        self,
        campaign: Campaign,
        bench: Bench,
        population: Population,
        engines: list[CampaignEngine],
        folder: RunFolder,
        farm: Farm,
        audits: Audits,
        progress: Progress,
        clock: Callable[[], float] = time.monotonic,
        answers: Answers | None = None,
    ) -> None:
        execution = replace(campaign.execution, farm=None, workers=None)
        definition = dict(bench.identity.definition)
        self._order = Order(
            campaign_text(replace(campaign, execution=execution)), str(campaign.file), str(folder.path),
            definition, source_digest(), 0, b"", 0,
        )  # fmt: skip
        self._bench, self._population, self._engines = bench, population, engines
        self._folder, self._farm, self._progress = folder, farm, progress
        self._audits = audits
        self._crew = Crew()
        self._clock = clock
        self._answers: Answers = queue.SimpleQueue() if answers is None else answers
        self._tables: list[pa.Table] = []
        self._began = self._flushed = self._looked = self._useful = clock()
        self._foreseen, self._ends = -math.inf, 0.0
        self._notes: set[str] = set()

    @property
    def workers(self) -> int:
        """Workers that simulated at a time, at most."""
        return self._crew.most

    def run(self, plan: FaultPlan, missing: npt.NDArray[np.int64]) -> None:
        """Simulate the rows `missing` of a plan.

        Whatever ends this early, what was answered until then has been kept, but for some seconds' worth if
        this process is killed.

        Raises:
            ConsistencyError: workers contradict each other or themselves.
            FarmError: there is nobody who can simulate.
        """
        inputs, numbers = plan.input[missing], plan.injection[missing]
        self._ledger = PortionLedger([numbers[inputs == place] for place in range(len(self._engines))])
        self._book = AuditBook(self._farm.settings.audit)
        self._wanted = len(missing)
        self._useful = self._began = self._clock()
        self._foreseen = -math.inf
        try:
            while self._ledger.left or self._book.waiting or self._working:
                self._step()
            self._flush()
            self._audits.take_repeated(len(missing), self._book.compared)
            self._audits.cover()
        finally:
            self._drop_all()
            self._flush()
            self._progress.finish()

    @property
    def _working(self) -> bool:
        return any(job.work is not None for member in self._crew.members.values() for job in member.jobs)

    def _step(self) -> None:
        try:
            self._look()
            self._hand_out()
            self._take_in()
        except SchedulerGoneError:
            self._drop_all()
            self._flush()
            self._crew.update(set())
            try:
                self._farm.renew()
            except FarmError as error:
                raise FarmGoneError(f"{error}; {_KEPT}") from None

    def _look(self) -> None:
        """See who has come and who has gone."""
        now = self._clock()
        if now - self._looked < LOOK:
            return
        self._looked = now
        come, gone = self._crew.update(self._farm.workers())
        for member in gone:
            for job in list(member.jobs):
                self._return(member, job, lost=True)
        for member in come:
            self._send(member, None, question())
        if self._crew.fit:
            self._useful = now
        elif self._crew.useless and now - self._useful > GIVE_UP:
            raise FarmError(f"every worker of the farm was refused; {_KEPT}", "workers")
        elif now - self._useful > WARN:
            self._useful = now
            self._progress.warn("no worker is there; waiting for one (Ctrl-C keeps what was simulated)")

    def _hand_out(self) -> None:
        members = self._crew.fit
        for _ in range(AHEAD):
            ready = [member for member in members if member.ready]
            if not ready:
                break
            for member in ready:
                if (work := self._work_for(member, len(members))) is not None:
                    position = work.position if isinstance(work, Portion) else work[0].position
                    numbers = work.numbers if isinstance(work, Portion) else numbers_of(work)
                    self._send(member, work, simulate, self._order_for(position, numbers, len(members)))
        if len(members) == 1 and not self._ledger.left and not self._working:
            self._audit_here()

    def _work_for(self, member: Member, workers: int) -> Portion | list[Sampled] | None:
        """Return what a member is to do next.

        Args:
            member: Of those that are fit.
            workers: That are fit.
        """
        now, left = self._clock(), self._ledger.left
        size = FIRST
        if member.pace.known:
            rest = max(0.0, self._end(now) - member.free(now))
            size = member.pace.size(portion_seconds(now - self._began, rest))
        if audits := self._book.take(
            lambda producer: producer != member.name,
            size if left else -(-self._book.waiting // workers),
            all_=not left,
        ):
            return audits
        return self._ledger.take(size if member.pace.known else min(size, -(-left // workers)))

    def _end(self, now: float) -> float:
        """Return when nothing will be left, as it was foreseen when the rest was hardly longer than it is."""
        if now - self._foreseen >= min(LONGEST_LOOK, max(LOOK, PART_OF_LOOK * (self._ends - now))):
            self._foreseen = now
            self._ends = self._crew.end(self._ledger.left, now) or now
        return self._ends

    def _order_for(self, position: int, numbers: IntArray, workers: int) -> Order:
        expected = -(-self._wanted // workers)
        return replace(self._order, position=position, numbers=numbers.tobytes(), expected=expected)

    def _send(self, member: Member, work: Portion | list[Sampled] | None, call: Call, *given: object) -> None:
        try:
            future = self._farm.submit(member.address, call, *given)
        except SchedulerGoneError:
            self._put_back(work, lost=False)
            raise
        job = Job(member.address, work, future, self._seconds_of(member, work))
        if not member.jobs:
            member.since = self._clock()
        member.jobs.append(job)
        job.future.add_done_callback(lambda _future: self._answers.put(job))

    def _seconds_of(self, member: Member, work: Portion | list[Sampled] | None) -> float | None:
        if work is None or not member.pace.known:
            return None
        return member.pace.expected(len(work.numbers) if isinstance(work, Portion) else len(numbers_of(work)))

    def _take_in(self) -> None:
        """Take the answers that have come, or wait a little for one."""
        waited = 0.1
        while True:
            try:
                job = self._answers.get(timeout=waited)
            except queue.Empty:
                break
            waited = 0.0
            member = self._crew.members.get(job.worker)
            if member is not None and job in member.jobs:
                self._take(member, job)
        if self._tables and self._clock() - self._flushed >= PART_SECONDS:
            self._flush()

    def _take(self, member: Member, job: Job) -> None:
        if job.future.status == "error":
            error = job.future.exception(timeout=_COLLECT)
            if type(error).__name__ == "KilledWorker":
                return self._return(member, job, lost=True)
            self._refuse(member, f"{type(error).__name__}: {error}")
            return None
        try:
            answer = job.future.result(timeout=_COLLECT) if job.future.status == "finished" else None
        except Exception:
            answer = None
        if answer is None:
            return self._return(member, job, lost=True)
        if job.work is None:
            self._welcome(member, job, answer)
        else:
            self._judge(member, job, answer)
        return None

    def _welcome(self, member: Member, job: Job, facts: object) -> None:
        member.jobs.remove(job)
        assert isinstance(facts, tuple)
        found = WorkerFacts(*facts)
        member.host = found.host
        if (reason := unfit(found)) is not None:
            self._refuse(member, reason)
            return
        member.fit = True
        self._crew.note_size()

    def _judge(self, member: Member, job: Job, reply: object) -> None:
        """Take the rows of a reply, or what there is instead of rows."""
        assert isinstance(reply, Reply)
        match reply.result:
            case Result.FAILED:
                raise ConsistencyError(f"{member.name}: {reply.message}")
            case Result.REFUSED:
                self._refuse(member, reply.message)
                return
            case Result.BROKEN:
                self._progress.warn(f"{member.name}: {reply.message}; another simulates it")
                self._return(member, job, lost=True)
                return
        work = job.work
        assert work is not None
        numbers = work.numbers if isinstance(work, Portion) else numbers_of(work)
        try:
            rows = self._rows(reply, numbers)
        except PartError as error:
            self._refuse(member, f"its answer {error}")
            return
        member.jobs.remove(job)
        member.since = self._clock()
        for note in reply.notes:
            if note not in self._notes:
                self._notes.add(note)
                self._progress.warn(f"note: {note}")
        self._audits.take(reply.audits)
        if isinstance(work, list):
            self._book.compare(work, member.name, rows, self._folder.path)
            return
        member.pace.see(len(numbers), reply.seconds)
        self._book.note(member.name, work.position, rows)
        self._keep(rows)

    def _rows(self, reply: Reply, numbers: IntArray) -> pa.Table:
        return rows_of(reply, numbers, self._population)

    def _refuse(self, member: Member, reason: str) -> None:
        """Give a worker no more work; what it has is given to others."""
        for job in list(member.jobs):
            self._return(member, job, lost=False)
        member.fit, member.refused = False, reason
        self._progress.warn(f"{member.name} is refused: {reason}")

    def _return(self, member: Member, job: Job, *, lost: bool) -> None:
        member.jobs.remove(job)
        job.future.cancel(force=True)
        self._put_back(job.work, lost=lost)
        if job.work is None and member.address in self._crew.members and not member.refused:
            self._send(member, None, question())

    def _put_back(self, work: Portion | list[Sampled] | None, *, lost: bool) -> None:
        """Note that some work is to be done by another worker."""
        if isinstance(work, Portion):
            self._ledger.give_back(work, lost=lost)
        elif work is not None:
            self._book.give_back(work)

    def _drop_all(self) -> None:
        """Forget what workers are doing; it is to be done anew."""
        for member in self._crew.members.values():
            for job in member.jobs:
                self._put_back(job.work, lost=False)
                if self._farm.there:
                    job.future.cancel()
            member.jobs.clear()

    def _audit_here(self) -> None:
        """Audit in this process what a single worker has answered."""
        while audits := self._book.take(lambda _producer: True, self._book.waiting, all_=True):
            position = audits[0].position
            plan = self._population.of_numbers(numbers_of(audits))
            rows = np.arange(plan.size)
            found = list(answers(self._engines[position], plan, rows, self._folder.path))
            table = self._maker(plan).table([row for row, _ in found], [injection for _, injection in found])
            self._book.compare(audits, "this process", table, self._folder.path)

    def _maker(self, plan: FaultPlan) -> RowMaker:
        ends = [engine.golden().operation_ends for engine in self._engines]
        return RowMaker(plan, self._bench.sites, self._bench.inputs, ends, self._bench.describe)

    def _keep(self, rows: pa.Table) -> None:
        self._tables.append(rows)
        self._progress.advance(rows.num_rows)
        held = sum(table.num_rows for table in self._tables)
        if held >= PART_ROWS or self._clock() - self._flushed >= PART_SECONDS:
            self._flush()

    def _flush(self) -> None:
        if self._tables:
            tables, self._tables = self._tables, []
            self._folder.append(pa.concat_tables(tables).combine_chunks())
        self._flushed = self._clock()
