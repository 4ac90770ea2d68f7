use super::*;

fn canonical(text: &str) -> Vec<String> {
    find(text).iter().map(Figure::canonical).collect()
}

#[test]
fn one_number_whatever_its_form() {
    for text in ["3,449,444", "3449444", "3\u{a0}449\u{a0}444", "3.449.444", "3'449'444", "3.449444 million"]
    {
        assert_eq!(canonical(text), ["3449444"], "{text}");
    }
    assert_eq!(canonical("1.774 million MONTEVIDEO"), ["1774000"]);
    assert_eq!(canonical("1.234,5 and 1,234.50 and 3,4"), ["1234.5", "1234.5", "3.4"]);
    assert_eq!(canonical("$31,900; US$31,900; USD 31,900; 31,900 dollars"), ["$31900"; 4]);
    assert_eq!(canonical("$31.9bn, $31.9 billion, $31.9B"), ["$31900000000"; 3]);
    assert_eq!(canonical("12%, 12 %, 12 percent, 12.0 per cent"), ["12%"; 4]);
    assert_eq!(canonical("-0.06% and −2"), ["-0.06%", "-2"]);
}

#[test]
fn dates_in_any_order() {
    for text in [
        "25 August 1825",
        "August 25, 1825",
        "1825-08-25",
        "25 Aug. 1825",
        "25th August 1825",
        "Aug 25th, 1825",
    ] {
        assert_eq!(canonical(text), ["1825-08-25"], "{text}");
    }
    assert_eq!(canonical("March 2024; 14 March; March 14"), ["2024-03", "--03-14", "--03-14"]);
    assert_eq!(canonical("2025-13-45"), ["2025", "13", "45"]);
    assert_eq!(
        find("in 25 August 1825, yes")[0],
        Figure { at: 3, len: 14, amount: Amount::Date { year: Some(1825), month: 8, day: Some(25) } }
    );
}

#[test]
fn digits_in_names_are_no_figures() {
    for text in ["COVID-19", "G20", "4x4", "1.2.3", "k7f2qa-14", "h264", ""] {
        assert_eq!(canonical(text), [""; 0], "{text}");
    }
    assert_eq!(canonical("5km of 2nd road, the 1990s"), ["5", "2", "1990"]);
}

#[test]
fn ranges_share_their_unit() {
    assert_eq!(canonical("10-12%"), ["10%", "12%"]);
    assert_eq!(canonical("$10–12"), ["$10", "$12"]);
    assert_eq!(canonical("2020-25 est."), ["2020", "25"]);
    assert_eq!(canonical("33 00 S"), ["33", "0"]);
}

#[test]
fn years_are_bare_numbers_of_four_digits() {
    assert_eq!(latest_year("total: 3,449 (2023 est.), 2025"), Some(2025));
    assert_eq!(latest_year("2,025 km; $2025; 2025%"), None);
    assert_eq!(latest_year("25 August 1825"), Some(1825));
}

#[test]
fn a_source_bears_a_figure_out() {
    let borne = |mine: &str, theirs: &str| find(mine)[0].is_borne_out_by(&find(theirs)[0]);
    assert!(borne("3.4 million", "3,400,000"));
    assert!(borne("fell 0.06%", "-0.06%"));
    assert!(borne("1825", "25 August 1825"));
    assert!(borne("August 1825", "25 August 1825"));
    assert!(borne("$12", "12"));
    assert!(!borne("12", "12%"));
    assert!(!borne("12%", "$12"));
    assert!(!borne("25 August 1825", "26 August 1825"));
    assert!(!borne("3.4 million", "3,449,444"));
}

#[test]
fn rounding_is_recognised() {
    let rounded = |mine: &str, theirs: &str| find(mine)[0].is_rounded_from(&find(theirs)[0]);
    assert!(rounded("3.4 million", "3,449,444"));
    assert!(rounded("3.5 million", "3,449,444"));
    assert!(rounded("3,400,000", "3,449,444"));
    assert!(!rounded("3.6 million", "3,449,444"));
    assert!(!rounded("10", "19"));
    assert!(!rounded("0", "0.4"));
}

#[test]
fn numbers_in_words() {
    let words = |text: &str| spelled(text).iter().map(Figure::canonical).collect::<Vec<_>>();
    assert_eq!(
        words("twelve ports, twenty-five lakes and two hundred thousand people"),
        ["12", "25", "200000"]
    );
    assert_eq!(words("one two three"), ["1", "2", "3"]);
    assert_eq!(words("three hundred five, one million two thousand"), ["305", "1002000"]);
    assert_eq!(words("nobody; often; hundred"), [""; 0]);
}

#[test]
fn no_text_breaks_it() {
    for text in [
        "9".repeat(5000),
        "1,".repeat(3000),
        "$".repeat(50),
        "١٢٣ 4é5 6\u{301}".to_owned(),
        "1 million million".into(),
    ] {
        let _ = (find(&text), spelled(&text));
    }
}
