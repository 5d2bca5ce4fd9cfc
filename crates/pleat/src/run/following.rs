//! Reading what is new in a session, window by window: the work grows with what changed, not with the session.

use super::face::Face;
use super::page::Page;
use pleat_store::{Store, StoreError};
use pleat_transcript::call::Call;
use pleat_transcript::document::Window;
use pleat_transcript::ids::{MessageId, SessionId};
use pleat_transcript::rows::{CallRow, Children, Round, Row, RowsDocument};
use pleat_transcript::session::Session;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Reads windows of one session.
pub(super) struct Reader {
    store: Arc<dyn Store>,
    session: SessionId,
    /// The turn is over.
    pub(super) is_over: bool,
}

impl Reader {
    pub(super) async fn page(&self, window: Window) -> Result<Page, StoreError> {
        let stored = self.store.excerpt(self.session.clone(), window).await?;
        Ok(Page::new(stored, self.is_over))
    }

    /// A call with its full request.
    pub(super) async fn call(&self, shown: &Call) -> Result<Call, StoreError> {
        let whole = self.store.call(self.session.clone(), shown.id.clone()).await?;
        Ok(whole.unwrap_or_else(|| shown.clone()))
    }
}

/// What the session is at, as it was read last.
pub(super) struct Seen {
    pub(super) session: Session,
    /// The calls that a person is asked about.
    pub(super) questions: Vec<Call>,
    /// What the agent does now, in a label.
    pub(super) at_work: Option<String>,
}

impl Seen {
    fn of(page: Page) -> Self {
        let at_work = at_work(&page.rows);
        Self { session: page.excerpt.document.session, questions: page.questions, at_work }
    }
}

/// Follows one session.
pub(super) struct Following {
    pub(super) reader: Reader,
    /// The first top-level message of the session, and the last one that was read.
    seen: Option<(MessageId, MessageId)>,
}

impl Following {
    pub(super) fn new(store: Arc<dyn Store>, session: SessionId) -> Self {
        Self { reader: Reader { store, session, is_over: false }, seen: None }
    }

    /// Shows the face what is new, and tells what the session is at.
    pub(super) async fn look(&mut self, face: &mut Face) -> Result<Seen, StoreError> {
        if let Some(growing) = face.growing() {
            // Only one text grows on the screen; most signals tell of no more than that.
            let page = self.reader.page(only(&growing)).await?;
            face.show(&page, &self.reader).await?;
            if face.growing().as_ref() == Some(&growing) {
                return Ok(Seen::of(page));
            }
        }
        self.look_at_newest(face).await
    }

    /// Tells what the session is at, and shows nothing.
    pub(super) async fn glance(&self) -> Result<Seen, StoreError> {
        Ok(Seen::of(self.reader.page(Window::Latest).await?))
    }

    /// Shows everything once more, in a turn that is over: what changed behind what was read last is not missed.
    pub(super) async fn look_at_all(&mut self, face: &mut Face) -> Result<Seen, StoreError> {
        self.reader.is_over = true;
        if let Some(growing) = face.growing() {
            let page = self.reader.page(only(&growing)).await?;
            face.show(&page, &self.reader).await?;
        }
        if let Some((first, last)) = &mut self.seen {
            last.clone_from(first);
        }
        self.look_at_newest(face).await
    }

    async fn look_at_newest(&mut self, face: &mut Face) -> Result<Seen, StoreError> {
        let Some((first, mut last)) = self.begin().await? else {
            return self.glance().await;
        };
        let mut shown = BTreeSet::new();
        let newest = loop {
            let page = self.reader.page(Window::Later(last.clone())).await?;
            face.show(&page, &self.reader).await?;
            shown.extend(page.top_level().into_iter().cloned());
            if let Some(message) = &page.rows.window.last {
                last.clone_from(message);
            }
            if !page.rows.window.later {
                break page;
            }
        };
        self.seen = Some((first, last));
        for message in face.unfinished().difference(&shown) {
            let page = self.reader.page(only(message)).await?;
            face.show(&page, &self.reader).await?;
        }
        Ok(Seen::of(newest))
    }

    /// Where the session begins and where to read on; `None`: it has no message yet.
    async fn begin(&self) -> Result<Option<(MessageId, MessageId)>, StoreError> {
        if let Some(seen) = &self.seen {
            return Ok(Some(seen.clone()));
        }
        let mut bounds = self.reader.page(Window::Latest).await?.rows.window;
        loop {
            match bounds.first {
                Some(first) if bounds.earlier => {
                    bounds = self.reader.page(Window::Earlier(first)).await?.rows.window;
                }
                Some(first) => return Ok(Some((first.clone(), first))),
                None => return Ok(None),
            }
        }
    }
}

fn only(message: &MessageId) -> Window {
    Window::Range { from: message.clone(), to: message.clone() }
}

/// What runs now, in its running form: the call that the live row is at, or what that has inside.
fn at_work(rows: &RowsDocument) -> Option<String> {
    let live = rows.rows.iter().rev().find_map(|row| match row {
        Row::Activity(row) => Some(row).filter(|row| row.summary.live),
        Row::Message(_) | Row::Plan(_) | Row::Notice(_) => None,
    })?;
    let call = find(&live.rounds, live.summary.current.as_ref()?)?;
    let mut label = call.progress_label.clone();
    if let Some(inner) = call.children.as_deref().and_then(current_inside) {
        label = format!("{label}: {}", inner.progress_label);
    }
    let others = live.summary.unresolved.saturating_sub(1);
    Some(if others > 0 { format!("{label}, and {others} more") } else { label })
}

/// The innermost call that is at work.
fn current_inside(children: &Children) -> Option<&CallRow> {
    let call = find(&children.rounds, children.summary.current.as_ref()?)?;
    call.children.as_deref().and_then(current_inside).or(Some(call))
}

fn find<'r>(rounds: &'r [Round], current: &pleat_transcript::rows::CurrentCall) -> Option<&'r CallRow> {
    rounds.iter().flat_map(|round| &round.calls).find(|call| call.id == current.id)
}
