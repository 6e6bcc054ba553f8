//! SHA-256 of the constraint stream, on a thread of its own.
//!
//! The stream is: for each constraint, for each of A, B, C: the number of terms as 32-bit little-endian, then each
//! term, inputs before aux and by index: one byte 0 (input) or 1 (aux), the index as 64-bit little-endian, the coefficient as 32
//! bytes little-endian.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use sha2::{Digest, Sha256};

/// Large enough that handing one over costs nothing beside hashing it, small enough to stay in cache.
const BUFFER: usize = 1 << 18;

enum Message {
    Bytes(Vec<u8>),
    /// The digest so far is wanted.
    Mark,
}

/// Hashes what is pushed. Bytes are formatted here and hashed on another thread, at the pace of the slower.
pub(crate) struct StreamHasher {
    buffer: Vec<u8>,
    worker: Option<Worker>,
}

struct Worker {
    messages: SyncSender<Message>,
    /// Buffers come back to be filled again.
    empty: Receiver<Vec<u8>>,
    thread: JoinHandle<(Sha256, Vec<[u8; 32]>)>,
}

impl StreamHasher {
    /// # Panics
    /// If the system refuses another thread.
    pub(crate) fn new() -> Self {
        let (messages, inbox) = sync_channel(4);
        let (outbox, empty) = sync_channel(8);
        let work = move || {
            let mut hasher = Sha256::new();
            let mut marks = vec![];
            for message in inbox {
                match message {
                    Message::Bytes(mut bytes) => {
                        hasher.update(&bytes);
                        bytes.clear();
                        // Nobody waits for buffers once the stream has ended.
                        let _ = outbox.try_send(bytes);
                    }
                    Message::Mark => marks.push(hasher.clone().finalize().into()),
                }
            }
            (hasher, marks)
        };
        let worker = Worker { messages, empty, thread: thread::spawn(work) };
        Self { buffer: Vec::with_capacity(BUFFER + 4096), worker: Some(worker) }
    }

    /// A combination of `terms` terms follows.
    #[inline]
    pub(crate) fn begin(&mut self, terms: usize) {
        if self.buffer.len() >= BUFFER {
            self.flush();
        }
        self.buffer.extend_from_slice(&(terms as u32).to_le_bytes());
    }

    /// A term.
    #[inline]
    pub(crate) fn term(&mut self, is_input: bool, index: usize, coefficient: &[u8; 32]) {
        let mut bytes = [0; 41];
        bytes[0] = u8::from(!is_input);
        bytes[1..9].copy_from_slice(&(index as u64).to_le_bytes());
        bytes[9..].copy_from_slice(coefficient);
        self.buffer.extend_from_slice(&bytes);
    }

    fn send(&mut self, message: Message) {
        if let Some(worker) = &self.worker {
            // The worker receives until the sender is gone.
            let _ = worker.messages.send(message);
        }
    }

    fn flush(&mut self) {
        let empty = self.worker.as_ref().and_then(|worker| worker.empty.try_recv().ok());
        let empty = empty.unwrap_or_else(|| Vec::with_capacity(BUFFER + 4096));
        let full = std::mem::replace(&mut self.buffer, empty);
        self.send(Message::Bytes(full));
    }

    /// Asks for the digest of everything pushed so far; [`finish`](Self::finish) gives them in order.
    pub(crate) fn mark(&mut self) {
        self.flush();
        self.send(Message::Mark);
    }

    /// The hasher at the stream's end, and the digests asked for.
    pub(crate) fn finish(mut self) -> (Sha256, Vec<[u8; 32]>) {
        self.flush();
        let Some(Worker { messages, thread, .. }) = self.worker.take() else { unreachable!("finished once") };
        drop(messages);
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// The digest of the whole: stream, then inputs with ONE, aux and constraints as 64-bit little-endian.
pub(crate) fn with_trailer(mut hasher: Sha256, inputs: usize, aux: usize, constraints: usize) -> [u8; 32] {
    [inputs, aux, constraints].iter().for_each(|n| hasher.update((*n as u64).to_le_bytes()));
    hasher.finalize().into()
}
