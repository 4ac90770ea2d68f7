//! A case file, read.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use deepgraph_graph::{Bundle, Diagnostics, Files, Loaded};
use deepgraph_protocol::{Map, Millis, StepId, Value};

use super::attempt::Attempt;
use super::expect::Expect;
use super::files::WithStock;
use super::fork::Fork;
use super::mistakes::{Mistakes, hint};
use super::pattern::StepPattern;
use super::read::Reader;
use super::script::step_pattern;
use super::scripts::Scripts;
use super::servers::ServerTools;
use super::tree::{self, Node, Place};
use super::{LONGEST, inline, named, words};
use crate::{BEGIN, CancelAt};

/// Completion orders that are tried where a case does not say.
const SEEDS: u64 = 8;

/// A case: a graph, what goes in, what models, ops and people do, and what is expected.
#[derive(Debug)]
pub struct Case {
    /// The file's name without its ending.
    pub name: String,
    /// The sentence that says what it shows.
    pub sentence: Arc<str>,
    /// The file, as it was given.
    pub file: String,
    pub(crate) graph: Result<Arc<Bundle>, Diagnostics>,
    pub(crate) warnings: Diagnostics,
    /// The tools of the servers that the graph declares.
    servers: ServerTools,
    pub(crate) begin: Millis,
    pub(crate) input: Map,
    pub(crate) config: Map,
    /// What channels that are kept between runs held last.
    pub(crate) kept: Map,
    /// The models that are asked in turn after the configured one.
    pub(crate) fallbacks: Vec<Arc<str>>,
    /// Context windows that are known, by model, in tokens.
    pub(crate) windows: BTreeMap<Arc<str>, u64>,
    pub(crate) scripts: Scripts,
    pub(crate) order: Option<Vec<(StepPattern, usize)>>,
    pub(crate) seeds: u64,
    pub(crate) crash: bool,
    pub(crate) cancel: Option<CancelAt>,
    pub(crate) expect: Expect,
    pub(crate) forks: Vec<Fork>,
    /// Further attempts, each behind the one before.
    pub(crate) attempts: Vec<Attempt>,
    /// Label and place of each scripted answer.
    pub(crate) scripted: Vec<(String, Place)>,
}

impl Case {
    /// Reads a case file. Paths in it are relative to its folder.
    ///
    /// # Errors
    ///
    /// All mistakes of the file. Those of the graph are none of them: a case may expect them.
    pub fn load(path: &Path) -> Result<Case, Mistakes> {
        Case::load_with(path, None)
    }

    /// The same, with the files of stock graphs from elsewhere: they are asked for as `stock:NAME/graph.yaml`. Without
    /// it those of a graph that stands in a folder of its own are looked for beside that.
    ///
    /// # Errors
    ///
    /// As [`load`](Case::load).
    pub fn load_with(path: &Path, stock: Option<&dyn Files>) -> Result<Case, Mistakes> {
        let file = path.display().to_string();
        match read_text(path) {
            Ok(text) => Case::parse_with(&file, &text, path.parent().unwrap_or(Path::new("")), stock),
            Err(message) => Err(only(Reader::new(&file, ""), Place { line: 1, column: 1 }, message, None)),
        }
    }

    /// Reads the text of a case. Paths in it are relative to `folder`; `file` is shown in messages.
    ///
    /// # Errors
    ///
    /// All mistakes of the text.
    pub fn parse(file: &str, text: &str, folder: &Path) -> Result<Case, Mistakes> {
        Case::parse_with(file, text, folder, None)
    }

    fn parse_with(
        file: &str,
        text: &str,
        folder: &Path,
        stock: Option<&dyn Files>,
    ) -> Result<Case, Mistakes> {
        let root = tree::read(file, text)?;
        let mut reader = Reader::new(file, text);
        if let Some((message, help)) = none_at_all(&root, folder) {
            return Err(only(reader, root.place, message, Some(help)));
        }
        let mut case = Case::empty(file);
        let mut graph = None;
        let mut files = BTreeMap::new();
        for (key, node) in reader.entries(&root, "a case", &words::CASE) {
            match &*key.name {
                "graph" => graph = Some(node),
                "files" => files = read_files(&mut reader, node),
                _ => case.read_key(&mut reader, &key.name, node),
            }
        }
        for needed in ["case", "graph", "expect"] {
            if root.get(needed).is_none() {
                reader.error(root.place, format!("a case needs the key `{needed}`"));
            }
        }
        case.scripted = std::mem::take(&mut reader.scripted);
        let loaded = graph.and_then(|node| {
            let whole = Whole { root: &root, text, folder, stock };
            case.load_graph(&mut reader, node, files, &whole)
        });
        reader.sink.finish()?;
        match loaded {
            Some(Ok(Loaded { bundle, warnings })) => {
                case.graph = Ok(Arc::new(bundle));
                case.warnings = warnings;
            }
            Some(Err(mistakes)) => case.graph = Err(mistakes),
            None => {}
        }
        Ok(case)
    }

