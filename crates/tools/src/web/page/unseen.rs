//! What a reader of a page does not see, though it is there for a program to read: a way to tell a model something
//! behind its user's back.

use crate::extract::hidden;

use super::elements::Element;

/// Whether an element is not shown, as far as it says so itself. Style sheets are not read: what only they hide stays,
/// as it does for a page with tabs or folded parts, which are content.
pub fn is_unseen(element: &Element<'_>) -> bool {
    if matches!(element.name(), b"html" | b"body" | b"head") {
        return false;
    }
    hidden::is_hidden(element.tag)
        || element.attribute(b"aria-hidden") == "true"
        || is_styled_away(&element.attribute(b"style"))
}

/// Whether a style leaves nothing to see: no size, no contrast, or far outside of the page.
fn is_styled_away(style: &str) -> bool {
    let style: String = style.chars().filter(|char| !char.is_whitespace()).collect();
    let (mut color, mut background) = (None, None);
    let (mut is_small, mut is_cut) = (false, false);
    for rule in style.split(';') {
        let Some((name, value)) = rule.split_once(':') else { continue };
        let value = value.strip_suffix("!important").unwrap_or(value);
        match name {
            "opacity" | "font-size" | "max-height" | "line-height" if is_zero(value) => return true,
            "height" | "width" if is_zero(value) || value == "1px" => is_small = true,
            "overflow" if matches!(value, "hidden" | "clip") => is_cut = true,
            "left" | "right" | "top" | "text-indent" | "margin-left" if is_far_away(value) => return true,
            "clip" | "clip-path"
                if matches!(value, "rect(0,0,0,0)" | "rect(0000)" | "inset(50%)" | "inset(100%)") =>
            {
                return true;
            }
            "color" if value == "transparent" => return true,
            "color" => color = Some(plain_color(value)),
            "background" | "background-color" => background = Some(plain_color(value)),
            _ => {}
        }
    }
    (is_small && is_cut) || (color.is_some() && color == background)
}

fn is_zero(value: &str) -> bool {
    let number = value.trim_end_matches(|char: char| char.is_ascii_alphabetic() || char == '%');
    number.parse::<f64>().is_ok_and(|number| number.abs() < 0.02)
}

fn is_far_away(value: &str) -> bool {
    let number = value.trim_end_matches(|char: char| char.is_ascii_alphabetic() || char == '%');
    number.parse::<f64>().is_ok_and(|number| number <= -900.0)
}

/// A colour in one spelling, for those that pages of white and black use.
fn plain_color(value: &str) -> &str {
    match value {
        "#fff" | "#ffffff" | "#ffff" | "#ffffffff" | "rgb(255,255,255)" => "white",
        "#000" | "#000000" | "rgb(0,0,0)" => "black",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_that_hide_are_told_from_those_that_do_not() {
        for (style, is_away) in [
            ("opacity: 0", true),
            ("opacity: 0.9", false),
            ("font-size:0px", true),
            ("font-size: 10px", false),
            ("position:absolute; left:-9999px", true),
            ("text-indent:-9999px !important", true),
            ("margin-left:-10px", false),
            ("color: #FFF; background-color: white", true),
            ("color: white; background: #000", false),
            ("color: white", false),
            ("color:transparent", true),
            ("width:1px;height:1px;overflow:hidden", true),
            ("height:1px", false),
            ("clip:rect(0,0,0,0)", true),
            ("", false),
            (";:;", false),
        ] {
            assert_eq!(is_styled_away(&style.to_ascii_lowercase()), is_away, "{style}");
        }
    }
}
