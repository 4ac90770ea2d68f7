//! Expressions and templates: MiniJinja, fuel-limited, without clock or randomness.

#[cfg(test)]
mod tests;
mod value;

use std::fmt;
use std::sync::Arc;

use deepgraph_protocol::Value;
use minijinja::value::{Enumerator, Kwargs, Object, ObjectRepr, Value as Jinja};
use minijinja::{Environment, Expression};

pub use value::ValueExpr;

/// Instructions that one evaluation may use.
const FUEL: u64 = 5_000_000;

/// What an expression can read, looked up when it is read: nothing is copied beforehand.
pub trait Names: Send + Sync + fmt::Debug + 'static {
    /// The value of a name; none where the name is not known.
    fn lookup(&self, name: &str) -> Option<Value>;
}

/// Names that an expression or template may read and that cost something to make.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wants {
    /// `limits`.
    pub limits: bool,
    /// `run`.
    pub run: bool,
    /// `item`.
    pub item: bool,
}

impl Wants {
    /// What a text may read: a name that does not stand in it can not be read.
    fn of(source: &str) -> Wants {
        Wants {
            limits: source.contains("limits"),
            run: source.contains("run"),
            item: source.contains("item"),
        }
    }

    fn with(self, other: Wants) -> Wants {
        Wants {
            limits: self.limits || other.limits,
            run: self.run || other.run,
            item: self.item || other.item,
        }
    }
}

/// An expression. Compiled in the [`Programs`] of its bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expr {
    /// Place among the programs.
    pub(crate) index: usize,
    /// Its text.
    pub source: Arc<str>,
    /// Where it stands: `FILE:LINE:COLUMN`.
    pub place: Arc<str>,
    /// What it may read.
    pub wants: Wants,
}

/// A template that gives text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// Key in the programs.
    pub(crate) key: Arc<str>,
    /// Its text.
    pub source: Arc<str>,
    /// Where it stands: `FILE:LINE:COLUMN`, or the prompt file.
    pub place: Arc<str>,
    /// What it may read.
    pub wants: Wants,
}

/// An expression or template that could not be evaluated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: `{source_text}`: {message}")]
pub struct EvalError {
    /// Where it stands.
    pub place: Arc<str>,
    /// The expression, or the first line of the template.
    pub source_text: Arc<str>,
    /// What was wrong.
    pub message: String,
}

/// The compiled expressions and templates of a bundle.
pub struct Programs {
    compiled: Compiled,
    /// The texts of the expressions, by index.
    sources: Vec<Arc<str>>,
    /// How many templates there are: the next key.
    count: usize,
    /// What any of them may read.
    wants: Wants,
}

/// Compiled expressions borrow the environment that they are evaluated in.
type Expressions<'e> = Vec<Expression<'e, 'static>>;

self_cell::self_cell!(
    struct Compiled {
        owner: Environment<'static>,
        #[not_covariant]
        dependent: Expressions,
    }
);

/// The names that evaluations read. Made once for several of them.
#[derive(Clone, Debug)]
pub struct Context(Jinja);

impl Context {
    /// Of these names.
    pub fn of(names: impl Names) -> Context {
        Context(Jinja::from_object(Root(names)))
    }
}

impl fmt::Debug for Programs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Programs({} expressions, {} templates)", self.sources.len(), self.count)
    }
}

impl Default for Programs {
    fn default() -> Programs {
        Programs::new()
    }
}

impl Programs {
    /// No programs yet.
    pub fn new() -> Programs {
        let mut env = Environment::new();
        env.set_fuel(Some(FUEL));
        env.set_undefined_behavior(minijinja::UndefinedBehavior::Chainable);
        env.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
        env.set_formatter(|out, state, value| {
            use minijinja::value::ValueKind as Kind;
            match value.kind() {
                Kind::None | Kind::Undefined => Ok(()),
                // Data is shown as the files write it, not as Python would.
                Kind::Bool | Kind::Seq | Kind::Map | Kind::Iterable => {
                    let text = from_jinja(value)?.to_json_text();
                    minijinja::escape_formatter(out, state, &Jinja::from(text))
                }
                _ => minijinja::escape_formatter(out, state, value),
            }
        });
        // Prints the whole state.
        env.remove_global("debug");
        env.add_filter("tojson", to_json_text);
        env.add_test("none", |value: &Jinja| value.is_none() || value.is_undefined());
        Programs {
            compiled: Compiled::new(env, |_| Vec::new()),
            sources: Vec::new(),
            count: 0,
            wants: Wants::default(),
        }
    }

