//! What the repair turn adds to a request: the reply that could not be taken, and what is wrong with it. It is made smaller
//! before anything of the request itself is cut.

use deepgraph_protocol::{Message, ModelReply, ModelRequest, Value};

/// How much of the reply is shown, in bytes: its beginning and its end.
const MOST: usize = 6000;

/// The same where all that did not fit.
const LESS: usize = 600;

/// What stands for a reply without text: servers refuse messages that are empty.
const NOTHING_SAID: &str = "(no answer)";

/// What stands for a reply that there is no room for.
const LEFT_OUT: &str = "(left out here to fit the context window)";

/// The messages of a repair turn in each size that may be sent, the largest first. Without a repair turn there are none.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    sizes: Vec<[Message; 2]>,
    /// The first that may be sent: those before it were too long.
    from: usize,
}

impl Shown {
    /// A reply with what is wrong with it and the schema that it should have kept to, after so many requests with it
    /// that were too long.
    pub(crate) fn new(reply: &ModelReply, problem: &str, schema: &str, overflows: u32) -> Shown {
        let said = match (reply.text.trim(), &reply.data) {
            ("", Value::Null) => NOTHING_SAID.into(),
            ("", data) => data.to_json_text(),
            (text, _) => text.to_owned(),
        };
        let whole = format!("{problem}{schema}");
        let all = [
            (excerpt(&said, MOST), whole.as_str()),
            (excerpt(&said, LESS), whole.as_str()),
            (LEFT_OUT.to_owned(), problem),
        ];
        let mut sizes: Vec<[Message; 2]> = Vec::new();
        for (said, problem) in all {
            let smaller = [Message::assistant(said, Vec::new()), Message::user(problem)];
            if sizes.last().is_none_or(|last| bytes(&smaller) < bytes(last)) {
                sizes.push(smaller);
            }
        }
        let overflows = usize::try_from(overflows).unwrap_or(usize::MAX);
        Shown { from: overflows.min(sizes.len().saturating_sub(1)), sizes }
    }

    /// The sizes that may be sent; one where there is nothing to be added.
    pub(crate) fn sizes(&self) -> std::ops::Range<usize> {
        self.from..self.sizes.len().max(1)
    }

    /// The largest size that may be sent.
    pub(crate) fn largest(&self) -> usize {
        self.from
    }

    /// The smallest size.
    pub(crate) fn smallest(&self) -> usize {
        self.sizes.len().saturating_sub(1)
    }

    /// By how many tokens one of the sizes makes a request longer.
    pub(crate) fn tokens_at(&self, request: &ModelRequest, size: usize) -> u64 {
        self.added_to(request, size).estimate_tokens().saturating_sub(request.estimate_tokens())
    }

    /// The request with the messages in one of the sizes.
    pub(crate) fn added_to(&self, request: &ModelRequest, size: usize) -> ModelRequest {
        let mut request = request.clone();
        request.messages.extend(self.sizes.get(size).into_iter().flatten().cloned());
        request
    }

    /// How many bytes one of the sizes is smaller than the largest.
    pub(crate) fn cut_at(&self, size: usize) -> u64 {
        let of = |size| self.sizes.get(size).map_or(0, bytes);
        of(0).saturating_sub(of(size)) as u64
    }
}

fn bytes(messages: &[Message; 2]) -> usize {
    messages.iter().map(|message| message.content.len()).sum()
}

/// The beginning and the end of a text that is too long to be shown whole.
fn excerpt(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let mut end = most / 2;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}\n[...]\n{}", text.get(..end).unwrap_or_default(), tail(text, most / 2))
}

/// At most so many bytes of a text's end.
pub(crate) fn tail(text: &str, most: usize) -> &str {
    let mut from = text.len().saturating_sub(most);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    text.get(from..).unwrap_or_default()
}
