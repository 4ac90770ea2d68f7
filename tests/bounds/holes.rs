//! temp
use super::*;

fn go(name: &str, text: &str) {
    let files = BTreeMap::from([("graph.yaml".to_owned(), text.to_owned())]);
    let loaded = match load("graph.yaml", &files, &OpTable::stock()) {
        Ok(l) => l,
        Err(e) => {
            println!("HOLE {name}: refused by check: {e}");
            return;
        }
    };
    let bundle = Arc::new(loaded.bundle);
    let config = bundle.config_of(BTreeMap::new()).unwrap();
    let bounds = deepgraph_graph::bounds(&bundle, &config);
    for manner in [Manner::Greedy, Manner::Wild] {
        let mut world = RandomWorld::new(0, manner);
        let input = Map::from([("q".into(), Value::from("a"))]);
        let run = Sim::in_world(&bundle, &mut world).seed(0).stop_at(MOST_ENTRIES).run(input, config.clone());
        let counted = Counted::of(&bundle, &run, &world);
        println!(
            "HOLE {name} {manner:?}: ended {:?}, entries {}, model calls {}, starts {}, super-steps {}; bound model {}, starts {}; exceeded {:?}",
            run.end.as_ref().map(|e| e.exit.reason.clone()),
            run.rows.len(),
            counted.in_all(Measure::ModelCalls),
            counted.in_all(Measure::Starts),
            counted.in_all(Measure::SuperSteps),
            bounds.run.in_all[&Measure::ModelCalls].bound,
            bounds.run.in_all[&Measure::Starts].bound,
            counted.exceed(&bounds)
        );
    }
}

