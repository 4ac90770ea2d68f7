"""Runs every workload on both sides in turns and prints the medians as Markdown tables.

    python compare.py OURS [rounds=N] [WORKLOAD ...]

OURS is the release binary `peers`. LangGraph runs in the Python that runs this. Each run is a process of its own.
"""

import json
import platform
import statistics
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent

# Theirs, ours, what it is, and how many times faster ours has to be without checkpoints; none: no such bar.
PAIRS = [
    ("chain", "chain", "chain of 1,000 nodes", None),
    ("loop", "loop", "loop of 1,000, one condition a step", 100),
    ("fan_out", "fan_out", "fan-out of 1,000 and join", 100),
    ("fan_out", "fan_out_calls", "the same, ours with a call of an op each", 100),
    ("subgraphs", "subgraphs", "100 subgraphs of 3 nodes", 100),
    ("channels", "channels", "1,000 channels, one changes, 1,000 steps", 500),
    ("append", "append", "append 1 kB × 200", None),
    ("append_delta", "append", "the same, theirs with `DeltaChannel` (beta)", None),
    ("tool_loop", "tool_loop", "tool loop, 100 turns with 36 kB each", None),
]
# Bars of what is kept, in megabytes.
KEPT = {"append": 0.6, "tool_loop": 10}
MEMORY_SHARE = 10
MODES = ["none", "memory", "sqlite"]


def once(command, workload, mode):
    """One run, in a process and a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([*command, workload, mode, folder], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{' '.join(map(str, command))} {workload} {mode} failed:\n{done.stderr[-2000:]}")
        return json.loads(done.stdout)


def both(commands, names, mode, rounds):
    """Medians of each side, run in turns: theirs, ours, theirs, ours."""
    taken = [[], []]
    for _ in range(rounds):
        for side, (command, name) in enumerate(zip(commands, names)):
            taken[side].append(once(command, name, mode))
    keys = ["seconds", "peak_kb", "bytes"]
    return [{key: statistics.median(run[key] for run in side) for key in keys} for side in taken]


def verdict(held):
    return "" if held is None else "yes" if held else "**no**"


def row(*cells):
    print("| " + " | ".join(cells) + " |")


def head(*cells):
    row(*cells)
    row("---", *("--:" for _ in cells[1:]))


def ms(figure):
    return f"{figure['seconds'] * 1000:,.1f}" if figure["seconds"] < 1 else f"{figure['seconds'] * 1000:,.0f}"


def times(theirs, ours):
    ratio = theirs["seconds"] / ours["seconds"]
    return f"{ratio:,.0f}×" if ratio >= 10 else f"{ratio:.1f}×"


def mb(kilobytes):
    return f"{kilobytes / 1000:.1f}"


def print_times(results):
    print("### Time in memory, milliseconds\n")
    head(
        "workload", "LangGraph", "Machine", "ratio", "at least", "held",
        "LangGraph, `InMemorySaver`", "runtime, `MemoryStore`", "ratio",
    )
    for (_, _, what, least), result in results:
        (theirs, ours), (theirs_kept, ours_kept) = result["none"], result["memory"]
        held = None if least is None else theirs["seconds"] / ours["seconds"] >= least
        row(
            what, ms(theirs), ms(ours), times(theirs, ours), f"{least}×" if least else "", verdict(held),
            ms(theirs_kept), ms(ours_kept), times(theirs_kept, ours_kept),
        )


def print_memory(results, imported):
    print("\n### Most memory resident, megabytes, without checkpoints\n")
    print(f"A process that only imports: LangGraph {mb(imported[0])}, ours {mb(imported[1])}.\n")
    head("workload", "LangGraph", "ours", "ratio", "held", "above import: LangGraph", "ours")
    for (_, _, what, _), result in results:
        theirs, ours = (side["peak_kb"] for side in result["none"])
        above = [mb(max(0, peak - empty)) for peak, empty in zip((theirs, ours), imported)]
        row(what, mb(theirs), mb(ours), f"{theirs / ours:.1f}×", verdict(theirs / ours >= MEMORY_SHARE), *above)
    print("\n### The same with checkpoints in memory: `InMemorySaver`, and the runtime with `MemoryStore`\n")
    head("workload", "LangGraph", "ours", "ratio", "held", "above import: LangGraph", "ours")
    for (_, _, what, _), result in results:
        theirs, ours = (side["peak_kb"] for side in result["memory"])
        above = [mb(max(0, peak - empty)) for peak, empty in zip((theirs, ours), imported)]
        row(what, mb(theirs), mb(ours), f"{theirs / ours:.1f}×", verdict(theirs / ours >= MEMORY_SHARE), *above)


def print_kept(results):
    print("\n### Kept on disk: `SqliteSaver`, and the runtime with `SqliteStore`\n")
    head("workload", "LangGraph, MB", "ours, MB", "ratio", "at most", "held", "LangGraph, ms", "ours, ms", "ratio")
    for (_, name, what, _), result in results:
        theirs, ours = result["sqlite"]
        most = KEPT.get(name)
        held = None if most is None else ours["bytes"] / 1e6 <= most
        row(
            what, f"{theirs['bytes'] / 1e6:.2f}", f"{ours['bytes'] / 1e6:.2f}",
            f"{theirs['bytes'] / ours['bytes']:,.1f}×", f"{most} MB" if most else "", verdict(held),
            ms(theirs), ms(ours), times(theirs, ours),
        )


def main():
    ours, *rest = sys.argv[1:]
    rounds = next((int(arg[7:]) for arg in rest if arg.startswith("rounds=")), 5)
    wanted = [arg for arg in rest if "=" not in arg]
    commands = [[sys.executable, str(HERE / "langgraph_side.py")], [ours]]
    pairs = [pair for pair in PAIRS if not wanted or pair[0] in wanted or pair[1] in wanted]
    imported = [side["peak_kb"] for side in both(commands, ["chain", "chain"], "import", rounds)]
    results = []
    for pair in pairs:
        figures = {}
        for mode in MODES:
            print(f"{pair[2]}: {mode}", file=sys.stderr)
            figures[mode] = both(commands, pair[:2], mode, rounds)
        results.append((pair, figures))
    packages = ["langgraph", "langgraph-checkpoint", "langgraph-checkpoint-sqlite", "langchain-core"]
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    print(f"Medians of {rounds} runs of each side in turns, each in a process of its own. {versions}; CPython "
          f"{platform.python_version()}.\n")
    print_times(results)
    print_memory(results, imported)
    print_kept(results)


if __name__ == "__main__":
    main()
