use super::*;

#[test]
fn noise_is_known_by_its_kind() {
    use Unreadable::*;
    let base64 =
        "iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4c9fGBQAH8AKZ0NBd1gAAAABJRU5ErkJggg==";
    for (text, why) in [
        ("ZÃ¼rich hat 400Â 000 Einwohner, KÃ¶ln mehr, MÃ¼nchen auch.", Mojibake),
        ("It\u{fffd}s a \u{fffd}quoted\u{fffd} text", Mojibake),
        ("donâ€™t say itâ€™s â€œgoodâ€\u{9d}", Mojibake),
        (base64, Encoded),
        ("d41d8cd98f00b204e9800998ecf8427ed41d8cd98f00b204", Encoded),
        ("<div class=\"a\"><span id=\"b\">12</span><a href=\"x\">y</a></div>", Markup),
        ("function(a){var b={c:1};return b.c&&a;}if(x){y();}else{z=1;}", Markup),
        (".nav{color:#fff;margin:0;} .nav a{padding:2px;} .x{top:1px;left:0;}", Markup),
        ("Home\nAbout us\nProducts\nContact\nLogin\nCareers\nPrivacy", Menu),
        ("Home | News | Sport | Weather | Contact | About | Help", Menu),
        ("Please enable JavaScript to view this page.", Wall),
        ("To read the full story, please log in or subscribe. 5 articles left.", Wall),
        ("Checking your browser before you access the site. Ray ID 7d1", Wall),
        ("404 Not Found", Wall),
    ] {
        assert_eq!(unreadable(text), Some(why), "{text}");
    }
}

#[test]
fn what_says_something_can_be_read() {
    for text in [
        "",
        "The population of Uruguay is 3,449,444.",
        "Main exports:\n- copper\n- fish\n- wine\n- fruit\n- paper\n- gold\n- pork",
        "Area › total: 176,215 sq km\nland: 175,015 sq km",
        "| Country | Population |\n|---|---|\n| Chile | 18 million |\n| Peru | 33 million |",
        "Âge moyen : 35 ans. Île de Ré, Nîmes, Ñuñoa et São Paulo.",
        "The commit 3f786850e387550fdab836ed7e6dc881de23001b fixed the outage of 14 March.",
        "The tag <b> makes text bold; <i> makes it italic, says the manual of the editor.",
        "東京の人口は1400万人です。",
        "The certificate expired, so users were asked to please log in again. That took two hours, in which the \
         gateway was down for all regions. The team of the night shift restored the old certificate from a backup, \
         then made a new one and put it on all twelve gateways, one after the other, so that no more than one of \
         them was ever away. The cause was a reminder that went to a mailbox that nobody had read since the spring \
         of the year before. Reminders now go to the whole team, and a test looks at the dates of all certificates.",
    ] {
        assert_eq!(unreadable(text), None, "{text}");
    }
}

#[test]
fn furniture_is_no_statement() {
    for (line, value) in [
        ("Coastline: n/a", "n/a"),
        ("Chile › Area: —", "—"),
        ("Peru: ..", ".."),
        ("Last updated: 3 May 2025", "3 May 2025"),
        (
            "This page was last changed on 2025-05-03, at 10:15 UTC.",
            "This page was last changed on 2025-05-03, at 10:15 UTC.",
        ),
        ("Copyright: all rights reserved", "all rights reserved"),
        ("Skip to main content", "Skip to main content"),
        ("Sign in | Contact us", "Sign in | Contact us"),
    ] {
        assert!(is_furniture(line, value), "{line}");
    }
    for (line, value) in [
        ("Coastline: none", "none"),
        ("Independence: 25 August 1825", "25 August 1825"),
        ("Population: 3,449,444 (2025 est.)", "3,449,444 (2025 est.)"),
        ("The bridge was opened on 3 May 2025.", "The bridge was opened on 3 May 2025."),
        ("It was updated in 2024.", "It was updated in 2024."),
        ("About 40 people use the service.", "About 40 people use the service."),
        ("Copper is the main export.", "Copper is the main export."),
    ] {
        assert!(!is_furniture(line, value), "{line}");
    }
}
