//! Expressions, templates and values with expressions in them.

use std::collections::BTreeSet;
use std::sync::Arc;

use minijinja::machinery;

use deepgraph_protocol::Value;

use super::Reader;
use super::fields::boolean_help;
use crate::diagnostic::code;
use crate::files;
use crate::infer::{Origin, Scope, Walker, fits, too_complex, unknown};
use crate::nearest::shortened;
use crate::source::{FileText, Key, Kind, Node, Place, Scalar, Style};
use crate::{Channel, Expr, Field, RecordType, Reducer, Text, Type, ValueExpr, Write};

/// A template with the channels that it reads.
pub(crate) struct ReadText {
    pub text: Text,
    pub reads: BTreeSet<Arc<str>>,
}

/// A value with what it gives.
pub(crate) struct ReadValue {
    pub value: ValueExpr,
    pub gives: Field,
    pub place: Place,
}

impl Reader<'_> {
    /// A bare expression, or a fixed value.
    pub(crate) fn value(&mut self, node: &Node, scope: &Scope<'_>) -> Option<ReadValue> {
        let done = |value, gives| Some(ReadValue { value, gives, place: node.place });
        match &node.kind {
            Kind::Null => done(ValueExpr::Literal(Value::Null), unknown()),
            Kind::Bool(b) => done(ValueExpr::Literal(Value::Bool(*b)), Field::of(Type::Boolean)),
            Kind::Int(i) => done(ValueExpr::Literal(Value::Int(*i)), Field::of(Type::Integer)),
            Kind::Float(f) => done(ValueExpr::Literal(Value::from(*f)), Field::of(Type::Number)),
            Kind::Text(scalar) if is_template(&scalar.text) => {
                let file = self.file.clone();
                let origin = Origin::Scalar(&file, scalar, node.place);
                let read = self.template(&scalar.text, origin, node.place, scope)?;
                done(ValueExpr::Text(read.text), Field::of(Type::String))
            }
            Kind::Text(scalar) => {
                let (expr, gives) = self.expression(scalar, node, scope)?;
                done(ValueExpr::Expr(expr), gives)
            }
            Kind::List(items) => self.list_value(items, node, scope),
            Kind::Map(entries) => self.record_value(entries, node, scope),
        }
    }

    fn list_value(&mut self, items: &[Node], node: &Node, scope: &Scope<'_>) -> Option<ReadValue> {
        let read: Vec<Option<ReadValue>> = items.iter().map(|i| self.value(i, scope)).collect();
        let read: Vec<ReadValue> = read.into_iter().collect::<Option<_>>()?;
        let same = read.first().filter(|f| read.iter().all(|r| r.gives.ty == f.gives.ty));
        let item = same.map_or(Type::Any, |f| f.gives.ty.clone());
        let value = if read.is_empty() {
            ValueExpr::Literal(Value::empty_list())
        } else {
            ValueExpr::List(read.into_iter().map(|r| r.value).collect())
        };
        Some(ReadValue { value, gives: Field::of(Type::List(Box::new(item))), place: node.place })
    }

    fn record_value(&mut self, entries: &[(Key, Node)], node: &Node, scope: &Scope<'_>) -> Option<ReadValue> {
        let read: Vec<(Arc<str>, Option<ReadValue>)> =
            entries.iter().map(|(k, v)| (k.name.clone(), self.value(v, scope))).collect();
        let mut parts = Vec::new();
        let mut fields = Vec::new();
        for (name, read) in read {
            let read = read?;
            fields.push((name.clone(), read.gives));
            parts.push((name, read.value));
        }
        let (value, ty) = if parts.is_empty() {
            (ValueExpr::Literal(Value::empty_map()), Type::Map(Box::new(Type::Any)))
        } else {
            let record = RecordType { name: None, fields, open: false };
            (ValueExpr::Record(parts), Type::Record(Arc::new(record)))
        };
        Some(ReadValue { value, gives: Field::of(ty), place: node.place })
    }

    /// A condition: a bare expression or `true` or `false`.
    pub(crate) fn condition(&mut self, node: &Node, scope: &Scope<'_>, what: &str) -> Option<ValueExpr> {
        match &node.kind {
            Kind::Bool(b) => Some(ValueExpr::Literal(Value::Bool(*b))),
            Kind::Text(scalar) if is_template(&scalar.text) => {
                let message =
                    format!("{what} is a bare expression, no template, whose text would always hold");
                self.error(code::TEMPLATE, node.place, message).help("leave out `{{` and `}}`");
                None
            }
            Kind::Text(scalar) => match boolean_help(node, &Type::Boolean) {
                Some(help) if scalar.style == Style::Plain => {
                    self.error(code::NOT_BOOLEAN, node.place, format!("{what} must be an expression"))
                        .help(help);
                    None
                }
                _ => self.expression(scalar, node, scope).map(|(expr, _)| ValueExpr::Expr(expr)),
            },
            _ => {
                let message = format!("{what} must be an expression, is {}", node.kind_name());
                self.error(code::WRONG_KIND, node.place, message);
                None
            }
        }
    }

    fn expression(&mut self, scalar: &Scalar, node: &Node, scope: &Scope<'_>) -> Option<(Expr, Field)> {
        let source = scalar.text.trim();
        let skipped = scalar.text.len() - scalar.text.trim_start().len();
        if source.is_empty() {
            self.error(code::EXPRESSION, node.place, "an empty expression")
                .help("empty text is written \"''\"");
            return None;
        }
        if let Some(why) = too_complex(source, true) {
            self.error(code::TOO_LARGE, node.place, format!("this expression is too complex: {why}"));
            return None;
        }
        let inner = Scalar { text: scalar.text.clone(), style: scalar.style };
        let file = self.file.clone();
        let place_of = |offset: usize| file.place_in(&inner, node.place, offset + skipped);
        let ast = match machinery::parse_expr(source) {
            Ok(ast) => ast,
            Err(e) => {
                let at = place_of(e.range().map_or(0, |r| r.start));
                self.syntax_error(&e, at, source);
                return None;
            }
        };
        let trimmed = Scalar { text: source.into(), style: scalar.style };
        let start = place_of(0);
        // A trimmed text stands where it begins; its style no longer tells about quotes.
        let origin = match skipped {
            0 => Origin::Scalar(&file, scalar, node.place),
            _ => Origin::Scalar(&file, &trimmed, start),
        };
        let before = self.out.len();
        let mut gives = Walker::new(scope, &mut self.out, origin).expr(&ast);
        if self.out.len() > before {
            // A mistake in it makes no second one of what it gives.
            gives = unknown();
        }
        let place = self.place_text(node.place);
        match self.programs.add_expr(source, &place) {
            Ok(expr) => Some((expr, gives)),
            Err(e) => {
                self.syntax_error(&e, node.place, source);
                None
            }
        }
    }

    fn syntax_error(&mut self, error: &minijinja::Error, at: Place, source: &str) {
        let detail = error.detail().unwrap_or("it can not be read");
        let message = format!("this expression can not be read: {detail}");
        let quoted = !source.contains(['\'', '"', '{', '\n']);
        let help = quoted.then(|| format!("a fixed text is written \"'{}'\"", shortened(source)));
        self.error(code::EXPRESSION, at, message).hint(help);
    }

    /// A text key: a template, or the name of a file that holds one.
    pub(crate) fn text(&mut self, node: &Node, scope: &Scope<'_>, what: &str) -> Option<ReadText> {
        let Kind::Text(scalar) = &node.kind else {
            let message = format!("{what} must be text, is {}", node.kind_name());
            let help = matches!(node.kind, Kind::Map(_) | Kind::Bool(_) | Kind::Int(_) | Kind::Float(_))
                .then_some("put it in quotes")
                .map(str::to_owned);
            self.error(code::WRONG_KIND, node.place, message).hint(help);
            return None;
        };
        if is_file_name(&scalar.text) {
            let file = self.prompt_file(&scalar.text, node.place)?;
            let text = file.whole().clone();
            return self.template(&text, Origin::File(&file), Place { line: 1, column: 1 }, scope);
        }
        let file = self.file.clone();
        self.template(&scalar.text, Origin::Scalar(&file, scalar, node.place), node.place, scope)
    }

    /// A template that stands where it is written, and never in a file.
    pub(crate) fn inline_text(&mut self, node: &Node, scope: &Scope<'_>, what: &str) -> Option<ReadText> {
        let Kind::Text(scalar) = &node.kind else {
            let message = format!("{what} must be text, is {}", node.kind_name());
            self.error(code::WRONG_KIND, node.place, message).help("put it in quotes");
            return None;
        };
        let file = self.file.clone();
        self.template(&scalar.text, Origin::Scalar(&file, scalar, node.place), node.place, scope)
    }

    fn template(
        &mut self,
        source: &str,
        origin: Origin<'_>,
        at: Place,
        scope: &Scope<'_>,
    ) -> Option<ReadText> {
        if let Some(why) = too_complex(source, false) {
            self.out.error(
                code::TOO_LARGE,
                origin.file(),
                at,
                format!("this template is too complex: {why}"),
            );
            return None;
        }
        let name = format!("{}:{at}", origin.file().name);
        let failed = |out: &mut crate::diagnostic::Sink, e: &minijinja::Error| {
            let place = e.range().map_or(at, |r| origin.place(r.start));
            let detail = e.detail().unwrap_or("it can not be read");
            out.error(
                code::EXPRESSION,
                origin.file(),
                place,
                format!("this template can not be read: {detail}"),
            );
        };
        let ast = match machinery::parse(source, "template", Default::default()) {
            Ok(ast) => ast,
            Err(e) => {
                failed(&mut self.out, &e);
                return None;
            }
        };
        let mut walker = Walker::new(scope, &mut self.out, origin);
        walker.template(&ast);
        let reads = std::mem::take(&mut walker.reads);
        match self.programs.add_text(source, &name) {
            Ok(text) => Some(ReadText { text, reads }),
            Err(e) => {
                failed(&mut self.out, &e);
                None
            }
        }
    }

    /// A file beside the graph file, or in a folder of its folder.
    fn prompt_file(&mut self, path: &str, at: Place) -> Option<FileText> {
        let path = match files::resolve(&self.folder, path) {
            Ok(path) => path,
            Err(why) => {
                self.error(code::BAD_PATH, at, why).help(files::INSIDE);
                return None;
            }
        };
        if let Some(text) = self.texts.get(&path) {
            return Some(files::shown(self.entry, &path, text));
        }
        match self.files.read(&path) {
            Ok(text) => {
                let file = files::shown(self.entry, &path, &text);
                self.texts.insert(path, text);
                Some(file)
            }
            Err(why) => {
                self.error(code::NO_FILE, at, format!("the file {path} can not be read: {why}"))
                    .help("one word that ends in .md names a file beside the graph file");
                None
            }
        }
    }

    /// What is written: channels and their values.
    pub(crate) fn writes(&mut self, node: &Node, scope: &Scope<'_>) -> Vec<Write> {
        let Some(update) = node.get("update") else { return Vec::new() };
        if !self.mapping(update, "`update`") {
            return Vec::new();
        }
        let own = scope.home.own;
        let mut writes = Vec::new();
        for (key, value) in update.entries() {
            let read = self.value(value, scope);
            let Some((ix, channel)) = self.channel_named(own, &key.name, key.place) else { continue };
            if scope.per_item {
                self.check_written_per_item(key, channel);
            }
            let Some(read) = read else { continue };
            if let Err(why) = accepts(channel, &read) {
                let message =
                    format!("the channel \"{}\" takes {}, and this {why}", key.name, taken(channel));
                self.error(code::MISMATCH, read.place, message);
            }
            writes.push(Write { channel: ix, value: read.value });
        }
        writes
    }
}

