//! How far the nodes' wall clocks are apart: the node that leads asks each one's clock several times over the
//! launcher's standard input and output, and believes the fastest answer (as NTP does: the answer was given in the
//! middle between question and answer, or off by half of the way at the most).

use std::io::{self, BufRead, Write};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// Questions to each node.
const ROUNDS: usize = 20;

/// A node's clock.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Clock {
    /// How far it is ahead of that of the node that leads, seconds.
    pub offset_s: f64,
    /// How far off that may be, seconds.
    pub uncertainty_s: f64,
}

fn now_s() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs_f64()
}

/// How long answers of a round are waited for: the first one's come when the processes have been started.
const PATIENCE: Duration = Duration::from_secs(20);

/// A node's side: answers each line with the line, its rank and its clock, until there are no more.
pub fn answer(rank: usize, questions: impl BufRead, mut answers: impl Write) -> io::Result<()> {
    for question in questions.lines() {
        writeln!(answers, "{} {rank} {:.6}", question?, now_s())?;
        answers.flush()?;
    }
    Ok(())
}

/// An answer: round, rank and time; `None` for a line that is something else, such as a message of the site.
fn read(line: &str) -> Option<(usize, usize, f64)> {
    let mut words = line.split(' ');
    let read = (
        words.next()?.parse().ok()?,
        words.next()?.parse().ok()?,
        words.next()?.parse().ok()?,
    );
    words.next().is_none().then_some(read)
}

/// The leading side: what the clocks of so many nodes are; `None` for those that did not answer.
pub fn ask(
    nodes: usize,
    mut questions: impl Write,
    answers: impl BufRead + Send + 'static,
) -> io::Result<Vec<Option<Clock>>> {
    let mut clocks: Vec<Option<Clock>> = vec![None; nodes];
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        for line in answers.lines().map_while(Result::ok) {
            if tell.send((line, now_s())).is_err() {
                return;
            }
        }
    });
    for round in 0..ROUNDS {
        let asked = now_s();
        writeln!(questions, "{round}")?;
        questions.flush()?;
        let began = Instant::now();
        let mut missing = nodes;
        while missing > 0 {
            let left = PATIENCE.saturating_sub(began.elapsed());
            let Ok((line, answered)) = told.recv_timeout(left) else {
                // Some nodes are silent, or all have ended: what is known so far is what there is.
                return Ok(clocks);
            };
            let of_round = read(&line).filter(|(of, rank, _)| *of == round && *rank < nodes);
            let Some((_, rank, time)) = of_round else {
                continue;
            };
            missing -= 1;
            let clock = Clock {
                offset_s: time - f64::midpoint(asked, answered),
                uncertainty_s: (answered - asked) / 2.0,
            };
            let known = &mut clocks[rank];
            if known.is_none_or(|known| clock.uncertainty_s < known.uncertainty_s) {
                *known = Some(clock);
            }
        }
    }
    Ok(clocks)
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn clocks_of_one_machine_are_the_same() {
        let (questions, ask_end) = io::pipe().unwrap();
        let (answers, answer_end) = io::pipe().unwrap();
        let node = thread::spawn(move || answer(0, BufReader::new(questions), answer_end));
        let clocks = ask(1, ask_end, BufReader::new(answers)).unwrap();
        node.join().unwrap().unwrap();
        let clock = clocks[0].unwrap();
        assert!(
            clock.offset_s.abs() <= clock.uncertainty_s + 1e-5,
            "{clock:?}"
        );
    }

    #[test]
    fn a_node_that_does_not_answer_has_no_clock() {
        let later = now_s() + 100.0;
        let answers = format!("welcome to node 1\n0 1 {later:.6}\n7 0 1.0\nnonsense\n");
        let clocks = ask(2, Vec::new(), io::Cursor::new(answers)).unwrap();
        assert_eq!(clocks[0], None);
        let clock = clocks[1].unwrap();
        assert!((99.0..101.0).contains(&clock.offset_s), "{clock:?}");
    }
}
