//! Pageable memory on its way to a device and back.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use bytemuck::Pod;

use crate::buffer::bytes_of;
use crate::{Device, DeviceBuffer, Error, PinnedBuffer, Pool, Stream, ffi};

/// Pinned pieces of a [`Staging`], and the bytes of one: 64 MiB together. A piece of this size is on its way for 40 µs, ten times what
/// it takes to queue it, and the first one is full after a quarter of a millisecond.
const PIECES: usize = 32;
const PIECE_BYTES: usize = 2 << 20;
/// Threads that fill or empty pieces. One core copies about 8 GB/s, so seven keep the device's link busy; the others are for elements
/// that have to be computed.
const THREADS: usize = 16;

/// A few pinned pieces through which any host memory travels as fast as pinned memory. Clones share them.
///
/// CUDA copies pageable memory by one thread, an eighth as fast as the link allows. Here several threads fill the pieces, or empty
/// them, while others are under way. The pieces are pinned when they are first needed, and wiped when the last clone is dropped.
#[derive(Clone, Debug)]
pub struct Staging(Arc<Ring>);

#[derive(Debug)]
struct Ring {
    device: Device,
    pieces: usize,
    piece_bytes: usize,
    /// Pieces that no thread holds, the one given back earliest first; nothing before they are needed.
    free: Mutex<Option<VecDeque<PinnedBuffer<u8>>>>,
    given_back: Condvar,
}

/// What the calling thread does during a transfer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Caller {
    /// Fills or empties pieces too.
    Helps,
    /// Something else; it helps with what is left then.
    Works,
}

/// A piece held by a thread.
struct Piece<'a> {
    buffer: PinnedBuffer<u8>,
    ring: &'a Ring,
}

impl Staging {
    /// 32 pieces of 2 MiB.
    pub fn new(device: &Device) -> Self {
        Self::with_pieces(device, PIECES, PIECE_BYTES)
    }

    /// So many pieces of so many bytes; at least one piece, of at least 4 KiB.
    pub fn with_pieces(device: &Device, pieces: usize, piece_bytes: usize) -> Self {
        Self(Arc::new(Ring {
            device: device.clone(),
            pieces: pieces.max(1),
            piece_bytes: piece_bytes.max(4096),
            free: Mutex::new(None),
            given_back: Condvar::new(),
        }))
    }

    /// Bytes of pinned memory that it takes, once it is in use.
    pub fn bytes(&self) -> u64 {
        self.0.pieces as u64 * self.0.piece_bytes as u64
    }

    /// Pins the pieces now and not at the first transfer: about 30 ms.
    pub fn reserve(&self) -> Result<(), Error> {
        self.0.take().map(drop)
    }

    /// A buffer with a copy of the slice. The copy is queued, the slice may go.
    pub fn upload<T: Pod + Sync>(
        &self,
        pool: &Pool,
        from: &[T],
        stream: &Stream,
    ) -> Result<DeviceBuffer<T>, Error> {
        let mut buffer = pool.allocate(from.len(), stream)?;
        self.upload_at(stream, &mut buffer, 0, from)?;
        Ok(buffer)
    }

    /// Queues overwriting the elements from `at` on; the slice has been read when this returns.
    ///
    /// # Errors
    /// [`Error::Length`] when the buffer ends before the slice does.
    pub fn upload_at<T: Pod + Sync>(
        &self,
        stream: &Stream,
        to: &mut DeviceBuffer<T>,
        at: usize,
        from: &[T],
    ) -> Result<(), Error> {
        self.fill(stream, to, at, from.len(), |first, out| copy_part(from, first, out))
    }

    /// Does the same on other threads while the caller does some work, which may wait for the device, and gives the work's result.
    ///
    /// # Errors
    /// Those of the work, or else of [`upload_at`](Self::upload_at).
    pub fn upload_while<T: Pod + Sync, R, E: From<Error> + Send>(
        &self,
        stream: &Stream,
        to: &mut DeviceBuffer<T>,
        at: usize,
        from: &[T],
        work: impl FnOnce() -> Result<R, E>,
    ) -> Result<R, E> {
        self.fill_while(stream, to, at, from.len(), |first, out| Ok(copy_part(from, first, out)?), work)
    }

    /// Queues overwriting `length` elements from `at` on with what `read` gives: `read(first, out)` fills `out` with elements `first ..`
    /// of these, where `first` counts from 0. Several threads call it at once, on parts in rising order; it must not wait for a
    /// transfer through the same pieces. All elements have been read when this returns.
    ///
    /// # Errors
    /// Of the errors of `read`, the one with the least `first`; which elements have been overwritten is open then. [`Error::Length`] when
    /// the buffer is too short.
    pub fn fill<T: Pod, E: From<Error> + Send>(
        &self,
        stream: &Stream,
        to: &mut DeviceBuffer<T>,
        at: usize,
        length: usize,
        read: impl Fn(usize, &mut [T]) -> Result<(), E> + Sync,
    ) -> Result<(), E> {
        self.fill_beside(stream, (to, at, length), read, Caller::Helps, || Ok(()))
    }

