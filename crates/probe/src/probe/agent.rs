//! Processes that take part in experiments: another process of this host, or one that sees the same directory
//! through another mount. Only lines of text go between them and the experiment ([`message`]), so that one on
//! another host can take part as well: whoever starts it passes the lines on.

mod message;
mod serve;

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

pub(super) use message::{Answer, Request};
pub use serve::serve;
pub(super) use serve::{hash, lock, unlock};

use super::Error;

/// Whoever does not answer for so long beyond what it was asked to take is given up.
const PATIENCE: Duration = Duration::from_mins(1);

/// How often it is looked whether all is to end.
const LOOKED: Duration = Duration::from_millis(50);

/// A process that does what it is told.
pub(super) struct Agent<'a> {
    child: Option<Child>,
    input: Option<Box<dyn Write + Send>>,
    answers: Receiver<(Instant, Answer)>,
    stop: &'a AtomicBool,
}

impl<'a> Agent<'a> {
    /// Starts one.
    pub(super) fn start(command: &mut Command, stop: &'a AtomicBool) -> Result<Self, Error> {
        io::process::die_with_parent(command);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command
            .spawn()
            .map_err(|error| Error::Agent(format!("could not be started: {error}")))?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (Some(input), Some(output)) = (input, output) else {
            return Err(Error::Agent("has no pipes".to_owned()));
        };
        let mut agent = Self::over(input, output, stop);
        agent.child = Some(child);
        Ok(agent)
    }

    /// One that listens and answers already.
    pub(super) fn over(
        input: impl Write + Send + 'static,
        output: impl Read + Send + 'static,
        stop: &'a AtomicBool,
    ) -> Self {
        let (sender, answers) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                let arrived = Instant::now();
                let Some(answer) = line.ok().and_then(|line| serde_json::from_str(&line).ok())
                else {
                    return;
                };
                if sender.send((arrived, answer)).is_err() {
                    return;
                }
            }
        });
        Self {
            child: None,
            input: Some(Box::new(input)),
            answers,
            stop,
        }
    }

    /// Its number on this host.
    pub(super) fn process_id(&self) -> Option<u32> {
        self.child.as_ref().map(Child::id)
    }

    /// Asks; the answer comes later.
    pub(super) fn tell(&mut self, request: &Request) -> Result<(), Error> {
        let line = serde_json::to_string(request)
            .map_err(|error| Error::Agent(format!("cannot be asked: {error}")))?;
        let told = self.input.as_mut().map(|input| {
            writeln!(input, "{line}")?;
            input.flush()
        });
        match told {
            Some(Ok(())) => Ok(()),
            _ => Err(self.gone()),
        }
    }

    /// The next answer and when it came, if it does within `time` and some patience.
    pub(super) fn hear(&mut self, time: Duration) -> Result<(Instant, Answer), Error> {
        let end = Instant::now() + time + PATIENCE;
        loop {
            match self.answers.recv_timeout(LOOKED) {
                Ok((_, Answer::Failed { code, text })) => {
                    return Err(Error::Refused { code, text });
                }
                Ok(answer) => return Ok(answer),
                Err(RecvTimeoutError::Disconnected) => return Err(self.gone()),
                Err(RecvTimeoutError::Timeout) if self.stop.load(Ordering::Relaxed) => {
                    return Err(Error::Interrupted);
                }
                Err(RecvTimeoutError::Timeout) if Instant::now() >= end => {
                    self.end();
                    return Err(Error::Agent("did not answer in time".to_owned()));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Asks and waits.
    pub(super) fn ask(&mut self, request: &Request) -> Result<Answer, Error> {
        self.tell(request)?;
        self.hear(Duration::ZERO).map(|(_, answer)| answer)
    }

    /// Asks for something that either is done or fails.
    pub(super) fn order(&mut self, request: &Request) -> Result<(), Error> {
        self.ask(request).map(|_| ())
    }

    /// Tries to lock an open file.
    pub(super) fn try_lock(&mut self, slot: u32, exclusive: bool) -> Result<bool, Error> {
        let wait = false;
        let request = Request::Lock {
            slot,
            exclusive,
            wait,
        };
        Ok(self.ask(&request)? == Answer::Locked { granted: true })
    }

    fn gone(&self) -> Error {
        // A signal from a terminal reaches all processes, the helping ones first.
        if self.stop.load(Ordering::Relaxed) {
            return Error::Interrupted;
        }
        Error::Agent("has ended".to_owned())
    }

    fn end(&mut self) {
        // Without its input it ends by itself, unless it waits for something.
        self.input = None;
        let Some(child) = &mut self.child else { return };
        let end = Instant::now() + Duration::from_millis(200);
        while Instant::now() < end {
            if !matches!(child.try_wait(), Ok(None)) {
                self.child = None;
                return;
            }
            thread::sleep(Duration::from_millis(2));
        }
        // One that is lost in a call of the file system cannot be waited for.
        let _ = child.kill();
        let end = Instant::now() + Duration::from_secs(5);
        while matches!(child.try_wait(), Ok(None)) && Instant::now() < end {
            thread::sleep(Duration::from_millis(10));
        }
        self.child = None;
    }
}

impl Drop for Agent<'_> {
    fn drop(&mut self) {
        self.end();
    }
}

/// An agent in a thread of this process, for tests: its locks are those of this process.
#[cfg(test)]
pub(super) fn in_thread<'a>(folder: &Path, stop: &'a AtomicBool) -> Agent<'a> {
    let (theirs, ours) = std::io::pipe().unwrap();
    let (answers, answering) = std::io::pipe().unwrap();
    let folder = folder.to_owned();
    thread::spawn(move || serve(&folder, BufReader::new(theirs), answering));
    Agent::over(ours, answers, stop)
}

/// Whether a name leads to something below a folder, and nowhere else.
fn is_below(name: &str) -> bool {
    let mut parts = Path::new(name).components();
    !name.is_empty() && parts.all(|part| matches!(part, std::path::Component::Normal(_)))
}
