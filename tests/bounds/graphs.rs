//! Random graphs: segments one behind the other, of all verbs, with ways back that a limit cuts, loops of a model with
//! tools, lists, fans, and child graphs down to two levels and in themselves.

use std::fmt::Write as _;

use super::choices::Choices;

/// The text of a graph file.
pub fn graph(choices: &mut Choices<'_>) -> String {
    let mut text = "deepgraph: 1\n".to_owned();
    if choices.one_in(3) {
        text += "concurrency: {graphs: 2, model_calls: 3}\n";
    }
    text += &Body::of(choices, &["mid", "leaf"], None).text("");
    text += "graphs:\n";
    // `mid` may call itself, or `leaf` calls it; a limit on the depth ends that.
    let (itself, by_leaf) = choices.one(&[(false, false), (true, false), (false, true), (true, true)]);
    // An instance that is too deep still passes its stage of `finally`: there a call would start the next.
    let then = if by_leaf { "refuse: true" } else { choices.one(&["refuse: true", "exit: step_limit"]) };
    let limit = format!("depth: {{count: depth, max: {}, {then}}}", choices.from(1, 3));
    let limit = Some(limit).filter(|_| itself || by_leaf);
    let below: &[&str] = if itself { &["leaf", "mid"] } else { &["leaf"] };
    let above: &[&str] = if by_leaf { &["mid"] } else { &[] };
    for (name, calls, limit) in [("mid", below, limit), ("leaf", above, None)] {
        let _ = writeln!(text, "  {name}:");
        text += &Body::of(choices, calls, limit).text("    ");
    }
    text
}

/// The parts of one graph while it is put together.
struct Body<'c, 'n> {
    choices: &'c mut Choices<'n>,
    /// The graphs that it may call.
    calls: &'c [&'c str],
    nodes: Vec<String>,
    tools: Vec<String>,
    limits: Vec<String>,
    /// Conversations.
    messages: Vec<String>,
    /// Whether something leads to the node `wrap`.
    wraps: bool,
    finally: bool,
}

