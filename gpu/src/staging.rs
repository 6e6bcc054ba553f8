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

    /// Pins the pieces now and not at the first transfer: about 45 ms.
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
        self.fill(stream, to, at, from.len(), |first, out| {
            let part = from.get(first..).and_then(|rest| rest.get(..out.len()));
            out.copy_from_slice(part.unwrap_or_default());
            Ok(())
        })
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
        let target = to.part("the elements to fill", at, length)?;
        let _write = to.write(stream)?;
        self.0.walk::<T, E>(length, |range, piece| {
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
        })
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
        self.0.walk::<T, E>(part.len(), |range, piece| {
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
        })
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
    fn walk<T, E: From<Error> + Send>(
        &self,
        length: usize,
        carry: impl Fn(Range<usize>, &mut PinnedBuffer<u8>) -> Result<(), E> + Sync,
    ) -> Result<(), E> {
        let per = self.per_piece::<T>()?;
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        in_parallel(length.div_ceil(per), cores.min(THREADS).min(self.pieces), |number| {
            let first = number * per;
            let mut piece = self.take()?;
            carry(first..length.min(first + per), &mut piece.buffer)
        })
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

/// Runs `work` for 0 .. `count` on at most so many threads, the caller's among them; after an error no more are begun. Of several errors
/// it gives that of the least number.
///
/// These are threads of their own and not rayon's: the caller may hold locks, and must neither wait behind the work of others nor take
/// it over.
fn in_parallel<E: Send>(
    count: usize,
    threads: usize,
    work: impl Fn(usize) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let next = AtomicUsize::new(0);
    let failed: Mutex<Option<(usize, E)>> = Mutex::new(None);
    let run = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return;
            }
            if let Err(error) = work(number) {
                next.fetch_max(count, Ordering::Relaxed);
                let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                if failed.as_ref().is_none_or(|(least, _)| number < *least) {
                    *failed = Some((number, error));
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(count) {
            // Where the system has no more threads, fewer do the work.
            if std::thread::Builder::new().spawn_scoped(scope, run).is_err() {
                break;
            }
        }
        run();
    });
    match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some((_, error)) => Err(error),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn every_number_is_worked_on_once() {
        for (count, threads) in [(0, 4), (1, 4), (5, 1), (1000, 7)] {
            let seen = Mutex::new(vec![0; count]);
            let done: Result<(), ()> = in_parallel(count, threads, |number| {
                seen.lock().unwrap()[number] += 1;
                Ok(())
            });
            assert!(done.is_ok());
            assert!(seen.lock().unwrap().iter().all(|&times| times == 1), "{count} on {threads}");
        }
    }

    #[test]
    fn the_first_error_wins_and_stops_the_rest() {
        let begun = AtomicUsize::new(0);
        let failed = in_parallel(1_000_000, 4, |number| {
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
        });
        assert_eq!(failed, Err(10));
        assert!(begun.into_inner() < 100);
    }
}
