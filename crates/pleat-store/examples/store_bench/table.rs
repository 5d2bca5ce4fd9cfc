//! Aim and measured, side by side.

/// What a figure should be.
#[derive(Clone, Copy)]
pub(crate) enum Aim {
    AtMost(f64),
    AtLeast(f64),
}

/// Prints the table's head.
pub(crate) fn head() {
    line("figure", "aim", "measured", "");
}

/// Prints a figure with its aim.
pub(crate) fn figure(name: &str, aim: Aim, measured: f64, unit: &str) {
    let (aim, is_met) = match aim {
        Aim::AtMost(most) => (format!("at most {most} {unit}"), measured <= most),
        Aim::AtLeast(least) => (format!("at least {least} {unit}"), measured >= least),
    };
    line(name, &aim, &format!("{measured:.2} {unit}"), if is_met { "met" } else { "missed" });
}

/// Prints what a figure is seen against.
pub(crate) fn beside(name: &str, measured: f64, unit: &str) {
    line(name, "-", &format!("{measured:.2} {unit}"), "");
}

fn line(name: &str, aim: &str, measured: &str, verdict: &str) {
    println!("{}", format!("{name:<58}  {aim:>20}  {measured:>20}  {verdict}").trim_end());
}
