//! Ops of one's own: what graphs see of one and what it does, declared together.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use deepgraph_graph::build::{self, Signature};
use deepgraph_graph::{Diagnostics, OpTable, Type};
use deepgraph_protocol::{ErrorKind, Fee, Map, StepError, Value};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::call::CallContext;
use crate::ops::{Op, Ops};

/// An op of one's own: its signature and its work.
///
/// ```
/// use deepgraph_graph::build::Type;
/// use deepgraph_protocol::{ErrorKind, Map, StepError, Value};
/// use deepgraph_runtime::CustomOp;
///
/// let weather = CustomOp::new("weather")
///     .description("The weather in a city now.")
///     .reads()
///     .input("city", Type::string())
///     .result("celsius", Type::number())
///     .run(|input: Map| async move {
///         match input["city"].as_str() {
///             Some("Oslo") => Ok(Value::record([("celsius", Value::from(-3.5))])),
///             _ => Err(StepError::new(ErrorKind::NotFound, "there is no station in this city")),
///         }
///     });
/// assert_eq!(weather.name(), "weather");
/// ```
#[derive(Clone)]
pub struct CustomOp {
    signature: Signature,
    takes_key: bool,
    fee: Fee,
    work: Work,
}

/// What an op takes and gives, before its work is said.
#[derive(Clone, Debug)]
pub struct OpDeclaration {
    signature: Signature,
    takes_key: bool,
    fee: Fee,
}

type Pending = Pin<Box<dyn Future<Output = Result<Value, StepError>> + Send>>;
type Work = Arc<dyn Fn(Map, CallContext) -> Pending + Send + Sync>;

impl CustomOp {
    /// Begins to declare an op. It changes something outside until [`OpDeclaration::reads`] is said.
    // The declaration becomes an op when its work is said.
    #[allow(clippy::new_ret_no_self)]
    pub fn new(name: impl Into<String>) -> OpDeclaration {
        OpDeclaration { signature: Signature::new(name), takes_key: false, fee: Fee::NONE }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.signature.name()
    }

    /// Adds the op to what graphs are checked against and to what runs can call.
    ///
    /// # Errors
    ///
    /// The types of its signature have mistakes; nothing is added then.
    pub fn add_to(&self, table: &mut OpTable, ops: &mut Ops) -> Result<(), Diagnostics> {
        let with = table.clone().with_op(&self.signature)?;
        if let Some(declared) = with.get(self.name()) {
            let (declared, work) = (declared.clone(), self.work.clone());
            let checked = Checked { declared, takes_key: self.takes_key, fee: self.fee, work };
            ops.add(self.name(), Arc::new(checked));
        }
        *table = with;
        Ok(())
    }
}

impl fmt::Debug for CustomOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CustomOp").field(&self.signature).finish()
    }
}

impl OpDeclaration {
    /// What it does, for models.
    pub fn description(self, text: impl Into<String>) -> OpDeclaration {
        OpDeclaration { signature: self.signature.description(text), ..self }
    }

    /// It changes nothing outside.
    pub fn reads(self) -> OpDeclaration {
        OpDeclaration { signature: self.signature.reads(), ..self }
    }

    /// It changes something outside.
    pub fn writes(self) -> OpDeclaration {
        OpDeclaration { signature: self.signature.writes(), ..self }
    }

    /// Calls are made under their idempotency key ([`CallContext::idempotency_key`], which work given by
    /// [`OpDeclaration::run_with`] hands to its service), and the service does nothing twice that comes under the same
    /// key. A call that writes and whose outcome was lost is then made again under its key; else it never is.
    pub fn takes_key(self) -> OpDeclaration {
        OpDeclaration { takes_key: true, ..self }
    }

    /// What a call costs outside at most; `unknown` where that is not known. It is reserved before the call is made, so that
    /// limits on money are hard. What it did cost is told by [`CallContext::charge`], which work given by
    /// [`OpDeclaration::run_with`] calls.
    pub fn costs(self, fee: Fee) -> OpDeclaration {
        OpDeclaration { fee, ..self }
    }

