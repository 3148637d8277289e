//! LOCK statements.

use base::store::{Access, LockKind, StoreError};
use lang::ast::{DatasetRef, LockAction};

use super::Session;
use crate::dataset::output::{deny_read_only, locking};
use crate::failure::Failure;
use crate::library::Member;

/// SYSLCKRC where somebody else has the data set.
const NOT_AVAILABLE: i32 = 70_031;

/// SYSLCKRC where something else went wrong.
const FAILED: i32 = 1;

/// SYSLCKRC where the session has the lock already: `_SWLKYOU`.
const YOURS: i32 = -630_098;

/// SYSLCKRC where the session has no lock: `_SWNOLKH`.
const NOBODYS: i32 = -630_099;

/// What a LOCK statement came to: SYSLCKRC and what the log says.
struct Answer {
    code: i32,
    text: String,
    warning: bool,
}

impl Session {
    /// A LOCK statement. One that fails does not stop the program, which asks SYSLCKRC and tries
    /// again.
    pub(super) fn lock(&mut self, dataset: &DatasetRef, action: LockAction, quiet: bool) {
        let member = self.world.found(dataset).map_err(failed);
        let answer = member.and_then(|member| match action {
            LockAction::Lock => self.acquire(&member),
            LockAction::Clear => Ok(self.release(&member)),
            LockAction::List => Ok(self.held(&member)),
        });
        let code = match answer {
            Ok(Answer {
                code,
                text,
                warning,
            }) => {
                match (quiet, warning) {
                    (true, _) => {}
                    (false, true) => self.world.log.warning(&text),
                    (false, false) => self.world.note(&text),
                }
                code
            }
            Err((code, failure)) => {
                if !quiet {
                    self.world.log.tell(&failure);
                    self.abend();
                }
                code
            }
        };
        let code = code.to_string();
        self.world.macros.set_automatic("SYSLCKRC", &code, false);
    }

    fn acquire(&mut self, member: &Member) -> Result<Answer, (i32, Failure)> {
        let (name, path) = (member.full_name(), member.path());
        if self.world.locks.holds(&path) {
            let text = format!("{name}.DATA is already locked for exclusive access by you.");
            return Ok(note(YOURS, text));
        }
        deny_read_only(member).map_err(failed)?;
        let failure = |error: StoreError| {
            let code = if error.is_locked() {
                NOT_AVAILABLE
            } else {
                FAILED
            };
            (code, Failure::store(&name, &error))
        };
        let channel = member.library.write_channel();
        let store = self.world.store.clone();
        let file = store
            .open(channel, &path, Access::Update)
            .map_err(failure)?;
        let text = format!("{name}.DATA is now locked for exclusive access by you.");
        if locking(&self.world, member).is_some() {
            file.lock(LockKind::Exclusive).map_err(failure)?;
            self.world.locks.add_file(path, channel, file);
        } else {
            file.close().map_err(failure)?;
            self.world.locks.add_name(path);
            if !member.library.work {
                let text = format!("{text} Other sessions do not see it: FILELOCKS=NONE.");
                return Ok(Answer {
                    warning: true,
                    ..note(YOURS, text)
                });
            }
        }
        Ok(note(0, text))
    }

    fn release(&mut self, member: &Member) -> Answer {
        let name = member.full_name();
        if self.world.locks.release(&member.path()) {
            return note(0, format!("{name}.DATA is no longer locked by you."));
        }
        not_locked(&name)
    }

    fn held(&self, member: &Member) -> Answer {
        let name = member.full_name();
        if self.world.locks.holds(&member.path()) {
            let text = format!("{name}.DATA is locked for exclusive access by you.");
            return note(YOURS, text);
        }
        not_locked(&name)
    }
}

fn failed(failure: Failure) -> (i32, Failure) {
    (FAILED, failure)
}

fn not_locked(name: &str) -> Answer {
    let text = format!("{name}.DATA is not locked or in use by you.");
    note(NOBODYS, text)
}

fn note(code: i32, text: String) -> Answer {
    Answer {
        code,
        text,
        warning: false,
    }
}
