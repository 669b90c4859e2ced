//! What holds for every page of the command.

use super::*;
use std::collections::HashSet;

/// Fails unless the tags nest properly, all figures are finite numbers, and the page fetches nothing.
pub(crate) fn check(html: &str) {
    // The contents of the script and of the style are not markup.
    let mut text = String::new();
    let mut rest = html;
    while let Some(at) = ["<style>", "<script>"].iter().filter_map(|tag| rest.find(tag)).min() {
        let end = rest[at..].find("</s").expect("it is closed") + at;
        text.push_str(&rest[..at + rest[at..].find('>').expect("a tag ends") + 1]);
        rest = &rest[end..];
    }
    text.push_str(rest);
    let shown = text.replace("script-src 'unsafe", "");
    for word in ["NaN", "nan\"", "inf\"", ">inf<", "-inf<", "null", "None", "http:", "https:", "url(", "src="] {
        let found = shown.find(word).map(|at| shown[at..].chars().take(80).collect::<String>());
        assert_eq!(found, None, "{word}");
    }
    let mut open = Vec::new();
    for piece in text.split('<').skip(1) {
        let tag = piece.split('>').next().expect("split gives one");
        let name = tag.trim_start_matches('/').split([' ', '/']).next().expect("split gives one");
        assert_eq!(tag.matches('"').count() % 2, 0, "quotes: <{tag}>");
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "</{name}> closes what was not open");
        } else if !tag.ends_with('/') && !["!doctype", "meta", "wbr"].contains(&name) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "left open: {open:?}");
    let mut ids = HashSet::new();
    for id in text.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
        assert!(ids.insert(id), "two elements have the id {id}");
    }
}

/// Returns the red, green and blue of `#rrggbb`, from 0 to 1.
fn channels(color: &str) -> [f64; 3] {
    let channel = |at: usize| u8::from_str_radix(&color[at..at + 2], 16).expect("two hex digits");
    [1, 3, 5].map(|at| f64::from(channel(at)) / 255.0)
}

/// Returns the relative luminance of a color, as WCAG defines it.
fn luminance(color: [f64; 3]) -> f64 {
    let linear = |value: f64| if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) };
    let [red, green, blue] = color.map(linear);
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

#[test]
fn colors_are_legible_in_both_schemes() {
    let css = include_str!("page.css");
    for scheme in css.split(":root {").skip(1).map(|block| block.split('}').next().expect("split gives one")) {
        let color = |name: &str| {
            let at = scheme.find(&format!("--{name}: #")).expect("it is set") + name.len() + 4;
            channels(&scheme[at..at + 7])
        };
        let between = |a: [f64; 3], b: [f64; 3]| {
            let (a, b) = (luminance(a), luminance(b));
            (a.max(b) + 0.05) / (a.min(b) + 0.05)
        };
        let contrast = |a: &str, b: &str| between(color(a), color(b));
        let marks: Vec<String> = (0..8).map(|i| format!("k{i}")).collect();
        let inks = ["fg", "soft", "flag"].into_iter().chain(marks.iter().map(String::as_str));
        for ink in inks {
            for ground in ["bg", "card", "shade"] {
                // The contrast that WCAG AA requires for text of any size.
                assert!(contrast(ink, ground) >= 4.5, "{ink} on {ground}: {:.2}", contrast(ink, ground));
            }
        }
        // The strongest colors of heat maps, as the style sheet mixes them.
        for strong in ["k0", "k1"] {
            let (strong, bg, share) = (color(strong), color("bg"), heat::STRONGEST / 100.0);
            let mixed = [0, 1, 2].map(|i| share * strong[i] + (1.0 - share) * bg[i]);
            assert!(between(color("fg"), mixed) >= 4.5, "on a heat map: {:.2}", between(color("fg"), mixed));
        }
    }
}

#[test]
fn text_is_escaped() {
    assert_eq!(escape("a<&\">'\u{0}"), "a&lt;&amp;&quot;&gt;&#39;\u{fffd}");
}
