//! Places that are taken in turn: first come, first served.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Some places, each for one at a time. A lock of the standard library may pass over who has waited longest, and so let a caller
/// with many proofs starve another with a single urgent one; here nobody waits for more than those who came before.
#[derive(Debug)]
pub(crate) struct Turns {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    /// Places that nobody has, the one that has been free longest first.
    free: VecDeque<usize>,
    /// Places that are not closed.
    open: usize,
    /// The number of the next to come.
    next: u64,
    /// Those who wait, by number.
    waiting: VecDeque<u64>,
}

/// A place that is taken until this is dropped.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    turns: &'a Turns,
    place: usize,
    close: bool,
}

impl Turns {
    /// So many places, numbered from 0.
    pub(crate) fn new(places: usize) -> Self {
        let state = State { free: (0..places).collect(), open: places, next: 0, waiting: VecDeque::new() };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing between taking and releasing the lock can panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a place. `None` when all are closed.
    pub(crate) fn take(&self) -> Option<Turn<'_>> {
        let mut state = self.lock();
        let number = state.next;
        state.next += 1;
        state.waiting.push_back(number);
        loop {
            if state.waiting.front() == Some(&number) && (state.open == 0 || !state.free.is_empty()) {
                state.waiting.pop_front();
                let place = if state.open == 0 { None } else { state.free.pop_front() };
                // The next in line may have a place too, or none to wait for.
                self.changed.notify_all();
                return place.map(|place| Turn { turns: self, place, close: false });
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Opens a place that was closed.
    pub(crate) fn reopen(&self, place: usize) {
        let mut state = self.lock();
        state.open += 1;
        state.free.push_back(place);
        self.changed.notify_all();
    }
}

impl Turn<'_> {
    /// Which place.
    pub(crate) fn place(&self) -> usize {
        self.place
    }

    /// Nobody gets the place any more.
    pub(crate) fn close(mut self) {
        self.close = true;
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = self.turns.lock();
        match self.close {
            true => state.open -= 1,
            false => state.free.push_back(self.place),
        }
        self.turns.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    fn waiting(turns: &Turns, count: usize) {
        while turns.lock().waiting.len() < count {
            std::thread::yield_now();
        }
    }

    /// A caller that comes back at once, again and again, does not pass one who waits.
    #[test]
    fn first_come_first_served() {
        let turns = Turns::new(1);
        let (sender, order) = channel();
        std::thread::scope(|scope| {
            let busy = turns.take().unwrap();
            for who in 0..8 {
                let (turns, sender) = (&turns, sender.clone());
                scope.spawn(move || {
                    let _turn = turns.take().unwrap();
                    sender.send(who).unwrap();
                });
                waiting(turns, who + 1);
            }
            drop(busy);
            let _again = turns.take().unwrap();
            sender.send(8).unwrap();
        });
        drop(sender);
        assert!(order.into_iter().eq(0..9));
    }

    #[test]
    fn places_are_used_in_turn_and_closed_ones_not_at_all() {
        let turns = Turns::new(3);
        let places: Vec<_> = (0..6).map(|_| turns.take().unwrap().place()).collect();
        assert_eq!(places, [0, 1, 2, 0, 1, 2]);
        let (first, second) = (turns.take().unwrap(), turns.take().unwrap());
        first.close();
        drop(second);
        let places: Vec<_> = (0..4).map(|_| turns.take().unwrap().place()).collect();
        assert_eq!(places, [2, 1, 2, 1]);
        std::thread::scope(|scope| {
            let last = [turns.take().unwrap(), turns.take().unwrap()];
            let waits: Vec<_> = (0..2).map(|_| scope.spawn(|| turns.take().is_none())).collect();
            waiting(&turns, 2);
            last.into_iter().for_each(Turn::close);
            assert!(waits.into_iter().all(|wait| wait.join().unwrap()));
        });
        turns.reopen(1);
        assert_eq!(turns.take().unwrap().place(), 1);
    }
}
