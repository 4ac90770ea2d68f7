//! Which request a message answers that is too large to be kept.

/// Reads a JSON object byte by byte, without keeping it, and notes its `id` wherever that stands.
#[derive(Default)]
pub(super) struct Skimmer {
    /// Lists and objects that are open.
    depth: usize,
    in_text: bool,
    escaped: bool,
    /// Whether a text in the outermost object is the name of a field.
    at_name: bool,
    /// The field of the outermost object that is being read.
    field: Vec<u8>,
    /// The plain value of that field, or the name that is being read.
    value: Vec<u8>,
    is_answer: bool,
    id: Option<i64>,
}

/// Names and numbers of interest are not longer.
const MOST_KEPT: usize = 24;

impl Skimmer {
    pub(super) fn read(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if self.in_text {
                self.read_text(byte);
            } else {
                self.read_sign(byte);
            }
        }
    }

    /// The request that is answered; none where this is no answer, or not to a request of ours (their ids are whole
    /// numbers).
    pub(super) fn answers(&self) -> Option<i64> {
        self.id.filter(|_| self.is_answer)
    }

    fn read_text(&mut self, byte: u8) {
        if self.escaped {
            self.escaped = false;
            self.keep(byte);
        } else if byte == b'\\' {
            self.escaped = true;
        } else if byte != b'"' {
            self.keep(byte);
        } else {
            self.in_text = false;
            if self.depth == 1 && self.at_name {
                self.field = std::mem::take(&mut self.value);
                self.is_answer |= matches!(self.field.as_slice(), b"result" | b"error");
            }
        }
    }

    fn read_sign(&mut self, byte: u8) {
        match byte {
            b'"' => {
                self.in_text = true;
                self.value.clear();
            }
            b'{' | b'[' => {
                self.depth += 1;
                self.at_name = self.depth == 1;
            }
            b'}' | b']' => {
                self.end_value();
                self.depth = self.depth.saturating_sub(1);
            }
            b',' => {
                self.end_value();
                self.at_name = self.depth == 1;
            }
            b':' => {
                self.at_name = false;
                self.value.clear();
            }
            byte if byte.is_ascii_whitespace() => {}
            byte => self.keep(byte),
        }
    }

    /// A value of the outermost object is complete.
    fn end_value(&mut self) {
        if self.depth == 1 && self.field == b"id" {
            // Some servers send a number back as a text.
            self.id = std::str::from_utf8(&self.value).ok().and_then(|id| id.parse().ok()).or(self.id);
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.value.len() < MOST_KEPT {
            self.value.push(byte);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(message: &str) -> Option<i64> {
        let mut whole = Skimmer::default();
        whole.read(message.as_bytes());
        let mut bytewise = Skimmer::default();
        message.bytes().for_each(|byte| bytewise.read(&[byte]));
        assert_eq!(whole.answers(), bytewise.answers());
        whole.answers()
    }

    #[test]
    fn the_id_is_found_wherever_it_stands() {
        assert_eq!(answers(r#"{"jsonrpc":"2.0","id":7,"result":{"id":8,"list":[{"id":9}]}}"#), Some(7));
        assert_eq!(answers(r#"{"result":{"id":8,"x":["id",{"id":9}]},"jsonrpc":"2.0","id":7}"#), Some(7));
        assert_eq!(answers(r#"{"result": {"text": "\"id\":1,\\"} , "id" : 12 }"#), Some(12));
        assert_eq!(answers(r#"{"error":{"code":-1},"id":"3"}"#), Some(3));
    }

    #[test]
    fn what_answers_no_request_of_ours_is_told() {
        for message in [
            r#"{"id":7,"method":"sampling/createMessage","params":{"result":1}}"#,
            r#"{"method":"notifications/message","params":{}}"#,
            r#"{"id":"abc","result":{}}"#,
            r#"{"id":null,"error":{}}"#,
            r#"{"result":{"id":4}}"#,
            r#"]]]},"id":4"#,
            "Listening on port 8000",
            "",
        ] {
            assert_eq!(answers(message), None, "{message}");
        }
    }

    #[test]
    fn a_message_that_is_cut_short_counts_as_far_as_it_goes() {
        assert_eq!(answers(r#"{"id":7,"result":{"text":"aaaa"#), Some(7));
    }
}
