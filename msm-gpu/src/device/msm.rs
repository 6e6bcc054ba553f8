//! The multiplication.

use std::ops::Range;

use bytemuck::Pod;
use gpu::{DeviceBuffer, Pool, Read, Staging, Stream};

use super::ffi::{self, Bound, DeviceCurve, Entries};
use super::packed::Selection;
use super::plan::{Plan, SUM_AT_ONCE, SUMS_OF_LIST, SUMS_OF_WINDOW, Task};
use super::source::{Dense, Feed, Source};
use super::window_sums::WindowSums;
use super::workspace::Workspace;
use crate::Error;

/// Multi-scalar multiplication on one device, in the memory of one pool. One call works at a time on its stream; for calls that
/// overlap make several.
#[derive(Debug)]
pub struct DeviceMsm {
    pub(crate) pool: Pool,
    pub(crate) work: Stream,
    pub(crate) copies: Stream,
    pub(crate) staging: Staging,
}

impl DeviceMsm {
    /// Works in the pool's memory, within its budget. What the caller has allocated from the pool counts.
    pub fn new(pool: &Pool) -> Result<Self, Error> {
        Ok(Self {
            pool: pool.clone(),
            work: pool.device().stream()?,
            copies: pool.device().stream()?,
            staging: Staging::new(pool.device()),
        })
    }

    /// With pinned pieces that the caller has.
    pub fn with_staging(self, staging: &Staging) -> Self {
        Self { staging: staging.clone(), ..self }
    }

    /// The pinned pieces that inputs in pageable memory travel through.
    pub fn staging(&self) -> &Staging {
        &self.staging
    }

    /// The pool.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// The stream that the work runs on.
    pub fn stream(&self) -> &Stream {
        &self.work
    }

    /// The stream that the work runs on, and the one that chunks of host memory are copied on: for a [`gpu::Clock`].
    pub fn streams(&self) -> [&Stream; 2] {
        [&self.work, &self.copies]
    }

    /// The sum of `scalars[i]·bases[i]`. Waits for it.
    ///
    /// # Errors
    /// [`Error::Bases`] unless there are as many bases as scalars; [`Error::Device`].
    pub fn msm<C: DeviceCurve>(
        &self,
        bases: Source<'_, C::Words>,
        scalars: Dense<'_>,
    ) -> Result<C::Projective, Error> {
        Ok(self.window_sums::<C>(bases, scalars)?.join())
    }

    /// [`msm`](Self::msm) without the last additions, which the host makes. Waits for the device.
    ///
    /// # Errors
    /// As of [`msm`](Self::msm).
    pub fn window_sums<C: DeviceCurve>(
        &self,
        bases: Source<'_, C::Words>,
        scalars: Dense<'_>,
    ) -> Result<WindowSums<C>, Error> {
        if bases.len() != scalars.len() {
            return Err(Error::Bases { expected: scalars.len(), got: bases.len() });
        }
        match scalars {
            Dense::Montgomery(source) => self.dense::<C, _>(bases, source, true),
            Dense::Canonical(source) => self.dense::<C, _>(bases, source, false),
        }
    }

    fn dense<C: DeviceCurve, T: Pod + Sync>(
        &self,
        bases: Source<'_, C::Words>,
        scalars: Source<'_, T>,
        montgomery: bool,
    ) -> Result<WindowSums<C>, Error> {
        let n = bases.len();
        if n == 0 {
            return Ok(WindowSums::zero());
        }
        let streamed = bases.streamed_bytes() + scalars.streamed_bytes();
        let (plan, (mut run, mut base_feed, mut scalar_feed)) =
            self.fitting::<C, _>((n, n, 0), streamed, |plan| {
                let run = Run::<C>::new(self, plan)?;
                let base_feed = Feed::bases(bases, &plan.chunks, self)?;
                Ok((run, base_feed, Feed::scalars(scalars, &plan.chunks, self)?))
            })?;
        for (number, range) in plan.chunks.iter().enumerate() {
            let (points, origin, coming_bases) = base_feed.turn(range, &self.work)?;
            let (words, at, coming_scalars) = scalar_feed.turn(range, &self.work)?;
            let entries = Entries {
                scalars: words.pointer(),
                available: words.len(),
                index: None,
                at,
                count: range.len(),
                montgomery,
            };
            // Entry i of a chunk is base `origin + i` of the buffer read.
            let chunk_points = Points { read: &points, skip: origin, first: 0 };
            let next = plan.chunks.get(number + 1);
            coming_scalars.bring_while(next, || {
                coming_bases.bring_while(next, || run.accumulate(&plan, &entries, chunk_points))
            })?;
            drop((points, words));
            base_feed.advance();
            scalar_feed.advance();
        }
        base_feed.finish()?;
        run.finish(&plan)
    }

