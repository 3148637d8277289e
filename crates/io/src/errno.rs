//! Names of the operating system's errors.

use std::borrow::Cow;
use std::io;

/// The code of a lock that another process holds.
pub const REFUSED: i32 = libc::EAGAIN;

/// Code of an error; 0 if it is not the operating system's.
pub fn code_of(error: &io::Error) -> i32 {
    let refused = error.kind() == io::ErrorKind::WouldBlock;
    error
        .raw_os_error()
        .unwrap_or(if refused { REFUSED } else { 0 })
}

/// `ENOSPC` and the like; `errno N` for what file systems do not answer, `other` for 0.
pub fn name(code: i32) -> Cow<'static, str> {
    let known = NAMES.iter().find(|(known, _)| *known == code);
    match (code, known) {
        (0, _) => Cow::Borrowed("other"),
        (_, Some((_, name))) => Cow::Borrowed(name),
        _ => Cow::Owned(format!("errno {code}")),
    }
}

/// What file systems answer.
const NAMES: [(i32, &str); 36] = [
    (libc::EPERM, "EPERM"),
    (libc::ENOENT, "ENOENT"),
    (libc::EINTR, "EINTR"),
    (libc::EIO, "EIO"),
    (libc::ENXIO, "ENXIO"),
    (libc::EBADF, "EBADF"),
    (libc::EAGAIN, "EAGAIN"),
    (libc::ENOMEM, "ENOMEM"),
    (libc::EACCES, "EACCES"),
    (libc::EFAULT, "EFAULT"),
    (libc::EBUSY, "EBUSY"),
    (libc::EEXIST, "EEXIST"),
    (libc::EXDEV, "EXDEV"),
    (libc::ENODEV, "ENODEV"),
    (libc::ENOTDIR, "ENOTDIR"),
    (libc::EISDIR, "EISDIR"),
    (libc::EINVAL, "EINVAL"),
    (libc::ENFILE, "ENFILE"),
    (libc::EMFILE, "EMFILE"),
    (libc::ETXTBSY, "ETXTBSY"),
    (libc::EFBIG, "EFBIG"),
    (libc::ENOSPC, "ENOSPC"),
    (libc::EROFS, "EROFS"),
    (libc::EMLINK, "EMLINK"),
    (libc::EDEADLK, "EDEADLK"),
    (libc::ENAMETOOLONG, "ENAMETOOLONG"),
    (libc::ENOLCK, "ENOLCK"),
    (libc::ENOSYS, "ENOSYS"),
    (libc::ENOTEMPTY, "ENOTEMPTY"),
    (libc::ELOOP, "ELOOP"),
    (libc::EPROTO, "EPROTO"),
    (libc::EOVERFLOW, "EOVERFLOW"),
    (libc::EOPNOTSUPP, "EOPNOTSUPP"),
    (libc::ETIMEDOUT, "ETIMEDOUT"),
    (libc::ESTALE, "ESTALE"),
    (libc::EDQUOT, "EDQUOT"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_their_names() {
        let full = io::Error::from_raw_os_error(28);
        assert_eq!(name(code_of(&full)), "ENOSPC");
        let locked = io::Error::from(io::ErrorKind::WouldBlock);
        assert_eq!(name(code_of(&locked)), "EAGAIN");
        assert_eq!(name(code_of(&io::Error::other("x"))), "other");
        assert_eq!(name(4000), "errno 4000");
    }
}
