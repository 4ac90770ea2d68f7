//! The pieces of a streamed reply, cut from its bytes: server-sent events
//! (<https://html.spec.whatwg.org/multipage/server-sent-events.html>), or lines of JSON each. Lines that are neither are
//! passed over, as servers that are not what they seem send pages of HTML.

use crate::settings::Protocol;

/// A piece as the server wrote it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) is_error: bool,
    pub(super) data: String,
}

/// Bytes, cut into frames.
pub(super) struct Frames {
    /// Whether each line is a frame.
    by_line: bool,
    lines: Lines,
    /// The event whose end has not come yet.
    event: Option<Frame>,
}

impl Frames {
    /// The frames of a reply by a protocol.
    pub(super) fn of(protocol: Protocol) -> Frames {
        Frames { by_line: protocol == Protocol::Ollama, lines: Lines::default(), event: None }
    }

    /// Takes bytes in, and gives the frames that are whole now.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Vec<Frame> {
        let lines = self.lines.take(bytes);
        lines.into_iter().filter_map(|line| self.line(line)).collect()
    }

    /// What stands behind the last whole frame. It may be the first half of one.
    pub(super) fn rest(&mut self) -> Vec<Frame> {
        let line = self.lines.rest();
        let last = self.line(line);
        last.into_iter().chain(self.event.take()).collect()
    }

    /// Takes a line in, and gives the frame that it ends.
    fn line(&mut self, line: String) -> Option<Frame> {
        if self.by_line {
            return Some(Frame { is_error: false, data: line });
        }
        let line = line.trim_start_matches('\u{feff}').trim();
        if line.is_empty() {
            return self.event.take();
        }
        if let Some(name) = line.strip_prefix("event:") {
            self.event.get_or_insert_default().is_error = name.trim() == "error";
        } else if let Some(data) = line.strip_prefix("data:") {
            let event = self.event.get_or_insert_default();
            if !event.data.is_empty() {
                event.data.push('\n');
            }
            event.data.push_str(data.trim());
        }
        None
    }
}

/// Bytes, cut into lines. They end in a line feed, a carriage return, or both.
#[derive(Default)]
struct Lines {
    line: Vec<u8>,
    /// Whether a line feed that comes next belongs to the end of the last line.
    is_behind_return: bool,
}

impl Lines {
    /// Takes bytes in, and gives the lines that are whole now.
    fn take(&mut self, bytes: &[u8]) -> Vec<String> {
        let mut lines = Vec::new();
        for byte in bytes {
            let was_behind_return = std::mem::replace(&mut self.is_behind_return, *byte == b'\r');
            match byte {
                b'\n' if was_behind_return => {}
                b'\n' | b'\r' => lines.push(self.rest()),
                other => self.line.push(*other),
            }
        }
        lines
    }

    /// What stands behind the last whole line.
    fn rest(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.line)).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All frames of a text that comes byte by byte.
    fn frames(protocol: Protocol, text: &str) -> Vec<Frame> {
        let mut cut = Frames::of(protocol);
        let mut found = Vec::new();
        for byte in text.as_bytes() {
            found.extend(cut.take(std::slice::from_ref(byte)));
        }
        found.extend(cut.rest());
        found
    }

    fn frame(data: &str) -> Frame {
        Frame { is_error: false, data: data.to_owned() }
    }

    #[test]
    fn lines_are_cut_between_bytes_and_never_inside_a_sign() {
        let text = "{\"a\": \"日本\"}\r\n\n{\"b\"";
        assert_eq!(frames(Protocol::Ollama, text), ["{\"a\": \"日本\"}", "", "{\"b\""].map(frame));
    }

    #[test]
    fn events_are_read_whatever_ends_their_lines() {
        for end in ["\n", "\r\n", "\r"] {
            let lines = [
                "\u{feff}: a comment",
                "data: {\"a\":",
                "data:1}",
                "",
                "id: 7",
                "event: error",
                "data: 日本",
                "",
                "",
                "<html>",
                "data: [DONE]",
            ];
            let error = Frame { is_error: true, data: "日本".to_owned() };
            let expected = [frame("{\"a\":\n1}"), error, frame("[DONE]")];
            assert_eq!(frames(Protocol::OpenAi, &lines.join(end)), expected, "{end:?}");
        }
    }
}
