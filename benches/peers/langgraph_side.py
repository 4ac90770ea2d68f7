"""The workloads on LangGraph. Runs one in this process and prints one line of JSON.

    python langgraph_side.py WORKLOAD MODE FOLDER [small]

MODE: `none` (no checkpointer), `memory` (InMemorySaver), `sqlite` (SqliteSaver, in FOLDER), `import` (imports all
and ends: what the others' memory is compared with). `small` runs it at a tenth of its size: the driver's trial.

Prints seconds (of a run alone: imports, compiling the graph and a run of three steps before it are left out; in
memory the median of several runs), peak_kb (the most memory that this process had resident when the first run was
over) and bytes (files in FOLDER when all are closed).
"""

import json
import operator
import statistics
import sys
import time
from pathlib import Path
from typing import Annotated, TypedDict

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langgraph.channels.delta import DeltaChannel
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph, add_messages
from langgraph.types import Send

# How many steps, nodes, items or turns each workload has, unless told otherwise.
SIZES = {
    "chain": 1000,
    "loop": 1000,
    "fan_out": 1000,
    "subgraphs": 100,
    "channels": 1000,
    "append": 200,
    "append_delta": 200,
    "tool_loop": 100,
}
IDLE_CHANNELS = 1000
APPENDED_BYTES = 1000
ANSWER_BYTES = 36_000
# In memory a workload is run again until it took this long, or so often; the median counts.
REPEATED_SECONDS = 1.0
MOST_RUNS = 25


def nothing(_):
    """A node that does nothing."""
    return {}


def gated(state):
    """A graph of this state with a node `gate` at its start, as the graphs on the other side have."""
    graph = StateGraph(state)
    graph.add_node("gate", nothing)
    graph.add_edge(START, "gate")
    return graph


def chain(size):
    """`size` nodes one after the other that do nothing."""

    class State(TypedDict):
        done: bool

    graph = gated(State)
    names = [f"n{i + 1}" for i in range(size)]
    for name, before in zip(names, ["gate", *names]):
        graph.add_node(name, nothing)
        graph.add_edge(before, name)
    return graph, {"done": False}, lambda out: out["done"] is False


def counting(size, channels):
    """A node that adds one to one of the channels, and a condition, until there are `size`."""
    state = TypedDict("State", {f"c{i}": int for i in range(channels)})
    graph = gated(state)
    graph.add_node("turn", lambda state: {"c0": state["c0"] + 1})
    graph.add_edge("gate", "turn")
    graph.add_conditional_edges("turn", lambda state: "turn" if state["c0"] < size else END, ["turn", END])
    return graph, {f"c{i}": 0 for i in range(channels)}, lambda out: out["c0"] == size


def loop(size):
    return counting(size, 1)


def channels(size):
    return counting(size, IDLE_CHANNELS)


def fan_out(size):
    """`size` tasks in one super-step, each of which appends its number; then one node."""

    class State(TypedDict):
        found: Annotated[list[int], operator.add]

    graph = gated(State)
    graph.add_node("work", lambda task: {"found": [task["item"]]})
    graph.add_node("join", nothing)
    graph.add_conditional_edges("gate", lambda _: [Send("work", {"item": i}) for i in range(size)], ["work"])
    graph.add_edge("work", "join")
    return graph, {"found": []}, lambda out: out["found"] == list(range(size))


def subgraphs(size):
    """`size` subgraphs of three nodes in one super-step; each hands a number up."""

    class Child(TypedDict):
        x: int
        found: Annotated[list[int], operator.add]

    class ChildOut(TypedDict):
        found: Annotated[list[int], operator.add]

    child = StateGraph(Child, output_schema=ChildOut)
    child.add_node("a", lambda state: {"x": state["x"] + 1})
    child.add_node("b", lambda state: {"x": state["x"] + 1})
    child.add_node("c", lambda state: {"found": [state["x"] + 1]})
    child.add_edge(START, "a")
    child.add_edge("a", "b")
    child.add_edge("b", "c")

    class State(TypedDict):
        found: Annotated[list[int], operator.add]

    graph = gated(State)
    graph.add_node("three", child.compile())
    graph.add_node("join", nothing)
    graph.add_conditional_edges("gate", lambda _: [Send("three", {"x": i}) for i in range(size)], ["three"])
    graph.add_edge("three", "join")
    return graph, {"found": []}, lambda out: out["found"] == [i + 3 for i in range(size)]


