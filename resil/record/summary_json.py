# SPDX-License-Identifier: Apache-2.0
"""Reading `summary.json`, strictly."""

from __future__ import annotations

from collections.abc import Mapping

from resil.record.detection import parse_told
from resil.record.node import Interval, Node, ordered_interval
from resil.record.outcomes import OUTCOME_KEYS
from resil.record.safety import parse_assumptions, parse_safety
from resil.record.sanity import Sanity, parse_sanity
from resil.record.summary import (
    Block,
    Campaign,
    Figure,
    LeftOut,
    Metrics,
    Network,
    Operation,
    Provenance,
    StorageTotals,
    Summary,
    Target,
    Technology,
    Verdict,
)

SCHEMA = 5
RESULTS = ("met", "missed", "inconclusive", "not assessed", "none")
PREDICTIONS = ("to meet", "to miss", "undecided")
STATUSES = ("measured", "modelled", "assumed")
FAULT_MODELS = ("upset", "stuck_at", "memory_upset")
_FILE = "summary.json"
_REMEDY = "the file is damaged or of another version: write it anew with 'resil run CAMPAIGN.toml --resume'"
LATENT = ("latent_share", "latent_lo", "latent_hi")
KINDS = ("ff", "macro", "sram")
EXTERNAL_KINDS = ("weights", "activations")
_COUNTS = (*(f"{kind}_bits" for kind in KINDS), "injections", *OUTCOME_KEYS)
# Of a sum of rates that are stored one by one.
_ROUNDING = 1e-9


def parse_summary(document: Mapping[str, object]) -> Summary:
    """Check a decoded `summary.json` and return it typed. Unknown fields are ignored.

    Raises:
        ReportError: A field is missing or wrong, a block's outcomes do not add up to its
            injections, or the total row is not the sum of the blocks, or of the kinds of storage.
    """
    root = Node(document, _FILE, _REMEDY)
    root.at("schema").integer()
    if root.at("schema").value != SCHEMA:
        root.at("schema").fail(f"schema {SCHEMA}")
    blocks = tuple(_block(node) for node in root.at("blocks").items())
    if not blocks:
        root.at("blocks").fail("at least one block")
    _check_distinct(root.at("blocks"), [block.name for block in blocks])
    total = _block(root.at("total"))
    _check_total(root.at("total"), blocks, total)
    storage = _storage(root, total)
    golden, safety = root.at("golden"), root.maybe("safety")
    sanity = _sanity(root)
    vela = golden.maybe("vela_cycles")
    return Summary(
        campaign=_campaign(root.at("campaign")),
        network=_network(root.at("network")),
        target=_target(root.at("target")),
        golden_cycles=tuple(node.integer() for node in golden.at("cycles").items()),
        golden_vela_cycles=None if vela is None else vela.integer(),
        output_hashes=tuple(node.text() for node in golden.at("output_hash").items()),
        technology=_technology(root.at("technology")),
        verdict=_verdict(root.at("verdict")),
        blocks=blocks,
        total=total,
        metrics=_metrics(root.at("metrics")),
        notes=_texts(root.at("notes")),
        provenance=_provenance(root.at("provenance")),
        safety=None if safety is None else parse_safety(safety),
        assumptions=parse_assumptions(root.maybe("assumptions")),
        predicted=_flag(root.maybe("predicted")),
        told=parse_told(root.maybe("told"), {block.name: block.counts["due"] for block in (*blocks, total)}),
        storage=storage,
        sanity=sanity,
    )


def _sanity(root: Node) -> Sanity | None:
    """Read the checks of the watched output; an estimate has none, and nothing is met where one failed."""
    if _flag(root.maybe("predicted")):
        return None
    found = parse_sanity(root.at("sanity"))
    result = root.at("verdict").at("result")
    if found.failed and result.value not in ("not assessed", "none"):
        result.fail("'not assessed', as a check of the watched output failed")
    return found


def _flag(node: Node | None) -> bool:
    if node is not None and not isinstance(node.value, bool):
        node.fail("true or false")
    return node is not None and node.value is True


def _texts(node: Node) -> tuple[str, ...]:
    return tuple(item.text() for item in node.items())


def _text_map(node: Node) -> dict[str, str]:
    return {key: node.at(key).scalar() for key in node.mapping()}


def _campaign(node: Node) -> Campaign:
    return Campaign(
        name=node.at("name").text(),
        seed=node.at("seed").integer(),
        confidence=node.at("confidence").number(0.5, 1.0),
        kinds=_texts(node.at("kinds")),
        injections=node.at("injections").integer(),
        hazardous=tuple(item.one_of(OUTCOME_KEYS) for item in node.at("hazardous").items()),
        inputs=tuple(item.scalar() for item in node.at("inputs").items()),
        engine=node.at("engine").text(),
        workers=node.at("workers").integer(),
        seconds=node.at("seconds").number(),
        fault_model=node.at("fault_model").one_of(FAULT_MODELS),
    )


