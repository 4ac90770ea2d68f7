//! Ctrl-C and SIGTERM while cases are played: the first begins no further case, the second ends the program.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use tokio::runtime::Builder;

use crate::exit_status::ExitStatus;
use crate::screen::Screen;
use crate::signals::{self, Signals};

/// Whether further cases are begun, and whether somebody asked for an end.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<Flags>);

#[derive(Debug, Default)]
struct Flags {
    begins_no_more: AtomicBool,
    is_interrupted: AtomicBool,
    all_played: AtomicBool,
}

impl Stop {
    /// No further case is begun.
    pub fn begin_no_more(&self) {
        self.0.begins_no_more.store(true, Ordering::SeqCst);
    }

    /// Whether further cases are begun.
    pub fn goes_on(&self) -> bool {
        !self.0.begins_no_more.load(Ordering::SeqCst)
    }

    /// No case is at play any more: there is nothing to wait for.
    pub fn all_played(&self) {
        self.0.all_played.store(true, Ordering::SeqCst);
    }

    /// Whether somebody asked for an end while cases were played.
    pub fn is_interrupted(&self) -> bool {
        self.0.is_interrupted.load(Ordering::SeqCst)
    }

    /// Listens for signals, to the end of the program. What can not be had is left to the system, which ends the
    /// program at the first.
    pub fn listen(&self, screen: Screen) {
        let Ok(threads) = Builder::new_current_thread().enable_all().build() else { return };
        let Some(signals) = threads.block_on(async { Signals::new() }) else { return };
        let stop = self.clone();
        let heard = thread::Builder::new().spawn(move || {
            threads.block_on(async {
                let mut signals = Some(signals);
                loop {
                    signals::heard(&mut signals).await;
                    stop.hear(&screen);
                }
            });
        });
        drop(heard);
    }

    fn hear(&self, screen: &Screen) {
        if self.0.all_played.load(Ordering::SeqCst) || self.0.is_interrupted.swap(true, Ordering::SeqCst) {
            std::process::exit(i32::from(ExitStatus::Interrupted.code()));
        }
        self.begin_no_more();
        screen.say(
            "Interrupted: cases at play come to their end, no other is begun. Ctrl-C again stops at once.",
        );
    }
}