#[test]
fn holes() {
    let t = std::thread::Builder::new().stack_size(STACK).spawn(all).unwrap();
    t.join().unwrap();
}
fn all() {
    let head = "deepgraph: 1\nstate: {q: string, s: {type: [string], reduce: append}, list: {type: [string], default: [a, b, c, d, e]}, m: messages}\ninput: [q]\n";
    go(
        "a each+parallel+model_calls",
        &format!(
            "{head}start: a\nlimits: {{l: {{count: model_calls, max: 2, exit: step_limit}}}}\nnodes:\n  a: {{model: x, prompt: \"{{{{ item }}}}\", each: list, max_items: 5, parallel: 1, on_error: next, update: {{s: result.text}}}}\n"
        ),
    );
    go(
        "a2 each+parallel+steps",
        &format!(
            "{head}start: a\nlimits: {{l: {{count: steps, max: 2, exit: step_limit}}}}\nnodes:\n  a: {{model: x, prompt: \"{{{{ item }}}}\", each: list, max_items: 5, parallel: 1, on_error: next, update: {{s: result.text}}}}\n"
        ),
    );
    go(
        "a3 each+parallel+model_calls own",
        &format!(
            "{head}start: a\nlimits: {{l: {{count: model_calls, max: 2, exit: step_limit, scope: own}}}}\nnodes:\n  a: {{model: x, prompt: \"{{{{ item }}}}\", each: list, max_items: 5, parallel: 1, on_error: next, update: {{s: result.text}}}}\n"
        ),
    );
    go(
        "b depth exit, finally calls itself",
        &format!(
            "{head}start: go\nnodes:\n  go: {{call: level, input: {{q: q}}}}\ngraphs:\n  level:\n    state: {{q: string, s: {{type: [string], reduce: append}}}}\n    input: [q]\n    limits: {{depth: {{count: depth, max: 2, exit: step_limit}}}}\n    start: w\n    finally: f\n    nodes:\n      w: {{update: {{s: q}}}}\n      f: {{call: level, input: {{q: q}}}}\n"
        ),
    );
    go(
        "b2 depth to a call of itself",
        &format!(
            "{head}start: go\nnodes:\n  go: {{call: level, input: {{q: q}}}}\ngraphs:\n  level:\n    state: {{q: string, s: {{type: [string], reduce: append}}}}\n    input: [q]\n    limits: {{depth: {{count: depth, max: 2, to: f}}}}\n    start: w\n    nodes:\n      w: {{update: {{s: q}}}}\n      f: {{call: level, input: {{q: q}}}}\n"
        ),
    );
    go(
        "c finally refused loop",
        &format!(
            "{head}start: a\nfinally: n\nlimits: {{l: {{count: [n], max: 3, exit: step_limit}}}}\nnodes:\n  a: {{update: {{s: q}}}}\n  n: {{model: x, prompt: \"{{{{ q }}}}\", on_error: m, next: m}}\n  m: {{model: x, prompt: \"{{{{ q }}}}\", next: n}}\n"
        ),
    );
    go(
        "c2 finally refused loop by turns",
        &format!(
            "{head}start: a\nfinally: n\ntools: {{t: {{call: think}}}}\nlimits: {{l: {{count: turns, max: 3, exit: step_limit}}}}\nnodes:\n  a: {{update: {{s: q}}}}\n  n: {{model: x, messages: m, tools: [t], on_error: k, next: r}}\n  r: {{run_tools: n, next: n}}\n  k: {{model: x, prompt: \"{{{{ q }}}}\", next: n}}\n"
        ),
    );
    go(
        "d paid_turns not through run_tools",
        &format!(
            "{head}start: a\ntools: {{t: {{call: think}}}}\nlimits: {{l: {{count: paid_turns, max: 3, exit: step_limit}}}}\nnodes:\n  a: {{model: x, messages: m, tools: [t], next: [{{if: q == 'zz', to: r}}, w]}}\n  r: {{run_tools: a, next: a}}\n  w: {{update: {{s: q}}, next: a}}\n"
        ),
    );
    go(
        "d2 paid_turns refuse",
        &format!(
            "{head}start: a\ntools: {{t: {{call: think}}}}\nlimits: {{l: {{count: paid_turns, max: 3, refuse: true}}}}\nnodes:\n  a: {{model: x, messages: m, tools: [t], next: [{{if: result.tool_calls, to: r}}, {{exit: completed}}]}}\n  r: {{run_tools: a, next: a}}\n"
        ),
    );
    go(
        "e tokens to a model node",
        &format!(
            "{head}start: a\nlimits: {{l: {{count: tokens, max: 50, to: wrap}}}}\nnodes:\n  a: {{model: x, prompt: \"{{{{ q }}}}\"}}\n  wrap: {{model: x, prompt: \"{{{{ q }}}}\"}}\n"
        ),
    );
    go(
        "f tokens refuse, loop cut by model_calls",
        &format!(
            "{head}start: a\nlimits: {{t: {{count: tokens, max: 150, refuse: true}}, l: {{count: model_calls, max: 4, exit: step_limit}}}}\nnodes:\n  a: {{model: x, prompt: \"{{{{ q }}}}\", on_error: a, next: a}}\n"
        ),
    );
    go(
        "g root depth",
        "deepgraph: 1\nname: top\nstate: {q: string, s: {type: [string], reduce: append}}\ninput: [q]\nlimits: {d: {count: depth, max: 2, refuse: true}}\nstart: go\nnodes:\n  go: {call: top, input: {q: q}, on_error: next}\n",
    );
    go(
        "h each model to itself",
        &format!(
            "{head}start: a\nlimits: {{l: {{count: model_calls, max: 2, to: a}}}}\nnodes:\n  a: {{model: x, prompt: \"{{{{ item }}}}\", each: list, max_items: 3, on_error: next, update: {{s: result.text}}}}\n"
        ),
    );
    go(
        "i tool_calls to, not in run",
        &format!(
            "{head}start: a\nfinally: n\ntools: {{t: {{call: think}}}}\nlimits: {{l: {{count: turns, max: 3, to: w}}}}\nnodes:\n  a: {{update: {{s: q}}}}\n  w: {{model: x, prompt: \"{{{{ q }}}}\", next: w2}}\n  w2: {{model: x, prompt: \"{{{{ q }}}}\"}}\n  n: {{model: x, messages: m, tools: [t], next: r}}\n  r: {{run_tools: n, next: n}}\n"
        ),
    );
}
