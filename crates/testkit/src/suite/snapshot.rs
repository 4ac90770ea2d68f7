//! Snapshot files, in the form of the crate `insta`: a YAML header between lines `---`, then the text.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A snapshot file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The lines of its header, without the lines `---`.
    header: String,
    /// Its text.
    pub text: String,
}

/// Why a snapshot can not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The file can not be read.
    #[error("the snapshot {} can not be read: {error}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The file has no header.
    #[error(
        "{} is no snapshot: it does not begin with a header between lines `---`; take it away, or mend it",
        .0.display()
    )]
    NoHeader(PathBuf),
    /// The file can not be written or removed.
    #[error("the snapshot {} can not be written: {error}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

impl SnapshotError {
    /// The same with the path as it is from a folder, where it is in there.
    pub fn seen_from(mut self, root: &Path) -> SnapshotError {
        let (SnapshotError::Read { path, .. }
        | SnapshotError::NoHeader(path)
        | SnapshotError::Write { path, .. }) = &mut self;
        if let Ok(below) = path.strip_prefix(root) {
            *path = below.to_owned();
        }
        self
    }
}

impl Snapshot {
    /// A text that is to be a snapshot. `source` is what it is of: the case file, from the project's folder.
    pub fn new(source: &str, text: &str) -> Snapshot {
        Snapshot { header: format!("source: {}\n", scalar(source)), text: text.to_owned() }
    }

    /// Reads a snapshot file; none where there is no such file.
    ///
    /// # Errors
    ///
    /// It can not be read, or is no snapshot.
    pub fn read(path: &Path) -> Result<Option<Snapshot>, SnapshotError> {
        let bytes = match fs::read_to_string(path) {
            Ok(text) => text,
            // Where a file is in the place of a folder, nothing is below it.
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(error) => return Err(SnapshotError::Read { path: path.to_owned(), error }),
        };
        Snapshot::parse(&bytes).map(Some).ok_or_else(|| SnapshotError::NoHeader(path.to_owned()))
    }

    fn parse(file: &str) -> Option<Snapshot> {
        let mut lines = file.split_inclusive('\n');
        lines.next().filter(|line| line.trim_end() == "---")?;
        let mut header = String::new();
        loop {
            match lines.next()? {
                line if line.trim_end() == "---" => break,
                line => header.push_str(line),
            }
        }
        Some(Snapshot { header, text: lines.collect() })
    }

    /// What the header says it is of; none where it does not say.
    pub fn source(&self) -> Option<&str> {
        let value = self.header.lines().find_map(|line| line.strip_prefix("source:"))?;
        Some(value.trim().trim_matches('"'))
    }

    /// Whether the texts are the same, as `insta` compares: line breaks and spaces at the end do not count.
    pub fn is(&self, text: &str) -> bool {
        normal(&self.text) == normal(text)
    }

    /// The same header over another text.
    pub fn with_text(&self, text: &str) -> Snapshot {
        Snapshot { header: self.header.clone(), text: text.to_owned() }
    }

    /// Writes it, in one go: whoever reads the file sees the old text or the new one. Folders are made.
    ///
    /// # Errors
    ///
    /// It can not be written.
    pub fn write(&self, path: &Path) -> Result<(), SnapshotError> {
        let text = format!("---\n{}---\n{}\n", self.header, normal(&self.text));
        write_whole(path, &text).map_err(|error| {
            // An error with a text of its own is one that names the temporary file.
            let error = if error.get_ref().is_some() { error.kind().into() } else { error };
            SnapshotError::Write { path: path.to_owned(), error }
        })
    }

    /// Where a text waits to be accepted as this snapshot: `CASE.snap.new`.
    pub fn pending(path: &Path) -> PathBuf {
        let mut name = path.as_os_str().to_owned();
        name.push(".new");
        PathBuf::from(name)
    }

    /// Takes what waits as the snapshot.
    ///
    /// # Errors
    ///
    /// Nothing waits, or it can not be renamed.
    pub fn accept(path: &Path) -> Result<(), SnapshotError> {
        fs::rename(Snapshot::pending(path), path)
            .map_err(|error| SnapshotError::Write { path: path.to_owned(), error })
    }

