//! A trace as one page of HTML that needs nothing else: no network, no other file.
//!
//! * Everything can be read without a script; the script only filters, unfolds and copies. A content security policy
//!   lets the browser run that script and use the page's styles, by their hashes, and nothing else.
//! * All texts are data from outside. Templates escape what they are given, and one pass over the finished page makes
//!   characters visible that can not be seen ([`visible`]).
//! * Long texts and large values stand once, where they come first in reading order; later uses refer to them
//!   ([`pool`]). Conversations and state refer to what they grew from ([`request`], [`value`]). So the page grows with
//!   what happened. Beyond that, one text takes at most 256 KiB and all long ones together at most 24 MiB; what is
//!   left out is said to be.
//! * The order is that of the trace. A redacted trace gives the same page, byte for byte, whatever finished first: it
//!   has no times, so there is no timeline, and the ledger follows reading order.
//!
//! | file | holds |
//! |---|---|
//! | `head`, `trouble`, `exits`, `timeline`, `ledger`, `scope` | the parts of the page, from top to bottom |
//! | `step`, `request`, `value`, `text` | what the tree of steps is made of |
//! | `badge` | what each kind of step, outcome and exit is called: the one place that knows them all |
//! | `walk`, `index`, `pool`, `fingerprint` | reading order, links, what was shown already |
//! | `lanes`, `chart`, `scale`, `axis`, `amount` | bars in lanes, stairs, places in time, numbers for people |
//! | `policy`, `visible`, `page.css`, `page.js` | what the page may do, and what it looks like |

mod amount;
mod axis;
mod badge;
mod chart;
mod exits;
mod fingerprint;
mod head;
mod index;
mod lanes;
mod ledger;
mod policy;
mod pool;
mod request;
mod scale;
mod scope;
mod step;
mod text;
mod timeline;
mod trouble;
mod value;
mod visible;
mod walk;

use askama::Template;
use askama::filters::Safe;

use crate::tree::Trace;
use exits::Exits;
use head::Head;
use ledger::Ledger;
use policy::{SCRIPT, STYLES};
use scope::Scope;
use timeline::Timeline;
use trouble::Trouble;
use walk::Walk;

#[derive(Template)]
#[template(
    ext = "html",
    whitespace = "minimize",
    source = r##"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{{ policy }}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>Trace: {{ head.question }}</title>
<style>{{ styles }}</style>
</head>
<body>
{{ head }}
<nav aria-label="Parts of this page">{% if trouble.is_some() %}<a href="#trouble">What went wrong</a>{% endif %}<a href="#exits">Exits</a><a href="#timeline">Timeline</a><a href="#ledger">Ledger</a><a href="#steps">Steps</a>{% if has_output %}<a href="#o1">Output</a>{% endif %}</nav>
<main>
{% if let Some(trouble) = trouble %}<section id="trouble"><h2>What went wrong</h2>{{ trouble }}</section>{% endif %}
<section id="exits"><h2>Exits</h2>{{ exits }}</section>
<section id="timeline"><h2>Timeline</h2>{{ timeline }}</section>
<section id="ledger"><h2>Ledger</h2>{{ ledger }}</section>
<section id="steps"><h2>Steps</h2>
<p class="note">{{ extent }}, by their place in the graph, never by time.</p>
<form class="tools" hidden><label>Filter <input type="search" autocomplete="off" spellcheck="false" placeholder="name, kind, outcome or text"></label><button type="button" data-all="open">Expand all</button><button type="button" data-all="close">Collapse all</button><output></output></form>
<div class="tree{% if is_large %} many{% endif %}">{{ root }}</div>
</section>
</main>
<script>{{ script }}</script>
</body>
</html>
"##
)]
struct Page<'a> {
    policy: String,
    styles: Safe<&'static str>,
    script: Safe<&'static str>,
    head: Head<'a>,
    trouble: Option<Trouble>,
    exits: Exits<'a>,
    timeline: Timeline,
    ledger: Ledger,
    extent: String,
    has_output: bool,
    /// So many steps that the browser should lay out only what can be seen.
    is_large: bool,
    root: Scope<'a>,
}

impl Trace {
    /// The trace as one self-contained page of HTML.
    ///
    /// A [`redacted`](Trace::redact) trace gives the same page whenever the run did the same.
    pub fn to_html(&self) -> String {
        let mut walk = Walk::new(self);
        let page = Page {
            policy: policy::policy(),
            styles: Safe(STYLES),
            script: Safe(SCRIPT),
            head: Head::of(&mut walk, self),
            trouble: Trouble::of(&walk.index, &self.root),
            exits: Exits::of(&mut walk, &self.root),
            timeline: Timeline::of(&walk.index, &self.root),
            ledger: Ledger::of(self),
            extent: head::extent(&walk),
            is_large: !walk.opens_steps(),
            has_output: !self.root.output.is_empty(),
            root: Scope::of(&mut walk, &self.root),
        };
        // Writing to a string can not fail.
        visible::visible(page.render().unwrap_or_default())
    }
}