    /// The environment, to add to it. Expressions that were compiled in it are compiled again when all is added.
    fn open(&mut self) -> Environment<'static> {
        let closed = Compiled::new(Environment::empty(), |_| Vec::new());
        std::mem::replace(&mut self.compiled, closed).into_owner()
    }

    fn close(&mut self, env: Environment<'static>) {
        self.compiled = Compiled::new(env, |_| Vec::new());
    }

    /// Compiles all expressions, now that nothing is added any more: until then each is compiled when it is
    /// evaluated.
    pub(crate) fn finished(mut self) -> Programs {
        let sources = std::mem::take(&mut self.sources);
        let env = self.open();
        self.compiled = Compiled::new(env, |env| {
            // Each was compiled when it was added; what is lost here could not be evaluated either.
            sources.iter().map_while(|s| env.compile_expression_owned(s.to_string()).ok()).collect()
        });
        self.sources = sources;
        self
    }

    /// Compiles an expression.
    pub(crate) fn add_expr(&mut self, source: &str, place: &str) -> Result<Expr, minijinja::Error> {
        self.compiled.borrow_owner().compile_expression_owned(source.to_owned()).map(drop)?;
        let index = self.sources.len();
        self.sources.push(source.into());
        self.wants = self.wants.with(Wants::of(source));
        Ok(Expr { index, source: source.into(), place: place.into(), wants: Wants::of(source) })
    }

    /// Compiles a template.
    pub(crate) fn add_text(&mut self, source: &str, place: &str) -> Result<Text, minijinja::Error> {
        self.count += 1;
        let key: Arc<str> = format!("p{}", self.count).into();
        let mut env = self.open();
        let added = env.add_template_owned(key.to_string(), source.to_owned());
        self.close(env);
        added?;
        self.wants = self.wants.with(Wants::of(source));
        Ok(Text { key, source: source.into(), place: place.into(), wants: Wants::of(source) })
    }

    /// Whether any of them may read limits.
    pub fn read_limits(&self) -> bool {
        self.wants.limits
    }

    /// Whether this holds of the text of an expression, or that of the text of a template.
    pub(crate) fn any(&self, expr: impl Fn(&str) -> bool, text: impl Fn(&str) -> bool) -> bool {
        let mut texts = self.compiled.borrow_owner().templates();
        self.sources.iter().any(|source| expr(source)) || texts.any(|(_, template)| text(template.source()))
    }

    /// The value of an expression.
    pub fn eval(&self, expr: &Expr, names: &Context) -> Result<Value, EvalError> {
        let ready = self.compiled.with_dependent(|env, compiled| match compiled.get(expr.index) {
            Some(expression) => expression.eval(names.0.clone()),
            None => env.compile_expression_owned(expr.source.to_string())?.eval(names.0.clone()),
        });
        ready.and_then(|found| from_jinja(&found)).map_err(|e| eval_error(&expr.place, &expr.source, &e))
    }

    /// The text of a template.
    pub fn render(&self, text: &Text, names: &Context) -> Result<String, EvalError> {
        self.compiled
            .borrow_owner()
            .get_template(&text.key)
            .and_then(|t| t.render(names.0.clone()))
            .map_err(|e| eval_error(&text.place, &text.source, &e))
    }

    /// The value of a value with expressions.
    pub fn value(&self, value: &ValueExpr, names: &Context) -> Result<Value, EvalError> {
        match value {
            ValueExpr::Literal(fixed) => Ok(fixed.clone()),
            ValueExpr::Expr(expr) => self.eval(expr, names),
            ValueExpr::Text(text) => self.render(text, names).map(Value::from),
            ValueExpr::List(items) => items
                .iter()
                .map(|i| self.value(i, names))
                .collect::<Result<Vec<_>, EvalError>>()
                .map(Value::from),
            ValueExpr::Record(fields) => fields
                .iter()
                .map(|(name, v)| Ok((name.clone(), self.value(v, names)?)))
                .collect::<Result<Vec<_>, EvalError>>()
                .map(Value::record),
        }
    }
}

