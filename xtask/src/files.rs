//! Files in and out: reading under a limit, writing all or none.

use std::{
    fs::{self, File, Permissions},
    io::{self, BufWriter, Read, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use r1cs::folder_of;
use tempfile::{Builder, NamedTempFile};

use crate::{
    failure::{Failure, Kind},
    interrupt,
};

/// Reads a file of at most `limit` bytes. The limit holds for what is read, whatever length the file claims.
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    r1cs::open_regular(path)
        .and_then(|file| file.take(limit.saturating_add(1)).read_to_end(&mut bytes))
        .map_err(|error| Failure::io(path, &error))?;
    if bytes.len() as u64 > limit {
        let message = format_args!("the file is longer than the {limit} bytes that such a file may have");
        return Err(Failure::input(message).at(path.display()));
    }
    Ok(bytes)
}

/// `path` with `.suffix` appended (not replacing an extension).
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    name.into()
}

/// Whether a new file in the place of `target` would take away what is read from `source`, itself or what it links to.
pub fn takes_away(target: &Path, source: &Path) -> bool {
    same_target(target, source) || source.canonicalize().is_ok_and(|source| same_target(target, &source))
}

/// Whether two paths name the same entry of the same folder, however they are written.
pub fn same_target(a: &Path, b: &Path) -> bool {
    let entry = |path: &Path| (folder_of(path).canonicalize().ok(), path.file_name().map(ToOwned::to_owned));
    a == b || matches!((entry(a), entry(b)), (a @ (Some(_), Some(_)), b) if a == b)
}

/// That suffixes can be appended to the file name of `out`, whose flag is `--out`.
pub fn check_stem(out: &Path) -> Result<(), Failure> {
    let name = out.as_os_str().as_encoded_bytes().rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    match name {
        b"" | b"." | b".." => {
            let message = format_args!("{:?} does not end with a file name", out.display().to_string());
            Err(Failure::new(Kind::Usage, message).at("--out"))
        }
        _ => Ok(()),
    }
}

/// Output files that appear together or not at all: each is written to a temporary file beside its target and synced,
/// and [`publish`](Self::publish) renames them. They replace files and links, and nothing else ([`r1cs::check_target`]).
#[derive(Default)]
pub struct Outputs {
    staged: Vec<Staged>,
}

struct Staged {
    temporary: Option<NamedTempFile>,
    unfinished: PathBuf,
    target: PathBuf,
}

impl Outputs {
    /// No files yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates the temporary files of all targets, so that one that cannot be written is known before there is anything to write.
    pub fn create(targets: &[PathBuf]) -> Result<Self, Failure> {
        let mut outputs = Self::new();
        targets.iter().try_for_each(|target| outputs.stage(target))?;
        Ok(outputs)
    }

    /// Creates and writes one file, under its temporary name.
    pub fn add(
        &mut self,
        target: &Path,
        write: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<()>,
    ) -> Result<(), Failure> {
        self.stage(target)?;
        self.fill(self.staged.len() - 1, write)
    }

    fn stage(&mut self, target: &Path) -> Result<(), Failure> {
        r1cs::check_target(target).map_err(|error| Failure::io(target, &error))?;
        let fail = |error: &io::Error| Failure::io(target, error);
        // Held throughout: an interrupt finds no file that it does not know.
        let mut all = interrupt::unfinished();
        let temporary = Builder::new()
            .prefix(".unfinished-")
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(folder_of(target))
            .map_err(|error| fail(&error))?;
        let unfinished = temporary.path().to_owned();
        all.insert(unfinished.clone());
        drop(all);
        // From here on dropping the entry removes the file and its registration.
        self.staged.push(Staged { temporary: Some(temporary), unfinished, target: target.to_owned() });
        Ok(())
    }

    /// Writes the file that was created as number `index`, counted from 0.
    pub fn fill(
        &mut self,
        index: usize,
        write: impl FnOnce(&mut BufWriter<&mut File>) -> io::Result<()>,
    ) -> Result<(), Failure> {
        self.fill_file(index, |file, target| {
            let mut buffered = BufWriter::with_capacity(1 << 20, file);
            write(&mut buffered).and_then(|()| buffered.flush()).map_err(|error| Failure::io(target, &error))
        })
    }

    /// The same for what does not come in order.
    pub fn fill_file<T>(
        &mut self,
        index: usize,
        write: impl FnOnce(&mut File, &Path) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let Some(Staged { temporary: Some(file), target, .. }) = self.staged.get_mut(index) else {
            return Err(Failure::new(Kind::Internal, format_args!("there is no output {index}")));
        };
        let out = write(file.as_file_mut(), target)?;
        file.as_file().sync_all().map_err(|error| Failure::io(target, &error))?;
        Ok(out)
    }

