"""What durability costs on LangGraph: as `durable.rs` measures it on the other side.

    python langgraph_durable.py WHAT STEPS SYNCHRONOUS FOLDER

WHAT: `one` (one run of so many steps), `many` (50 runs at once of so many steps each, a thread each, with one
SqliteSaver), `leave` (one run, and the process ends in its last step), `resume` (goes on with the run that was left).
SYNCHRONOUS: `full` or `normal`, as SQLite's pragma has it. A step is a node that appends 200 bytes to a list; its
checkpoint is written before the next begins (`durability="sync"`). `STEPS` may end in `r`: then the text is replaced
instead of appended.

Prints seconds (for `resume`, from opening the database to the end of the run) and bytes (files in FOLDER).
"""

import json
import operator
import os
import sqlite3
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph

RUNS = 50
BYTES = 200


class Appended(TypedDict):
    n: int
    texts: Annotated[list[str], operator.add]


class Replaced(TypedDict):
    n: int
    texts: list[str]


def graph(steps, replaced, ends_at):
    def turn(state):
        if state["n"] == ends_at:
            os._exit(0)
        return {"n": state["n"] + 1, "texts": [f"{state['n']:0{BYTES}}"]}

    built = StateGraph(Replaced if replaced else Appended)
    built.add_node("turn", turn)
    built.add_edge(START, "turn")
    built.add_conditional_edges("turn", lambda s: "turn" if s["n"] < steps else END, ["turn", END])
    return built


def drive(compiled, thread, given, steps, replaced):
    config = {"recursion_limit": 1_000_000, "configurable": {"thread_id": thread}}
    out = compiled.invoke(given, config, durability="sync")
    assert out["n"] == steps and len(out["texts"]) == (1 if replaced else steps), "a wrong result"


def main():
    what, size, synchronous, folder = sys.argv[1:5]
    replaced = size.endswith("r")
    steps = int(size.removesuffix("r"))
    file = Path(folder) / "checkpoints.sqlite"
    began = time.perf_counter()
    connection = sqlite3.connect(str(file), check_same_thread=False)
    connection.execute(f"PRAGMA synchronous={synchronous}")
    saver = SqliteSaver(connection)
    compiled = graph(steps, replaced, steps - 1 if what == "leave" else None).compile(checkpointer=saver)
    given = {"n": 0, "texts": []}
    if what == "many":
        with ThreadPoolExecutor(RUNS) as threads:
            runs = [threads.submit(drive, compiled, f"t{i}", given, steps, replaced) for i in range(RUNS)]
            for run in runs:
                run.result()
    else:
        drive(compiled, "t", None if what == "resume" else given, steps, replaced)
    seconds = time.perf_counter() - began
    connection.close()
    files = [f.stat().st_size for f in Path(folder).iterdir()]
    print(json.dumps({"seconds": seconds, "bytes": sum(files)}))


if __name__ == "__main__":
    main()
