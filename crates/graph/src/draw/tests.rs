//! Tests of the picture, of where its parts stand, and of what all formats hold. What drawings look like is kept in
//! snapshots beside the tests of the command.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::picture::{Cluster, ClusterKind, Item, Line, LineKind, Picture, Seen};
use super::svg::arrange::arrange;
use super::svg::sheet::{Rect, Sheet};
use super::{Drawing, Passage, RouteOf, Taken, TakenGraph};
use crate::testing::try_load;
use crate::{Bundle, GraphIx, NodeIx, ToolIx};

/// A graph that has everything that a drawing shows.
const GRAPH: &str = r#"deepgraph: 1
name: main
description: A graph <with> & "everything"
state: {q: string, a: string, m: messages, found: {type: [string], reduce: append}}
input: [q]
output: [a]
tools:
  later: {call: child, parameters: {topic: string}, update: {a: result.answer}, next: {if: "result.exit == 'completed' and args.topic", to: tidy}}
  note: {parameters: {text: string}, update: {found: [args.text]}}
  stop: {next: {exit: research_complete}, on_error: {exit: tool_error}, parallel: 2, overflow: queue}
limits:
  asked: {count: [ask], max: 2, to: work}
  turns: {count: turns, max: 5, exit: iteration_limit}
  calls: {count: [note], max: 3, refuse: true}
  news:  {gain: found, below: 0.1, exit: gain_saturated}
  money: {count: cost_usd, max: 1.5, exit: cost_budget}
  steps: {count: super_steps, max: 50, refuse: true}
finally: {if: a, to: report}
start: [{if: "q == \"a|b\" or q < 'ü漢'", to: [ask, look]}, {if: q, to: ask}, {exit: no_sources}]
nodes:
  ask: {ask: "{{ q }}?", update: {q: result.text}, next: {if: q, to: work}, on_error: {exit: clarification_needed}}
  look: {call: child, input: {topic: q}, update: {a: result.answer}, next: {exit: inherit}, on_error: [{if: "error.kind == 'tool'", to: work}]}
  work: {model: some-model, messages: m, tools: [later, note, stop], next: act, on_error: next}
  act: {run_tools: work, next: work}
  tidy: {update: {a: a}}
  report: {call: child, input: {topic: a}, update: {a: result.answer}, next: {exit: completed}}
graphs:
  child:
    state: {topic: string, answer: string}
    input: [topic]
    output: [answer]
    start: say
    nodes:
      say: {model: other-model, prompt: "{{ topic }}", update: {answer: result.text}}
"#;

/// The bundle of a file; warnings are fine.
fn bundle(text: &str) -> Bundle {
    try_load(text).unwrap_or_else(|mistakes| panic!("{mistakes}")).bundle
}

/// A generated graph: a chain of nodes, some of which lead further on, back, or out.
fn generated(nodes: usize) -> Bundle {
    let mut text =
        "deepgraph: 1\nstate: {n: {type: integer, reduce: sum}}\nlimits: {steps: {count: super_steps, \
                    max: 90, exit: step_limit}}\nstart: n0\nnodes:\n"
            .to_owned();
    for i in 0..nodes {
        let mut ways = Vec::new();
        let over = (i + 2 + i % 4).min(nodes - 1);
        ways.extend((i % 2 == 0).then(|| format!("{{if: n > {i} and n % {} == 0, to: n{over}}}", i + 2)));
        ways.extend((i % 5 == 4).then(|| format!("{{if: n > 100 * {i}, to: n{}}}", i - i % 7)));
        ways.extend((i % 6 == 5).then(|| "{if: n < 0, exit: no_sources}".to_owned()));
        ways.push(if i + 1 < nodes { format!("n{}", i + 1) } else { "{exit: completed}".to_owned() });
        let _ = writeln!(text, "  n{i}: {{update: {{n: {i}}}, next: [{}]}}", ways.join(", "));
    }
    bundle(&text)
}

fn clusters(root: &Cluster) -> Vec<&Cluster> {
    std::iter::once(root).chain(root.inner.iter().flat_map(clusters)).collect()
}

fn items(picture: &Picture) -> Vec<&Item> {
    clusters(&picture.root).into_iter().flat_map(|c| &c.boxes).collect()
}

fn lines(picture: &Picture) -> Vec<&Line> {
    clusters(&picture.root).into_iter().flat_map(|c| &c.lines).chain(&picture.calls).collect()
}

/// The names of what a line joins, with its label.
fn told(picture: &Picture, kind: LineKind) -> Vec<String> {
    let items = items(picture);
    let name = |id: &str| items.iter().find(|i| i.id == id).map_or("?", |i| &*i.name);
    let of_kind = lines(picture).into_iter().filter(|line| line.kind == kind);
    of_kind
        .map(|line| format!("{} {} {}", name(&line.from), name(&line.to), line.label).trim_end().to_owned())
        .collect()
}

