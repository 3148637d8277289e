use super::*;

#[test]
fn the_built_in_table_is_whole() {
    let table = Table::built_in();
    for name in [
        "DATA",
        "SORT",
        "MEANS",
        "SUMMARY",
        "SQL",
        "REG",
        "GLM",
        "LOGISTIC",
        "HPLOGISTIC",
        "FREQ",
        "DATASETS",
        "APPEND",
        "COPY",
        "PRINT",
        "OTHER",
    ] {
        assert_eq!(table.kind(name).0, name);
        let cost = table.kind(name).1;
        assert!(cost.s_per_mb > 0.0 && cost.s_per_step > 0.0, "{name}");
    }
    assert_eq!(table.kind("TRANSPOSE").0, "OTHER");
    assert!(table.kind("SORT").1.threads);
    assert!(!table.kind("DATA").1.threads);
    // Like MEANS, but on one thread.
    assert!(table.kind("REG").1.threads);
    assert!(!table.kind("LOGISTIC").1.threads);
}

/// The figures and the steps of logs that they are made from agree within the spread that is stated.
#[test]
fn the_built_in_table_follows_from_what_was_measured() {
    let table = Table::built_in();
    let text: Text = toml::from_str(BUILT_IN).unwrap();
    assert_eq!(table.measured.len(), 20);
    for one in &table.measured {
        let (_, cost) = table.kind(&one.kind);
        let predicted = cost.s_per_step + cost.of(one.mb * 1e6, one.million_rows * 1e6);
        let ratio = one.cpu_s / predicted;
        let entry = &text.kind[&one.kind];
        let like = entry.like.as_ref().map(|like| &text.kind[like]);
        let spread = entry.spread.or_else(|| like?.spread).unwrap();
        // Two digits, as the table has them.
        assert!(
            (spread[0] * 0.99..=spread[1] * 1.01).contains(&ratio),
            "{one:?}: {ratio:.3} of the table"
        );
    }
}

#[test]
fn mistakes_are_explained() {
    let good = "title = 't'\ndate = '2026'\n[kind.OTHER]\ns_per_mb = 1\nbasis = 'b'\n";
    assert!(Table::read(good).is_ok());
    let wrong = |more: &str, said: &str| {
        let error = Table::read(&format!("{good}{more}")).unwrap_err();
        assert!(error.contains(said), "{error}");
    };
    wrong("[kind.A]\nbasis = 'b'\n", "s_per_mb is missing");
    wrong("[kind.A]\nlike = 'B'\nbasis = 'b'\n", "no kind B");
    wrong(
        "[kind.A]\nlike = 'B'\nbasis = 'b'\n[kind.B]\nlike = 'OTHER'\nbasis = 'b'\n",
        "no figures of its own",
    );
    wrong("[kind.A]\ns_per_mb = -1\nbasis = 'b'\n", "from 0 on");
    wrong("[kind.A]\ns_per_mb = nan\nbasis = 'b'\n", "from 0 on");
    wrong(
        "[kind.A]\ns_per_mb = 1\nbasis = ' '\n",
        "basis says nothing",
    );
    wrong(
        "[kind.A]\ns_per_mb = 1\nbasis = 'b'\nsources = ['x']\n",
        "no source x",
    );
    wrong(
        "[kind.A]\ns_per_mb = 1\nbasis = 'b'\nspread = [2, 1]\n",
        "smaller to the larger",
    );
    wrong("[kind.A]\nper_mb = 1\nbasis = 'b'\n", "line 7");
    wrong("[kind.other]\ns_per_mb = 1\nbasis = 'b'\n", "twice");
    let error = Table::read("title = 't'\ndate = '2026'\n[kind]\n").unwrap_err();
    assert!(error.contains("no kind OTHER"), "{error}");
}
