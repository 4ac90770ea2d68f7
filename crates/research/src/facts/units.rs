//! Units of measure behind figures, in one form each.

use super::tokens::Token;

/// Ways to write a unit, in lower case, and its one form.
const UNITS: &[(&[&str], &str)] = &[
    (&["km", "kilometer", "kilometers", "kilometre", "kilometres"], "km"),
    (&["cm", "centimeter", "centimeters", "centimetre", "centimetres"], "cm"),
    (&["mm", "millimeter", "millimeters", "millimetre", "millimetres"], "mm"),
    (&["m", "meter", "meters", "metre", "metres"], "m"),
    (&["mi", "mile", "miles"], "mi"),
    (&["ft", "foot", "feet"], "ft"),
    (&["kg", "kilogram", "kilograms", "kilogramme", "kilogrammes"], "kg"),
    (&["g", "gram", "grams", "gramme", "grammes"], "g"),
    (&["t", "tonne", "tonnes"], "t"),
    (&["ha", "hectare", "hectares"], "ha"),
    (&["l", "liter", "liters", "litre", "litres"], "l"),
    (&["h", "hr", "hrs", "hour", "hours"], "h"),
    (&["min", "mins", "minute", "minutes"], "min"),
    (&["yr", "yrs", "year", "years"], "year"),
    (&["kw", "kilowatt", "kilowatts"], "kW"),
    (&["megawatt", "megawatts"], "MW"),
    (&["gw", "gigawatt", "gigawatts"], "GW"),
    (&["km2", "km²"], "km²"),
    (&["mi2", "mi²"], "mi²"),
    (&["m2", "m²"], "m²"),
    (&["m3", "m³"], "m³"),
];

/// Lengths whose squares and cubes are written in words.
const LENGTHS: &[&str] = &["km", "cm", "mm", "m", "mi", "ft"];

/// Units, in lower case, that are others in other letters: `mW` and `MW`, `Mb` and `MB`, `T` and `t`.
const CASED: &[&str] = &[
    "gb", "gbps", "kb", "kbps", "ma", "mb", "mbar", "mbps", "mev", "mg", "mhz", "mj", "ml", "mm", "mmol",
    "mn", "mol", "mpa", "mpg", "ms", "mt", "mv", "mw", "mwh", "pa", "pb", "ps", "tb", "tbps",
];

/// The tokens with their units in one form.
pub(super) fn with_units(tokens: Vec<Token>) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let rest = tokens.get(at..).unwrap_or_default();
        let is_measure = matches!(out.last(), Some(Token::Figure { .. }));
        let (units, used) = if is_measure { measure(rest) } else { power(rest) };
        at += used.max(1);
        if units.is_empty() {
            out.push(token.clone());
        }
        out.extend(units);
    }
    out
}

/// The unit that stands behind a figure (`km`, `sq km`, `km/h`, `kilometres per hour`), and of how many tokens.
fn measure(rest: &[Token]) -> (Vec<Token>, usize) {
    let unit = |text: &str| Token::Unit(text.to_owned());
    let per_hour = |length: &str| (vec![unit(length), Token::Sign('/'), unit("h")], 1);
    match rest.first().map(Token::word) {
        Some("kph" | "kmh") => return per_hour("km"),
        Some("mph") => return per_hour("mi"),
        _ => {}
    }
    let (mut units, mut used) = single(rest);
    let is_per = rest.get(used).is_some_and(|token| *token == Token::Sign('/') || token.word() == "per");
    if !units.is_empty() && is_per {
        let (below, more) = single(rest.get(used + 1..).unwrap_or_default());
        if !below.is_empty() {
            units.push(Token::Sign('/'));
            units.extend(below);
            used += 1 + more;
        }
    }
    (units, used)
}

fn single(rest: &[Token]) -> (Vec<Token>, usize) {
    let (units, used) = power(rest);
    if used > 0 {
        return (units, used);
    }
    let two = [rest.first(), rest.get(1)].map(|token| token.map_or("", Token::word));
    let unit = |text: &str, used: usize| (vec![Token::Unit(text.to_owned())], used);
    match (rest.first(), two) {
        (_, ["metric", "ton" | "tons"]) => unit("t", 2),
        (Some(Token::Sign('°')), [_, "c"]) | (_, ["degree" | "degrees", "celsius" | "c"]) => unit("°C", 2),
        (Some(Token::Sign('°')), [_, "f"]) | (_, ["degree" | "degrees", "fahrenheit" | "f"]) => {
            unit("°F", 2)
        }
        (Some(Token::Sign('°')), _) | (_, ["degree" | "degrees", _]) => unit("°", 1),
        (Some(Token::Word { raw, low }), _) => match of_word(raw, low) {
            Some(text) => unit(&text, 1),
            None => (Vec::new(), 0),
        },
        _ => (Vec::new(), 0),
    }
}

/// A unit of one word; one that is another in other letters as it is written.
fn of_word(raw: &str, low: &str) -> Option<String> {
    let is_letter = raw.chars().count() == 1 && low != "l";
    let is_written_so = is_letter || CASED.contains(&low);
    if is_written_so && raw != low {
        return Some(raw.to_owned());
    }
    let named = UNITS.iter().find(|(forms, _)| forms.contains(&low)).map(|(_, unit)| (*unit).to_owned());
    named.or_else(|| CASED.contains(&low).then(|| low.to_owned()))
}

/// A square or cubic length in words: it is the same wherever it stands.
fn power(rest: &[Token]) -> (Vec<Token>, usize) {
    let mark = match rest.first().map(Token::word) {
        Some("sq" | "square") => '²',
        Some("cu" | "cubic") => '³',
        _ => return (Vec::new(), 0),
    };
    let low = rest.get(1).map_or("", Token::word);
    let named = UNITS.iter().find(|(forms, unit)| forms.contains(&low) && LENGTHS.contains(unit));
    named.map_or((Vec::new(), 0), |(_, unit)| (vec![Token::Unit(format!("{unit}{mark}"))], 2))
}