    /// A case that says nothing yet, of a file.
    pub(crate) fn empty(file: &str) -> Case {
        let stem = Path::new(file).file_stem().map_or(file.to_owned(), |s| s.to_string_lossy().into_owned());
        Case {
            name: stem,
            sentence: "".into(),
            file: file.to_owned(),
            graph: Err(Diagnostics::default()),
            warnings: Diagnostics::default(),
            servers: ServerTools::default(),
            begin: BEGIN,
            input: Map::new(),
            config: Map::new(),
            kept: Map::new(),
            fallbacks: Vec::new(),
            windows: BTreeMap::new(),
            scripts: Scripts::default(),
            order: None,
            seeds: SEEDS,
            crash: true,
            cancel: None,
            expect: Expect::default(),
            forks: Vec::new(),
            attempts: Vec::new(),
            scripted: Vec::new(),
        }
    }

    pub(crate) fn read_key(&mut self, reader: &mut Reader, key: &str, node: &Node) {
        match key {
            "case" => self.sentence = sentence(reader, node),
            "date" => self.begin = date(reader, node).unwrap_or(BEGIN),
            "input" => self.input = reader.map(node, "`input`").unwrap_or_default(),
            "config" => self.config = reader.map(node, "`config`").unwrap_or_default(),
            "servers" => self.servers = ServerTools::read(reader, node),
            "kept" => self.kept = reader.map(node, "`kept`").unwrap_or_default(),
            "fallbacks" => self.fallbacks = fallbacks(reader, node),
            "windows" => self.windows = windows(reader, node),
            "attempts" => self.attempts = Attempt::read_all(reader, node),
            "forks" => self.forks = Fork::read_all(reader, node),
            "order" => self.order = order(reader, node),
            "seeds" => self.seeds = reader.whole(node, "`seeds`").unwrap_or(SEEDS).max(1),
            "crash" => {
                if node.value.as_str() == Some("never") {
                    self.crash = false;
                } else {
                    reader.error(node.place, "`crash` is `never`, or is left out");
                }
            }
            "cancel" => self.cancel = cancel(reader, node),
            "expect" => self.expect = Expect::read(reader, node),
            script => drop(self.scripts.read_key(reader, script, node)),
        }
    }

    fn load_graph(
        &self,
        reader: &mut Reader,
        node: &Node,
        mut files: BTreeMap<String, String>,
        whole: &Whole<'_>,
    ) -> Option<Result<Loaded, Diagnostics>> {
        let ops = self.servers.ops();
        if let Value::Text(path) = &node.value {
            if !files.is_empty() {
                reader.error(
                    node.place,
                    "`files` are those of a graph that is written here; this one is a file",
                );
            }
            return named::load_named(reader, (node, path), whole.folder, whole.stock, &ops);
        }
        if !node.is_map() {
            return reader.wrong(
                node,
                "`graph`",
                "a graph file (it begins with `deepgraph: 1`), the path of one, or stock:NAME",
            );
        }
        let name =
            Path::new(&self.file).file_name().map_or(self.file.clone(), |n| n.to_string_lossy().into_owned());
        files.insert(name, inline::text_of_graph(whole.text, whole.root, node));
        Some(deepgraph_graph::load(&self.file, &WithStock { own: &files, stock: whole.stock }, &ops))
    }
}

/// The file that a graph stands in, or is named in.
struct Whole<'a> {
    root: &'a Node,
    text: &'a str,
    /// Its folder.
    folder: &'a Path,
    /// The files of stock graphs, where they are elsewhere.
    stock: Option<&'a dyn Files>,
}

/// The text of a file; a large one is not read.
fn read_text(path: &Path) -> Result<String, String> {
    let failed = |why: std::io::Error| format!("the file can not be read: {why}");
    let bytes = std::fs::metadata(path).map_err(failed)?.len();
    if bytes > LONGEST {
        return Err(format!("the file has {bytes} bytes; at most {LONGEST} are read"));
    }
    std::fs::read_to_string(path).map_err(failed)
}

