//! What each exit means and what to do about it: the one place where it is written.

use deepgraph_protocol::{ExitClass, ExitReason};

/// What is said of an exit.
pub struct Words {
    /// What happened: a part of a sentence.
    pub what: &'static str,
    /// More of it, for who asks: whole sentences.
    pub means: &'static str,
    /// What to do, in parts with `; ` between: `RUN` stands for the run, and `{again}` for the command that lets it go on.
    /// A part with that is left out where no command does. Empty where there is nothing to do, or where the limit says it.
    pub next: &'static str,
}

/// What is said of an exit; of one that the graph declares, by its class.
pub fn words(reason: &ExitReason, class: ExitClass) -> Words {
    let (what, means, next) = match reason {
        ExitReason::ResearchComplete => (
            "the model said that the question is covered",
            "The supervisor called the tool by which it ends the research. This is the normal end.",
            "",
        ),
        ExitReason::NoToolCalls => (
            "the model had nothing more to look up",
            "The model answered without calling a tool, so there was nothing to go on with. This is a normal end.",
            "",
        ),
        ExitReason::IterationLimit => (
            "all counted calls were used",
            "The calls that a limit of the graph counts (such as delegations) came to their bound. What was found until \
             then is in the report.",
            MORE,
        ),
        ExitReason::StepLimit => (
            "all turns or steps were used",
            "The turns, steps or visits that a limit of the graph counts came to their bound. What was found until then \
             is in the report.",
            MORE,
        ),
        ExitReason::ToolCallCap => (
            "all tool calls were used",
            "The tool calls of a graph (such as searches and reads of one researcher) came to their bound. What was \
             found until then is handed over.",
            MORE,
        ),
        ExitReason::GainSaturated => (
            "the last steps brought little that was new",
            "The gain of the last steps (new facts ÷ facts known before + 1) stayed below the threshold, so further ones \
             would most likely bring nothing. This is a normal end.",
            "to look further: {again}",
        ),
        ExitReason::TokenBudget => (
            "the budget of tokens is used up",
            "The next model call did not fit into what was left of the tokens. A part of the budget is kept for the \
             report.",
            MORE,
        ),
        ExitReason::CostBudget => (
            "the budget of money is used up",
            "The next model call, at the price that it may have at most, did not fit into what was left of the money. A \
             model whose price is not known fits into no such budget.",
            MORE,
        ),
        ExitReason::Deadline => (
            "the time is over",
            "The clock of the run came to its bound. The time in which only a person was waited for does not count.",
            MORE,
        ),
        ExitReason::TurnDeadline => (
            "the time for one answer is over",
            "Since a person last said something, more time has passed than one turn may take.",
            MORE,
        ),
        ExitReason::ActiveTime => (
            "the working time is used up",
            "The time in which steps worked came to its bound. Waiting for a person or for a further attempt does not \
             count.",
            MORE,
        ),
        ExitReason::StepTimeout => (
            "a step got no answer in time",
            "Each attempt of a step took longer than its timeout.",
            "deepgraph trace RUN shows the step; to try it again: {again}; a longer `timeout` of its node stands in the graph file",
        ),
        ExitReason::RepeatedToolFailure => (
            "a tool failed again and again, or the same call came again and again",
            "The model kept calling a tool that failed, or repeated calls that had been answered before.",
            "deepgraph trace RUN shows the calls and what came of them; once that is mended: {again}",
        ),
        ExitReason::ContextOverflow => (
            "a request did not fit the model's context window",
            "The request was too long even after it had been cut as far as the graph allows.",
            "to go on with a model that has a larger window: {again} --model PROVIDER::NAME; the graph's `truncate` may cut more",
        ),
        ExitReason::Refusal => (
            "the model refused to answer",
            "The provider says that the model will not answer this request.",
            "deepgraph trace RUN shows what was refused; to go on with another model: {again} --model PROVIDER::NAME; the question \
             may be put differently",
        ),
        ExitReason::ModelError => (
            "a model call failed",
            "All attempts of a model call failed: the key, the name of the model, the server or the network.",
            "see to the model (name, key, server); to go on where it stopped: {again}, or with another one: {again} --model \
             PROVIDER::NAME",
        ),
        ExitReason::ToolError => (
            "a tool failed",
            "All attempts of a tool or op failed, and the graph has no other way for that.",
            "deepgraph trace RUN shows the call and why it failed; once that is mended: {again}",
        ),
        ExitReason::GraphError => (
            "the graph is at fault",
            "An expression, a route or two writers of one channel: something that the check of the file can not see.",
            "deepgraph trace RUN shows the step; mend the graph file, then: deepgraph resume RUN --graph FILE",
        ),
        ExitReason::NoSources => (
            "nothing was found to work with",
            "No document that was searched has anything on the question.",
            "give the run documents with --docs PATH, or put the question in the words of the documents",
        ),
        ExitReason::ClarificationNeeded => (
            "a question of the run was not answered",
            "The run asked a person back, and nobody was there to answer.",
            "put the answer into the question and run it again, without --no-input",
        ),
        ExitReason::PlanRejected => (
            "the plan was not approved",
            "A person rejected the plan, or nobody answered in time.",
            "run the question again and approve or edit the plan, or leave the review out",
        ),
        ExitReason::Cancelled => (
            "it was cancelled",
            "Somebody stopped the run, or the graph that called it ended. What was committed is kept.",
            "deepgraph trace RUN shows what was found until then",
        ),
        ExitReason::Completed => (
            "the graph came to its end",
            "Nothing was left to run. This is the normal end of a graph that names no other.",
            "",
        ),
        ExitReason::Declared(_) => return declared(class),
    };
    Words { what, means, next }
}

/// What to do about a limit.
const MORE: &str = "to go on with more: {again}";

fn declared(class: ExitClass) -> Words {
    let (what, next) = match class {
        ExitClass::Cancelled => ("it was cancelled", ""),
        ExitClass::Error => {
            ("an error that the graph declares", "deepgraph trace RUN shows the steps before it")
        }
        ExitClass::Waiting => {
            ("the graph waits for a person", "put the answer into the question and run it again")
        }
        ExitClass::Budget => ("a budget that the graph declares is used up", "the graph file says which"),
        ExitClass::Cap => ("a cap that the graph declares was reached", "the graph file says which"),
        ExitClass::Completion | ExitClass::NoToolCalls | ExitClass::Gain => {
            ("an end that the graph declares", "")
        }
    };
    Words { what, means: "The graph file declares this exit under `exits`.", next }
}