impl<'c, 'n> Body<'c, 'n> {
    fn of(choices: &'c mut Choices<'n>, calls: &'c [&'c str], limit: Option<String>) -> Body<'c, 'n> {
        let count = choices.from(1, 4);
        let finally = choices.one_in(3);
        let mut body = Body {
            choices,
            calls,
            nodes: Vec::new(),
            tools: Vec::new(),
            limits: limit.into_iter().collect(),
            messages: Vec::new(),
            wraps: false,
            finally,
        };
        for index in 0..count {
            let next =
                if index + 1 < count { format!("n{}", index + 1) } else { "{exit: completed}".to_owned() };
            body.segment(index, &next);
        }
        body.more_limits();
        if body.finally {
            body.stage();
        }
        if body.wraps {
            let wrap = body.choices.one(&["update: {s: q}", "model: x, prompt: q, on_error: next"]);
            body.nodes.push(format!("wrap: {{{wrap}, next: {{exit: completed}}}}"));
        }
        body
    }

    /// The graph, behind a margin.
    fn text(&self, margin: &str) -> String {
        let mut text = format!(
            "{margin}config: {{items: {{type: integer, default: 2, minimum: 1}}, par: {{type: integer, default: 2, \
             minimum: 1}}, way: {{enum: [long, short], default: long}}}}\n"
        );
        let messages: String = self.messages.iter().map(|m| format!(", {m}: messages")).collect();
        let _ = writeln!(
            text,
            "{margin}state: {{q: string, s: {{type: [string], reduce: append}}, list: {{type: [string], default: [a, \
             b, c, d, e]}}, n: {{type: integer, default: 3, maximum: 4}}{messages}}}"
        );
        // Something leads to `wrap` even where no limit can.
        let start = if self.wraps { "[{if: config.way == 'short', to: wrap}, n0]" } else { "n0" };
        let _ = writeln!(text, "{margin}input: [q, n]\n{margin}start: {start}");
        if self.finally {
            let _ = writeln!(text, "{margin}finally: fin");
        }
        for (key, list) in [("tools", &self.tools), ("limits", &self.limits), ("nodes", &self.nodes)] {
            if !list.is_empty() {
                let _ = writeln!(text, "{margin}{key}:");
                for line in list {
                    let _ = writeln!(text, "{margin}  {line}");
                }
            }
        }
        text
    }

    fn segment(&mut self, index: usize, next: &str) {
        let kinds = if self.calls.is_empty() { 7 } else { 9 };
        match self.choices.below(kinds) {
            0 => self.model(index, next),
            1 => self.turns(index, next),
            2 => {
                let update = self.choices.one(&["update: {s: q}", "update: {s: q, n: n}"]);
                self.node(index, update, next, "(s | length) % 2 == 1");
            }
            3 => {
                let retry = self.retry();
                let on_error = self.on_error();
                let verb = format!("call: search, input: {{query: q}}{retry}{on_error}");
                self.node(index, &verb, next, "(s | length) % 2 == 1");
            }
            4 => self.each(index, next),
            5 => self.fan(index, next),
            6 => self.node(index, "ask: \"{{ q }}\", on_error: next", next, "result.text == 'b'"),
            _ => {
                let child = self.choices.one(self.calls);
                let grant = self.grant();
                let n = self.choices.one(&["", ", n: config.items", ", n: n - 1"]);
                let verb = format!("call: {child}, input: {{q: q{n}}}, on_error: next{grant}");
                self.node(index, &verb, next, "(s | length) % 2 == 1");
            }
        }
    }

    /// A node with this verb: it leads on, or back under a condition.
    fn node(&mut self, index: usize, verb: &str, next: &str, back_if: &str) {
        let next = match self.choices.one_in(3) {
            false => next.to_owned(),
            true => {
                let to = self.choices.below(index + 1);
                let max = self.choices.from(1, 5);
                let node = self.choices.one(&[to, index]);
                // A refused start that goes on would go round for ever.
                let then = if verb.contains("on_error: next") { self.leads_on() } else { self.then() };
                self.limits.push(format!("v{index}: {{count: [n{node}], max: {max}, {then}}}"));
                format!("[{{if: \"{back_if}\", to: n{to}}}, {next}]")
            }
        };
        self.nodes.push(format!("n{index}: {{{verb}, next: {next}}}"));
    }

    fn model(&mut self, index: usize, next: &str) {
        let (retry, tries, on_error) = (self.retry(), self.choices.from(1, 3), self.on_error());
        let returns = self.choices.one(&["", ", returns: {n: integer}"]);
        let verb = format!(
            "model: x, prompt: \"{{{{ q }}}}\", truncate: {{tries: {tries}}}{retry}{on_error}{returns}"
        );
        self.node(index, &verb, next, "result.text == 'b'");
    }

    /// A loop of a model with tools, and what cuts it.
    fn turns(&mut self, index: usize, next: &str) {
        let tools: Vec<String> = (0..self.choices.from(1, 3)).map(|k| self.tool(index, k, next)).collect();
        let cut = self.choices.one(&[
            "turns",
            "paid_turns",
            "[n0]",
            "model_calls",
            "model_calls, scope: own",
            "steps",
            "super_steps",
            "[r0]",
        ]);
        let cut = cut.replace("n0", &format!("n{index}")).replace("r0", &format!("r{index}"));
        let max = self.choices.from(1, 6) * if cut == "super_steps" { 3 } else { 1 };
        let then = if cut.starts_with('[') || cut.ends_with("turns") {
            self.leads_on()
        } else {
            "exit: step_limit".to_owned()
        };
        self.limits.push(format!("cut{index}: {{count: {cut}, max: {max}, {then}}}"));
        let counted: Vec<&str> =
            tools.iter().map(String::as_str).filter(|_| !self.choices.one_in(3)).collect();
        if !counted.is_empty() {
            let (max, then) = (self.choices.from(1, 7), self.then());
            let filter = self.choices.one(&["", "", ", if: \"args.x == 'a'\"", ", per: args.x"]);
            let counted = counted.join(", ");
            self.limits.push(format!("calls{index}: {{count: [{counted}], max: {max}, {then}{filter}}}"));
        }
        let (retry, on_error) = (self.retry(), self.on_error());
        self.messages.push(format!("m{index}"));
        let tools = tools.join(", ");
        let way = match next.starts_with('{') {
            true => next.trim_matches(['{', '}']).to_owned(),
            false => format!("to: {next}"),
        };
        // The loop is left by the model, or by what was written.
        let (leave, out) = match self.choices.below(3) {
            0 => (format!("{{if: not result.tool_calls, {way}}}, "), String::new()),
            1 => (String::new(), format!("{{if: \"(s | length) % 3 == 2\", {way}}}, ")),
            _ => (
                format!("{{if: not result.tool_calls, {way}}}, "),
                "{if: \"(s | length) % 5 == 4\", exit: no_sources}, ".to_owned(),
            ),
        };
        self.nodes.push(format!(
            "n{index}: {{model: x, messages: m{index}, tools: [{tools}]{retry}{on_error}, next: [{leave}r{index}]}}"
        ));
        self.nodes.push(format!("r{index}: {{run_tools: n{index}, next: [{out}n{index}]}}"));
    }

    /// A tool: of an op, of a graph, one that only writes, asks, or leads on. Its name.
    fn tool(&mut self, index: usize, k: usize, next: &str) -> String {
        let name = format!("t{index}{k}");
        let x = "parameters: {x: string}";
        let work = match self.choices.below(if self.calls.is_empty() { 5 } else { 7 }) {
            0 => {
                let retry = self.retry();
                let on_error = self.choices.one(&["", ", on_error: {exit: tool_error}"]);
                format!("call: search, {x}, input: {{query: args.x}}{retry}{on_error}")
            }
            1 => format!("{x}, update: {{s: args.x}}"),
            2 => format!("ask: \"{{{{ args.x }}}}\", {x}"),
            3 => format!("{x}, next: {next}"),
            4 => format!("call: think, {x}, input: {{reflection: args.x}}"),
            _ => {
                let child = self.choices.one(self.calls);
                let grant = self.grant();
                format!("call: {child}, {x}, input: {{q: args.x}}{grant}")
            }
        };
        let parallel =
            self.choices.one(&["", "", ", parallel: 2", ", parallel: config.par", ", parallel: 1"]);
        let overflow = if parallel.is_empty() { "" } else { self.choices.one(&["", ", overflow: queue"]) };
        let asks = work.starts_with("ask");
        let approve = if asks { "" } else { self.approve() };
        self.tools.push(format!("{name}: {{{work}{parallel}{overflow}{approve}}}"));
        name
    }

    fn each(&mut self, index: usize, next: &str) {
        let most = self.choices.one(&["2", "config.items", "n", "config.items + 1", "4", "n + 1"]);
        let parallel = self.choices.one(&["", ", parallel: 1", ", parallel: config.par"]);
        let (retry, on_error) = (self.retry(), self.on_error());
        let verb = match self.choices.below(if self.calls.is_empty() { 3 } else { 4 }) {
            0 => format!("model: x, prompt: \"{{{{ item }}}}\"{retry}{on_error}"),
            1 => format!("call: search, input: {{query: item}}{retry}{on_error}"),
            2 => "ask: \"{{ item }}\", on_error: next".to_owned(),
            _ => {
                let child = self.choices.one(self.calls);
                format!("call: {child}, input: {{q: item}}, on_error: next")
            }
        };
        let verb = format!("{verb}, each: list, max_items: {most}{parallel}, update: {{s: q}}");
        self.node(index, &verb, next, "(s | length) % 2 == 1");
    }

    /// Two nodes side by side, and one where they meet.
    fn fan(&mut self, index: usize, next: &str) {
        let waits = self.choices.one(&["", "after: [a, b], ", "defer: true, "]);
        let waits = waits.replace("a,", &format!("f{index}a,")).replace("b]", &format!("f{index}b]"));
        self.nodes.push(format!("n{index}: {{update: {{s: q}}, next: {{to: [f{index}a, f{index}b]}}}}"));
        for side in ["a", "b"] {
            let verb = match self.choices.below(if self.calls.is_empty() { 3 } else { 4 }) {
                0 => "model: x, prompt: \"{{ q }}\", on_error: next".to_owned(),
                1 => "call: search, input: {query: q}, on_error: next".to_owned(),
                2 => "update: {s: q}".to_owned(),
                _ => format!("call: {}, input: {{q: q}}, on_error: next", self.choices.one(self.calls)),
            };
            self.nodes.push(format!("f{index}{side}: {{{verb}, next: j{index}}}"));
        }
        self.nodes.push(format!("j{index}: {{{waits}update: {{s: q}}, next: {next}}}"));
    }

    /// The stage that every exit passes: one step, or a loop of a model with tools; then one more.
    fn stage(&mut self) {
        let verb = match self.choices.below(if self.calls.is_empty() { 3 } else { 4 }) {
            0 => "model: x, prompt: \"{{ q }}\"".to_owned(),
            1 => "call: search, input: {query: q}".to_owned(),
            2 => return self.stage_of_turns(),
            // Not itself: it would be nested without end where its depth has an exit.
            _ => format!("call: {}, input: {{q: q}}", self.calls[0]),
        };
        self.nodes.push(format!("fin: {{{verb}, on_error: fin2, next: fin2}}"));
        self.last();
    }

    fn stage_of_turns(&mut self) {
        let tool = self.tool(9, 9, "fin2");
        self.messages.push("mf".to_owned());
        let max = self.choices.from(1, 6);
        let count = self.choices.one(&["turns", "[fin]", "[rfin]"]);
        self.limits.push(format!("cutf: {{count: {count}, max: {max}, exit: step_limit}}"));
        let retry = self.retry();
        self.nodes.push(format!(
            "fin: {{model: x, messages: mf, tools: [{tool}], on_error: fin2{retry}, next: [{{if: not \
             result.tool_calls, to: fin2}}, rfin]}}"
        ));
        self.nodes.push("rfin: {run_tools: fin, next: fin, on_error: fin2}".to_owned());
        self.last();
    }

    fn last(&mut self) {
        self.nodes.push("fin2: {call: search, input: {query: q}, on_error: {update: {s: q}}}".to_owned());
    }

    /// Limits that nothing needs: on calls, on what children use as well, on what is new.
    fn more_limits(&mut self) {
        if self.choices.one_in(3) && !self.tools.is_empty() {
            let max = self.choices.from(1, 12);
            let scope = self.choices.one(&["", ", scope: own"]);
            let then = self.then();
            self.limits.push(format!("all_calls: {{count: tool_calls, max: {max}, {then}{scope}}}"));
        }
        if self.choices.one_in(3) {
            let max = self.choices.from(2, 15);
            let reserve = if self.finally { self.choices.one(&["", ", reserve: 0.3"]) } else { "" };
            self.limits
                .push(format!("all_models: {{count: model_calls, max: {max}, exit: step_limit{reserve}}}"));
        }
        if self.choices.one_in(4) {
            let max = self.choices.from(2, 20) * 100;
            let then = self.choices.one(&["exit: token_budget", "to: wrap", "refuse: true"]);
            self.wraps |= then == "to: wrap";
            self.limits.push(format!("tokens: {{count: tokens, max: {max}, {then}}}"));
        }
        if self.choices.one_in(5) {
            let max = self.choices.from(1, 4) * 40;
            let then = self.choices.one(&["exit: deadline", "to: wrap"]);
            self.wraps |= then == "to: wrap";
            self.limits.push(format!("time: {{count: wall_time, max: {max}ms, {then}}}"));
        }
        if self.choices.one_in(4) {
            let then = self.choices.one(&["exit: gain_saturated", "to: wrap"]);
            self.wraps |= then == "to: wrap";
            self.limits.push(format!("gain: {{gain: s, below: 0.5, window: 2, min_steps: 2, {then}}}"));
        }
    }

    /// What a limit does that ends what it counts.
    fn leads_on(&mut self) -> String {
        let then = self.choices.one(&["exit: step_limit", "to: wrap"]);
        self.wraps |= then == "to: wrap";
        then.to_owned()
    }

    /// What a limit does.
    fn then(&mut self) -> String {
        let then = self.choices.one(&["exit: step_limit", "exit: step_limit", "to: wrap", "refuse: true"]);
        self.wraps |= then == "to: wrap";
        then.to_owned()
    }

    fn retry(&mut self) -> &'static str {
        self.choices.one(&[", retry: 1", ", retry: 2", "", ", retry: {max: 3, backoff: 10ms}"])
    }

    fn on_error(&mut self) -> &'static str {
        self.choices.one(&["", ", on_error: next", ", on_error: {exit: model_error}"])
    }

    fn approve(&mut self) -> &'static str {
        self.choices.one(&["", "", "", ", approve: true", ", approve: \"args.x == 'b'\""])
    }

    fn grant(&mut self) -> &'static str {
        self.choices.one(&[
            "",
            "",
            "",
            ", grant: {model_calls: 3}",
            ", grant: {tool_calls: config.items, tokens: 900}",
        ])
    }
}
