//! Where characters begin.

/// Whether a byte of UTF-8 goes on with a character that bytes before it began.
pub(crate) fn is_inside_a_character(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}
