//! From files to a bundle.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use deepgraph_protocol::Value;
use sha2::{Digest, Sha256};

use crate::diagnostic::{Diagnostics, Sink, code};
use crate::files::{self, Files};
use crate::gather::{GraphFiles, gather};
use crate::read::{Decls, Reader, declare};
use crate::source::{FileText, Place};
use crate::{
    Bundle, BundleSource, Concurrency, Field, Graph, Intent, OpTable, Programs, Server, USER_SERVERS,
};

/// A graph file that can be run, with what is probably not meant in it.
#[derive(Debug)]
pub struct Loaded {
    /// What can be run.
    pub bundle: Bundle,
    /// Warnings.
    pub warnings: Diagnostics,
}

/// Reads, checks and compiles a graph file with everything that it names: prompts, and the graph files that it
/// calls.
///
/// `entry` is the path of the file as the user gave it; it is shown in messages and its last part is read
/// through `files`, which know the files of its folder and of those below. All mistakes are found in one pass.
///
/// Tools of MCP servers are checked against `ops`, where it has them ([`OpTable::with_server`]). A run needs them:
/// load the file once, ask the `servers` of the bundle for their tools, add these to `ops`, and load it again. The
/// servers are the same both times. Tools of a server that is not in `ops` are taken as they are called.
pub fn load(entry: &str, files: &dyn Files, ops: &OpTable) -> Result<Loaded, Diagnostics> {
    let (_, name) = files::split(entry);
    let mut out = Sink::default();
    let text = match files.read(name) {
        Ok(text) => text,
        Err(why) => {
            let file = FileText::new(entry, "");
            let place = Place { line: 1, column: 1 };
            out.error(code::NO_FILE, &file, place, format!("{entry} can not be read: {why}"));
            return Err(out.finish(&file));
        }
    };
    let file = FileText::new(entry, text.as_str());
    let mut texts = BTreeMap::new();
    let gathered = gather(entry, text, files, ops, &mut out, &mut texts);
    if gathered.list.first().is_none_or(|first| first.tree.is_none()) {
        return Err(out.finish(&file));
    }
    let mut reader = Reader {
        entry,
        files,
        ops,
        file: file.clone(),
        folder: String::new(),
        out,
        programs: Programs::new(),
        texts,
        config_uses: Vec::new(),
    };
    let parts = read(&mut reader, &gathered);
    if reader.out.has_errors() {
        return Err(reader.out.finish(&file));
    }
    let user = parts.user_tools.then(|| USER_SERVERS.into());
    let servers = parts.servers.iter().map(|server| server.name.clone()).chain(user);
    let tools = servers.filter_map(|name| ops.server(&name).map(|tools| (name.clone(), tools.to_vec())));
    let (entry, tools, stock_ops) = (entry.to_owned(), tools.collect(), ops.stock);
    let source = BundleSource { entry, files: reader.texts, tools, stock_ops };
    let bundle = Bundle {
        graphs: parts.graphs,
        config: parts.config,
        config_uses: reader.config_uses,
        intents: parts.intents,
        concurrency: parts.concurrency,
        ops: ops.clone(),
        servers: parts.servers,
        user_tools: parts.user_tools,
        programs: reader.programs.finished(),
        hash: hash(&source),
        source,
    };
    Ok(Loaded { bundle, warnings: reader.out.finish(&file) })
}

/// What is read of a bundle.
#[derive(Default)]
struct Parts {
    graphs: Vec<Graph>,
    config: BTreeMap<Arc<str>, Field>,
    intents: Vec<Intent>,
    concurrency: Concurrency,
    servers: Vec<Server>,
    user_tools: bool,
}

fn read(reader: &mut Reader<'_>, files: &GraphFiles) -> Parts {
    let decls = declare(reader, files);
    if decls.graphs.is_empty() {
        return Parts::default();
    }
    let concurrency = concurrency(reader, &decls);
    let servers = reader.servers(&decls);
    let mut reading = reader.read(&decls);
    let intents = reader.intents(&decls);
    crate::check::check(reader, &decls, &mut reading);
    // What nothing calls was read for its mistakes only.
    let kept = || decls.graphs.iter().take(decls.kept);
    let config = decls.config.iter().filter(|(key, _)| kept().any(|g| g.config.contains_key(&***key)));
    reading.graphs.truncate(decls.kept);
    Parts {
        config: config.map(|(key, field)| (key.clone(), field.clone())).collect(),
        graphs: reading.graphs,
        intents,
        concurrency,
        servers,
        user_tools: kept().any(|graph| graph.sets.iter().any(|set| set.is_of_user())),
    }
}

/// The caps of the first file. Those of the others hold where they are run themselves.
fn concurrency(reader: &mut Reader<'_>, decls: &Decls<'_>) -> Concurrency {
    let mut caps = Concurrency::default();
    for root in decls.graphs.iter().filter(|g| g.parent.is_none()).rev() {
        reader.enter(decls.files, root.file);
        caps = reader.concurrency(root.node);
    }
    caps
}

/// SHA-256 over names and texts of all files and the tools of servers, lengths included so that no two sources look
/// the same.
fn hash(source: &BundleSource) -> Arc<str> {
    let mut hasher = Sha256::new();
    let mut add = |text: &str| {
        hasher.update((text.len() as u64).to_be_bytes());
        hasher.update(text.as_bytes());
    };
    let (_, entry) = files::split(&source.entry);
    add(entry);
    source.files.iter().flat_map(|(path, text)| [path, text]).for_each(|text| add(text));
    if !source.tools.is_empty() {
        // No file has an empty path.
        add("");
        for (server, tools) in &source.tools {
            add(server);
            add(&Value::of(tools).to_json_text());
        }
    }
    let digest = hasher.finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into()
}

impl Bundle {
    /// Compiles a bundle again from the texts and the tools of servers that it was made from, as resuming a run
    /// does.
    pub fn from_source(source: &BundleSource, ops: &OpTable) -> Result<Bundle, Diagnostics> {
        let mut ops = ops.clone().into_earlier(source.stock_ops);
        for (server, tools) in &source.tools {
            ops = ops.with_server(server, tools.clone());
        }
        load(&source.entry, &source.files, &ops).map(|loaded| loaded.bundle)
    }
}