def _network(node: Node) -> Network:
    decision = node.maybe("decision")
    return Network(
        name=node.at("name").text(),
        path=node.at("path").text(),
        sha256=node.at("sha256").text(),
        operations=tuple(_operation(item) for item in node.at("operations").items()),
        macs=node.at("macs").integer(),
        decision="" if decision is None else decision.text(),
    )


def _operation(node: Node) -> Operation:
    cycles, vela = node.maybe("cycles"), node.maybe("vela_cycles")
    return Operation(
        index=node.at("index").integer(),
        name=node.at("name").text(),
        kind=node.at("kind").text(),
        cycles=None if cycles is None else cycles.integer(),
        vela_cycles=None if vela is None else vela.integer(),
    )


def _target(node: Node) -> Target:
    bits = {kind: node.at(f"{kind}_bits").integer() for kind in KINDS}
    source = {kind: node.maybe(f"{kind}_bits_source") for kind in bits}
    return Target(
        name=node.at("name").text(),
        top=node.at("top").text(),
        ff_bits=bits["ff"],
        macro_bits=bits["macro"],
        sram_bits=bits["sram"],
        unmapped_sites=node.at("unmapped_sites").integer(),
        area=node.at("area").number(),
        area_unit=node.at("area_unit").text(),
        titles={} if (titles := node.maybe("titles")) is None else _text_map(titles),
        ff_bits_source=bits["ff"] if (found := source["ff"]) is None else found.integer(),
        macro_bits_source=bits["macro"] if (found := source["macro"]) is None else found.integer(),
        sram_bits_source=bits["sram"] if (found := source["sram"]) is None else found.integer(),
        parameters={} if (found := node.maybe("parameters")) is None else _text_map(found),
    )


def _technology(node: Node) -> Technology:
    entries = tuple(
        Figure(
            quantity=item.at("quantity").text().replace("_", " "),
            value=item.at("value").scalar(),
            unit=item.at("unit").text(),
            status=item.at("status").one_of(STATUSES),
            source=item.at("source").text(),
        )
        for item in node.at("entries").items()
    )
    return Technology(name=node.at("name").text(), node=node.at("node").text(), entries=entries)


def _verdict(node: Node) -> Verdict:
    result = node.at("result").one_of(RESULTS)
    budget, rationale = node.maybe("budget_fit"), node.maybe("rationale")
    predicted = node.maybe("predicted")
    if result != "none" and budget is None:
        node.at("budget_fit").fail(f"a budget, as the result is {result!r}")
    return Verdict(
        result=result,
        budget_fit=None if budget is None else budget.number(),
        rationale="" if rationale is None else rationale.text(),
        fit=ordered_interval(node, node.at("fit"), node.at("fit_lo"), node.at("fit_hi")),
        reason=node.at("reason").text(),
        scope=node.at("scope").text(),
        predicted="" if predicted is None else predicted.one_of(PREDICTIONS),
        left_out=tuple(_left_out(item) for item in node.at("left_out").items()),
    )


def _left_out(node: Node) -> LeftOut:
    return LeftOut(
        node.at("outcome").one_of(OUTCOME_KEYS),
        node.at("injections").integer(),
        ordered_interval(node, node.at("fit"), node.at("fit_lo"), node.at("fit_hi")),
    )


def _block(node: Node) -> Block:
    counts = {key: node.at(key).integer() for key in OUTCOME_KEYS}
    injections = node.at("injections").integer()
    if sum(counts.values()) != injections:
        node.at("injections").fail(f"{sum(counts.values())}, the sum of this row's outcomes")
    if node.at("rates").value is None:
        return _unknown(node, injections, counts)
    rates = node.at("rates")
    latent, latent_lo, latent_hi = (node.at(key) for key in LATENT)
    return Block(
        name=node.at("block").text(),
        ff_bits=node.at("ff_bits").integer(),
        macro_bits=node.at("macro_bits").integer(),
        sram_bits=node.at("sram_bits").integer(),
        weights_bits=_none_or(node.maybe("weights_bits")),
        activations_bits=_none_or(node.maybe("activations_bits")),
        area=node.at("area").number(),
        area_unit=node.at("area_unit").text(),
        injections=injections,
        counts=counts,
        avf=ordered_interval(node, node.at("avf"), node.at("avf_lo"), node.at("avf_hi"), maximum=1.0),
        latent=ordered_interval(node, latent, latent_lo, latent_hi, maximum=1.0),
        fit_raw=node.at("fit_raw").number(),
        fit=ordered_interval(node, node.at("fit"), node.at("fit_lo"), node.at("fit_hi")),
        rates={key: rates.at(key).interval(maximum=1.0) for key in OUTCOME_KEYS},
    )


