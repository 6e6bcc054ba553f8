//! Where a prover's points come from: memory, or a parameter file that is read anew for every proof.

use std::fmt;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use msm_gpu::{G1, G2};

use crate::encoding::Encoding;
use crate::files::Opened;
use crate::source::Source;
use crate::{ParameterError, Parameters, ProveError, Section, Shape, VerifyingKey};

/// The queries of one circuit's parameters, whose shape has been checked.
pub(crate) trait Queries: fmt::Debug + Send + Sync {
    /// Runs `work` on the queries. It must ask for them in the order of a file: H, L, A, B in G1, B in G2, each to its end.
    fn read<T>(&self, work: impl FnOnce(&mut Reading<'_>) -> Result<T, ProveError>) -> Result<T, ProveError>;
}

/// Queries while they are used.
pub(crate) enum Reading<'a> {
    Memory(&'a Parameters),
    File(Box<Source<Arc<File>>>),
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
    File(&'a mut Source<Arc<File>>, Vec<C::Affine>),
}

impl Queries for Parameters {
    fn read<T>(&self, work: impl FnOnce(&mut Reading<'_>) -> Result<T, ProveError>) -> Result<T, ProveError> {
        work(&mut Reading::Memory(self))
    }
}

impl<Q: Queries> Queries for Arc<Q> {
    fn read<T>(&self, work: impl FnOnce(&mut Reading<'_>) -> Result<T, ProveError>) -> Result<T, ProveError> {
        self.as_ref().read(work)
    }
}

impl Reading<'_> {
    /// A query in G1.
    pub(crate) fn g1(&mut self, section: Section) -> Result<Points<'_, G1>, ProveError> {
        self.section(section, |parameters| match section {
            Section::H => &parameters.h,
            Section::L => &parameters.l,
            Section::A => &parameters.a,
            _ => &parameters.b_g1,
        })
    }

    /// The query in G2.
    pub(crate) fn g2(&mut self) -> Result<Points<'_, G2>, ProveError> {
        self.section(Section::BG2, |parameters| &parameters.b_g2)
    }

    fn section<C: Encoding>(
        &mut self,
        section: Section,
        choose: impl FnOnce(&Parameters) -> &Vec<C::Affine>,
    ) -> Result<Points<'_, C>, ProveError> {
        let (left, from) = match self {
            Self::Memory(parameters) => {
                let points = choose(parameters);
                (points.len(), Place::Memory(points))
            }
            Self::File(source) => (source.count::<C>(section)?, Place::File(source, Vec::new())),
        };
        Ok(Points { section, taken: 0, left, from })
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
            Place::File(source, memory) => {
                memory.resize(len, C::Affine::default());
                source.next_points::<C>(self.section, first, memory)?;
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

/// A parameter file whose points are read, and checked, for each proof.
#[derive(Debug)]
pub(crate) struct ParameterFile {
    path: PathBuf,
    len: u64,
    modified: Option<SystemTime>,
    /// Where the queries begin.
    queries: u64,
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
        let queries = opened.len - source.remaining();
        if let (Some(expected), Some(got)) = (digest, source.finish()?)
            && !expected.eq_ignore_ascii_case(&got)
        {
            return Err(ParameterError::Digest { expected: expected.to_owned(), got });
        }
        shape.check(Section::Ic, vk.ic.len())?;
        let mut at = queries;
        for section in [Section::H, Section::L, Section::A, Section::BG1, Section::BG2] {
            let mut file = &opened.file;
            file.seek(SeekFrom::Start(at))
                .map_err(ParameterError::io(format!("seeking section {section}")))?;
            let mut source = Source::new(file.take(opened.len - at), opened.len - at, false);
            let (count, bytes) = match section {
                Section::BG2 => (source.count::<G2>(section)?, G2::BYTES),
                _ => (source.count::<G1>(section)?, G1::BYTES),
            };
            shape.check(section, count)?;
            at += 4 + (count * bytes) as u64;
        }
        Opened::check_unchanged(&opened.file, opened.len, opened.modified())?;
        let file = Self { path: path.to_owned(), len: opened.len, modified: opened.modified(), queries };
        Ok((vk, file))
    }
}

impl Queries for ParameterFile {
    fn read<T>(&self, work: impl FnOnce(&mut Reading<'_>) -> Result<T, ProveError>) -> Result<T, ProveError> {
        let mut file = Arc::new(Opened::new(&self.path)?.file);
        let unchanged = |file: &File| Opened::check_unchanged(file, self.len, self.modified);
        unchanged(&file)?;
        let action = || format!("seeking in {}", self.path.display());
        file.seek(SeekFrom::Start(self.queries)).map_err(ParameterError::io(action()))?;
        let out =
            work(&mut Reading::File(Box::new(Source::new(file.clone(), self.len - self.queries, false))))?;
        unchanged(&file)?;
        Ok(out)
    }
}