    /// Does the same on other threads while the caller does some work, which may wait for the device, and gives the work's result.
    ///
    /// # Errors
    /// Those of the work, or else of [`fill`](Self::fill).
    pub fn fill_while<T: Pod, R, E: From<Error> + Send>(
        &self,
        stream: &Stream,
        to: &mut DeviceBuffer<T>,
        at: usize,
        length: usize,
        read: impl Fn(usize, &mut [T]) -> Result<(), E> + Sync,
        work: impl FnOnce() -> Result<R, E>,
    ) -> Result<R, E> {
        self.fill_beside(stream, (to, at, length), read, Caller::Works, work)
    }

    fn fill_beside<T: Pod, R, E: From<Error> + Send>(
        &self,
        stream: &Stream,
        (to, at, length): (&mut DeviceBuffer<T>, usize, usize),
        read: impl Fn(usize, &mut [T]) -> Result<(), E> + Sync,
        caller: Caller,
        work: impl FnOnce() -> Result<R, E>,
    ) -> Result<R, E> {
        let target = to.part("the elements to fill", at, length)?;
        let _write = to.write(stream)?;
        let carry = |range: Range<usize>, piece: &mut PinnedBuffer<u8>| {
            stream.device().select()?;
            let bytes = bytes_of::<T>(range.len());
            let filled = piece.as_mut_slice()?.get_mut(..bytes as usize).unwrap_or_default();
            read(range.start, bytemuck::cast_slice_mut(filled))?;
            piece.uses().before_read(stream)?;
            let to = target.offset(range.start * size_of::<T>());
            let from = piece.part(&(0..bytes as usize))?;
            let span = stream.span("copy to device", bytes as usize);
            let queued = ffi::copy(to, from, bytes, stream.handle());
            drop(span);
            piece.uses().after_read(stream);
            Ok(queued?)
        };
        self.0.walk::<T, _, E>(length, carry, caller, work)
    }

    /// Hands a part of a device buffer to `write`, piece by piece: `write(first, elements)` takes elements `first ..` of the part, where
    /// `first` counts from 0. Several threads call it at once, on pieces in about rising order; it must not wait for a transfer
    /// through the same pieces. All elements have been taken when this returns.
    ///
    /// # Errors
    /// Of the errors of `write`, the one with the least `first`. [`Error::Length`] when there is no such part.
    pub fn drain<T: Pod, E: From<Error> + Send>(
        &self,
        stream: &Stream,
        from: &DeviceBuffer<T>,
        part: Range<usize>,
        write: impl Fn(usize, &[T]) -> Result<(), E> + Sync,
    ) -> Result<(), E> {
        let source = from.part("the elements to drain", part.start, part.len())?;
        let _read = from.read(stream)?;
        let carry = |range: Range<usize>, piece: &mut PinnedBuffer<u8>| {
            stream.device().select()?;
            let bytes = bytes_of::<T>(range.len());
            let target = piece.part(&(0..bytes as usize))?;
            piece.uses().before_write(stream)?;
            let from = source.offset(range.start * size_of::<T>());
            let span = stream.span("copy to host", bytes as usize);
            let queued = ffi::copy(target, from, bytes, stream.handle());
            drop(span);
            piece.uses().after_write(stream);
            queued?;
            let emptied = piece.as_slice()?.get(..bytes as usize).unwrap_or_default();
            write(range.start, bytemuck::cast_slice(emptied))
        };
        self.0.walk::<T, _, E>(part.len(), carry, Caller::Helps, || Ok(()))
    }

    /// Copies elements from `at` on into host memory and waits for it.
    pub fn download_into<T: Pod + Send>(
        &self,
        stream: &Stream,
        from: &DeviceBuffer<T>,
        at: usize,
        to: &mut [T],
    ) -> Result<(), Error> {
        let end = at.checked_add(to.len());
        let part =
            at..end.ok_or(Error::Length { what: "the elements to drain", expected: 0, got: u64::MAX })?;
        let per = self.0.per_piece::<T>()?;
        let parts: Vec<Mutex<&mut [T]>> = to.chunks_mut(per).map(Mutex::new).collect();
        self.drain(stream, from, part, |first, elements| {
            if let Some(to) = parts.get(first / per) {
                to.lock().unwrap_or_else(PoisonError::into_inner).copy_from_slice(elements);
            }
            Ok(())
        })
    }
}

