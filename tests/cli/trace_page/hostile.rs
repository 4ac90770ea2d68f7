//! Texts that want to be more than texts.

use deepgraph_protocol::{ErrorKind, ReportOutcome, Source, Value};
use deepgraph_testkit::{Sim, call, calls, fails, says};

use super::parsed::parse;
use super::{GRAPH, trace};
use crate::support;

/// Texts that would do harm in a page that took them as they are.
const HOSTILE: [&str; 9] = [
    "</script><img src=x onerror=alert(1)>",
    "</style></title></textarea><svg onload=alert(1)>",
    "]]><!--<script>alert(1)</script>",
    "\" onmouseover=\"alert(1)\" x='",
    "&lt;b&gt; &amp;quot; &#60;i&#62;",
    "javascript:alert(1)",
    "\0nul \u{1b}[2J \u{85}",
    "\u{202e}turned\u{2066} \u{200b}\u{e0041}",
    "{{ config }} {% raw %} ${x} `x`",
];

#[test]
fn texts_from_outside_stay_texts() {
    let bundle = support::graph(GRAPH);
    for hostile in HOSTILE {
        let long = format!("{hostile} {}", "and so on ".repeat(60));
        let said = |text: &str| Value::from(text).to_json_text();
        let mut failed = false;
        let run = Sim::new(&bundle, |step, _| {
            Ok(match step.last() {
                "agent.1" => calls([
                    call("search", &format!("{{\"query\": {}}}", said(&long))),
                    call("helper", &format!("{{\"topic\": {}}}", said(hostile))),
                    call(hostile, hostile),
                    call("search", hostile),
                ]),
                "agent.2" if !failed => {
                    failed = true;
                    return Err(fails(ErrorKind::Unavailable, hostile));
                }
                "report.1" => return Err(fails(ErrorKind::Refusal, &long)),
                _ => says(&long),
            })
        })
        .ops(|_, _, _| {
            let source = Source {
                id: hostile.into(),
                document: hostile.into(),
                title: hostile.into(),
                text: long.clone(),
                ..Source::default()
            };
            let sources = Value::record([(hostile, Value::of(&source))]);
            Ok(Value::record([("text", Value::from(hostile)), ("sources", sources)]))
        })
        .run(support::question(hostile), support::config(&bundle, &[]));
        assert_eq!(run.ended().report, Some(ReportOutcome::Failed), "{hostile:?}");
        for trace in [trace(&bundle, &run.rows), run.trace(&bundle)] {
            let page = trace.to_html();
            let parsed = parse(&page);
            assert_eq!((parsed.elements["script"], parsed.elements["style"]), (1, 1), "{hostile:?}");
            let seen = page.chars().find(|c| (c.is_control() && *c != '\n' && *c != '\t') || is_hidden(*c));
            assert_eq!(seen, None, "{hostile:?}");
            if !hostile.contains(['\0', '\u{202e}']) {
                assert!(parsed.text.contains(&format!("there is no tool `{hostile}`")), "{hostile:?}");
                assert!(parsed.text.matches(hostile).count() > 5, "{hostile:?} is shown as it is");
            }
        }
    }
}

fn is_hidden(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200b}' | '\u{e0000}'..='\u{e007f}')
}

#[test]
fn characters_that_can_not_be_seen_are_named() {
    let bundle = support::graph(GRAPH);
    let run = Sim::new(&bundle, |_, _| Ok(says("a\0b \u{202e}c")))
        .run(support::question("q"), support::config(&bundle, &[]));
    assert!(parse(&run.trace(&bundle).to_html()).text.contains("a␀b ⟨U+202E⟩c"));
}