    /// An input, by name. Types are the built-in ones and records written out.
    pub fn input(self, name: impl Into<String>, field: impl Into<build::Field>) -> OpDeclaration {
        OpDeclaration { signature: self.signature.input(name, field), ..self }
    }

    /// A field of the result. There is always one called `text`, which is the result as JSON where the work does not
    /// give it: what a model is told that calls the op as a tool.
    pub fn result(self, name: impl Into<String>, field: impl Into<build::Field>) -> OpDeclaration {
        OpDeclaration { signature: self.signature.result(name, field), ..self }
    }

    /// What it does: from its input, as a [`Map`] or any type that serde reads from one, to its result, as a
    /// [`Value`], a text (the field `text`) or any type that serde writes as a record. Dropping the future gives the
    /// call up.
    ///
    /// The input was checked against the signature and has its defaults; optional fields that were not given are not
    /// there. A result that does not fit the signature is a failure of the kind `invalid_output`.
    pub fn run<I, O, F, W>(self, work: W) -> CustomOp
    where
        I: DeserializeOwned,
        O: Serialize,
        F: Future<Output = Result<O, StepError>> + Send + 'static,
        W: Fn(I) -> F + Send + Sync + 'static,
    {
        self.run_with(move |input, _| work(input))
    }

    /// What it does, as in [`OpDeclaration::run`], from its input and what is known of the call: its step and its
    /// idempotency key.
    pub fn run_with<I, O, F, W>(self, work: W) -> CustomOp
    where
        I: DeserializeOwned,
        O: Serialize,
        F: Future<Output = Result<O, StepError>> + Send + 'static,
        W: Fn(I, CallContext) -> F + Send + Sync + 'static,
    {
        let work = move |input: Map, context: CallContext| -> Pending {
            match Value::from(input).to::<I>() {
                Ok(input) => {
                    let pending = work(input, context);
                    Box::pin(async move { pending.await.map(|result| Value::of(&result)) })
                }
                Err(why) => {
                    let error =
                        StepError::new(ErrorKind::InvalidInput, format!("its input can not be read: {why}"));
                    Box::pin(std::future::ready(Err(error)))
                }
            }
        };
        CustomOp { signature: self.signature, takes_key: self.takes_key, fee: self.fee, work: Arc::new(work) }
    }
}

/// The op as a run calls it: nothing passes that its signature does not say.
struct Checked {
    declared: deepgraph_graph::Op,
    takes_key: bool,
    fee: Fee,
    work: Work,
}

#[async_trait]
impl Op for Checked {
    fn takes_key(&self) -> bool {
        self.takes_key
    }

    fn fee(&self, _: &Map) -> Option<Fee> {
        Some(self.fee).filter(|fee| !fee.is_none())
    }

    async fn call(&self, input: Map, context: &CallContext) -> Result<Value, StepError> {
        let name = &self.declared.name;
        let input = self.declared.check_input(&input).map_err(|why| {
            StepError::new(
                ErrorKind::InvalidInput,
                format!("the input of the op `{name}` does not fit: {why}"),
            )
        })?;
        let result = with_text((self.work)(input, context.clone()).await?);
        let wanted = deepgraph_graph::Field::of(Type::Record(self.declared.result.clone()));
        wanted.check(&result).map_err(|why| {
            let message = format!("the op `{name}` gave what its signature does not say: {why}");
            StepError::new(ErrorKind::InvalidOutput, message)
        })
    }
}

/// A result with its `text`.
fn with_text(result: Value) -> Value {
    match result {
        Value::Text(_) => Value::record([("text", result)]),
        Value::Map(fields) if !fields.contains_key("text") => {
            let text = Value::Map(fields.clone()).to_json_text();
            let mut fields = Map::clone(&fields);
            fields.insert("text".into(), Value::from(text));
            Value::from(fields)
        }
        other => other,
    }
}

#[cfg(test)]
mod tests;