    /// Removes what waits; that nothing waits is no error.
    ///
    /// # Errors
    ///
    /// It can not be removed.
    pub fn reject(path: &Path) -> Result<(), SnapshotError> {
        let pending = Snapshot::pending(path);
        match fs::remove_file(&pending) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(SnapshotError::Write { path: pending, error })
            }
            _ => Ok(()),
        }
    }
}

/// A text as it is compared.
fn normal(text: &str) -> String {
    text.trim_end().replace("\r\n", "\n")
}

/// A path as a YAML scalar: plain where that is safe, else quoted.
fn scalar(path: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '_' | '-' | '.');
    let is_name = path.starts_with(char::is_alphabetic) && path.contains(['/', '.']);
    match is_name && path.chars().all(is_plain) {
        true => path.to_owned(),
        false => format!("\"{}\"", path.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}

fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new(""));
    fs::create_dir_all(folder)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".deepgraph-");
    #[cfg(unix)]
    {
        // As for any new file: the system takes off what the user's mask says.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path).map_err(|e| e.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_is_a_header_and_a_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("snapshots/g/one.snap");
        assert_eq!(Snapshot::read(&path).unwrap(), None);
        Snapshot::new("graphs/g/cases/one.yaml", "a\nb\n\n").write(&path).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text, "---\nsource: graphs/g/cases/one.yaml\n---\na\nb\n");
        let read = Snapshot::read(&path).unwrap().unwrap();
        assert_eq!(read.source(), Some("graphs/g/cases/one.yaml"));
        assert!(read.is("a\r\nb") && read.is("a\nb\n \n") && !read.is("a\nb\nc") && !read.is("\na\nb"));
        let names: Vec<_> =
            fs::read_dir(path.parent().unwrap()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names, ["one.snap"], "nothing else is left");
    }

    #[test]
    fn the_header_stays_when_the_text_changes() {
        let old = Snapshot::parse("---\nsource: tests/a.rs\ninfo:\n  x: 1\n---\nold\n").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("one.snap");
        old.with_text("new\n---\n").write(&Snapshot::pending(&path)).unwrap();
        Snapshot::accept(&path).unwrap();
        assert_eq!(
            fs::read_to_string(&path).unwrap(),
            "---\nsource: tests/a.rs\ninfo:\n  x: 1\n---\nnew\n---\n"
        );
        assert!(!Snapshot::pending(&path).exists());
        assert!(Snapshot::accept(&path).is_err(), "nothing waits any more");
        old.write(&Snapshot::pending(&path)).unwrap();
        Snapshot::reject(&path).unwrap();
        Snapshot::reject(&path).unwrap();
        assert!(!Snapshot::pending(&path).exists());
    }

    #[test]
    fn what_is_no_snapshot_is_an_error_that_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("one.snap");
        for text in ["", "status succeeded\n", "<<<<<<< ours\n---\nsource: x\n---\n", "---\nsource: x\n"] {
            fs::write(&path, text).unwrap();
            let error = Snapshot::read(&path).unwrap_err().to_string();
            assert!(error.contains("is no snapshot"), "{error}");
        }
    }

    #[test]
    fn what_can_not_be_written_is_told_by_its_own_path() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("snapshots"), "a file").unwrap();
        let path = folder.path().join("snapshots/g/one.snap");
        let error = Snapshot::new("a.yaml", "text").write(&path).unwrap_err().seen_from(folder.path());
        let told = error.to_string();
        assert!(told.starts_with("the snapshot snapshots/g/one.snap can not be written: "), "{told}");
        assert!(!told.contains(".deepgraph-"), "{told}");
    }

    #[test]
    fn odd_paths_are_quoted() {
        for (path, shown) in
            [("a/b.yaml", "a/b.yaml"), ("a b/c.yaml", "\"a b/c.yaml\""), ("é/c.yaml", "é/c.yaml")]
        {
            assert_eq!(scalar(path), shown);
            assert_eq!(Snapshot::new(path, "").source(), Some(path));
        }
    }
}
