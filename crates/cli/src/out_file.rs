//! The file that a report or anything else goes to.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::CliError;

/// What a file is to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// A report.
    Report,
    /// A trace.
    Trace,
    /// A recording.
    Recording,
    /// A case.
    Case,
    /// A drawing.
    Drawing,
    /// What came of cases.
    Junit,
}

impl Holds {
    /// The option that names such a file.
    pub fn option(self) -> &'static str {
        match self {
            Holds::Recording => "--record",
            Holds::Junit => "--junit",
            Holds::Report | Holds::Trace | Holds::Case | Holds::Drawing => "--out",
        }
    }
}

impl fmt::Display for Holds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Holds::Report => "report",
            Holds::Trace => "trace",
            Holds::Recording => "recording",
            Holds::Case => "case",
            Holds::Drawing => "drawing",
            Holds::Junit => "JUnit file",
        })
    }
}

/// A file that was found to be writable. It is written in one go: whoever reads it sees the old text or the new
/// one, never a half.
#[derive(Debug)]
pub struct OutFile {
    holds: Holds,
    /// As the user named it.
    named: PathBuf,
    /// Without links.
    target: PathBuf,
}

impl OutFile {
    /// Finds out whether the file can be written, before anything is paid for. Nothing is left behind.
    ///
    /// # Errors
    ///
    /// It can not.
    pub fn check(path: &Path, holds: Holds) -> Result<OutFile, CliError> {
        let refused = |problem: &str| CliError::OutFile { holds, path: path.into(), problem: problem.into() };
        let failed = |error: io::Error| refused(&error.to_string());
        if path.as_os_str().is_empty() {
            return Err(refused("the name is empty"));
        }
        if names_folder(path) && !path.is_dir() {
            return Err(refused("it is the name of a folder; add the name of a file"));
        }
        // Absolute, for the case that the folder of the process changes, and without links: a link stays one.
        let target = fs::canonicalize(path).or_else(|_| to_be_made(path)).map_err(failed)?;
        match fs::metadata(&target) {
            Ok(found) if found.is_dir() => return Err(refused("it is a folder")),
            Ok(found) if found.is_file() => {
                drop(OpenOptions::new().append(true).open(&target).map_err(failed)?);
            }
            // Opening a pipe would wait for its reader.
            Ok(found) if is_pipe(&found) => {}
            Ok(_) => drop(OpenOptions::new().write(true).open(&target).map_err(failed)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
        let file = OutFile { holds, named: path.into(), target };
        let folder = file.folder();
        if !folder.is_dir() {
            return Err(refused(&format!("there is no folder {}", folder.display())));
        }
        if !file.is_special() {
            // Its own message would name the temporary file.
            let failed = |error: io::Error| {
                refused(&format!("{}: {}", folder.display(), io::Error::from(error.kind())))
            };
            file.temporary().map_err(failed)?;
        }
        Ok(file)
    }

    /// The name that the user gave.
    pub fn name(&self) -> &Path {
        &self.named
    }

    /// Whether both are one file, however each was named.
    pub fn is_same(&self, other: &OutFile) -> bool {
        self.target == other.target
    }

    /// Whether it is the file at this path, however each was named.
    pub fn is_at(&self, path: &Path) -> bool {
        fs::canonicalize(path).is_ok_and(|path| path == self.target)
    }

    /// Writes the text in place of what the file held.
    ///
    /// # Errors
    ///
    /// The file is as it was then.
    pub fn write(&self, text: &str) -> Result<(), CliError> {
        let failed = |error: io::Error| CliError::OutFile {
            holds: self.holds,
            path: self.named.clone(),
            problem: error.to_string(),
        };
        if self.is_special() {
            let mut file = OpenOptions::new().write(true).open(&self.target).map_err(failed)?;
            return file.write_all(text.as_bytes()).map_err(failed);
        }
        let mut file = self.temporary().map_err(failed)?;
        file.write_all(text.as_bytes()).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
        if let Ok(found) = fs::metadata(&self.target) {
            // Best effort: the text matters more than who may read it.
            let _ = file.as_file().set_permissions(found.permissions());
        }
        file.persist(&self.target).map_err(|e| failed(e.error))?;
        self.sync_folder();
        Ok(())
    }

    /// Whether it is there and no regular file (a device, a pipe): such a one is written to, never replaced.
    fn is_special(&self) -> bool {
        fs::metadata(&self.target).is_ok_and(|found| !found.is_file())
    }

    fn folder(&self) -> &Path {
        self.target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }

    fn temporary(&self) -> io::Result<NamedTempFile> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(".deepgraph-");
        #[cfg(unix)]
        {
            // As for any new file: the system takes off what the user's mask says.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        builder.tempfile_in(self.folder())
    }

    /// Makes the new name durable, where the system can do that.
    fn sync_folder(&self) {
        let _ = File::open(self.folder()).and_then(|folder| folder.sync_all());
    }
}

/// The path of a file that is not there yet: absolute, in the folder without links.
fn to_be_made(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    Ok(match (path.parent().map(fs::canonicalize), path.file_name()) {
        (Some(Ok(folder)), Some(name)) => folder.join(name),
        _ => path,
    })
}

/// Whether a path can only be that of a folder: nothing but separators and dots stands at its end.
fn names_folder(path: &Path) -> bool {
    let text = path.as_os_str().to_string_lossy();
    let last = text.rsplit(std::path::is_separator).next().unwrap_or_default();
    matches!(last, "" | "." | "..")
}

#[cfg(unix)]
fn is_pipe(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    found.file_type().is_fifo()
}

#[cfg(not(unix))]
fn is_pipe(_: &fs::Metadata) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn the_file_holds_the_text_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.md");
        let file = OutFile::check(&path, Holds::Report).unwrap();
        assert!(names(folder.path()).is_empty());
        file.write("first").unwrap();
        file.write("second, é").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "second, é");
        assert_eq!(names(folder.path()), ["report.md"]);
    }

    #[test]
    fn what_can_not_be_written_is_found_out_before() {
        let folder = tempfile::tempdir().unwrap();
        let below_file = folder.path().join("file");
        fs::write(&below_file, "").unwrap();
        for path in [
            folder.path().join("no/such/folder/r.md"),
            folder.path().into(),
            below_file.join("r.md"),
            folder.path().join("new/"),
            folder.path().join("new/."),
            folder.path().join("new/.."),
            folder.path().join("file/"),
        ] {
            let error = OutFile::check(&path, Holds::Report).unwrap_err().to_string();
            assert!(error.contains("--out") && error.contains(&*path.to_string_lossy()), "{error}");
        }
        assert!(OutFile::check(Path::new(""), Holds::Report).is_err());
    }

    #[test]
    fn what_can_not_be_written_is_named_with_its_option() {
        for (holds, start, end) in [
            (Holds::Report, "the report can not", "--out"),
            (Holds::Trace, "the trace can not", "--out"),
            (Holds::Recording, "the recording can not", "--record"),
            (Holds::Case, "the case can not", "--out"),
            (Holds::Drawing, "the drawing can not", "--out"),
            (Holds::Junit, "the JUnit file can not", "--junit"),
        ] {
            let error = OutFile::check(Path::new("no/such/folder/file"), holds).unwrap_err().to_string();
            assert!(error.starts_with(start) && error.ends_with(end), "{error}");
        }
    }

    #[test]
    fn a_file_that_became_unwritable_is_an_error_and_not_half_a_text() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("inner");
        fs::create_dir(&inner).unwrap();
        let file = OutFile::check(&inner.join("r.md"), Holds::Report).unwrap();
        fs::remove_dir(&inner).unwrap();
        assert!(file.write("text").is_err());
    }

    #[test]
    fn one_file_is_known_by_every_name() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("below")).unwrap();
        let check = |name: &str| OutFile::check(&folder.path().join(name), Holds::Report).unwrap();
        for _ in 0..2 {
            assert!(check("r.md").is_same(&check("below/../r.md")));
            assert!(check("r.md").is_same(&check("./r.md")));
            assert!(!check("r.md").is_same(&check("below/r.md")));
            assert!(!check("r.md").is_same(&check("s.md")));
            // Once more, with the file there.
            fs::write(folder.path().join("r.md"), "").unwrap();
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("below", folder.path().join("link")).unwrap();
            std::os::unix::fs::symlink("r.md", folder.path().join("other.md")).unwrap();
            assert!(check("link/r.md").is_same(&check("below/r.md")));
            assert!(check("other.md").is_same(&check("r.md")));
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_and_devices_are_not_replaced() {
        use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("real.md"), folder.path().join("link.md"));
        fs::write(&real, "old").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&real, &link).unwrap();
        OutFile::check(&link, Holds::Report).unwrap().write("new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&real).unwrap(), "new");
        assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
        OutFile::check(Path::new("/dev/null"), Holds::Report).unwrap().write("gone").unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    }
}
