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
        ("Error 404 Not Found", Wall),
        ("404 Not Found\n\nnginx/1.18.0", Wall),
        ("Not Found\n\nThe requested URL /rulings was not found on this server.", Wall),
        ("HTTP 429 Too Many Requests\n\nYou have sent too many requests. Please try again later.", Wall),
        ("Access denied\n\nYou do not have permission to see this page. Reference 18.2", Wall),
        ("You need to enable JavaScript to run this app.", Wall),
        ("This site requires JavaScript.", Wall),
        ("Our systems have detected unusual traffic from your network.", Wall),
        ("let a = 1;\nlet b = f(a);\nif (b) { g(b); }\nfor (;;) { h(); }\nwhile (a) { a--; }", Markup),
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
        "The status 429 Too Many Requests is defined in RFC 6585 of 2012. A server sends it to clients that ask too often.",
        "429 Too Many Requests\n\nThe status says that a client has sent too many requests in a given time. It was defined \
         in RFC 6585 (2012). A header may say how long the client is to wait.",
        "The server returned 404 not found for 12 of 40 rulings.",
        "404 Not Found was returned for 12 of 40 rulings.",
        "Access was denied to 12 of 40 ships; the others were let in.",
        "In 2024 users of the bank were asked to please log in again.",
        "Of 40 sites, 12 told readers to enable JavaScript.",
        "The test that asks whether one is not a robot was invented in 2000.",
        "| Ship | A | B | C | D |\n|---|---|---|---|---|\n| Tern | $5 | $6 | $7 | $8 |\n| Gull | $1 | $2 | $3 | $4 |\n\
         | Auk | $5 | $6 | $7 | $8 |",
        "E = mc^2; F = ma; p = mv; V = IR; P = UI; Q = CU; W = Fs; a = v/t; s = vt; n = cV; m = nM; k = 1/2",
        "E = mc^2;\nF = ma;\np = mv;\nV = IR;\nP = UI;\nQ = CU;\nW = Fs;\na = v/t;\ns = vt;\nn = cV;",
        "n=12; p=0.05; t=4.1; r=0.3; n=15; p=0.02; t=2.2; r=0.1; n=18; p=0.5; t=1.1; r=0.2",
        "R&D; M&A; Q&A; P&L; B&B; H&M; AT&T; S&P; D&G; R&B; C&A; J&J",
        "a < 5, b > 6, c < 7, d > 8, e < 9, f > 1, g < 2, h > 3, i < 4, j > 5, k < 6",
        "Error codes:\n\n404: Not Found\n403: Forbidden\n429: Too Many Requests\n500: Internal Server Error",
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
        ("Area: N.A.", "N.A."),
        ("Area: (n/a)", "(n/a)"),
        ("Area: NaN", "NaN"),
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
        ("Symbol: Na", "Na"),
        ("Country code: NA", "NA"),
        ("Bread: nan", "nan"),
        ("Member: ✓", "✓"),
        ("Charge: +", "+"),
        ("Date: 3 May 1815", "3 May 1815"),
        ("Created: 25 August 1825", "25 August 1825"),
        ("Published: 1925", "1925"),
        ("The policy is in use.", "The policy is in use."),
        ("Jobs are up.", "Jobs are up."),
        ("Search to follow up on privacy policy.", "Search to follow up on privacy policy."),
    ] {
        assert!(!is_furniture(line, value), "{line}");
    }
}

#[test]
fn a_field_with_a_label_is_no_link() {
    assert!(is_furniture("Skip to main content", "Skip to main content"));
    for (line, value) in [("Legal status: in use", "in use"), ("Main contact: home page", "home page")] {
        assert!(!is_empty_field(line, value), "{line}");
    }
    assert!(is_empty_field("Last updated: 3 May 2025", "3 May 2025"));
}