/// Whether a channel can take what a value gives; else what that is.
fn accepts(channel: &Channel, read: &ReadValue) -> Result<(), String> {
    if let ValueExpr::Literal(value) = &read.value {
        return literal_fits(channel, value);
    }
    let whole = fits::field_fits(&read.gives, &channel.field);
    match (channel.reducer, &channel.field.ty) {
        // One item may be added as well as a list of them.
        (Reducer::Append | Reducer::Union | Reducer::Messages, Type::List(item)) => {
            let one = matches!(read.gives.ty, Type::List(_));
            if one { whole } else { fits::type_fits(&read.gives.ty, item) }
        }
        // A part of the map.
        (Reducer::Merge, _) if matches!(channel.field.ty, Type::Record(_)) => Ok(()),
        _ => whole,
    }
}

fn literal_fits(channel: &Channel, value: &Value) -> Result<(), String> {
    let item = match (&channel.reducer, &channel.field.ty) {
        (Reducer::Append | Reducer::Union | Reducer::Messages, Type::List(item)) => {
            Some(Field::of((**item).clone()))
        }
        _ => None,
    };
    if value.is_null() && (channel.field.optional || channel.reducer != Reducer::Replace) {
        return Ok(());
    }
    let one = item.is_some_and(|item| item.check(value).is_ok());
    if one || channel.field.check(value).is_ok() { Ok(()) } else { Err(format!("is {value}")) }
}

/// What a channel takes, as a sentence says it.
fn taken(channel: &Channel) -> String {
    match channel.reducer {
        Reducer::Messages => "messages".to_owned(),
        _ if channel.field.options.is_empty() => channel.field.ty.to_string(),
        _ => channel.field.phrase(),
    }
}

fn is_template(text: &str) -> bool {
    text.contains("{{") || text.contains("{%")
}

/// One word ending in `.md`.
fn is_file_name(text: &str) -> bool {
    text.ends_with(".md") && text.len() > 3 && !text.contains(char::is_whitespace) && !is_template(text)
}
