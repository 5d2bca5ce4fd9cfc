//! What the head of a session's page tells quietly: its agent with mode and model, its directory, how full the agent's
//! context is and what the last turn used. The gauge and the usage are apart and never added up (docs/cases.md, B57).

use super::block::Block;
use super::transcript::Transcript;
use maud::{Markup, html};
use pleat_host::{ConfigValue, Selection, SessionOffers};
use pleat_transcript::session::ContextGauge;
use serde_json::Value;

/// The lines of facts.
pub(super) fn facts(page: &Transcript<'_>) -> Vec<Block> {
    let who = who(page).into_string();
    let used = used(page).map(|html| Block::leaf("p", "head/used", html.into_string()).class("facts used"));
    std::iter::once(Block::leaf("p", "head/facts", who).class("facts")).chain(used).collect()
}

fn who(page: &Transcript<'_>) -> Markup {
    let session = page.session;
    let offers = &page.live.offers;
    html! {
        @if let Some(agent) = page.agent_title.or(session.agent.as_deref()) { span { (agent) } }
        @if let Some(model) = current(offers, offers.models.as_ref(), "model") { span { "Model: " (model) } }
        @if let Some(mode) = current(offers, offers.modes.as_ref(), "mode") { span { "Mode: " (mode) } }
        @if let Some(root) = &session.root { span.path { (root) } }
    }
}

/// The name of what is current: as the agent tells it outside its options, else among them.
fn current<'o>(offers: &'o SessionOffers, told: Option<&'o Selection>, category: &str) -> Option<&'o str> {
    told.or_else(|| {
        let option = offers.options.iter().find(|option| option.category.as_deref() == Some(category))?;
        match &option.value {
            ConfigValue::Select(selection) => Some(selection),
            ConfigValue::Boolean(_) => None,
        }
    })
    .map(name_of_current)
}

fn name_of_current(selection: &Selection) -> &str {
    let choice = selection.choices.iter().find(|choice| choice.id == selection.current);
    choice.map_or(&selection.current, |choice| &choice.name)
}

fn used(page: &Transcript<'_>) -> Option<Markup> {
    let context = page.session.context.map(context_words);
    let turn = page.session.turns.last().and_then(|turn| usage_words(turn.usage.as_ref()?));
    (context.is_some() || turn.is_some()).then(|| {
        html! {
            @if let Some(words) = context { span { (words) } }
            @if let Some(words) = turn { span { "Last turn: " (words) } }
        }
    })
}

/// `43 % of the context used: 218,000 of 512,000`
fn context_words(gauge: ContextGauge) -> String {
    let ContextGauge { used, size } = gauge;
    let percent = (u128::from(used) * 100 + u128::from(size) / 2).checked_div(u128::from(size));
    match percent {
        Some(percent) => format!("{percent} % of the context used: {} of {}", grouped(used), grouped(size)),
        None => format!("{} tokens in the context", grouped(used)),
    }
}

/// `2,000,000 tokens (1,900,000 in, 1,500,000 from the cache)`: what the agent tells, nothing added up. Agents differ on
/// whether what came from a cache is part of what went in.
fn usage_words(usage: &Value) -> Option<String> {
    let count = |name: &str, word: &str| usage.get(name)?.as_u64().map(|count| format!("{} {word}", grouped(count)));
    let total = count("totalTokens", "tokens");
    let parts = [
        ("inputTokens", "in"),
        ("outputTokens", "out"),
        ("thoughtTokens", "of thought"),
        ("cachedReadTokens", "from the cache"),
        ("cachedWriteTokens", "into the cache"),
    ];
    let parts: Vec<_> = parts.into_iter().filter_map(|(name, word)| count(name, word)).collect();
    match (total, parts.is_empty()) {
        (Some(total), true) => Some(total),
        (Some(total), false) => Some(format!("{total} ({})", parts.join(", "))),
        (None, false) => Some(format!("tokens: {}", parts.join(", "))),
        (None, true) => None,
    }
}

/// `1,234,567`
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_gauge_is_what_is_in_the_context_now() {
        for (used, size, words) in [
            (218_000, 512_000, "43 % of the context used: 218,000 of 512,000"),
            (0, 200_000, "0 % of the context used: 0 of 200,000"),
            (1_000, 999, "100 % of the context used: 1,000 of 999"),
            (12, 0, "12 tokens in the context"),
            (u64::MAX, 1, "1844674407370955161500 % of the context used: 18,446,744,073,709,551,615 of 1"),
        ] {
            assert_eq!(context_words(ContextGauge { used, size }), words);
        }
    }

    #[test]
    fn usage_is_told_as_it_came() {
        for (usage, words) in [
            (
                json!({"totalTokens": 2_000_000, "inputTokens": 1_900_000, "cachedReadTokens": 1_500_000}),
                Some("2,000,000 tokens (1,900,000 in, 1,500,000 from the cache)"),
            ),
            (json!({"totalTokens": 999}), Some("999 tokens")),
            (json!({"inputTokens": 1000, "outputTokens": 20}), Some("tokens: 1,000 in, 20 out")),
            (json!({"thoughtTokens": null, "totalTokens": "many"}), None),
            (json!([1]), None),
        ] {
            assert_eq!(usage_words(&usage).as_deref(), words, "{usage}");
        }
    }
}