def _none_or(node: Node | None) -> int:
    """Return a number of bits; none where the document, of a run that strikes the NPU alone, may lack it."""
    return 0 if node is None else node.integer()


def _unknown(node: Node, injections: int, counts: dict[str, int]) -> Block:
    """Return a block that the campaign says nothing about."""
    for key in ("avf", "avf_lo", "avf_hi", *LATENT, "fit_raw", "fit", "fit_lo", "fit_hi"):
        if node.at(key).value is not None:
            node.at(key).fail("no figure, as there are no rates")
    if injections:
        node.at("injections").fail("0, as there are no rates")
    nothing = Interval(None, 0.0, 0.0)
    return Block(
        name=node.at("block").text(),
        ff_bits=node.at("ff_bits").integer(),
        macro_bits=node.at("macro_bits").integer(),
        sram_bits=node.at("sram_bits").integer(),
        weights_bits=_none_or(node.maybe("weights_bits")),
        activations_bits=_none_or(node.maybe("activations_bits")),
        area=node.at("area").number(),
        area_unit=node.at("area_unit").text(),
        injections=0,
        counts=counts,
        avf=nothing,
        latent=nothing,
        fit_raw=0.0,
        fit=nothing,
        rates=dict.fromkeys(OUTCOME_KEYS, nothing),
        sampled=False,
    )


def _check_distinct(node: Node, names: list[str]) -> None:
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        Node(doubled, node.file, node.remedy, node.path).fail("each block once")


def _check_total(node: Node, blocks: tuple[Block, ...], total: Block) -> None:
    def value(block: Block, key: str) -> int:
        return block.counts[key] if key in block.counts else int(getattr(block, key))

    for key in _COUNTS:
        expected = sum(value(block, key) for block in blocks)
        if value(total, key) != expected:
            node.at(key).fail(f"{expected}, the sum over the blocks")


def _storage(root: Node, total: Block) -> tuple[StorageTotals, ...]:
    """Read the kinds of storage, which add up to the total; an estimate has none."""
    node = root.maybe("storage")
    if node is None:
        if not _flag(root.maybe("predicted")):
            root.at("storage").fail("the kinds of storage that were injected into")
        return ()
    rows = tuple(_storage_row(item) for item in node.items())
    _check_distinct(node, [row.kind for row in rows])
    for row, item in zip(rows, node.items(), strict=True):
        if row.bits != getattr(total, f"{row.kind}_bits"):
            item.at("bits").fail(f"{getattr(total, f'{row.kind}_bits')}, those of the total")
    for key in ("injections", *OUTCOME_KEYS):
        found = sum(row.counts.get(key, row.injections) for row in rows)
        expected = total.counts.get(key, total.injections)
        if found != expected:
            node.fail(f"rows whose {key} add up to {expected}, those of the total")
    if abs(sum(row.fit_raw for row in rows) - total.fit_raw) > _ROUNDING * total.fit_raw:
        node.fail(f"rows whose fit_raw add up to {total.fit_raw}, that of the total")
    return rows


def _storage_row(node: Node) -> StorageTotals:
    return StorageTotals(
        kind=node.at("kind").one_of((*KINDS, *EXTERNAL_KINDS)),
        bits=node.at("bits").integer(),
        injections=node.at("injections").integer(),
        counts={key: node.at(key).integer() for key in OUTCOME_KEYS},
        avf=ordered_interval(node, node.at("avf"), node.at("avf_lo"), node.at("avf_hi"), maximum=1.0),
        fit_raw=node.at("fit_raw").number(),
        fit=ordered_interval(node, node.at("fit"), node.at("fit_lo"), node.at("fit_hi")),
    )


def _metrics(node: Node) -> Metrics:
    spfm, pmhf, lfm = node.maybe("spfm"), node.maybe("pmhf_share"), node.maybe("lfm")
    return Metrics(
        spfm=None if spfm is None else spfm.interval(maximum=1.0),
        pmhf_share=None if pmhf is None else pmhf.interval(),
        lfm=None if lfm is None else lfm.interval(maximum=1.0),
        notes=_texts(node.at("notes")),
    )


def _provenance(node: Node) -> Provenance:
    return Provenance(
        resil=node.at("resil").text(),
        python=node.at("python").text(),
        platform=node.at("platform").text(),
        seed=node.at("seed").integer(),
        command=_texts(node.at("command")),
        versions=_text_map(node.at("versions")),
        hashes=_text_map(node.at("hashes")),
        started=node.at("started").text(),
        finished=node.at("finished").text(),
    )
