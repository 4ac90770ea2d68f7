use super::*;

fn sketch(text: &str) -> Sketch {
    Sketch::of([text]).expect("it says something")
}

/// A page of `count` words that depend on `from`.
fn page(from: u64, count: u64) -> Vec<String> {
    (from..from + count).map(|n| format!("w{:x}", mixed(n) & 0xffff_ffff)).collect()
}

#[test]
fn estimates_are_within_the_stated_bound() {
    let error = 0.15;
    let (mut off, mut all, mut worst) = (0_u32, 0_u32, 0.0_f64);
    for pair in 0..200_u64 {
        // Two pages that share a stretch in the middle: every resemblance from 0 to 1 occurs.
        let shared = page(pair * 10_000, 10 + (pair % 40) * 4);
        let (left, right) = (page(pair * 10_000 + 4_000, pair % 47), page(pair * 10_000 + 6_000, pair % 29));
        let a = [left, shared.clone()].concat().join(" ");
        let b = [shared, right].concat().join(" ");
        let exact = resemblance(&a, &b);
        let miss = (sketch(&a).resemblance(&sketch(&b)) - exact).abs();
        worst = worst.max(miss);
        off += u32::from(miss >= error);
        all += 1;
    }
    let share = f64::from(off) / f64::from(all);
    assert!(
        share <= chance_of_error(error),
        "{off} of {all} are off by {error} or more, the worst by {worst}"
    );
    assert!(chance_of_error(error) < 0.007);
    assert!((chance_of_error(0.0) - 1.0).abs() < 1e-9);
}

const TEXT: &str = "The harbour of Aldmoor was opened on 4 June 1911 and enlarged twice. It has twelve quays with a length of \
    3,450 metres, and handles 4.2 million tonnes a year, most of it grain and timber. The lock at the mouth of the \
    river is 190 metres long and keeps the basin at the level of high water. Ships of up to 9.5 metres draught can come \
    in at any tide, larger ones wait in the outer roads. About 640 people work in the port, 210 of them for the pilots \
    and the tugs. A railway joins the quays to the line along the coast. The town owns the land; the quays are let to \
    five companies for thirty years at a time. In winter the basin freezes in one year out of four, and two icebreakers \
    keep the way to the sea open.";

#[test]
fn the_same_page_under_another_address_is_one() {
    let there =
        format!("Home\nAbout us\nContact\nLogin\nSearch\nPrivacy\n\n{TEXT}\n\nLast updated: 3 May 2025");
    let mirror = format!(
        "Skip to main content\n\n{}\n\nRetrieved on 12 June 2025\nShare | Print | Subscribe",
        TEXT.replace("  ", " ")
    );
    let shouted = TEXT.replace("harbour", "HARBOUR");
    for other in [&there, &mirror, &shouted] {
        assert!(sketch(TEXT).is_near(&sketch(other)), "{other}: {}", resemblance(TEXT, other));
    }
    assert_eq!(sketch(TEXT), sketch(&there), "navigation and the date of the page are no part of it");
}

#[test]
fn pages_on_one_subject_with_other_figures_are_two() {
    let other = TEXT
        .replace("3,450", "3,610")
        .replace("4.2 million", "5.1 million")
        .replace("640 people", "702 people")
        .replace("210", "233")
        .replace("9.5 metres", "10 metres")
        .replace("twelve", "thirteen");
    assert!(!sketch(TEXT).is_near(&sketch(&other)), "{}", resemblance(TEXT, &other));
    let own_words = "Aldmoor's port opened in 1911. Twelve quays, 3,450 metres in all, take 4.2 million tonnes of goods, above all \
        grain and wood. 640 people have work there.";
    assert!(sketch(TEXT).resemblance(&sketch(own_words)) < 0.15);
}

#[test]
fn a_sketch_is_written_and_read() {
    let written = sketch(TEXT).to_hex();
    assert_eq!(written.len(), 256);
    assert_eq!(Sketch::from_hex(&written), Some(sketch(TEXT)));
    for wrong in ["", "12", &written[1..], &written.replace(&written[..1], "+")] {
        assert_eq!(Sketch::from_hex(wrong), None, "{wrong}");
    }
    assert_eq!(Sketch::of(["", "---", "Home | About"]), None);
    assert!(Sketch::of(["two words"]).is_some());
}

/// Words times figures would be a billion comparisons and more.
#[test]
fn a_page_of_one_line_is_sketched() {
    assert!(Sketch::of(["12 words of 2024 ".repeat(20_000).as_str()]).is_some());
}
