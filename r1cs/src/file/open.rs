//! Files whose names were given.

use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::OFlags;

/// What a path leads to instead of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a regular file")]
pub struct NotAFile;

/// Opens a regular file for reading. Folders, pipes and devices are refused ([`NotAFile`], as [`io::ErrorKind::InvalidInput`]) without
/// waiting for anyone to write into them.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits() as i32).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, NotAFile)),
    }
}

/// That a new file may be renamed to a path: nothing is there, or a regular file, or a link to one of these. The new file takes the place of
/// a link; what that led to stays as it is. Folders, pipes, sockets and devices are refused ([`NotAFile`], as
/// [`io::ErrorKind::InvalidInput`]): whoever may write to their folder could rename over them. So is a name that only a folder can have, `a/`
/// or `a/.`; and one that no file can have is the system's error.
pub fn check_target(path: &Path) -> io::Result<()> {
    let refused = || Err(io::Error::new(io::ErrorKind::InvalidInput, NotAFile));
    let name = path.as_os_str().as_encoded_bytes().rsplit(|byte| *byte == b'/').next();
    match path.symlink_metadata() {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Err(_) if matches!(name, None | Some(b"" | b"." | b"..")) => refused(),
        Err(_) => Ok(()),
        // A link that leads nowhere is replaced too.
        Ok(_) if path.metadata().is_ok_and(|there| !there.is_file()) => refused(),
        Ok(_) => Ok(()),
    }
}

/// The folder that a path's last part is in.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes a file that is there completely or not at all: to a temporary file beside `path`, which is synced and renamed. Only what is
/// [fit for that](check_target) is replaced, and looked at again before the renaming, since writing may take its time. `failed` makes the
/// error of what was attempted (`create`, `sync`, `rename`) and what the system said.
///
/// A process that is killed meanwhile leaves the temporary file.
pub fn write_whole<T, E>(
    path: &Path,
    failed: impl Fn(&'static str, io::Error) -> E,
    write: impl FnOnce(&File) -> Result<T, E>,
) -> Result<T, E> {
    let create = || {
        check_target(path)?;
        // As any new file: the user's mask takes from it what others may not.
        tempfile::Builder::new().permissions(Permissions::from_mode(0o666)).tempfile_in(folder_of(path))
    };
    let temporary = create().map_err(|error| failed("create", error))?;
    let out = write(temporary.as_file())?;
    temporary.as_file().sync_all().map_err(|error| failed("sync", error))?;
    let renamed = check_target(path).and_then(|()| temporary.persist(path).map_err(|error| error.error));
    renamed.map_err(|error| failed("rename", error))?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::{fs::symlink, net::UnixListener};

    use super::*;

    #[test]
    fn only_regular_files() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for path in [folder.path(), &pipe] {
            assert_eq!(open_regular(path).unwrap_err().kind(), io::ErrorKind::InvalidInput, "{path:?}");
        }
        assert_eq!(open_regular(&folder.path().join("no")).unwrap_err().kind(), io::ErrorKind::NotFound);
        let file = folder.path().join("file");
        std::fs::write(&file, b"x").unwrap();
        open_regular(&file).unwrap();
    }

    #[test]
    fn only_regular_files_and_links_to_them_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        assert!(std::process::Command::new("mkfifo").arg(path("pipe")).status().unwrap().success());
        let _socket = UnixListener::bind(path("socket")).unwrap();
        std::fs::write(path("file"), b"x").unwrap();
        for name in ["file", "pipe", "missing"] {
            symlink(path(name), path(&format!("link to {name}"))).unwrap();
        }
        for name in ["pipe", "socket", ".", "link to pipe", "a/", "a/.", "a/.."] {
            assert_eq!(check_target(&path(name)).unwrap_err().kind(), io::ErrorKind::InvalidInput, "{name}");
        }
        symlink(path("loop"), path("loop")).unwrap();
        for name in ["file", "missing", "link to file", "link to missing", "loop"] {
            check_target(&path(name)).unwrap();
        }
        for name in ["file/", "file/a", &"a".repeat(300)] {
            assert_ne!(check_target(&path(name)).unwrap_err().kind(), io::ErrorKind::NotFound, "{name}");
        }
    }

    #[test]
    fn a_file_is_there_completely_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let names = || std::fs::read_dir(folder.path()).unwrap().count();
        let path = folder.path().join("file");
        let write = |bytes: &'static [u8]| {
            write_whole(
                &path,
                |action, error| (action, error.kind()),
                |mut file| {
                    assert!(!path.is_file());
                    file.write_all(bytes).map_err(|error| ("write", error.kind()))
                },
            )
        };
        let full = io::ErrorKind::StorageFull;
        let failed = write_whole(&path, |_, error| error.kind(), |_| Err::<(), _>(full));
        assert_eq!((failed, names()), (Err(full), 0));
        let overtaken = write_whole(
            &path,
            |action, error| (action, error.kind()),
            |_| {
                std::fs::create_dir(&path).unwrap();
                Ok(())
            },
        );
        assert_eq!((overtaken, names()), (Err(("rename", io::ErrorKind::InvalidInput)), 1));
        assert_eq!(write(b"x"), Err(("create", io::ErrorKind::InvalidInput)));
        std::fs::remove_dir(&path).unwrap();
        write(b"x").unwrap();
        assert_eq!((std::fs::read(&path).unwrap(), names()), (b"x".to_vec(), 1));
        // Readable as the file that anybody would create here.
        let plain = folder.path().join("plain");
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode();
        File::create(&plain).unwrap();
        assert_eq!(mode(&path), mode(&plain));
    }
}
