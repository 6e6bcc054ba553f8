//! Opening and writing files.

use std::fs::{File, Metadata};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::SystemTime;

use r1cs::{folder_of, write_whole};

use crate::ParameterError;

/// The beginning of the names of ceremony files, in any case: some file systems do not tell `V28-` from `v28-`.
const CEREMONY_PREFIX: &str = "v28-";

/// An open file, and what it was when it was opened.
pub(crate) struct Opened {
    pub(crate) file: File,
    pub(crate) len: u64,
    modified: Option<SystemTime>,
}

impl Opened {
    pub(crate) fn new(path: &Path) -> Result<Self, ParameterError> {
        let shown = path.display();
        let file = r1cs::open_regular(path).map_err(ParameterError::io(format!("opening {shown}")))?;
        let metadata = file.metadata().map_err(ParameterError::io(format!("examining {shown}")))?;
        Ok(Self { file, len: metadata.len(), modified: modified(&metadata) })
    }

    /// That the file is still what it was.
    pub(crate) fn check_unchanged(
        file: &File,
        len: u64,
        before: Option<SystemTime>,
    ) -> Result<(), ParameterError> {
        let now = file.metadata().map_err(ParameterError::io("examining the file again"))?;
        if now.len() != len {
            return Err(ParameterError::Changed { what: format!("{len} bytes, then {}", now.len()) });
        }
        if modified(&now) != before {
            return Err(ParameterError::Changed { what: "it was written to".into() });
        }
        Ok(())
    }

    pub(crate) fn modified(&self) -> Option<SystemTime> {
        self.modified
    }
}

fn modified(metadata: &Metadata) -> Option<SystemTime> {
    metadata.modified().ok()
}

/// That test parameters may be written to `path`: not under a ceremony's name (`v28-…`, in any case), nor into a folder that holds
/// ceremony files. For those who write several files as one; [`Parameters::write_file`](crate::Parameters::write_file)
/// asks by itself.
pub fn check_test_target(path: &Path) -> Result<(), ParameterError> {
    let shown = path.display().to_string();
    let refuse = |reason: String| ParameterError::CeremonyPlace { path: shown.clone(), reason };
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if is_ceremony_name(&name) {
        return Err(refuse(format!(
            "names that begin with {CEREMONY_PREFIX} are for a ceremony's parameters"
        )));
    }
    let folder = folder_of(path);
    let entries =
        folder.read_dir().map_err(ParameterError::io(format!("reading folder {}", folder.display())))?;
    for entry in entries {
        let entry = entry.map_err(ParameterError::io(format!("reading folder {}", folder.display())))?;
        let other = entry.file_name().to_string_lossy().into_owned();
        if is_ceremony_name(&other) {
            return Err(refuse(format!("the folder holds a ceremony's file, {other}")));
        }
    }
    Ok(())
}

fn is_ceremony_name(name: &str) -> bool {
    let prefix = name.as_bytes().get(..CEREMONY_PREFIX.len());
    prefix.is_some_and(|prefix| prefix.eq_ignore_ascii_case(CEREMONY_PREFIX.as_bytes()))
}

/// Writes a file that is there completely or not at all ([`write_whole`]).
///
/// What this crate writes are test parameters, so the target must be [fit for them](check_test_target).
pub(crate) fn whole_test_file<T, E: From<ParameterError>>(
    path: &Path,
    write: impl FnOnce(&File) -> Result<T, E>,
) -> Result<T, E> {
    check_test_target(path)?;
    let failed = |_, source| {
        let action = format!("writing {}", path.display());
        ParameterError::Io { action, source }.into()
    };
    write_whole(path, failed, write)
}

/// The same from bytes in order.
pub(crate) fn write_test_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<(), ParameterError> {
    whole_test_file(path, |file| {
        let mut writer = BufWriter::with_capacity(1 << 20, file);
        let written = write(&mut writer).and_then(|()| writer.flush());
        written.map_err(ParameterError::io(format!("writing {}", path.display())))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_ceremonies_in_any_case() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |name: &str| check_test_target(&folder.path().join(name)).is_err();
        assert!(refused("v28-a.params") && refused("V28-a.params") && refused("v28-"));
        assert!(!refused("v28") && !refused("v29-a.params") && !refused("é28-a"));
        std::fs::write(folder.path().join("V28-other.vk"), b"").unwrap();
        assert!(refused("a.params"));
    }

    #[test]
    fn changes_under_a_reader_are_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, [1; 100]).unwrap();
        let opened = Opened::new(&path).unwrap();
        let check = || Opened::check_unchanged(&opened.file, opened.len, opened.modified());
        check().unwrap();
        let writer = File::options().write(true).open(&path).unwrap();
        writer.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        assert!(matches!(check(), Err(ParameterError::Changed { .. })));
        writer.set_len(50).unwrap();
        assert!(matches!(check(), Err(ParameterError::Changed { .. })));
    }
}
