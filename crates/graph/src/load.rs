//! From files to a bundle.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::diagnostic::{Diagnostics, Sink, code};
use crate::files::{self, Files};
use crate::read::{Reader, declare};
use crate::source::{self, FileText, Kind, Node, Place};
use crate::{Bundle, BundleSource, Concurrency, OpTable, Programs};

/// A graph file that can be run, with what is probably not meant in it.
#[derive(Debug)]
pub struct Loaded {
    /// What can be run.
    pub bundle: Bundle,
    /// Warnings.
    pub warnings: Diagnostics,
}

/// Reads, checks and compiles a graph file with everything that it names.
///
/// `entry` is the path of the file as the user gave it; it is shown in messages and its last part is read
/// through `files`, which know the files of its folder. All mistakes are found in one pass.
pub fn load(entry: &str, files: &dyn Files, ops: &OpTable) -> Result<Loaded, Diagnostics> {
    let (_, name) = files::split(entry);
    let text = match files.read(name) {
        Ok(text) => text,
        Err(why) => {
            let file = FileText::new(entry, "");
            let mut out = Sink::default();
            let place = Place { line: 1, column: 1 };
            out.error(code::NO_FILE, &file, place, format!("{entry} can not be read: {why}"));
            return Err(out.finish(&file));
        }
    };
    let file = FileText::new(entry, text.as_str());
    let mut out = Sink::default();
    let parsed = source::parse(&text);
    for e in parsed.errors {
        out.error(e.code, &file, e.place, e.message).hint(e.help.map(str::to_owned));
    }
    let Some(root) = parsed.node else { return Err(out.finish(&file)) };
    let mut reader = Reader {
        entry,
        files,
        ops,
        file: file.clone(),
        out,
        programs: Programs::new(),
        texts: BTreeMap::from([(name.to_owned(), text)]),
    };
    let (graphs, config, concurrency) = read(&mut reader, &root, name);
    if reader.out.has_errors() {
        return Err(reader.out.finish(&file));
    }
    let source = BundleSource { entry: entry.to_owned(), files: reader.texts };
    let bundle = Bundle {
        graphs,
        config,
        concurrency,
        ops: ops.clone(),
        programs: reader.programs,
        hash: hash(&source),
        source,
    };
    Ok(Loaded { bundle, warnings: reader.out.finish(&file) })
}

type Parts = (Vec<crate::Graph>, BTreeMap<Arc<str>, crate::Field>, Concurrency);

fn read(reader: &mut Reader<'_>, root: &Node, file_name: &str) -> Parts {
    let Kind::Map(_) = root.kind else {
        let message = format!("a graph file is a mapping, not {}", root.kind_name());
        reader.error(code::WRONG_KIND, root.place, message);
        return (Vec::new(), BTreeMap::new(), Concurrency::default());
    };
    if !check_version(reader, root) {
        return (Vec::new(), BTreeMap::new(), Concurrency::default());
    }
    let name = root_name(reader, root, file_name);
    let decls = declare(reader, root, name);
    let concurrency = reader.concurrency(root);
    let mut reading = reader.read(&decls);
    crate::check::check(reader, &decls, &mut reading);
    (reading.graphs, decls.config, concurrency)
}

/// Whether the file may be one of this version: of another one it is not known what belongs into it.
fn check_version(reader: &mut Reader<'_>, root: &Node) -> bool {
    match root.entry("deepgraph") {
        None => {
            reader
                .error(code::MISSING_KEY, root.place, "a graph file begins with `deepgraph: 1`")
                .help("the number is the version of the format");
        }
        Some((_, node)) if matches!(node.kind, Kind::Int(1)) => {}
        Some((_, node)) => {
            reader.error(
                code::BAD_VALUE,
                node.place,
                "this program reads version 1 of the format: `deepgraph: 1`",
            );
            return !matches!(node.kind, Kind::Int(_) | Kind::Float(_));
        }
    }
    true
}

/// The name of the root: as written, else that of the file.
fn root_name(reader: &mut Reader<'_>, root: &Node, file_name: &str) -> Arc<str> {
    let stem = file_name.rsplit_once('.').map_or(file_name, |(stem, _)| stem);
    let fit = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    let from_file: String = stem.chars().take(64).map(fit).collect();
    let fallback: Arc<str> = if from_file.is_empty() { "graph".into() } else { from_file.into() };
    let Some(node) = root.get("name") else { return fallback };
    let Some(name) = reader.plain_text(node, "`name`") else { return fallback };
    let key = source::Key { name: name.clone(), place: node.place };
    if reader.check_label(&key, "a graph") { name } else { fallback }
}

/// SHA-256 over names and texts of all files, lengths included so that no two sets of files look the same.
fn hash(source: &BundleSource) -> Arc<str> {
    let mut hasher = Sha256::new();
    let (_, entry) = files::split(&source.entry);
    for text in std::iter::once(entry).chain(source.files.iter().flat_map(|(k, v)| [k.as_str(), v.as_str()]))
    {
        hasher.update((text.len() as u64).to_be_bytes());
        hasher.update(text.as_bytes());
    }
    let digest = hasher.finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into()
}

impl Bundle {
    /// Compiles a bundle again from the texts that it was made from, as resuming a run does.
    pub fn from_source(source: &BundleSource, ops: &OpTable) -> Result<Bundle, Diagnostics> {
        load(&source.entry, &source.files, ops).map(|loaded| loaded.bundle)
    }
}