impl Ring {
    fn lock(&self) -> MutexGuard<'_, Option<VecDeque<PinnedBuffer<u8>>>> {
        // The state is a list of pieces; a panic elsewhere leaves it whole.
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A free piece, as soon as there is one.
    fn take(&self) -> Result<Piece<'_>, Error> {
        let mut free = self.lock();
        loop {
            let pieces = match &mut *free {
                Some(pieces) => pieces,
                none => none.insert(self.pin()?),
            };
            if let Some(buffer) = pieces.pop_front() {
                return Ok(Piece { buffer, ring: self });
            }
            free = self.given_back.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn pin(&self) -> Result<VecDeque<PinnedBuffer<u8>>, Error> {
        let piece = || Ok(PinnedBuffer::new(&self.device, self.piece_bytes)?.wipe_on_release());
        (0..self.pieces).map(|_| piece()).collect()
    }

    /// Elements that a piece holds.
    fn per_piece<T>(&self) -> Result<usize, Error> {
        match self.piece_bytes / size_of::<T>().max(1) {
            0 => Err(Error::Length {
                what: "the bytes of a piece",
                expected: size_of::<T>() as u64,
                got: self.piece_bytes as u64,
            }),
            per => Ok(per),
        }
    }

    /// Runs `carry` with a piece for each part of `length` elements that fills one.
    fn walk<T, R, E: From<Error> + Send>(
        &self,
        length: usize,
        carry: impl Fn(Range<usize>, &mut PinnedBuffer<u8>) -> Result<(), E> + Sync,
        caller: Caller,
        work: impl FnOnce() -> Result<R, E>,
    ) -> Result<R, E> {
        let per = self.per_piece::<T>()?;
        let count = length.div_ceil(per);
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        let threads = cores.min(THREADS).min(self.pieces).min(count);
        let helpers = threads.saturating_sub(usize::from(caller == Caller::Helps));
        let one = |number: usize| {
            let first = number * per;
            let mut piece = self.take()?;
            carry(first..length.min(first + per), &mut piece.buffer)
        };
        in_parallel(count, helpers, one, work)
    }
}

impl Drop for Piece<'_> {
    fn drop(&mut self) {
        let buffer = std::mem::replace(&mut self.buffer, PinnedBuffer::empty(&self.ring.device));
        if let Some(free) = &mut *self.ring.lock() {
            free.push_back(buffer);
        }
        self.ring.given_back.notify_one();
    }
}

/// Copies the elements from `first` on, as many as `out` holds.
fn copy_part<T: Copy>(from: &[T], first: usize, out: &mut [T]) -> Result<(), Error> {
    match from.get(first..).and_then(|rest| rest.get(..out.len())) {
        Some(part) => {
            out.copy_from_slice(part);
            Ok(())
        }
        None => {
            let (expected, got) = (from.len() as u64, first.saturating_add(out.len()) as u64);
            Err(Error::Length { what: "the part of a slice", expected, got })
        }
    }
}

/// Runs `each` for 0 .. `count` on so many threads, while the caller does some work and then joins in; after an error no more are begun.
/// Of several errors it gives that of the work, or else of the least number.
///
/// These are threads of their own and not rayon's: the caller may hold locks, and must neither wait behind the work of others nor take
/// it over.
fn in_parallel<R, E: Send>(
    count: usize,
    threads: usize,
    each: impl Fn(usize) -> Result<(), E> + Sync,
    work: impl FnOnce() -> Result<R, E>,
) -> Result<R, E> {
    let next = AtomicUsize::new(0);
    let failed: Mutex<Option<(usize, E)>> = Mutex::new(None);
    let run = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return;
            }
            if let Err(error) = each(number) {
                next.fetch_max(count, Ordering::Relaxed);
                let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                if failed.as_ref().is_none_or(|(least, _)| number < *least) {
                    *failed = Some((number, error));
                }
            }
        }
    };
    let worked = std::thread::scope(|scope| {
        for _ in 0..threads {
            // Where the system has no more threads, fewer do the work.
            if std::thread::Builder::new().spawn_scoped(scope, run).is_err() {
                break;
            }
        }
        let worked = work();
        if worked.is_err() {
            next.fetch_max(count, Ordering::Relaxed);
        }
        run();
        worked
    });
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    worked.and_then(|result| failed.map_or(Ok(result), |(_, error)| Err(error)))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn every_number_is_worked_on_once() {
        for (count, threads) in [(0, 4), (1, 4), (5, 0), (1000, 7)] {
            let seen = Mutex::new(vec![0; count]);
            let each = |number: usize| {
                seen.lock().unwrap()[number] += 1;
                Ok::<_, ()>(())
            };
            assert_eq!(in_parallel(count, threads, each, || Ok("worked")), Ok("worked"));
            assert!(seen.lock().unwrap().iter().all(|&times| times == 1), "{count} on {threads}");
        }
    }

    #[test]
    fn the_first_error_wins_and_stops_the_rest() {
        let begun = AtomicUsize::new(0);
        let each = |number| {
            begun.fetch_add(1, Ordering::Relaxed);
            // The later one fails sooner.
            match number {
                10 => {
                    std::thread::sleep(Duration::from_millis(20));
                    Err(10)
                }
                11.. => Err(number),
                _ => Ok(()),
            }
        };
        assert_eq!(in_parallel(1_000_000, 4, each, || Ok(())), Err(10));
        assert!(begun.into_inner() < 100);
    }

    #[test]
    fn work_that_fails_stops_the_rest_and_its_error_wins() {
        let begun = AtomicUsize::new(0);
        let each = |number| {
            begun.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(1));
            if number == 0 { Err("element") } else { Ok(()) }
        };
        assert_eq!(in_parallel(10_000, 2, each, || Err::<(), _>("work")), Err("work"));
        assert!(begun.into_inner() < 1000);
    }
}
