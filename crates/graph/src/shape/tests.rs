use super::*;
use crate::testing::clean;

#[test]
fn edges_say_what_they_come_from() {
    let bundle = clean(
        "deepgraph: 1\nstate: {q: string, m: messages}\ninput: [q]\ntools: {t: {next: {exit: completed}}}\n\
         limits: {l: {count: turns, max: 2, to: c}}\nfinally: d\nstart: a\nnodes:\n  \
         a: {model: x, messages: m, tools: [t], next: [{if: q, to: b}, {exit: refusal}], on_error: next}\n  \
         b: {run_tools: a, next: a}\n  c: {update: {q: q}}\n  d: {update: {q: q}, on_error: {update: {q: q}}}\n",
    );
    let shape = Shape::of(bundle.root());
    let mut out: Vec<String> = Vec::new();
    for ix in 0..4 {
        for (edge, spot) in shape.out(&Spot::Node(NodeIx(ix))) {
            let condition = edge.condition.as_deref().unwrap_or("");
            out.push(format!("{ix} {:?} {condition} {spot:?}", edge.cause));
        }
    }
    out.sort();
    let wanted = [
        "0 Error  Exit(\"refusal\")",
        "0 Error q Node(NodeIx(1))",
        "0 Limit(0)  Node(NodeIx(2))",
        "0 Next  Exit(\"refusal\")",
        "0 Next q Node(NodeIx(1))",
        "1 Next  Node(NodeIx(0))",
        "1 Tool(ToolIx(0))  Exit(\"completed\")",
        "2 Next  End",
        "3 Error  End",
        "3 Next  End",
    ];
    assert_eq!(out, wanted);
    assert_eq!(shape.reached(&Spot::Start), [NodeIx(0), NodeIx(1), NodeIx(2)]);
    assert_eq!(shape.reached(&Spot::Finally), [NodeIx(3)]);
}