/// One mistake that makes all others pointless.
fn only(mut reader: Reader, at: Place, message: String, help: Option<String>) -> Mistakes {
    reader.sink.error_with_help(at, message, help);
    reader.sink.finish().err().unwrap_or_default()
}

/// What a file is that is no case at all, and what to do; none where it may be one.
fn none_at_all(root: &Node, folder: &Path) -> Option<(String, String)> {
    let needed = "a case is a mapping with the keys `case`, `graph` and `expect`".to_owned();
    if !root.is_map() {
        let is = match &root.value {
            Value::Null => "empty",
            Value::List(_) => "a list",
            _ => "a single value",
        };
        return Some((format!("this file is no case: it is {is}"), needed));
    }
    let is_graph = root.get("deepgraph").is_some() && root.get("case").is_none();
    is_graph.then(|| {
        let folder = if folder == Path::new("") { Path::new(".") } else { folder };
        let cases = folder.join("cases").display().to_string();
        let cases = cases.strip_prefix("./").unwrap_or(&cases).to_owned();
        let help = format!(
            "its cases are the files in {cases}: `deepgraph test {cases}` plays them; `deepgraph check` looks at graphs"
        );
        ("this file is a graph, and not a case".to_owned(), help)
    })
}

fn sentence(reader: &mut Reader, node: &Node) -> Arc<str> {
    let text = reader.text(node, "`case`").unwrap_or_else(|| "?".into());
    if text.trim().is_empty() {
        reader.error(node.place, "`case` is a sentence that says what the case shows");
    }
    text
}

fn read_files(reader: &mut Reader, node: &Node) -> BTreeMap<String, String> {
    if !node.is_map() {
        reader.error(node.place, "`files` is a mapping from paths to texts");
    }
    let text = |(key, node): &(tree::Key, Node)| {
        Some((key.name.to_string(), reader.text(node, "a file's text")?.to_string()))
    };
    node.entries().iter().filter_map(text).collect()
}

/// The beginning of a day, UTC, in milliseconds.
fn date(reader: &mut Reader, node: &Node) -> Option<Millis> {
    let day = node.value.as_str().and_then(|text| text.parse::<jiff::civil::Date>().ok());
    let at = day.and_then(|day| jiff::tz::Offset::UTC.to_timestamp(day.at(0, 0, 0, 0)).ok());
    match at {
        Some(at) => Some(at.as_millisecond()),
        None => reader.wrong(node, "`date`", "a day such as 2026-03-01"),
    }
}

fn fallbacks(reader: &mut Reader, node: &Node) -> Vec<Arc<str>> {
    if !node.is_list() {
        reader.error(node.place, "`fallbacks` is a list of models, asked in turn after the configured one");
    }
    node.items().iter().filter_map(|item| reader.text(item, "a model")).collect()
}

fn windows(reader: &mut Reader, node: &Node) -> BTreeMap<Arc<str>, u64> {
    if !node.is_map() {
        reader.error(node.place, "`windows` is a mapping from models to tokens");
    }
    let window = |(key, node): &(tree::Key, Node)| Some((key.name.clone(), reader.whole(node, "a window")?));
    node.entries().iter().filter_map(window).collect()
}

fn order(reader: &mut Reader, node: &Node) -> Option<Vec<(StepPattern, usize)>> {
    if !node.is_list() {
        return reader.wrong(node, "`order`", "a list of steps");
    }
    let mut order = Vec::new();
    for (i, item) in node.items().iter().enumerate() {
        let Some(name) = reader.text(item, "a step") else { continue };
        let pattern = step_pattern(reader, &tree::Key { name, place: item.place });
        let number = reader.scripted.len();
        reader.scripted.push((format!("order[{}]", i + 1), item.place));
        order.push((pattern, number));
    }
    Some(order)
}

fn cancel(reader: &mut Reader, node: &Node) -> Option<CancelAt> {
    let mut at = None;
    for (key, value) in reader.entries(node, "`cancel`", &words::CANCEL) {
        let found = match &*key.name {
            "during" => reader.text(value, "`during`").map(|step| CancelAt::Sent(StepId::new(step))),
            "after" => reader.text(value, "`after`").map(|step| CancelAt::Over(StepId::new(step))),
            _ => reader.duration(value, "`at`").map(CancelAt::Time),
        };
        if at.is_some() {
            reader.error(key.place, "a run is cancelled once: keep one of `during`, `after`, `at`");
        }
        at = at.or(found);
    }
    if node.is_map() && node.entries().is_empty() {
        let help = hint("", words::CANCEL);
        reader.sink.error_with_help(node.place, "`cancel` says when", help);
    }
    at
}
