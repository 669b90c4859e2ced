//! What the pages of the command share: one HTML file that needs no network and can be read without scripts, with
//! figures as SVG.

pub(crate) mod heat;
pub(crate) mod marks;
pub(crate) mod numbers;
pub(crate) mod plot;
pub(crate) mod range;
pub(crate) mod strip;
#[cfg(test)]
pub(crate) mod tests;

/// An entry of a legend: the key, as SVG, and the text that explains the key.
pub(crate) type Entry = (String, String);

/// Returns the whole HTML file of a page with this title and this content, which is HTML.
pub(crate) fn document(title: &str, content: &str) -> String {
    // The content security policy forbids the page to fetch anything, even if a text contains markup.
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<style>\n{}</style>\n</head>\n\
         <body>\n<main>\n{content}</main>\n<script>\n{}</script>\n</body>\n</html>\n",
        escape(title),
        include_str!("page.css"),
        include_str!("page.js")
    )
}

/// Escapes text for HTML and SVG, including attribute values.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() && c != '\n' && c != '\t' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// Returns the summary of a page in a row of cards, each of which has a figure and a text.
pub(crate) fn cards(cards: &[(String, String)]) -> String {
    // A line break is allowed after each slash of a name.
    let card = |(figure, text): &(String, String)| {
        format!("<li><b>{}</b> <span>{}</span></li>\n", escape(figure), escape(text).replace('/', "/<wbr>"))
    };
    format!("<ul class=\"cards\">\n{}</ul>\n", cards.iter().map(card).collect::<String>())
}

/// Returns a section: a heading, an explanation, and the figures, or the text `none` if there are no figures.
pub(crate) fn section(title: &str, text: &str, grid: &str, figures: &[String], none: &str) -> String {
    if figures.is_empty() {
        return format!("<section>\n<h2>{title}</h2>\n<p class=\"none\">{none}</p>\n</section>\n");
    }
    let figures = figures.concat();
    format!("<section>\n<h2>{title}</h2>\n<p>{text}</p>\n<div class=\"{grid}\">\n{figures}</div>\n</section>\n")
}

/// Returns a plot with its title and its legend.
pub(crate) fn figure(title: &str, legend: &[Entry], kind: &str, drawing: &str) -> String {
    let title = escape(title);
    let entries: String = legend.iter().map(|(key, name)| format!("<li>{key}{}</li>", escape(name))).collect();
    format!(
        "<figure>\n<figcaption><h3>{title}</h3><ul class=\"legend{kind}\">{entries}</ul></figcaption>\n{drawing}\n</figure>\n"
    )
}

/// Returns a table whose rows can be sorted, in a box that scrolls where the page is narrow. `heads` are the texts of
/// the columns, of which those with `true` are words and the others numbers; `rows` are rows as HTML. In a table of the
/// class `fit`, words are broken into lines.
pub(crate) fn table(label: &str, class: &str, heads: &[(&str, bool)], rows: &str) -> String {
    let own = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
    let class = |words: bool| if words { " class=\"text\"" } else { "" };
    let head = |&(text, words): &(&str, bool)| format!("<th scope=\"col\"{}>{}</th>", class(words), escape(text));
    format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">\n<table{own}>\n<thead><tr>{}</tr></thead>\n\
         <tbody>\n{rows}</tbody>\n</table>\n</div>\n",
        escape(label),
        heads.iter().map(head).collect::<String>()
    )
}
