//! Reducers: their names, the types that they join, what a channel reads as before anything is written.

use deepgraph_protocol::Value;

use crate::{Field, Reducer, Type};

impl Reducer {
    /// All reducers, with their names in a graph file.
    pub const ALL: [(&'static str, Reducer); 7] = [
        ("replace", Reducer::Replace),
        ("append", Reducer::Append),
        ("merge", Reducer::Merge),
        ("messages", Reducer::Messages),
        ("sum", Reducer::Sum),
        ("max", Reducer::Max),
        ("union", Reducer::Union),
    ];

    /// The reducer of a name.
    pub fn parse(name: &str) -> Option<Reducer> {
        Reducer::ALL.iter().find(|(n, _)| *n == name).map(|(_, r)| *r)
    }

    /// The name in a graph file.
    pub fn name(self) -> &'static str {
        Reducer::ALL.iter().find(|(_, r)| *r == self).map_or("", |(n, _)| n)
    }

    /// What a channel reads as before anything is written: its default, else `[]` for lists, `{}` for maps, 0
    /// for sums, null for everything else.
    pub fn initial(self, field: &Field) -> Value {
        match (&field.default, &field.ty, self) {
            (Some(default), ..) => default.clone(),
            (None, Type::List(_), _) => Value::empty_list(),
            (None, Type::Map(_), _) => Value::empty_map(),
            (None, _, Reducer::Sum) => Value::Int(0),
            (None, ..) => Value::Null,
        }
    }

    /// The types that it joins, as a sentence says it; none where it joins this one.
    pub(crate) fn misfit(self, ty: &Type) -> Option<&'static str> {
        let number = matches!(ty, Type::Integer | Type::Number | Type::Duration);
        let any = *ty == Type::Any;
        match self {
            Reducer::Replace => None,
            Reducer::Append | Reducer::Union => {
                (!any && !matches!(ty, Type::List(_))).then_some("a list type, [T]")
            }
            Reducer::Merge => {
                (!any && !matches!(ty, Type::Map(_) | Type::Record(_))).then_some("a map type, {string: T}")
            }
            Reducer::Messages => (!is_messages(ty)).then_some("the type messages"),
            Reducer::Sum | Reducer::Max => (!any && !number).then_some("a number"),
        }
    }
}

/// Whether a type is a list of messages.
pub(crate) fn is_messages(ty: &Type) -> bool {
    matches!(ty, Type::List(item) if matches!(&**item, Type::Record(record) if record.is_message()))
}
