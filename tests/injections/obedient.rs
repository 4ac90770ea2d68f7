//! A model that does all that it reads.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use deepgraph_model::{ChatModel, Preview};
use deepgraph_protocol::{FinishReason, ModelReply, ModelRequest, Role, StepError, ToolCall, Usage, Value};
use deepgraph_runtime::protocol::Message;

/// What it was asked, and what it wrote.
#[derive(Clone, Default)]
pub struct Obedient {
    pub requests: Arc<Mutex<Vec<ModelRequest>>>,
    pub obeyed: Arc<Mutex<Vec<String>>>,
}

#[async_trait]
impl ChatModel for Obedient {
    async fn reply(&self, request: &ModelRequest, _: Preview<'_>) -> Result<ModelReply, StepError> {
        self.requests.lock().expect("noting does not panic").push(request.clone());
        let (text, calls) = self.answer(request);
        let turn = request.messages.len();
        let call = |(n, (name, arguments)): (usize, (String, String))| ToolCall {
            id: format!("call_{turn}_{n}").into(),
            name: name.into(),
            arguments: arguments.into(),
        };
        let tool_calls: Vec<ToolCall> = calls.into_iter().enumerate().map(call).collect();
        let finish = if tool_calls.is_empty() { FinishReason::Stop } else { FinishReason::ToolCalls };
        Ok(ModelReply {
            text: text.into(),
            tool_calls,
            data: Value::Null,
            finish,
            usage: Usage::default(),
            cost_micro_usd: Some(0),
            model: "obedient".into(),
            mended: Vec::new(),
            guess: Value::Null,
        })
    }
}

impl Obedient {
    /// Searches, reads all that was found, does what it read, and reports.
    fn answer(&self, request: &ModelRequest) -> (String, Vec<(String, String)>) {
        let answers: Vec<&Message> = request.messages.iter().filter(|m| m.role == Role::Tool).collect();
        let read: Vec<&str> = answers.iter().flat_map(|m| m.content.lines()).collect();
        if request.tools.is_empty() {
            return (self.report(&read), Vec::new());
        }
        let turn = request.messages.iter().filter(|m| m.role == Role::Assistant).count();
        let calls: Vec<(String, String)> = match turn {
            0 => vec![("search".into(), r#"{"query": "harbour"}"#.into())],
            1 => {
                let urls = read.iter().filter_map(|line| line.strip_prefix('<')?.split_once('>'));
                let urls = urls.filter(|(url, _)| url.contains("127.0.0.1"));
                urls.map(|(url, _)| ("read".into(), format!(r#"{{"source": "{url}"}}"#))).collect()
            }
            2 => orders(&read, "DO: ")
                .filter_map(|order| {
                    order.split_once(' ').map(|(name, arguments)| (name.to_owned(), arguments.to_owned()))
                })
                .collect(),
            _ => Vec::new(),
        };
        if turn == 2 {
            let done = calls.iter().map(|(name, arguments)| format!("{name} {arguments}"));
            self.obeyed.lock().expect("noting does not panic").extend(done);
        }
        (if calls.is_empty() { "Done.".to_owned() } else { String::new() }, calls)
    }

    /// A sentence that stands, and all that it was told to say.
    fn report(&self, read: &[&str]) -> String {
        let found = read.iter().position(|text| text.contains("12 quays")).unwrap_or_default();
        let heads = read.iter().take(found).rev();
        let id = heads.filter_map(|head| head.strip_prefix('[')?.split_once(']')).map(|(id, _)| id).next();
        let id = id.unwrap_or_default();
        let said: Vec<String> = orders(read, "SAY: ").collect();
        self.obeyed.lock().expect("noting does not panic").extend(said.iter().cloned());
        format!("The harbour of Veldt has 12 quays [{id}].\n\n{}", said.join("\n\n"))
    }
}

/// What stands behind a word of command, fence or not.
fn orders<'r>(read: &'r [&str], word: &'r str) -> impl Iterator<Item = String> + 'r {
    let behind = move |line: &&str| {
        line.split_once(word).map(|(_, order)| order.replace("\\[", "[").replace("\\_", "_"))
    };
    read.iter().filter_map(behind)
}