def appending(size, channel):
    """A node that appends a new text, and a condition, until there are `size`."""
    state = TypedDict("State", {"texts": channel})
    graph = gated(state)
    graph.add_node("turn", lambda state: {"texts": [f"{len(state['texts']):0{APPENDED_BYTES}}"]})
    graph.add_edge("gate", "turn")
    graph.add_conditional_edges("turn", lambda s: "turn" if len(s["texts"]) < size else END, ["turn", END])
    return graph, {"texts": []}, lambda out: len(out["texts"]) == size


def append(size):
    return appending(size, Annotated[list[str], operator.add])


def append_delta(size):
    def reduce(texts, writes):
        return [*texts, *(text for write in writes for text in write)]

    return appending(size, Annotated[list[str], DeltaChannel(reduce)])


def tool_loop(size):
    """A model that calls a tool in each of `size` turns, then answers."""

    class State(TypedDict):
        messages: Annotated[list[AnyMessage], add_messages]
        answer: str

    def agent(state):
        turn = sum(isinstance(m, ToolMessage) for m in state["messages"])
        if turn >= size:
            return {"messages": [AIMessage("Done.")], "answer": "Done."}
        call = {"name": "fetch", "args": {"n": turn}, "id": f"call_{turn}"}
        return {"messages": [AIMessage("", tool_calls=[call])]}

    def act(state):
        calls = state["messages"][-1].tool_calls
        answers = [ToolMessage(f"{c['args']['n']:0{ANSWER_BYTES}}", tool_call_id=c["id"]) for c in calls]
        return {"messages": answers}

    graph = gated(State)
    graph.add_node("open", lambda _: {"messages": [("user", "Go")]})
    graph.add_node("agent", agent)
    graph.add_node("act", act)
    graph.add_edge("gate", "open")
    graph.add_edge("open", "agent")
    graph.add_conditional_edges(
        "agent", lambda state: "act" if state["messages"][-1].tool_calls else END, ["act", END]
    )
    graph.add_edge("act", "agent")
    return graph, {"messages": []}, lambda out: out["answer"] == "Done."


BUILDERS = {
    builder.__name__: builder
    for builder in (chain, loop, fan_out, subgraphs, channels, append, append_delta, tool_loop)
}


def run(workload, size, checkpointer):
    """Seconds of one run."""
    graph, given, is_right = BUILDERS[workload](size)
    compiled = graph.compile(checkpointer=checkpointer)
    config = {"recursion_limit": 1_000_000, "configurable": {"thread_id": f"{workload}-{size}"}}
    # A checkpoint of a super-step is written before the next begins, as the other side does.
    durability = {"durability": "sync"} if checkpointer else {}
    began = time.perf_counter()
    out = compiled.invoke(given, config, **durability)
    seconds = time.perf_counter() - began
    assert is_right(out), f"{workload}: {str(out)[:200]}"
    return seconds


def peak_kb():
    """The most memory that this process had resident. Not `ru_maxrss`: that keeps the figure of whatever the
    process was before it became this program."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


def measured(workload, size, mode, folder):
    """The median of some runs in seconds, and the most memory that was resident when the first was over."""
    small = InMemorySaver() if mode != "none" else None
    run(workload, 3, small)
    if mode == "sqlite":
        with SqliteSaver.from_conn_string(str(folder / "checkpoints.sqlite")) as saver:
            return run(workload, size, saver), peak_kb()
    times = [run(workload, size, InMemorySaver() if mode == "memory" else None)]
    peak = peak_kb()
    while sum(times) < REPEATED_SECONDS and len(times) < MOST_RUNS:
        times.append(run(workload, size, InMemorySaver() if mode == "memory" else None))
    return statistics.median(times), peak


def main():
    workload, mode, folder = sys.argv[1:4]
    size = SIZES.get(workload, 0) // (10 if "small" in sys.argv[4:] else 1)
    seconds, peak = (0.0, peak_kb()) if mode == "import" else measured(workload, size, mode, Path(folder))
    files = [f.stat().st_size for f in Path(folder).iterdir()]
    print(json.dumps({"seconds": seconds, "peak_kb": peak, "bytes": sum(files)}))


if __name__ == "__main__":
    main()
