//! The shapes that the value of a key may have, as JSON Schema.

use deepgraph_protocol::{ExitClass, ExitReason, Meter, Value};

use super::build::{all_of, any_of, array, named, object_of, open_words, pattern, reference, with, words};
use crate::{OpTable, Reducer};

/// What stands at a key.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    /// The number 1.
    One,
    /// `true`.
    True,
    /// `true` or `false`.
    Boolean,
    /// Plain text.
    Text,
    /// Text with `{{ }}` and `{% %}`, or the name of a file that holds it.
    Template,
    /// A bare expression, or a fixed value.
    Expression,
    /// A bare expression that holds or not.
    Condition,
    /// Expressions by name.
    Expressions,
    /// Anything.
    Any,
    /// A mapping of anything.
    Mapping,
    /// A whole number of at least this.
    Whole(i64),
    /// A number from one bound to another, both included.
    Number(f64, f64),
    /// A number, or a length of time.
    Bound,
    /// A setting of text.
    TextSetting,
    /// A setting of a whole number of at least this.
    WholeSetting(i64),
    /// A setting of a number of at least 0.
    NumberSetting,
    /// A setting of a length of time.
    DurationSetting,
    /// A setting of a length of time, or `false`.
    CacheSetting,
    /// The bound of a limit.
    LimitSetting,
    /// Settings by name.
    Settings,
    /// A share, or a number of units.
    Reserve,
    /// One of these words.
    Words(&'static [&'static str]),
    /// One of these words, or `config.KEY`.
    WordsSetting(&'static [&'static str]),
    /// Some of these words.
    ListOf(&'static [&'static str]),
    /// The name of something that the file declares.
    Name,
    /// A list of such names.
    Names,
    /// A node, or a list of nodes.
    Targets,
    /// The name of an exit.
    Exit,
    /// The name of an exit, or that of the called graph.
    WayExit,
    /// Classes of exits by name.
    ExitClasses,
    /// A meter, or a list of tools and nodes.
    Counted,
    /// What a grant holds, by meter.
    Grant,
    /// A reducer.
    Reducer,
    /// A graph or an op.
    Callee,
    /// A list of fixed values.
    Options,
    /// What stands under a definition of its own.
    Of(&'static str),
    /// Things of a definition by name, written with `-` or not; nothing at all is no name.
    Labelled(&'static str),
    /// Things of a definition by name, as expressions read them.
    Named(&'static str),
    /// Things of a definition by the name of a channel.
    Channels,
    /// A list of programs' words.
    Command,
    /// Texts by name.
    Headers,
    /// This, or a mapping of the definition.
    Either(&'static Shape, &'static str),
}

/// What a name looks like that expressions read.
const NAME: &str = "^[A-Za-z_][A-Za-z0-9_]{0,63}$";
/// What the name of a node, tool, graph or exit looks like.
const LABEL: &str = "^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$";
/// A config key as a setting.
const CONFIG: &str = "^\\s*config\\.[A-Za-z_][A-Za-z0-9_]*\\s*$";
/// A length of time.
const DURATION: &str = "^\\s*([0-9.]+(ms|s|min|m|h|d|w))+\\s*$";

impl Shape {
    /// Its schema.
    pub fn schema(self) -> Value {
        match self {
            Shape::One => Value::record([("const", Value::Int(1))]),
            Shape::True => Value::record([("const", Value::Bool(true))]),
            Shape::Boolean => named("boolean"),
            Shape::Text | Shape::Template => named("string"),
            Shape::Expression | Shape::Any => Value::empty_map(),
            Shape::Condition => any_of([named("boolean"), no_template()]),
            Shape::Expressions | Shape::Mapping => named("object"),
            Shape::Whole(min) => whole(min),
            Shape::Number(min, max) => {
                with(named("number"), [("minimum", Value::from(min)), ("maximum", Value::from(max))])
            }
            Shape::Bound => any_of([named("number"), pattern(DURATION)]),
            Shape::TextSetting => no_template(),
            Shape::WholeSetting(min) => any_of([whole(min), pattern(CONFIG)]),
            Shape::NumberSetting => any_of([number(), pattern(CONFIG)]),
            Shape::DurationSetting => any_of([number(), pattern(DURATION), pattern(CONFIG)]),
            Shape::CacheSetting => {
                any_of([Value::record([("const", Value::Bool(false))]), Shape::DurationSetting.schema()])
            }
            Shape::LimitSetting => any_of([number(), pattern(DURATION), pattern(CONFIG), named("null")]),
            Shape::Settings => named("object"),
            Shape::Reserve => any_of([number(), pattern(DURATION)]),
            Shape::Words(list) => words(list.iter().copied()),
            Shape::WordsSetting(list) => any_of([words(list.iter().copied()), pattern(CONFIG)]),
            Shape::ListOf(list) => array(words(list.iter().copied()), 0),
            Shape::Name => with(named("string"), [("minLength", Value::Int(1))]),
            Shape::Names => array(named("string"), 0),
            Shape::Targets => any_of([Shape::Name.schema(), array(Shape::Name.schema(), 1)]),
            Shape::Exit => open_words(exits()),
            Shape::WayExit => open_words(exits().chain(["inherit"])),
            Shape::ExitClasses => {
                object_of(LABEL, words(ExitClass::DECLARABLE.iter().map(|(name, _)| *name)), true)
            }
            Shape::Counted => any_of([words(meters()), array(Shape::Name.schema(), 1)]),
            Shape::Grant => with(named("object"), [("propertyNames", words(meters()))]),
            Shape::Reducer => words(Reducer::ALL.iter().map(|(name, _)| *name)),
            Shape::Callee => open_words(OpTable::stock().names()),
            Shape::Options => array(any_of(["string", "number", "boolean"].map(named)), 1),
            Shape::Of(definition) => reference(definition),
            Shape::Labelled(definition) => object_of(LABEL, reference(definition), true),
            Shape::Named(definition) => object_of(NAME, reference(definition), true),
            Shape::Channels => {
                let free = Value::record([("not", words(crate::vocabulary::ROOTS))]);
                let names = all_of([pattern(NAME), free]);
                with(object_of(NAME, reference("channel"), true), [("propertyNames", names)])
            }
            Shape::Command => array(named("string"), 1),
            Shape::Headers => with(named("object"), [("additionalProperties", named("string"))]),
            Shape::Either(other, definition) => any_of([other.schema(), reference(definition)]),
        }
    }
}

/// The bound of a limit that counts whole things.
pub(super) fn whole_bound(min: i64) -> Value {
    any_of([whole(min), pattern(CONFIG), named("null")])
}

/// The bound of a limit on time.
pub(super) fn time_bound() -> Value {
    any_of([number(), pattern(DURATION), pattern(CONFIG), named("null")])
}

/// The bound of a limit on money.
pub(super) fn money_bound() -> Value {
    any_of([number(), pattern(CONFIG), named("null")])
}

fn meters() -> impl Iterator<Item = &'static str> {
    Meter::ALL.iter().map(|(name, _)| *name)
}

fn exits() -> impl Iterator<Item = &'static str> {
    ExitReason::BUILT_IN.iter().map(|(name, _)| *name)
}

fn whole(min: i64) -> Value {
    with(named("integer"), [("minimum", Value::Int(min))])
}

fn number() -> Value {
    with(named("number"), [("minimum", Value::Int(0))])
}

/// Text that is no template.
fn no_template() -> Value {
    with(named("string"), [("not", Value::record([("pattern", Value::from("\\{\\{|\\{%"))]))])
}
