//! Shell wrappers: `bash -lc "cargo test"` is shown as `cargo test` (docs/spec/fold.md, section 6).

use crate::fold::text::is_blank;
use std::borrow::Cow;

/// The command inside a shell wrapper: a shell, `-c` or `-lc`, and one last word, as an array's items, with the last
/// ones in `args`, or all in one string with the last word in quotes.
pub(super) fn command_inside<'c>(words: &[&'c str], args: &[&'c str]) -> Option<Cow<'c, str>> {
    let all = [words, args].concat();
    if let [shell, flag, inner] = all[..]
        && is_shell(shell.trim())
        && is_flag(flag)
    {
        return Some(Cow::Borrowed(inner));
    }
    match (words, args) {
        ([line], []) => quoted_in(line),
        ([line], [inner]) => {
            // `bash -lc` in the string, its command in `args`.
            let (shell, flag) = line.trim().split_once(char::is_whitespace)?;
            (is_shell(shell) && is_flag(flag)).then_some(Cow::Borrowed(*inner))
        }
        _ => None,
    }
}

fn is_shell(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    matches!(name, "sh" | "bash" | "zsh")
}

fn is_flag(word: &str) -> bool {
    matches!(word.trim(), "-c" | "-lc")
}

/// The quoted last word of a wrapper in one string.
fn quoted_in(line: &str) -> Option<Cow<'_, str>> {
    let (shell, rest) = line.trim().split_once(char::is_whitespace)?;
    let (flag, word) = rest.trim_start().split_once(char::is_whitespace)?;
    if !is_shell(shell) || !is_flag(flag) {
        return None;
    }
    let inner = unquoted(word.trim_start())?;
    (!is_blank(&inner)).then_some(inner)
}

/// What stands between quotes, where the whole of `word` is one quoted word.
fn unquoted(word: &str) -> Option<Cow<'_, str>> {
    if let Some(rest) = word.strip_prefix('\'') {
        let inner = rest.strip_suffix('\'')?;
        return (!inner.contains('\'')).then_some(Cow::Borrowed(inner));
    }
    let mut inner = String::with_capacity(word.len());
    let mut chars = word.strip_prefix('"')?.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => return chars.as_str().is_empty().then_some(Cow::Owned(inner)),
            '\\' => match chars.next()? {
                escaped @ ('"' | '\\' | '$' | '`') => inner.push(escaped),
                other => inner.extend(['\\', other]),
            },
            other => inner.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inside(words: &[&str], args: &[&str]) -> Option<String> {
        command_inside(words, args).map(Cow::into_owned)
    }

    /// Rule: fold 6.6
    #[test]
    fn a_wrapper_may_be_spread_over_command_and_args() {
        for (words, args) in [
            (&["bash", "-lc", "ls"][..], &[][..]),
            (&["/usr/bin/env x/bash", "-c", "ls"], &[]),
            (&["bash", "-lc"], &["ls"]),
            (&["sh"], &["-c", "ls"]),
            (&["bash -lc"], &["ls"]),
            (&["  zsh  -c  'ls' "], &[]),
        ] {
            assert_eq!(inside(words, args).as_deref(), Some("ls"), "{words:?} {args:?}");
        }
    }

    /// Rule: fold 6.6
    #[test]
    fn what_has_more_or_less_than_one_last_word_is_no_wrapper() {
        for (words, args) in [
            (&["bash", "-lc", "ls", "x"][..], &[][..]),
            (&["bash", "-lc"], &[]),
            (&["bash -lc ls"], &[]),
            (&["bash -lc 'a' 'b'"], &[]),
            (&["bash -lc \"a\\\""], &[]),
            (&["bash -lc \"a\\"], &[]),
            (&["bash -lc '"], &[]),
            (&["bash -lc \" \""], &[]),
            (&["fish -c 'ls'"], &[]),
            (&["bash -lc 'a'"], &["b"]),
            (&["bash -x 'a'"], &[]),
        ] {
            assert_eq!(inside(words, args), None, "{words:?} {args:?}");
        }
    }

    /// Rule: fold 6.6
    #[test]
    fn double_quotes_free_what_a_shell_escapes_there_and_single_ones_nothing() {
        assert_eq!(inside(&[r#"bash -c "a \"b\" \$c \`d\` \\ \n""#], &[]).as_deref(), Some(r#"a "b" $c `d` \ \n"#));
        assert_eq!(inside(&[r"bash -c 'a \$b'"], &[]).as_deref(), Some(r"a \$b"));
    }
}
