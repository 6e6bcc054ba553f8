//! Files whose names were given.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
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
/// [`io::ErrorKind::InvalidInput`]): whoever may write to their folder could rename over them.
pub fn check_target(path: &Path) -> io::Result<()> {
    match path.metadata() {
        Ok(there) if !there.is_file() => Err(io::Error::new(io::ErrorKind::InvalidInput, NotAFile)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::{fs::symlink, net::UnixListener};

    use super::*;

    #[test]
    fn only_regular_files() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for path in [folder.path(), Path::new("/dev/zero"), &pipe] {
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
        for name in ["pipe", "socket", ".", "link to pipe"] {
            assert_eq!(check_target(&path(name)).unwrap_err().kind(), io::ErrorKind::InvalidInput, "{name}");
        }
        for name in ["file", "missing", "link to file", "link to missing"] {
            check_target(&path(name)).unwrap();
        }
    }
}