    /// The sum over packed scalars and the bases of a selection.
    pub(crate) fn selected<C: DeviceCurve>(
        &self,
        bases: Source<'_, C::Words>,
        selection: &Selection,
        scalars: Source<'_, gpu::Fr>,
    ) -> Result<WindowSums<C>, Error> {
        let (ones, dense) = (selection.ones.len(), selection.dense_bases.len());
        if ones + dense == 0 {
            return Ok(WindowSums::zero());
        }
        // The dense scalars are few, or were packed by someone who has room for them: they travel at once.
        let all_scalars = 0..scalars.len();
        let mut dense_feed = Feed::scalars(scalars, std::slice::from_ref(&all_scalars), self)?;
        let counts = (bases.len(), dense, ones);
        let (plan, (mut run, mut base_feed, ones_at, dense_at)) =
            self.fitting::<C, _>(counts, bases.streamed_bytes(), |plan| {
                let (ones_at, dense_at) = selection.bounds(&plan.chunks, self)?;
                let mut run = Run::<C>::new(self, plan)?;
                run.expect_sums(&ones_at)?;
                Ok((run, Feed::bases(bases, &plan.chunks, self)?, ones_at, dense_at))
            })?;
        let (words, ..) = dense_feed.turn(&all_scalars, &self.work)?;
        let list_ones = selection.ones.read(&self.work)?;
        let list_bases = selection.dense_bases.read(&self.work)?;
        let list_scalars = selection.dense_scalars.read(&self.work)?;
        for (number, range) in plan.chunks.iter().enumerate() {
            let (points, origin, coming) = base_feed.turn(range, &self.work)?;
            // The lists name bases from the start of the source; the buffer read may begin later.
            let chunk_points = Points { read: &points, skip: 0, first: range.start - origin };
            let part = |bounds: &[usize]| {
                bounds.get(number).copied().zip(bounds.get(number + 1).copied()).unwrap_or((0, 0))
            };
            let (from, to) = part(&dense_at);
            let entries = Entries {
                scalars: words.pointer(),
                available: words.len(),
                index: Some((&list_bases, &list_scalars)),
                at: from,
                count: to - from,
                montgomery: true,
            };
            let (from, to) = part(&ones_at);
            coming.bring_while(plan.chunks.get(number + 1), || {
                run.accumulate(&plan, &entries, chunk_points)?;
                run.sum(&list_ones, from..to, chunk_points)
            })?;
            drop(points);
            base_feed.advance();
        }
        base_feed.finish()?;
        run.finish(&plan)
    }

