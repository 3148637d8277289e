//! What the language asks of the session.

use std::path::Path;

use lang::{Macros, Tracing};

use super::World;
use crate::expr::outside;

type Reader<'a> = &'a (dyn Fn(&Path) -> Result<String, String> + Send);

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