#[test]
fn a_picture_has_every_way_with_its_condition() {
    let picture = Picture::of(&bundle(GRAPH), None);
    let ways = told(&picture, LineKind::Way);
    let wanted = [
        "start ask q == \"a|b\" or q < 'ü漢'",
        "start look q == \"a|b\" or q < 'ü漢'",
        "start ask q",
        "start no_sources",
        "finally report a",
        "ask work q",
        "ask completed otherwise",
        "look inherit",
        "work act",
        "act work",
        "tidy completed",
        "report completed",
        "later tidy result.exit == 'completed' and args.topic",
        "stop research_complete",
        "start say",
        "say completed",
    ];
    assert_eq!(ways, wanted);
    let errors = told(&picture, LineKind::Error);
    let wanted = [
        "ask clarification_needed on_error",
        "look work on_error: error.kind == 'tool'",
        "work act on_error",
        "stop tool_error on_error",
    ];
    assert_eq!(errors, wanted);
    assert_eq!(
        told(&picture, LineKind::Starts),
        ["look start starts", "report start starts", "later start starts"]
    );
}

#[test]
fn a_picture_has_limits_and_implied_exits() {
    let picture = Picture::of(&bundle(GRAPH), None);
    assert_eq!(
        told(&picture, LineKind::Counts),
        ["ask asked", "work turns", "note calls", "note news"],
        "what is counted"
    );
    assert_eq!(
        told(&picture, LineKind::Limit),
        ["asked work", "turns iteration_limit", "news gain_saturated", "money cost_budget"],
        "what happens then"
    );
    let item = |name: &str| items(&picture).into_iter().find(|i| i.name == name).expect("it is drawn");
    assert_eq!((&*item("calls").detail, &*item("calls").badges[0]), ("note ≤ 3", "refuses more"));
    assert_eq!(item("steps").badges, ["refuses more"]);
    assert_eq!(item("news").detail, "gain of found < 0.1");
    assert_eq!(item("stop").badges, ["parallel ≤ 2, queue"]);
    let implied = told(&picture, LineKind::Implied);
    let of_root =
        ["a step fails tool_error", "cancelled from outside cancelled", "the graph is at fault graph_error"];
    let of_child = [
        "a step fails context_overflow",
        "a step fails model_error",
        "a step fails refusal",
        "the grant is used up cost_budget",
        "cancelled from outside cancelled",
        "the graph is at fault graph_error",
    ];
    assert_eq!(implied, [&of_root[..], &of_child[..]].concat());
}

#[test]
fn a_failure_that_a_way_always_takes_up_is_no_exit() {
    let implied = |on_error: &str| {
        let text = format!(
            "deepgraph: 1\nstate: {{q: string}}\ninput: [q]\nstart: a\nnodes:\n  a: {{call: search, input: {{query: q}}, \
             update: {{q: result.text}}, on_error: [{on_error}]}}\n"
        );
        told(&Picture::of(&bundle(&text), None), LineKind::Implied).iter().any(|l| l.contains("a step fails"))
    };
    assert!(implied("{if: q, exit: completed}"));
    assert!(!implied("{exit: completed}") && !implied("{if: true, exit: completed}"));
}

