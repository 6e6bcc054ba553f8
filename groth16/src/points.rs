//! Where a prover's points come from: memory, or a parameter file that is read anew for every proof.

use std::fmt;
use std::fs::File;
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use msm_gpu::{G1, G2};
use rand_core::OsRng;
use rayon::prelude::*;

use crate::encoding::{Encoding, decode};
use crate::files::Opened;
use crate::parameters::check_points;
use crate::source::{Source, short_read};
use crate::{ParameterError, Parameters, ProveError, Section, Shape, VerifyingKey};

/// The queries of one circuit's parameters, whose shape has been checked.
pub(crate) trait Queries: fmt::Debug + Send + Sync {
    /// Runs `work` on the queries.
    fn read<T>(&self, work: impl FnOnce(&Reading<'_>) -> Result<T, ProveError>) -> Result<T, ProveError>;
}

/// Queries while they are used.
#[derive(Clone, Copy)]
pub(crate) enum Reading<'a> {
    Memory(&'a Parameters),
    File(&'a ParameterFile),
}

/// The points of a section that were not taken yet.
pub(crate) struct Points<'a, C: Encoding> {
    section: Section,
    taken: usize,
    left: usize,
    from: Place<'a, C>,
}

enum Place<'a, C: Encoding> {
    Memory(&'a [C::Affine]),
    File(&'a ParameterFile, Vec<C::Affine>),
}

impl Queries for Parameters {
    fn read<T>(&self, work: impl FnOnce(&Reading<'_>) -> Result<T, ProveError>) -> Result<T, ProveError> {
        work(&Reading::Memory(self))
    }
}

impl<Q: Queries> Queries for Arc<Q> {
    fn read<T>(&self, work: impl FnOnce(&Reading<'_>) -> Result<T, ProveError>) -> Result<T, ProveError> {
        self.as_ref().read(work)
    }
}

impl<'a> Reading<'a> {
    /// A query's points, in the group that it is in.
    pub(crate) fn points<C: Encoding>(&self, query: Section) -> Points<'a, C> {
        let (left, from) = match *self {
            Self::Memory(parameters) => {
                let points = C::section(parameters, query);
                (points.len(), Place::Memory(points))
            }
            Self::File(file) => (file.shape.points(query), Place::File(file, Vec::new())),
        };
        Points { section: query, taken: 0, left, from }
    }
}

impl<C: Encoding> Points<'_, C> {
    /// How many points were not taken yet.
    pub(crate) fn left(&self) -> usize {
        self.left
    }

    /// The next points.
    pub(crate) fn next(&mut self, len: usize) -> Result<&[C::Affine], ParameterError> {
        let Some(left) = self.left.checked_sub(len) else {
            return Err(self.length(self.taken + len));
        };
        let first = self.taken;
        (self.taken, self.left) = (first + len, left);
        match &mut self.from {
            Place::Memory(points) => Ok(&points[first..][..len]),
            Place::File(file, memory) => {
                memory.resize(len, C::Affine::default());
                file.read_in_parallel::<C>(self.section, first, memory)?;
                Ok(memory)
            }
        }
    }

    /// That all were taken.
    pub(crate) fn finish(self) -> Result<(), ParameterError> {
        if self.left == 0 { Ok(()) } else { Err(self.length(self.taken)) }
    }

    fn length(&self, expected: usize) -> ParameterError {
        ParameterError::Shape { section: self.section, expected, got: self.taken + self.left }
    }
}

/// Points that are read to be checked at a time. The more are checked at once, the less the check of each takes.
const STRETCH: usize = 1 << 21;

/// A parameter file whose points are read, and checked, when they are used.
#[derive(Debug)]
pub(crate) struct ParameterFile {
    file: File,
    len: u64,
    modified: Option<SystemTime>,
    shape: Shape,
}

impl ParameterFile {
    /// Opens a file and checks what does not take reading all of it: the key, and the sections' lengths. With a digest, which is
    /// as in [`ReadOptions`](crate::ReadOptions), all of it is read, too.
    pub(crate) fn open(
        path: &Path,
        shape: &Shape,
        digest: Option<&str>,
    ) -> Result<(VerifyingKey, Self), ParameterError> {
        let opened = Opened::new(path)?;
        let mut source = Source::new(&opened.file, opened.len, digest.is_some());
        let vk = VerifyingKey::read_from(&mut source)?;
        if let (Some(expected), Some(got)) = (digest, source.finish()?)
            && !expected.eq_ignore_ascii_case(&got)
        {
            return Err(ParameterError::Digest { expected: expected.to_owned(), got });
        }
        shape.check(Section::Ic, vk.ic.len())?;
        for section in [Section::H, Section::L, Section::A, Section::BG1, Section::BG2] {
            // The sections before have the circuit's lengths and so end where this one's length stands.
            let at = shape.offset(section) - 4;
            let mut file = &opened.file;
            file.seek(SeekFrom::Start(at))
                .map_err(ParameterError::io(format!("seeking section {section}")))?;
            let mut source = Source::new(file, opened.len.saturating_sub(at), false);
            let count = match section {
                Section::BG2 => source.count::<G2>(section)?,
                _ => source.count::<G1>(section)?,
            };
            shape.check(section, count)?;
        }
        Opened::check_unchanged(&opened.file, opened.len, opened.modified())?;
        let (len, modified) = (opened.len, opened.modified());
        Ok((vk, Self { file: opened.file, len, modified, shape: *shape }))
    }

    /// The points of a section from `first` on, as many as `out` holds: canonical, on the curve, none at infinity. The caller has
    /// looked at the length.
    pub(crate) fn read_points<C: Encoding>(
        &self,
        section: Section,
        first: usize,
        out: &mut [C::Affine],
    ) -> Result<(), ParameterError> {
        let mut bytes = vec![0; out.len() * C::BYTES];
        self.read_bytes::<C>(section, first, &mut bytes)?;
        for (i, (point, bytes)) in out.iter_mut().zip(bytes.chunks_exact(C::BYTES)).enumerate() {
            *point = decode::<C>(bytes, false).map_err(|source| ParameterError::Point {
                section,
                index: first + i,
                source,
            })?;
        }
        Ok(())
    }

    /// The bytes of the points from `first` on, as they are in the file.
    pub(crate) fn read_bytes<C: Encoding>(
        &self,
        section: Section,
        first: usize,
        out: &mut [u8],
    ) -> Result<(), ParameterError> {
        let at = self.shape.offset(section) + (first * C::BYTES) as u64;
        self.file.read_exact_at(out, at).map_err(|source| short_read(section, first, source))
    }

    /// [`read_points`](Self::read_points) by several threads. Of several bad points it names the first.
    pub(crate) fn read_in_parallel<C: Encoding>(
        &self,
        section: Section,
        first: usize,
        out: &mut [C::Affine],
    ) -> Result<(), ParameterError> {
        const AT_ONCE: usize = 1 << 11;
        out.par_chunks_mut(AT_ONCE)
            .enumerate()
            .filter_map(|(k, out)| {
                let first = first + k * AT_ONCE;
                Some((k, self.read_points::<C>(section, first, out).err()?))
            })
            .min_by_key(|(k, _)| *k)
            .map_or(Ok(()), |(_, error)| Err(error))
    }

    /// That all points are in the subgroup of prime order.
    pub(crate) fn check_subgroups(&self) -> Result<(), ParameterError> {
        self.check_unchanged()?;
        for section in [Section::H, Section::L, Section::A, Section::BG1] {
            self.check_section::<G1>(section)?;
        }
        self.check_section::<G2>(Section::BG2)?;
        self.check_unchanged()
    }

    fn check_section<C: Encoding>(&self, section: Section) -> Result<(), ParameterError> {
        let all = self.shape.points(section);
        let mut points = vec![C::Affine::default(); STRETCH.min(all)];
        for first in (0..all).step_by(STRETCH) {
            points.truncate(all - first);
            self.read_in_parallel::<C>(section, first, &mut points)?;
            check_points::<C>(section, first, &points, &mut OsRng)?;
        }
        Ok(())
    }

    /// That nobody wrote to the file since it was opened.
    pub(crate) fn check_unchanged(&self) -> Result<(), ParameterError> {
        Opened::check_unchanged(&self.file, self.len, self.modified)
    }
}

impl Queries for ParameterFile {
    fn read<T>(&self, work: impl FnOnce(&Reading<'_>) -> Result<T, ProveError>) -> Result<T, ProveError> {
        self.check_unchanged()?;
        let out = work(&Reading::File(self))?;
        self.check_unchanged()?;
        Ok(out)
    }
}