    /// Renames every file to its target. If one cannot be renamed, those that had no predecessor are removed again.
    pub fn publish(mut self) -> Result<(), Failure> {
        // To be synced afterwards. What cannot be opened for that is said while there is nothing to take back.
        let open = |staged: &Staged| {
            let folder = folder_of(&staged.target).to_owned();
            File::open(&folder).map_err(|error| Failure::io(&folder, &error)).map(|open| (folder, open))
        };
        let folders = self.staged.iter().map(open).collect::<Result<Vec<_>, _>>()?;
        // Held throughout: an interrupt finds none or all of the files.
        let mut unfinished = interrupt::unfinished();
        let mut fresh = Vec::new();
        let mut outcome = Ok(());
        for staged in &mut self.staged {
            let Some(temporary) = staged.temporary.take() else { continue };
            let existed = staged.target.exists();
            // Meanwhile something may have come there that is no file.
            let renamed = r1cs::check_target(&staged.target)
                .and_then(|()| temporary.persist(&staged.target).map_err(|error| error.error));
            if let Err(error) = renamed {
                outcome = Err(Failure::io(&staged.target, &error));
                break;
            }
            unfinished.remove(&staged.unfinished);
            if !existed {
                fresh.push(staged.target.clone());
            }
        }
        drop(unfinished);
        if outcome.is_err() {
            for target in fresh {
                let _ = fs::remove_file(target);
            }
            return outcome;
        }
        let sync =
            |(path, folder): &(PathBuf, File)| folder.sync_all().map_err(|error| Failure::io(path, &error));
        folders.iter().try_for_each(sync)
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        drop(self.temporary.take());
        interrupt::forget(&self.unfinished);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn all_or_none() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        let mut outputs = Outputs::new();
        outputs.add(&a, |file| file.write_all(b"a")).unwrap();
        outputs.add(&b, |file| file.write_all(b"b")).unwrap();
        assert!(!a.exists() && !b.exists());
        outputs.publish().unwrap();
        assert_eq!(names(folder.path()), ["a", "b"]);
        assert_eq!(fs::read(&b).unwrap(), b"b");
    }

    #[test]
    fn names_that_cannot_have_suffixes() {
        for name in ["", "a/", ".", "..", "a/.", "a/..", "/"] {
            assert_eq!(check_stem(Path::new(name)).unwrap_err().kind, Kind::Usage, "{name}");
        }
        for name in ["a", "a/b", "./a", "...", "../a.b"] {
            check_stem(Path::new(name)).unwrap();
        }
    }

    #[test]
    fn all_targets_are_created_first() {
        let folder = tempfile::tempdir().unwrap();
        let [a, b] = ["a", "no/b"].map(|name| folder.path().join(name));
        assert!(Outputs::create(&[a.clone(), b]).is_err());
        assert!(names(folder.path()).is_empty());
        let mut outputs = Outputs::create(&[a]).unwrap();
        outputs.fill(0, |file| file.write_all(b"a")).unwrap();
        assert!(outputs.fill(1, |_| Ok(())).is_err());
        outputs.publish().unwrap();
        assert_eq!(names(folder.path()), ["a"]);
    }

    #[test]
    fn sockets_and_folders_are_no_targets() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let _socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
        let link = folder.path().join("link");
        symlink(&path, &link).unwrap();
        for target in [path, link, folder.path().to_owned()] {
            let error = Outputs::create(&[target]).err().unwrap();
            assert_eq!(error.kind, Kind::Input);
            assert!(error.message.contains("not a regular file"), "{error}");
        }
        assert_eq!(names(folder.path()), ["link", "socket"]);
    }

    #[test]
    fn a_link_is_replaced_and_what_it_led_to_stays() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link] = ["file", "link"].map(|name| folder.path().join(name));
        fs::write(&file, "old").unwrap();
        symlink(&file, &link).unwrap();
        let mut outputs = Outputs::new();
        outputs.add(&link, |out| out.write_all(b"new")).unwrap();
        outputs.publish().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_file());
        assert_eq!([&file, &link].map(|path| fs::read_to_string(path).unwrap()), ["old", "new"]);
    }

    #[test]
    fn targets_are_the_same_however_they_are_written() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("sub")).unwrap();
        let path = |name: &str| folder.path().join(name);
        for (a, b) in [("a", "a"), ("a", "./a"), ("sub/../a", "a"), ("no/a", "no/a")] {
            assert!(same_target(&path(a), &path(b)), "{a}, {b}");
        }
        for (a, b) in [("a", "b"), ("sub/a", "a"), ("no/a", "other/a")] {
            assert!(!same_target(&path(a), &path(b)), "{a}, {b}");
        }
        assert!(same_target(Path::new("a"), Path::new("./a")));
    }

    #[test]
    fn a_failed_write_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let mut outputs = Outputs::new();
        outputs.add(&folder.path().join("a"), |file| file.write_all(b"a")).unwrap();
        let full = io::ErrorKind::StorageFull;
        let error = outputs.add(&folder.path().join("b"), |_| Err(full.into())).unwrap_err();
        assert_eq!(error.kind, crate::failure::Kind::Disk);
        drop(outputs);
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn a_failed_rename_takes_the_others_back() {
        for socket in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let (a, b) = (folder.path().join("a"), folder.path().join("b"));
            let mut outputs = Outputs::new();
            outputs.add(&a, |file| file.write_all(b"a")).unwrap();
            outputs.add(&b, |file| file.write_all(b"b")).unwrap();
            let listener = socket.then(|| std::os::unix::net::UnixListener::bind(&b).unwrap());
            if listener.is_none() {
                fs::create_dir(&b).unwrap();
            }
            assert!(outputs.publish().is_err());
            assert_eq!(names(folder.path()), ["b"]);
            assert!(!b.is_file());
        }
    }

    #[test]
    fn the_limit_holds() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("long");
        fs::write(&path, [0; 11]).unwrap();
        assert!(read(&path, 10).is_err());
        assert_eq!(read(&path, 11).unwrap().len(), 11);
    }
}
