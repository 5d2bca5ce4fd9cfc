//! Reading a script: its blocks, and what decides which of them is played.

use super::commands::{self, Arguments};
use super::cursor::Cursor;
use super::error::ScriptError;
use super::player::BUILT_IN;
use super::script::{Action, Block, Condition, Extent, Hearing, Statement};
use super::template::Template;
use std::time::Duration;

/// What a loop calls the number of its round, from 0.
pub(crate) const ROUND: &str = "i";

/// Reads a script through without playing it.
pub fn check(script: &str) -> Result<(), ScriptError> {
    parse(script).map(|_| ())
}

/// Nothing of a script is played before all of it was read.
pub(crate) fn parse(script: &str) -> Result<Block, ScriptError> {
    let mut parser = Parser { cursor: Cursor::new(script), known: BUILT_IN.map(str::to_owned).to_vec() };
    let statements = parser.statements()?;
    if !parser.cursor.is_at_end() {
        return Err(parser.cursor.error("a `}` closes nothing"));
    }
    Ok(statements)
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    /// The variables that stand before the cursor, in whichever block.
    known: Vec<String>,
}

impl Parser<'_> {
    /// Up to the end, or to the `}` of a block.
    fn statements(&mut self) -> Result<Block, ScriptError> {
        let mut statements = Vec::new();
        loop {
            self.cursor.skip_separators();
            if self.cursor.is_at_end_of_statement() {
                return Ok(statements.into());
            }
            self.statement(&mut statements)?;
            if !self.cursor.is_at_end_of_statement() {
                return Err(self.cursor.error("a statement begins in a new line or after `;`"));
            }
        }
    }

    fn statement(&mut self, statements: &mut Vec<Statement>) -> Result<(), ScriptError> {
        let line = self.cursor.line();
        let mut push = |action| statements.push(Statement { line, action });
        match self.cursor.word() {
            "repeat" => push(self.repeat()?),
            "every" => push(self.every()?),
            "background" => push(Action::Background(self.block()?)),
            "if" => push(self.condition()?),
            command => {
                let arguments = self.arguments(line)?;
                commands::actions(command, arguments, &mut self.known)?.into_iter().for_each(push);
            }
        }
        Ok(())
    }

    fn block(&mut self) -> Result<Block, ScriptError> {
        if !self.cursor.take('{') {
            return Err(self.cursor.error("a block is missing: `{ … }`"));
        }
        let line = self.cursor.line();
        let statements = self.statements()?;
        if !self.cursor.take('}') {
            return Err(ScriptError::new(line, "a block that begins here is not closed by `}`"));
        }
        Ok(statements)
    }

    /// A block that knows the number of its round.
    fn round(&mut self) -> Result<Block, ScriptError> {
        let at = self.known.len();
        self.known.push(ROUND.to_owned());
        let block = self.block()?;
        self.known.remove(at);
        Ok(block)
    }

    fn repeat(&mut self) -> Result<Action, ScriptError> {
        let endless = self.cursor.comes('{');
        let times = if endless { None } else { Some(self.value()?) };
        Ok(Action::Repeat { times, block: self.round()? })
    }

    fn every(&mut self) -> Result<Action, ScriptError> {
        let period = self.duration()?;
        if period.is_zero() {
            return Err(self.cursor.error("a clock does not tick every 0 ms"));
        }
        let extent = if self.cursor.take_word("for") {
            let ticks = self.duration()?.as_nanos() / period.as_nanos();
            Extent::Ticks(u64::try_from(ticks).map_err(|_| self.cursor.error("that is too long"))?)
        } else if self.cursor.take_word("until") {
            let method = Some(self.value()?);
            let name = if self.cursor.take_word("as") { Some(self.new_name()?) } else { None };
            self.known.extend(name.clone());
            Extent::Until(Hearing { method, session: None, name })
        } else {
            Extent::Endless
        };
        Ok(Action::Every { period, extent, block: self.round()? })
    }

    fn condition(&mut self) -> Result<Action, ScriptError> {
        let left = self.value()?;
        let equal = match self.cursor.word() {
            "==" => true,
            "!=" => false,
            _ => return Err(self.cursor.error("`==` or `!=` is missing between two values")),
        };
        let condition = Condition { left, right: self.value()?, equal };
        let then = self.block()?;
        let otherwise = if self.cursor.take_word("else") { self.otherwise()? } else { Block::default() };
        Ok(Action::If { condition, then, otherwise })
    }

    fn otherwise(&mut self) -> Result<Block, ScriptError> {
        let line = self.cursor.line();
        if self.cursor.take_word("if") {
            return Ok(Block::from([Statement { line, action: self.condition()? }]));
        }
        self.block()
    }

    fn duration(&mut self) -> Result<Duration, ScriptError> {
        let line = self.cursor.line();
        commands::duration(&self.value()?, line)
    }

    /// Everything up to the end of the statement.
    fn arguments(&mut self, line: usize) -> Result<Arguments, ScriptError> {
        let mut arguments = Arguments::new(line);
        while !self.cursor.is_at_end_of_statement() {
            if self.cursor.take_word("as") {
                arguments.name = Some(self.new_name()?);
            } else if let Some(key) = self.cursor.key() {
                let value = self.value()?;
                arguments.fields.push((key.to_owned(), value));
            } else {
                let value = self.value()?;
                arguments.positional.push_back(value);
            }
        }
        // Only what follows the statement can speak of it.
        self.known.extend(arguments.name.clone());
        Ok(arguments)
    }

    fn new_name(&mut self) -> Result<String, ScriptError> {
        let name = self.cursor.word();
        commands::new_name(name, self.cursor.line())
    }

    /// A value whose variables are known.
    fn value(&mut self) -> Result<Template, ScriptError> {
        let line = self.cursor.line();
        let value = self.cursor.value()?;
        match value.references().into_iter().find(|reference| !self.known.contains(&reference.name)) {
            Some(unknown) => Err(ScriptError::new(line, format!("nothing before it is called `{}`", unknown.name))),
            None => Ok(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of the statements of a block.
    fn lines(block: &Block) -> Vec<usize> {
        block.iter().map(|statement| statement.line).collect()
    }

    #[test]
    fn statements_know_their_lines() {
        let block =
            parse("# first\nopen_session; hear as x\n\nrepeat 2 { text a; text [\n1]\ntext c }\nlisten").unwrap();
        // `open_session` is two.
        assert_eq!(lines(&block), [2, 2, 2, 4, 7]);
        let Action::Repeat { block, .. } = &block[3].action else { panic!("{block:?}") };
        assert_eq!(lines(block), [4, 4, 6]);
    }

    #[test]
    fn clocks_and_conditions() {
        let block = parse("every 20ms for 30s { text $i }\nevery 1s until session/cancel as c {}\nevery 5ms {}");
        let block = block.unwrap();
        let extents = block.iter().map(|statement| {
            let Action::Every { extent, .. } = &statement.action else { panic!("{statement:?}") };
            extent
        });
        let [ticks, until, endless] = extents.collect::<Vec<_>>()[..] else { panic!("{block:?}") };
        assert_eq!((ticks, endless), (&Extent::Ticks(1500), &Extent::Endless));
        assert!(matches!(until, Extent::Until(Hearing { name: Some(name), .. }) if name == "c"), "{until:?}");

        let block = parse("if $RUN == 1 { exit 1 } else if $RUN != 2 { exit 2 } else { exit 3 }").unwrap();
        let Action::If { otherwise, .. } = &block[0].action else { panic!("{block:?}") };
        assert!(matches!(&otherwise[0].action, Action::If { otherwise, .. } if otherwise.len() == 1), "{block:?}");
    }

    #[test]
    fn what_is_wrong_is_found_in_its_line() {
        for (script, line, message) in [
            ("listen\n}", 2, "closes nothing"),
            ("listen\nrepeat 2 {\nlisten", 2, "not closed"),
            ("repeat 2\nlisten", 1, "a block is missing"),
            ("repeat {} listen", 1, "in a new line"),
            ("if 1 = 1 {}", 1, "`==` or `!=`"),
            ("if 1 == {", 1, "no JSON"),
            ("every 0ms {}", 1, "every 0 ms"),
            ("every soon {}", 1, "a duration is missing"),
            ("listen\n\nrepeat 1 {\n  hum\n}", 4, "`hum`"),
            ("say {\"a\": 1,\n\"b\": $SESSION}", 2, "no JSON"),
            ("repeat 2 { text $i }\ntext $i", 2, "`i`"),
        ] {
            let error = check(script).unwrap_err();
            assert!(error.line == line && error.message.contains(message), "{script}: {error}");
        }
    }
}
