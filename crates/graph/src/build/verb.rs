//! What a node or a tool does, as a type: it decides which keys there are.

/// A node that calls a model.
#[derive(Clone, Copy, Debug)]
pub struct Model;

/// A node that calls a model and adds its replies to a conversation, so that it can offer tools.
#[derive(Clone, Copy, Debug)]
pub struct Talk;

/// A node that runs the tool calls of a model node.
#[derive(Clone, Copy, Debug)]
pub struct RunTools;

/// A node or tool that calls a graph or an op.
#[derive(Clone, Copy, Debug)]
pub struct Call;

/// A node or tool that asks a person.
#[derive(Clone, Copy, Debug)]
pub struct Ask;

/// A node or tool that calls nothing.
#[derive(Clone, Copy, Debug)]
pub struct Pass;

/// The verbs that call a model.
pub trait CallsModel: sealed::Sealed {}

impl CallsModel for Model {}
impl CallsModel for Talk {}

mod sealed {
    /// No verbs but those of the language.
    pub trait Sealed {}

    impl Sealed for super::Model {}
    impl Sealed for super::Talk {}
}
