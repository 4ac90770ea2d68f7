//! A recording as a file: JSON with sorted keys, a line a value.

use deepgraph_protocol::Value;
use serde::Serialize;

use super::{FORMAT, Recording};
use crate::json_words;

/// The key that tells the form of a file.
const KEY: &str = "deepgraph_recording";

/// What stands in the file: the form of it beside the keys of the recording.
#[derive(Serialize)]
struct Written<'a> {
    deepgraph_recording: u32,
    #[serde(flatten)]
    recording: &'a Recording,
}

/// A file that is no recording.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// It is something else.
    #[error(
        "it is no recording: it has no key \"{KEY}\" with the number of its form; `--record FILE` writes one"
    )]
    Other,
    /// It is damaged.
    #[error("it is damaged: {0}; take it from where it came from again, or record again with --record")]
    Damaged(String),
    /// It was written by a later version of this program.
    #[error(
        "it was written by a newer version (form {0}), and this program reads forms up to {FORMAT}: update the program"
    )]
    TooNew(u64),
}

impl Recording {
    /// The text of the file. The same recording has the same text.
    pub fn to_text(&self) -> String {
        // Through our own values: their keys are sorted, whatever serde_json's maps do in this build.
        let mut text = serde_json::to_string_pretty(&Value::of(&Written {
            deepgraph_recording: FORMAT,
            recording: self,
        }))
        .unwrap_or_default();
        text.push('\n');
        text
    }

    /// Whether a text is a recording, of whatever form.
    pub fn is_one(text: &str) -> bool {
        form(text).is_ok()
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    ///
    /// It is none; where it is damaged, with line and column.
    pub fn read(text: &str) -> Result<Recording, RecordingError> {
        match form(text)? {
            form if form > u64::from(FORMAT) => Err(RecordingError::TooNew(form)),
            _ => serde_json::from_str(text)
                .map_err(|error| RecordingError::Damaged(json_words::with_place(&error))),
        }
    }
}

/// The number of the form of a recording.
fn form(text: &str) -> Result<u64, RecordingError> {
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(file) => file.get(KEY).and_then(|form| form.as_u64()).ok_or(RecordingError::Other),
        // What never was one is not called damaged.
        Err(_) if !(text.trim_start().starts_with('{') && text.contains(KEY)) => Err(RecordingError::Other),
        Err(error) => Err(RecordingError::Damaged(json_words::with_place(&error))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_recording_is_told_with_its_place() {
        for other in ["{}", "", "[1]", "7", "# Notes\n", "{\"a\": }", "{\"deepgraph_recording\": \"one\"}"] {
            assert_eq!(Recording::read(other), Err(RecordingError::Other), "{other}");
            assert!(!Recording::is_one(other), "{other}");
        }
        let newer = r#"{"deepgraph_recording": 99}"#;
        assert_eq!(Recording::read(newer), Err(RecordingError::TooNew(99)));
        assert!(Recording::is_one(newer));
        for (text, told) in [
            (
                "{\"deepgraph_recording\": 1,\n\"graph\": }",
                "line 2, column 10: another value is expected here",
            ),
            (
                "{\"deepgraph_recording\": 1,\n\"graph\": 7}",
                "line 2, column 10: a text is expected, not the number 7",
            ),
            (
                "{\"deepgraph_recording\": 1,\n\"graph\": \"g\"",
                "line 2, column 12: the file ends here, in the middle of an object",
            ),
            (
                "{\"deepgraph_recording\": 1,\n\"graph\": \"g\"}",
                "line 2, column 13: the key \"bundle\" is missing in the object that ends here",
            ),
        ] {
            let said = Recording::read(text).map_err(|error| error.to_string());
            assert!(said.as_ref().is_err_and(|said| said.contains(told)), "{text}: {said:?}");
            assert!(said.is_err_and(|said| !said.contains("struct")));
        }
    }
}
