//! What this crate writes breaks no rule of its own check.

use sas7bdat::check::check;
use sas7bdat::{Compression, IndexInfo, Layout, Reader, Variable, WriteOptions, Writer, amend};

fn data_set(variables: &[Variable], options: WriteOptions, rows: usize) -> Vec<u8> {
    let row_bytes = Layout::new(variables, options.compression).row_bytes as usize;
    let mut writer = Writer::create(Vec::new(), variables, options).unwrap();
    for number in 0..rows {
        let byte = u8::try_from(b'a' as usize + number % 26).unwrap();
        writer.write_row(&vec![byte; row_bytes]).unwrap();
    }
    writer.finish().unwrap().0
}

const COMPRESSIONS: [Compression; 3] = [Compression::None, Compression::Char, Compression::Binary];

#[test]
fn indexes_may_come_and_go() {
    let variables = ["x", "y", "z", "a", "b"].map(Variable::numeric);
    let index = |name: &str, columns: &[usize]| IndexInfo {
        name: name.to_owned(),
        unique: false,
        columns: columns.to_vec(),
    };
    let (x, y, both) = (index("x", &[0]), index("y", &[1]), index("both", &[0, 1]));
    let changes = [
        vec![x.clone()],
        vec![x.clone(), y.clone()],
        vec![x, y.clone(), both.clone()],
        vec![],
        vec![both, y],
    ];
    for compression in COMPRESSIONS {
        let options = WriteOptions {
            compression,
            page_bytes: 4096,
            ..WriteOptions::default()
        };
        let mut file = data_set(&variables, options, 500);
        for indexes in &changes {
            amend(&mut file, "", &variables, indexes, 2.0).unwrap();
            let reader = Reader::open(file.as_slice()).unwrap();
            assert_eq!(&reader.metadata().indexes, indexes);
            assert_eq!(check(file.as_slice()).unwrap(), vec![], "{compression:?}");
        }
    }
}

#[test]
fn rows_may_begin_behind_descriptions_of_several_pages() {
    for columns in [700, 1500, 3000] {
        let names = (0..columns).map(|number| format!("c{number}"));
        let variables: Vec<_> = names.map(|name| Variable::character(name, 1)).collect();
        for compression in COMPRESSIONS {
            let options = WriteOptions {
                compression,
                page_bytes: 8192,
                ..WriteOptions::default()
            };
            let file = data_set(&variables, options, 100);
            let violations = check(file.as_slice()).unwrap();
            assert_eq!(violations, vec![], "{columns} {compression:?}");
        }
    }
}
