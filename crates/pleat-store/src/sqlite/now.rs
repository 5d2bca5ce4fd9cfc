//! Futures that are ready when they are made.

use crate::failure::Failure;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// The outcome of work on a connection to the file, which never waits.
pub(super) fn now<F: Future>(future: F) -> Result<F::Output, Failure> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => Ok(outcome),
        Poll::Pending => Err(Failure::Unreadable("work on the file waited for something else".to_owned())),
    }
}