    /// The fastest plan whose memory can be had, and what `prepare` makes of it. Memory that the budget allows may be taken by
    /// others, or be in pieces: then a smaller plan does.
    fn fitting<C: DeviceCurve, R>(
        &self,
        counts: (usize, usize, usize),
        streamed_bytes: u64,
        prepare: impl Fn(&Plan) -> Result<R, Error>,
    ) -> Result<(Plan, R), Error> {
        let mut plan = self.plan::<C>(counts, streamed_bytes, self.pool.available())?;
        loop {
            match prepare(&plan) {
                Ok(prepared) => return Ok((plan, prepared)),
                Err(Error::Device(error @ gpu::Error::OutOfMemory { .. })) => {
                    let smaller = self.plan::<C>(counts, streamed_bytes, plan.bytes / 4 * 3);
                    plan = smaller.map_err(|_| error)?;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The fastest plan for so many bases, of which so many have a dense scalar and so many are added once.
    fn plan<C: DeviceCurve>(
        &self,
        (bases, dense, ones): (usize, usize, usize),
        streamed_bytes: u64,
        budget: u64,
    ) -> Result<Plan, Error> {
        let task = Task {
            shape: ffi::shape::<C>()?,
            multiprocessors: self.pool.device().info().multiprocessors,
            bases: bases as u64,
            dense: dense as u64,
            ones: ones as u64,
            streamed_bytes,
            budget,
        };
        let (in_use, limit) = (self.pool.in_use(), self.pool.limit());
        Plan::new(&task).map_err(|least| gpu::Error::OutOfMemory { requested: least, in_use, limit }.into())
    }
}

/// Bases on the device: the base that a list calls `first` is at the start of the buffer; without a list, entry 0 is base `skip`.
#[derive(Debug)]
pub(crate) struct Points<'a, C: DeviceCurve> {
    read: &'a Read<'a, C::Words>,
    skip: usize,
    first: usize,
}

impl<C: DeviceCurve> Clone for Points<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<C: DeviceCurve> Copy for Points<'_, C> {}

/// A multiplication under way: the buckets so far, and sums of what does not go through buckets.
struct Run<'a, C: DeviceCurve> {
    workspace: Workspace<C>,
    msm: &'a DeviceMsm,
    work: &'a Stream,
    /// Whether the bucket array holds something.
    filled: bool,
    /// Groups of points whose sum is to be added to that of the windows: so many are written, of those there is room for.
    outside: DeviceBuffer<u64>,
    written: usize,
}

impl<'a, C: DeviceCurve> Run<'a, C> {
    fn new(msm: &'a DeviceMsm, plan: &Plan) -> Result<Self, Error> {
        let workspace = Workspace::new(&plan.layout, &msm.pool, &msm.work)?;
        let outside = msm.pool.allocate(0, &msm.work)?;
        Ok(Self { workspace, msm, work: &msm.work, filled: false, outside, written: 0 })
    }

    /// Makes room for the sums of a list whose chunks begin and end there.
    fn expect_sums(&mut self, bounds: &[usize]) -> Result<(), Error> {
        let parts = |pair: &[usize]| match pair {
            [from, to] => (to - from).div_ceil(SUM_AT_ONCE as usize),
            _ => 0,
        };
        let groups: usize = bounds.windows(2).map(parts).sum();
        self.outside = self.msm.pool.allocate(groups * SUMS_OF_LIST * C::JACOBIAN_WORDS, self.work)?;
        Ok(())
    }

    /// Adds entries to the buckets of all windows.
    fn accumulate(&mut self, plan: &Plan, entries: &Entries<'_>, points: Points<'_, C>) -> Result<(), Error> {
        if entries.count == 0 {
            return Ok(());
        }
        let [_, _, spare, buckets, _] = plan.layout.slots();
        let mut bound: Bound<'_, C> = self.workspace.bind(self.work)?;
        let mut first = 0;
        let mut slot = buckets;
        while first < plan.windows.count {
            let pass = first..(first + plan.pass).min(plan.windows.count);
            let count = plan.windows.buckets(pass.clone());
            let into = if self.filled { spare } else { slot };
            bound.accumulate(
                &plan.windows,
                pass.clone(),
                entries,
                points.read,
                points.first,
                points.skip,
                into,
            )?;
            if self.filled {
                bound.merge(slot, spare, count)?;
            }
            slot += count;
            first = pass.end;
        }
        self.filled = true;
        Ok(())
    }

    /// Adds the bases of a part of the list.
    fn sum(&mut self, list: &Read<'_, u32>, part: Range<usize>, points: Points<'_, C>) -> Result<(), Error> {
        let most = SUM_AT_ONCE as usize;
        for at in part.clone().step_by(most) {
            let count = most.min(part.end - at);
            let mut bound: Bound<'_, C> = self.workspace.bind(self.work)?;
            let sums = self.outside.write(self.work)?;
            bound.sum(points.read, points.first, list, at, count, &sums, self.written)?;
            self.written += 1;
        }
        Ok(())
    }

    /// Reduces the buckets and waits for what is left of them.
    fn finish(mut self, plan: &Plan) -> Result<WindowSums<C>, Error> {
        let windows = if self.filled { plan.windows.count as usize } else { 0 };
        let mut sums =
            self.msm.pool.allocate::<u64>(windows * SUMS_OF_WINDOW * C::JACOBIAN_WORDS, self.work)?;
        if self.filled {
            // A window has fewer sums than there is room for.
            sums.fill_bytes(self.work, 0)?;
            let mut bound = self.workspace.bind(self.work)?;
            bound.reduce(&plan.windows, plan.layout.slots()[3], &sums.write(self.work)?)?;
        }
        let of_windows = sums.download(self.work)?;
        let mut outside = self.outside.download(self.work)?;
        outside.truncate(self.written * SUMS_OF_LIST * C::JACOBIAN_WORDS);
        Ok(WindowSums::new(plan.windows, of_windows, outside))
    }
}