/// JSON as it is, without the escapes that HTML would need; lines and indentation with `indent`.
fn to_json_text(value: &Jinja, indent: Option<u32>, kwargs: Kwargs) -> Result<String, minijinja::Error> {
    let indent = indent.or(kwargs.get::<Option<u32>>("indent")?);
    kwargs.assert_all_used()?;
    let value = from_jinja(value)?;
    Ok(match indent {
        Some(_) => serde_json::to_string_pretty(&value).unwrap_or_default(),
        None => value.to_json_text(),
    })
}

fn eval_error(place: &Arc<str>, source: &Arc<str>, error: &minijinja::Error) -> EvalError {
    let first = source.lines().next().unwrap_or("");
    let message = match error.detail() {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    };
    EvalError { place: place.clone(), source_text: first.into(), message }
}

/// The top level names of an evaluation.
#[derive(Debug)]
struct Root<N: Names>(N);

impl<N: Names> Object for Root<N> {
    fn get_value(self: &Arc<Self>, key: &Jinja) -> Option<Jinja> {
        match key.as_str()? {
            "null" => Some(Jinja::UNDEFINED),
            name => self.0.lookup(name).map(|v| to_jinja(&v)),
        }
    }
}

/// A list of the state, read in place.
#[derive(Debug)]
struct Items(Arc<Vec<Value>>);

impl Object for Items {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }
    fn get_value(self: &Arc<Self>, key: &Jinja) -> Option<Jinja> {
        self.0.get(key.as_usize()?).map(to_jinja)
    }
    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.0.len())
    }
}

/// A record or map of the state, read in place.
#[derive(Debug)]
struct Fields(Arc<deepgraph_protocol::Map>);

impl Object for Fields {
    fn get_value(self: &Arc<Self>, key: &Jinja) -> Option<Jinja> {
        self.0.get(key.as_str()?).map(to_jinja)
    }
    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Values(self.0.keys().map(|k| Jinja::from(k.clone())).collect())
    }
}

fn to_jinja(value: &Value) -> Jinja {
    match value {
        // Undefined and not none: it is empty text where it is joined to a text, `default` replaces it, it has
        // fields (null again), and arithmetic on it is an error.
        Value::Null => Jinja::UNDEFINED,
        Value::Bool(b) => Jinja::from(*b),
        Value::Int(i) => Jinja::from(*i),
        Value::Float(f) => Jinja::from(*f),
        Value::Text(s) => Jinja::from(s.clone()),
        Value::List(items) => Jinja::from_object(Items(items.clone())),
        Value::Map(fields) => Jinja::from_object(Fields(fields.clone())),
    }
}

fn from_jinja(value: &Jinja) -> Result<Value, minijinja::Error> {
    if let Some(items) = value.downcast_object::<Items>() {
        return Ok(Value::List(items.0.clone()));
    }
    if let Some(fields) = value.downcast_object::<Fields>() {
        return Ok(Value::Map(fields.0.clone()));
    }
    use minijinja::value::ValueKind as Kind;
    Ok(match value.kind() {
        Kind::Undefined | Kind::None => Value::Null,
        Kind::Bool => Value::Bool(value.is_true()),
        Kind::Number => match value.as_i64() {
            Some(i) if value.is_integer() => Value::Int(i),
            _ => f64::try_from(value.clone()).map(Value::from)?,
        },
        Kind::String => Value::Text(value.to_str().unwrap_or_default()),
        Kind::Map => {
            let mut fields = deepgraph_protocol::Map::new();
            for key in value.try_iter()? {
                let item = value.get_item(&key)?;
                fields.insert(key.to_string().into(), from_jinja(&item)?);
            }
            Value::from(fields)
        }
        Kind::Seq | Kind::Iterable => {
            let mut items = Vec::new();
            for item in value.try_iter()? {
                items.push(from_jinja(&item)?);
            }
            Value::from(items)
        }
        other => {
            return Err(minijinja::Error::new(
                minijinja::ErrorKind::BadSerialization,
                format!("gives a {other}, which is no data"),
            ));
        }
    })
}
