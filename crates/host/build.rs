//! Lists the rules, so that a new file needs no line of code.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../rules");
    let mut code = String::new();
    for (name, folder) in [("RULES", root.clone()), ("BUNDLES", root.join("bundles"))] {
        println!("cargo::rerun-if-changed={}", folder.display());
        let entries = fs::read_dir(&folder).expect("the rules are beside the crates");
        let mut paths: Vec<_> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| {
                path.extension()
                    .is_some_and(|extension| extension == "toml")
            })
            .filter(|path| path.file_stem().is_some_and(|stem| stem != "documents"))
            .collect();
        paths.sort();
        writeln!(
            code,
            "/// Names and texts.\npub(super) const {name}: [(&str, &str); {}] = [",
            paths.len()
        )
        .expect("a text grows");
        for path in paths {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            let path = fs::canonicalize(&path).expect("a rule that was listed");
            let path = path.to_string_lossy();
            writeln!(code, "    ({stem:?}, include_str!({path:?})),").expect("a text grows");
        }
        code.push_str("];\n");
    }
    let out = env::var("OUT_DIR").expect("cargo says where");
    fs::write(Path::new(&out).join("catalogue.rs"), code).expect("the folder of the build");
}
