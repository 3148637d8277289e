//! What the language asks of the session.

use std::path::Path;

use base::store::{Access, Channel};
use lang::{Macros, Tracing};

use super::World;
use crate::expr::outside;

type Reader<'a> = &'a (dyn Fn(&Path) -> Result<String, String> + Send);

/// Bytes of a file in WORK that is included.
const INCLUDED_MAX: u64 = 64 << 20;

/// The session as the language sees it.
pub(super) struct Host<'a> {
    pub(super) world: &'a mut World,
    pub(super) include: Reader<'a>,
}

impl<'a> Host<'a> {
    /// One that includes nothing: for text that is resolved while a step runs.
    pub(super) fn without_files(world: &'a mut World) -> Self {
        Self {
            world,
            include: &|_| Err("%INCLUDE is not possible while a step runs".to_owned()),
        }
    }
}

impl lang::Host for Host<'_> {
    fn macros(&self) -> &Macros {
        &self.world.macros
    }

    fn macros_mut(&mut self) -> &mut Macros {
        &mut self.world.macros
    }

    fn include(&mut self, path: &str) -> Result<String, String> {
        (self.include)(Path::new(path))
    }

    fn include_fileref(&mut self, fileref: &str) -> Result<(String, String), String> {
        let Some((path, _)) = self.world.filerefs.get(fileref) else {
            return Err(format!("No logical assign for filename {fileref}"));
        };
        let work = self.world.libraries.get("WORK");
        let text = if work.is_some_and(|work| path.starts_with(&work.directory)) {
            text_in_work(self.world, path)?
        } else {
            (self.include)(path)?
        };
        Ok((path.display().to_string(), text))
    }

    fn function(
        &mut self,
        name: &str,
        arguments: &[String],
        format: Option<&str>,
    ) -> Result<String, String> {
        outside::call(self.world, name, arguments, format)
    }

    fn tracing(&self) -> Tracing {
        let options = &self.world.options;
        Tracing {
            mprint: options.mprint,
            mlogic: options.mlogic,
            symbolgen: options.symbolgen,
            minoperator: options.minoperator,
        }
    }
}

/// The text of a file that the session made.
fn text_in_work(world: &World, path: &Path) -> Result<String, String> {
    let failed = |error: base::store::StoreError| error.to_string();
    let file = world
        .store
        .open(Channel::Work, path, Access::Read)
        .map_err(failed)?;
    let size = file.size().map_err(failed)?;
    let fits = usize::try_from(size).ok().filter(|_| size <= INCLUDED_MAX);
    let Some(size) = fits else {
        return Err(format!(
            "it has {size} bytes; at most {INCLUDED_MAX} can be included"
        ));
    };
    let mut bytes = vec![0; size];
    let read = file.read_at(0, &mut bytes).map_err(failed)?;
    bytes.truncate(read);
    file.close().map_err(failed)?;
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
}
