# SPDX-License-Identifier: Apache-2.0
"""What stands below the help of each command: lines to be tried."""

EXAMPLES = {
    "init": (
        "resil init --top smooth -f rtl.f --waves smooth.vcd --instance tb.u_dut --out own",
        "resil init --top smooth -f rtl.f --out own",
    ),
    "check": (
        "resil check campaign.toml",
        "resil check campaign.toml --json",
        "resil check campaign.toml --prove",
    ),
    "run": (
        "resil run campaign.toml --out runs/first",
        "resil run campaign.toml --dry-run",
        "resil run campaign.toml --out runs/first --serve",
        "resil run campaign.toml --faults list.csv --out runs/list",
        "resil run campaign.toml --set faults.injections=5000 --engine cocotb",
    ),
    "study": (
        "resil study study.toml --out runs/study",
        "resil study study.toml --out runs/study --resume",
    ),
    "estimate": (
        "resil estimate campaign.toml",
        "resil estimate campaign.toml --correct runs/first",
    ),
    "learn": ("resil learn runs/digits runs/mnist_lenet -o model.json.gz",),
    "sites": ("resil sites campaign.toml --csv sites.csv",),
    "protect": (
        "resil protect runs/first --budget-fit 0.01",
        "resil protect runs/a runs/b --granularity register --build rtl --verify",
    ),
    "report": (
        "resil report runs/first",
        "resil report runs/first --assessor kit",
        "resil report runs/first --figures figures",
    ),
    "view": ("resil view runs/first", "resil view runs/first --port 8000"),
    "compare": (
        "resil compare runs/first runs/second",
        "resil compare runs/before runs/after --html difference.html",
    ),
    "merge": ("resil merge runs/both runs/first runs/second",),
    "replay": (
        "resil replay runs/first 17",
        "resil replay runs/first 17 --waves fault.vcd",
    ),
    "trace": (
        "resil trace runs/first 17",
        "resil trace campaign.toml --site 'u_dut.state_q[1]' --cycle 130 --waves fault.vcd",
    ),
    "explain": (
        "resil explain runs/first",
        "resil explain runs/first --outcome due --limit 20",
        "resil explain runs/first --mechanisms",
    ),
    "mechanisms": (
        "resil mechanisms built.toml --out built-faults",
        "resil mechanisms built.toml --out built-faults --own 5000 --seconds 200",
    ),
    "patterns": (
        "resil patterns runs/first",
        "resil patterns runs/first --input 0 --input 1 -o patterns.json",
    ),
    "audit": (
        "resil audit runs/first -n 1000",
        "resil audit runs/first -n 50 --simulator cxxrtl",
    ),
    "import": ("resil import results.csv --campaign campaign.toml --out runs/theirs",),
    "infer": (
        "resil infer zoo:digits --limit 2",
        "resil infer model.tflite --npu ethos-u55-64 --input x.npy --output y.npy",
    ),
    "clip": ("resil clip zoo:digits --out clipped.tflite",),
    "rates": ("resil rates profile.toml",),
    "list": (
        "resil list networks",
        "resil list engines --json",
    ),
    "doctor": ("resil doctor",),
    "validate": (
        "resil validate --quick",
        "resil validate --out evidence",
    ),
}


def epilog(command: str) -> str:
    """Return the examples of a command as lines that are not wrapped."""
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in EXAMPLES[command])])