#[test]
fn every_box_has_an_id_of_its_own_and_every_line_two_of_them() {
    for bundle in [bundle(GRAPH), generated(60)] {
        let picture = Picture::of(&bundle, None);
        let mut ids = BTreeSet::new();
        for id in items(&picture).iter().map(|i| &i.id).chain(clusters(&picture.root).iter().map(|c| &c.id)) {
            assert!(ids.insert(id), "{id} is there twice");
            assert!(id.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'), "{id}");
        }
        for line in lines(&picture) {
            assert!(ids.contains(&line.from) && ids.contains(&line.to), "{line:?}");
        }
        for panel in clusters(&picture.root).into_iter().filter(|c| c.kind == ClusterKind::Anywhere) {
            let own: BTreeSet<&String> = panel.boxes.iter().map(|i| &i.id).collect();
            let crossing = |line: &&Line| own.contains(&line.from) != own.contains(&line.to);
            assert_eq!(lines(&picture).into_iter().filter(crossing).count(), 0, "panels stand by themselves");
        }
    }
}

fn overlap(a: &Rect, b: &Rect) -> bool {
    a.x + 0.5 < b.right() && b.x + 0.5 < a.right() && a.y + 0.5 < b.y + b.height && b.y + 0.5 < a.y + a.height
}

fn within(inner: &Rect, outer: &Rect) -> bool {
    inner.x >= outer.x - 0.5
        && inner.y >= outer.y - 0.5
        && inner.right() <= outer.right() + 0.5
        && inner.y + inner.height <= outer.y + outer.height + 0.5
}

/// Checks that nothing stands on anything else.
fn check_places(sheet: &Sheet<'_>) {
    let boxes = sheet.boxes.iter().map(|b| (&*b.item.id, b.at));
    let labels = sheet.lines.iter().filter_map(|l| Some((&*l.line.label, l.label.as_ref()?.1)));
    let places: Vec<(&str, Rect)> =
        boxes.chain(labels).chain(sheet.stubs.iter().map(|s| (s.name, s.at))).collect();
    let page = Rect { x: 0.0, y: 0.0, width: sheet.width, height: sheet.height };
    for (i, (name, at)) in places.iter().enumerate() {
        assert!(within(at, &page), "{name} leaves the page: {at:?}");
        for (other, there) in &places[i + 1..] {
            assert!(!overlap(at, there), "{name} {at:?} and {other} {there:?}");
        }
    }
    for (i, frame) in sheet.frames.iter().enumerate() {
        for other in &sheet.frames[i + 1..] {
            let apart = !overlap(&frame.at, &other.at);
            assert!(apart || within(&other.at, &frame.at), "{} and {}", frame.cluster.id, other.cluster.id);
        }
        for (name, at) in &places {
            assert!(!overlap(at, &frame.at) || within(at, &frame.at), "{name} and {}", frame.cluster.id);
        }
    }
    for line in &sheet.lines {
        for way in &line.ways {
            assert!(way.len() >= 2, "{} has no way", line.line.label);
            for ends in way.windows(2) {
                let (x, y) = (ends[0].x.min(ends[1].x), ends[0].y.min(ends[1].y));
                let piece = Rect {
                    x,
                    y,
                    width: (ends[0].x - ends[1].x).abs(),
                    height: (ends[0].y - ends[1].y).abs(),
                };
                let through = |b: &Rect| {
                    // A line touches the borders of the boxes that it joins, and those only.
                    let inner =
                        Rect { x: b.x + 1.0, y: b.y + 1.0, width: b.width - 2.0, height: b.height - 2.0 };
                    piece.x < inner.right()
                        && piece.right() > inner.x
                        && piece.y < inner.y + inner.height
                        && piece.y + piece.height > inner.y
                };
                let hit = places.iter().find(|(_, at)| through(at));
                assert!(hit.is_none(), "{} {} runs through {hit:?}", line.line.from, line.line.to);
            }
        }
    }
}

#[test]
fn nothing_stands_on_anything_else() {
    for bundle in [bundle(GRAPH), generated(3), generated(60)] {
        let plain = Picture::of(&bundle, None);
        let sheet = arrange(&plain).expect("it can be laid out");
        check_places(&sheet);
        let drawn: BTreeSet<&str> = sheet.boxes.iter().map(|b| &*b.item.id).collect();
        assert_eq!(drawn.len(), items(&plain).len(), "every box has its place");
        assert_eq!(sheet.lines.len(), lines(&plain).len(), "and every line its way");
        let overlaid = Picture::of(&bundle, Some(&taken()));
        check_places(&arrange(&overlaid).expect("it can be laid out"));
    }
}

/// A run over `GRAPH`.
fn taken() -> Taken {
    let way = |of, way, to| Passage::Way { of, way, to };
    let (ask, work, act) = (NodeIx(0), NodeIx(2), NodeIx(3));
    let root = TakenGraph {
        instances: 1,
        visits: [(ask, 1), (work, 3), (act, 2)].into(),
        open: [(act, 1)].into(),
        calls: [((act, ToolIx(1)), 4), ((act, ToolIx(2)), 1)].into(),
        reached: [(2, 1)].into(),
        passages: [
            (way(RouteOf::Start, 1, Some(ask)), 1),
            (way(RouteOf::Next(ask), 0, Some(work)), 1),
            (way(RouteOf::Next(work), 0, Some(act)), 2),
            (way(RouteOf::Carried(work, 0), 0, Some(act)), 1),
            (way(RouteOf::Next(act), 0, Some(work)), 2),
            (Passage::Failure("step_timeout".into()), 1),
        ]
        .into(),
        exits: [((Passage::Failure("step_timeout".into()), "step_timeout".into()), 1)].into(),
        ..TakenGraph::default()
    };
    Taken { graphs: [(GraphIx(0), root)].into() }
}

#[test]
fn a_run_marks_what_it_took_and_fades_the_rest() {
    let bundle = bundle(GRAPH);
    let picture = Picture::of(&bundle, Some(&taken()));
    let item = |name: &str| items(&picture).into_iter().find(|i| i.name == name).expect("it is drawn");
    assert_eq!((item("work").seen, item("look").seen), (Seen::Taken(3), Seen::Not));
    assert_eq!((item("note").seen, item("calls").seen), (Seen::Taken(4), Seen::Taken(1)));
    assert_eq!((item("act").open, item("work").open), (1, 0));
    assert_eq!(
        item("step_timeout").seen,
        Seen::Taken(1),
        "an exit that was not foreseen is drawn all the same"
    );
    assert_eq!(item("no_sources").seen, Seen::Not);
    let line = |from: &str, to: &str, kind| {
        let (from, to) = (&item(from).id, &item(to).id);
        lines(&picture)
            .into_iter()
            .find(|l| l.from == *from && l.to == *to && l.kind == kind)
            .expect("it is drawn")
            .seen
    };
    assert_eq!(line("work", "act", LineKind::Way), Seen::Taken(2));
    assert_eq!(line("work", "act", LineKind::Error), Seen::Taken(1));
    assert_eq!(line("act", "stop", LineKind::Runs), Seen::Taken(1));
    assert_eq!(line("note", "calls", LineKind::Counts), Seen::Plain, "what belongs to a limit has no count");
    let child = clusters(&picture.root).into_iter().find(|c| c.title == "child").expect("it is drawn");
    assert_eq!(child.seen, Seen::Not);
}

#[test]
fn every_format_is_the_same_each_time_and_holds_every_name() {
    let bundle = bundle(GRAPH);
    for drawing in [Drawing::of(&bundle), Drawing::of_run(&bundle, &taken(), "Run 1 of main: a & b?")] {
        let all = [drawing.mermaid(), drawing.dot(), drawing.svg().expect("it can be laid out")];
        assert_eq!(all, [drawing.mermaid(), drawing.dot(), drawing.svg().expect("it can be laid out")]);
        for text in &all {
            for item in items(&drawing.0) {
                assert!(text.contains(&item.name), "{}", item.name);
            }
        }
    }
}

#[test]
fn an_svg_is_well_formed_and_says_what_it_is() {
    for drawing in
        [Drawing::of(&bundle(GRAPH)), Drawing::of_run(&bundle(GRAPH), &taken(), "Run \u{1b}[1m of <main>")]
    {
        let text = drawing.svg().expect("it can be laid out");
        let document = roxmltree::Document::parse(&text).expect("it is XML");
        let root = document.root_element();
        assert_eq!((root.tag_name().name(), root.attribute("role")), ("svg", Some("img")));
        let labels = root.attribute("aria-labelledby").expect("it has labels");
        for id in labels.split(' ') {
            let named =
                document.descendants().find(|n| n.attribute("id") == Some(id)).expect("the label is there");
            assert!(named.text().is_some_and(|text| !text.is_empty()));
        }
        let titles: Vec<&str> = document
            .descendants()
            .filter(|n| n.has_tag_name("title") || n.has_tag_name(("http://www.w3.org/2000/svg", "title")))
            .filter_map(|n| n.text())
            .collect();
        assert!(titles.contains(&"q == \"a|b\" or q < 'ü漢'"), "whole conditions: {titles:?}");
        assert!(titles.contains(&"main: A graph <with> & \"everything\""));
        for outside in ["href", "url(", "<script", "@import", "@font-face"] {
            assert!(!text.contains(outside), "{outside}");
        }
        let style = document
            .descendants()
            .find_map(|n| n.text().filter(|t| t.contains("prefers-color-scheme: dark")));
        assert!(style.is_some(), "it has colours for dark pages");
    }
}

#[test]
fn long_conditions_are_shortened_and_told_whole() {
    let long = (0..40).map(|i| format!("q != 'value {i}'")).collect::<Vec<_>>().join(" and ");
    let text = format!(
        "deepgraph: 1\nstate: {{q: string}}\ninput: [q]\nstart: [{{if: \"{long}\", to: a}}, {{exit: completed}}]\nnodes: {{a: {{update: {{q: q}}}}}}\n"
    );
    let drawing = Drawing::of(&bundle(&text));
    assert!(!drawing.mermaid().contains("value 9"));
    let svg = drawing.svg().expect("it can be laid out");
    let document = roxmltree::Document::parse(&svg).expect("it is XML");
    let texts: Vec<&str> =
        document.descendants().filter(|n| n.tag_name().name() == "text").filter_map(|n| n.text()).collect();
    assert!(texts.iter().any(|t| t.ends_with('…')), "{texts:?}");
    assert!(document.descendants().any(|n| n.tag_name().name() == "title" && n.text() == Some(&*long)));
}
