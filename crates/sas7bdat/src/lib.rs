//! The SAS7BDAT file format: reads every variant, writes as SAS 9.4 on Linux writes.
//!
//! Invariant: no paths, no `std::fs`; bytes come and go through `Source` and `Sink`.
