//! A recording as a file: JSON with sorted keys, a line a value.

use deepgraph_protocol::Value;
use serde::Deserialize;

use super::{FORMAT, Recording};

/// A file that is no recording.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// It is JSON, or could be, and does not begin to look like a recording.
    #[error("it is no recording: it has no number under \"deepgraph_recording\"; `--record FILE` writes one")]
    Other,
    /// It is damaged.
    #[error("it is damaged: {0}; take it from where it came from again, or record again with --record")]
    Damaged(String),
    /// It was written by a later version of this program.
    #[error("it has the form {0}, and this program reads forms up to {FORMAT}: update the program")]
    TooNew(u32),
}

/// What tells the form of a file.
#[derive(Deserialize)]
struct Form {
    deepgraph_recording: Option<u32>,
}

impl Recording {
    /// The text of the file. The same recording has the same text.
    pub fn to_text(&self) -> String {
        // Through our own values: their keys are sorted, whatever serde_json's maps do in this build.
        let mut text = serde_json::to_string_pretty(&Value::of(self)).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    ///
    /// It is none; where it is damaged, with line and column.
    pub fn read(text: &str) -> Result<Recording, RecordingError> {
        let damaged = |error: serde_json::Error| RecordingError::Damaged(error.to_string());
        let form: Form = serde_json::from_str(text).map_err(damaged)?;
        match form.deepgraph_recording {
            None => Err(RecordingError::Other),
            Some(form) if form > FORMAT => Err(RecordingError::TooNew(form)),
            Some(_) => serde_json::from_str(text).map_err(damaged),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_recording_is_told_with_its_place() {
        assert_eq!(Recording::read("{}"), Err(RecordingError::Other));
        assert_eq!(Recording::read(r#"{"deepgraph_recording": 99}"#), Err(RecordingError::TooNew(99)));
        for (text, place) in [
            ("", "line 1"),
            ("{\"deepgraph_recording\": 1,\n\"graph\": }", "line 2 column 10"),
            ("{\"deepgraph_recording\": 1,\n\"graph\": 7}", "line 2 column 10"),
            ("{\"deepgraph_recording\": 1,\n\"graph\": \"g\"", "line 2 column 12"),
        ] {
            let said = Recording::read(text).map_err(|error| error.to_string());
            assert!(said.as_ref().is_err_and(|said| said.contains(place)), "{text}: {said:?}");
        }
    }
}
