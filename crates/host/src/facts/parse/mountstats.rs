//! `/proc/self/mountstats`: options of NFS mounts with their defaults, and one `xprt:` line per
//! connection.

use super::{Found, found, lines, mount_facts, uppermost};
use crate::facts::{Key, Value};
use crate::fields::unescaped;
use crate::file_systems::listed;

/// Reads NFS mounts; other file systems, `nfsd` and `rpc_pipefs` among them, have no options here.
pub fn parse(_path: &str, text: &str) -> Vec<Found> {
    let mut mounts = Vec::new();
    let mut mount: Option<Mount> = None;
    for (number, line) in lines(text) {
        if line.starts_with("device ") {
            mounts.extend(mount.take().map(Mount::facts));
            mount = heading(line, number);
        } else if let Some(mount) = &mut mount {
            mount.line(line.trim(), number);
        }
    }
    mounts.extend(mount.map(Mount::facts));
    uppermost(mounts)
}

struct Mount {
    source: String,
    point: String,
    fstype: String,
    number: usize,
    options: Vec<String>,
    options_line: usize,
    connections: i64,
    transport: Option<String>,
    data_invalidations: Option<Value>,
}

/// `device server:/export mounted on /mnt with fstype nfs4 statvers=1.1`.
fn heading(line: &str, number: usize) -> Option<Mount> {
    let (source, rest) = line.strip_prefix("device ")?.split_once(" mounted on ")?;
    let (point, rest) = rest.split_once(" with fstype ")?;
    let fstype = rest.split_ascii_whitespace().next()?;
    matches!(fstype, "nfs" | "nfs4").then(|| Mount {
        source: unescaped(source),
        point: unescaped(point),
        fstype: fstype.to_owned(),
        number,
        options: Vec::new(),
        options_line: number,
        connections: 0,
        transport: None,
        data_invalidations: None,
    })
}

impl Mount {
    fn line(&mut self, line: &str, number: usize) {
        if let Some(options) = line.strip_prefix("opts:") {
            self.options = listed(options.trim());
            self.options_line = number;
        } else if let Some(connection) = line.strip_prefix("xprt:") {
            self.connections += 1;
            let kind = connection.split_ascii_whitespace().next();
            self.transport = kind.map(str::to_owned);
        } else if let Some(events) = line.strip_prefix("events:") {
            let third = events.split_ascii_whitespace().nth(2);
            self.data_invalidations = third.map(Value::of);
        }
    }

    fn facts(self) -> Vec<Found> {
        let fact = |name: &str, value: Value| {
            found(Key::of("mount", &self.point, name), value, self.number)
        };
        let mut facts = vec![fact("connections", self.connections.into())];
        facts.extend(
            self.transport
                .clone()
                .map(|kind| fact("transport", kind.into())),
        );
        let events = self.data_invalidations.clone();
        facts.extend(events.map(|count| fact("data_invalidations", count)));
        let options = mount_facts(
            &self.point,
            &self.fstype,
            &self.source,
            self.options,
            self.options_line,
        );
        facts.extend(options);
        facts
    }
}
