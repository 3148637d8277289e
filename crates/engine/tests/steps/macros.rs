//! Functions of the engine called by macros.

use crate::harness::put;

#[test]
fn sysfunc_hands_numbers_to_functions_that_take_either() {
    let program = "%put >%sysfunc(find(abcabc, b, 3)) %sysfunc(find(abcABC, B, i, 3)) \
         %sysfunc(find(abcabc, b, -6)) %sysfunc(find(aBc, b, i)) %sysfunc(find(a1, 1))\
         %sysfunc(cats(1.50, 02));";
    assert_eq!(put(program), ["5 5 5 2 21.5002"]);
}
