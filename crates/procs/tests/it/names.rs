//! Data sets that a DATA statement does not name.

use crate::harness::{fails, put, run};

#[test]
fn data_sets_without_a_name_are_data1_data2_and_so_on() {
    let program = "data; x = 1; run; data; x = 2; run; data _null_; set data1 data2; put '>' x; run; \
         data; set; x = x + 1; run; data _null_; set data3; put '>' x; run;";
    assert_eq!(put(program), ["1", "2", "3"]);
}

#[test]
fn the_number_is_the_smallest_that_nothing_has() {
    let program = "data data2; x = 2; run; data _data_(keep=x) _data_; x = 1; y = 5; run; \
         data _null_; set data1 data2 data3; put '>' x y; run;";
    assert_eq!(put(program), ["1 .", "2 .", "1 5"]);
    let (log, _) = run("data; x = 1; run;");
    assert!(
        log.contains("The data set WORK.DATA1 has 1 observations"),
        "{log}"
    );
    fails(
        "data; output data7; run;",
        "DATA7 is not named in the DATA statement",
    );
}
