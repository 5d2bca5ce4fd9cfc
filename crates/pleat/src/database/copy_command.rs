//! `pleat db copy`: all of one database into another.

use super::progress::ProgressLine;
use super::{parse, with_existing_store};
use crate::documents::print;
use crate::failure::Failure;
use pleat_store::maintenance::CopyReport;

/// So much of a hash tells two apart for a reader.
const DIGITS: usize = 16;

/// Copies, compares, and prints the comparison.
pub(super) fn copy(from: &str, to: &str) -> Result<(), Failure> {
    let (from, to) = (parse(from)?, parse(to)?);
    let report = with_existing_store(&from, async |source| {
        let mut line = ProgressLine::new();
        Ok(source.copy_to(&to, &mut |progress| line.show(progress)).await?)
    })?;
    print(&table(&report))?;
    if report.is_exact() {
        return print(&format!("`{}` holds what `{}` does", to.name(), from.name()));
    }
    Err(Failure::unsound(format!(
        "`{}` differs from `{}`; remove what is there and copy again while nothing else writes to it",
        to.name(),
        from.name()
    )))
}

fn table(report: &CopyReport) -> String {
    let mut lines =
        vec![format!("{:<14} {:>10} {:>10}  {:<DIGITS$}  {:<DIGITS$}", "table", "rows", "copied", "sha-256", "copied")];
    for table in &report.tables {
        let (source, copied) = (&table.source, &table.destination);
        let sign = if table.is_same() { "" } else { "  DIFFERS" };
        lines.push(format!(
            "{:<14} {:>10} {:>10}  {:.DIGITS$}  {:.DIGITS$}{sign}",
            table.name, source.rows, copied.rows, source.sha256, copied.sha256
        ));
    }
    lines.join("\n")
}
