//! Secrets stay out of recordings.

use deepgraph_graph::ServerTool;
use deepgraph_protocol::{Hidden, Message, ModelReply, OutputShape, StepError, ToolCall, ToolSpec};

use super::{Asked, Came, Exchange, Recording};

/// A recording with every secret taken out. Requests to models are without them already.
pub(super) fn recording(recording: Recording, hidden: &Hidden) -> Recording {
    let exchanges = recording.exchanges.into_iter().map(|one| exchange(one, hidden)).collect();
    let tools = |tools: Vec<ServerTool>| tools.into_iter().map(|tool| server_tool(tool, hidden)).collect();
    Recording {
        graph: hidden.text(&recording.graph),
        question: hidden.text(&recording.question),
        input: hidden.map(&recording.input),
        config: hidden.map(&recording.config),
        kept: hidden.map(&recording.kept),
        servers: recording.servers.into_iter().map(|(name, list)| (name, tools(list))).collect(),
        exchanges,
        ..recording
    }
}

fn exchange(exchange: Exchange, hidden: &Hidden) -> Exchange {
    let asked = match exchange.asked {
        Asked::Op { name, input, given } => Asked::Op { name, input: hidden.map(&input), given },
        Asked::Person(question) => Asked::Person(hidden.text(&question).into()),
        model => model,
    };
    let came = match exchange.came {
        Came::Reply(one) => Came::Reply(Box::new(reply(*one, hidden))),
        Came::Result(value) => Came::Result(hidden.value(&value)),
        Came::Answer(value) => Came::Answer(hidden.value(&value)),
        Came::Failed(error) => Came::Failed(failure(error, hidden)),
        Came::GaveUp(error) => Came::GaveUp(failure(error, hidden)),
        Came::Nothing => Came::Nothing,
    };
    Exchange { asked, came, ..exchange }
}

fn reply(reply: ModelReply, hidden: &Hidden) -> ModelReply {
    ModelReply {
        text: hidden.text(&reply.text).into(),
        tool_calls: reply.tool_calls.into_iter().map(|call| tool_call(call, hidden)).collect(),
        data: hidden.value(&reply.data),
        guess: hidden.value(&reply.guess),
        ..reply
    }
}

fn failure(error: StepError, hidden: &Hidden) -> StepError {
    StepError { message: hidden.text(&error.message), ..error }
}

pub(super) fn message(message: Message, hidden: &Hidden) -> Message {
    Message {
        content: hidden.text(&message.content).into(),
        tool_calls: message.tool_calls.into_iter().map(|call| tool_call(call, hidden)).collect(),
        ..message
    }
}

fn tool_call(call: ToolCall, hidden: &Hidden) -> ToolCall {
    ToolCall { arguments: hidden.text(&call.arguments).into(), ..call }
}

pub(super) fn tool(tool: ToolSpec, hidden: &Hidden) -> ToolSpec {
    ToolSpec {
        description: hidden.text(&tool.description).into(),
        parameters: hidden.value(&tool.parameters),
        ..tool
    }
}

pub(super) fn output(output: OutputShape, hidden: &Hidden) -> OutputShape {
    OutputShape { schema: hidden.value(&output.schema), ..output }
}

fn server_tool(tool: ServerTool, hidden: &Hidden) -> ServerTool {
    ServerTool {
        description: hidden.text(&tool.description).into(),
        input_schema: hidden.value(&tool.input_schema),
        ..tool
    }
}
