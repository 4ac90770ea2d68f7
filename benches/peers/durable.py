"""Measures what durability costs on both sides in turns and prints the medians as Markdown tables.

    python durable.py OURS [rounds=N]

OURS is the release binary `peers`. LangGraph runs in the Python that runs this. Each run is a process of its own.
"""

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
THEIRS = [sys.executable, str(HERE / "langgraph_durable.py")]


def call(command, what, steps, synchronous, folder):
    """What one process printed; nothing where it ended in the middle, as it was told to."""
    done = subprocess.run([*command, what, str(steps), synchronous, folder], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command} {what} {steps} {synchronous} failed:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout) if done.stdout.strip() else None


def once(command, what, steps, synchronous):
    with tempfile.TemporaryDirectory() as folder:
        if what == "resume":
            call(command, "leave", steps, synchronous, folder)
        return call(command, what, steps, synchronous, folder)


def medians(commands, what, steps, synchronous, rounds):
    """Medians of each side, run in turns."""
    taken = [[once(command, what, steps, synchronous) for command in commands] for _ in range(rounds)]
    return [
        {key: statistics.median(sides[i][key] for sides in taken) for key in ("seconds", "bytes")}
        for i in range(len(commands))
    ]


def a_step(command, steps, suffix=""):
    """Bytes that a step of a run adds to those of a run of ten steps: tables and the graph's text are in both."""
    few = 10
    size = lambda n: once(command, "one", f"{n}{suffix}", "normal")["bytes"]
    return (size(steps) - size(few)) / (steps - few)


def row(*cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def head(*cells):
    row(*cells)
    row("---", *("--:" for _ in cells[1:]))


def main():
    ours, *rest = sys.argv[1:]
    rounds = next((int(arg[7:]) for arg in rest if arg.startswith("rounds=")), 3)
    sides = [THEIRS, [ours, "durable"]]

    print("### Committed steps in a second\n")
    head("what", "`synchronous`", "LangGraph", "ours", "ratio")
    for what, steps, total, words in [("one", 1000, 1000, "one run of 1,000 steps"), ("many", 20, 1000, "50 runs at once, 20 steps each"), ("many", 200, 10_000, "50 runs at once, 200 steps each")]:
        for synchronous in ("full", "normal"):
            theirs, mine = (total / side["seconds"] for side in medians(sides, what, steps, synchronous, rounds))
            row(words, synchronous, f"{theirs:,.0f}", f"{mine:,.0f}", f"{mine / theirs:.1f}×")

    print("\n### Bytes that a step keeps\n")
    head("steps", "LangGraph, appended", "LangGraph, replaced", "ours, appended")
    kept = []
    for steps in (100, 1000, 10_000):
        # Appending keeps the whole list at every step there: at 10,000 steps that is a file of gigabytes.
        appended = f"{a_step(THEIRS, steps):,.0f}" if steps < 10_000 else "–"
        kept.append(a_step(sides[1], steps))
        row(f"{steps:,}", appended, f"{a_step(THEIRS, steps, 'r'):,.0f}", f"{kept[-1]:,.0f}")
    print(f"\nOurs are {max(kept) / min(kept):.2f}× apart.")

    print("\n### Going on with a run of 10,000 steps, seconds from opening the file to the end\n")
    head("`synchronous`", "LangGraph, replaced", "ours, appended")
    theirs = statistics.median(once(THEIRS, "resume", "10000r", "normal")["seconds"] for _ in range(rounds))
    mine = statistics.median(once(sides[1], "resume", 10_000, "normal")["seconds"] for _ in range(rounds))
    row("normal", f"{theirs:.2f}", f"{mine:.2f}")


if __name__ == "__main__":
    main()
