//! The secret that lets a browser in.

use std::fmt;
use subtle::ConstantTimeEq;

/// The secret that lets a browser in. It is not shown by `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct AccessToken(String);

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The system gives no random bytes.
    #[error("the system gave no random bytes for the access token: {0}")]
    NoRandomness(getrandom::Error),
    /// The text is too short to be a secret, or holds a character that a cookie may not.
    #[error("an access token has at least {MIN_CHARACTERS} letters and digits (also `-` and `_`), and nothing else")]
    Unfit,
}

const RANDOM_BYTES: usize = 32;
const HEX: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
const MIN_CHARACTERS: usize = 32;

impl AccessToken {
    /// A new one of 32 random bytes.
    pub fn generate() -> Result<Self, TokenError> {
        let mut bytes = [0; RANDOM_BYTES];
        getrandom::fill(&mut bytes).map_err(TokenError::NoRandomness)?;
        let nibbles = bytes.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
        Ok(Self(nibbles.map(|nibble| HEX[usize::from(nibble)]).collect()))
    }

    /// One that was kept.
    pub fn parse(text: &str) -> Result<Self, TokenError> {
        let text = text.trim();
        let fits = text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'));
        if fits && text.len() >= MIN_CHARACTERS { Ok(Self(text.to_owned())) } else { Err(TokenError::Unfit) }
    }

    /// The secret, to be kept or put into a link.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is the secret, in a time that does not tell how much of it is right.
    pub(super) fn matches(&self, candidate: &str) -> bool {
        self.0.as_bytes().ct_eq(candidate.as_bytes()).into()
    }
}

impl fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AccessToken(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_long_random_and_kept_as_they_are() {
        let token = AccessToken::generate().unwrap();
        assert_eq!(token.as_str().len(), 64);
        assert_ne!(token, AccessToken::generate().unwrap());
        assert_eq!(AccessToken::parse(&format!("{}\n", token.as_str())).unwrap(), token);
        assert_eq!(format!("{token:?}"), "AccessToken(…)");
    }

    #[test]
    fn unfit_tokens_are_refused() {
        for text in ["", "short", &"x".repeat(31), &format!("{} ;", "x".repeat(32))] {
            assert!(AccessToken::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn only_the_whole_token_matches() {
        let token = AccessToken::parse(&"a".repeat(40)).unwrap();
        assert!(token.matches(&"a".repeat(40)));
        assert!(!token.matches(&"a".repeat(39)) && !token.matches("") && !token.matches(&"a".repeat(41)));
    }
}
