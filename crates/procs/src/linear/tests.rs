use super::*;

fn fit(rows: &[Vec<f64>]) -> Fit {
    let mut triangle = Triangle::new(rows[0].len());
    for row in rows {
        triangle.add(|column| row[column]);
    }
    let all: Vec<usize> = (0..rows[0].len()).collect();
    Fit::new(&triangle.of_columns(&all), &all)
}

#[test]
fn a_line_through_points_is_found() {
    let rows: Vec<Vec<f64>> = (0..1000)
        .map(|number| {
            let x = f64::from(number);
            vec![
                1.0,
                x,
                3.0 + 2.0 * x + if number % 2 == 0 { 0.5 } else { -0.5 },
            ]
        })
        .collect();
    let fit = fit(&rows);
    assert!((fit.estimates[1] - 2.0).abs() < 1e-5, "{fit:?}");
    assert!((fit.error - 250.0).abs() < 0.01, "{fit:?}");
}

/// Of `rows` rows, by rotations alone and by cross products.
fn both(rows: usize, columns: usize, value: impl Fn(usize, usize) -> f64) -> [Fit; 2] {
    let all: Vec<usize> = (0..columns).collect();
    [Triangle::new(columns), Triangle::tall(columns)].map(|mut triangle| {
        for row in 0..rows {
            triangle.add(|column| value(row, column));
        }
        assert_eq!(triangle.products.is_some(), triangle.blocks > 1);
        Fit::new(triangle.settled(), &all)
    })
}

#[test]
fn cross_products_and_rotations_come_to_the_same() {
    // The second column is far from zero, the third rises, the fourth is of another size.
    let value = |row: usize, column: usize| {
        let spread = ((row + 1) * [7919, 104_729, 611_953][column % 3] % 1009) as f64 / 1009.0;
        match column {
            0 => 1.0 + (row % 3) as f64,
            1 => 1e7 + spread,
            2 => row as f64 + spread,
            3 => 1e-9 * spread,
            _ => spread,
        }
    };
    for rows in [1, 4, 127, 128, 300, 1024, 1025, 5000] {
        let [rotated, multiplied] = both(rows, 5, value);
        assert_eq!(rotated.singular, multiplied.singular);
        let pairs = rotated.estimates.iter().zip(&multiplied.estimates);
        for ((one, other), spread) in pairs.zip(&rotated.inverse_diagonal) {
            // As large as the errors of estimates are, times the least deviation.
            let error = (spread * rotated.error).sqrt();
            assert!(
                (one - other).abs() <= 1e-6 * error + 1e-9 * one.abs(),
                "{one} {other}"
            );
        }
        assert!((rotated.error - multiplied.error).abs() <= 1e-9 * rotated.error);
    }
}

#[test]
fn cross_products_are_not_taken_of_columns_that_nearly_depend_on_each_other() {
    let mut triangle = Triangle::tall(4);
    for row in 0..3000_i32 {
        let x = f64::from(row % 97);
        let near = x + 1e-3 * f64::from(row % 5);
        triangle.add(|column| [1.0, x, near, x + 2.0 * near][column]);
    }
    assert!(triangle.products.is_none());
    let fit = Fit::new(triangle.settled(), &[0, 1, 2, 3]);
    assert!((fit.estimates[1] - 1.0).abs() < 1e-9, "{fit:?}");
    assert!((fit.estimates[2] - 2.0).abs() < 1e-9, "{fit:?}");
}

#[test]
fn triangles_of_parts_are_that_of_the_whole() {
    let row = |number: usize| [1.0, (number * 7919 % 1009) as f64, (number % 13) as f64];
    let fit = |cuts: &[usize]| {
        let mut whole = Triangle::precise(3);
        let mut first = 0;
        for end in cuts {
            let mut part = Triangle::precise(3);
            (first..*end).for_each(|number| part.add(|column| row(number)[column]));
            whole.join(part);
            first = *end;
        }
        Fit::new(whole.settled(), &[0, 1, 2])
    };
    let known = fit(&[100]);
    assert_eq!(
        fit(&[0, 60, 60, 100]),
        known,
        "few rows are computed with twice the digits"
    );
    let known = fit(&[5000]);
    for cuts in [&[90, 100, 5000][..], &[0, 2000, 2010, 5000], &[2500, 5000]] {
        let found = fit(cuts);
        assert!((found.error - known.error).abs() < 1e-10 * known.error);
        assert!((found.estimates[1] - known.estimates[1]).abs() < 1e-13);
    }
}

#[test]
fn what_follows_a_column_that_depends_on_others_loses_nothing() {
    let row = |number: i32| {
        let (x, z) = (f64::from(number), f64::from(number * number % 7));
        (x, z, 1.0 + x + 2.0 * z + f64::from(number * 5 % 3))
    };
    let rows = |between: bool| -> Vec<Vec<f64>> {
        let of = |number| {
            let (x, z, y) = row(number);
            if between {
                vec![1.0, x, 2.0 * x + 1.0, z, y]
            } else {
                vec![1.0, x, z, y]
            }
        };
        (0..500).map(of).collect()
    };
    let (with, without) = (fit(&rows(true)), fit(&rows(false)));
    assert_eq!(with.singular, [false, false, true, false]);
    assert!((with.error - without.error).abs() < 1e-9, "{with:?}");
    assert!((with.estimates[3] - without.estimates[2]).abs() < 1e-12);
}

#[test]
fn a_column_that_depends_on_others_is_told() {
    let rows: Vec<Vec<f64>> = (0..50)
        .map(|number| {
            let (x, z) = (f64::from(number), f64::from(number * number % 7));
            vec![1.0, x, z, 2.0 * x - 3.0 * z + 1.0, x + z]
        })
        .collect();
    let fit = fit(&rows);
    assert_eq!(fit.singular, [false, false, false, true]);
    assert!(fit.error < 1e-18);
    assert!((fit.estimates[1] - 1.0).abs() < 1e-12 && (fit.estimates[2] - 1.0).abs() < 1e-12);
}

/// Weight, and columns that are not zero.
type Weighed = (f64, Vec<(usize, f64)>);

/// Rows of crossed classes of 6 and 5 levels, and 4 more: weight, and the columns that are not zero. Columns: the
/// intercept, 6, 5, 4, 30 of the first two, `covariates` of a covariate and a response.
fn crossed(covariates: &[fn(usize) -> f64]) -> (usize, Vec<Weighed>) {
    let columns = 46 + covariates.len() + 1;
    let mut rows = Vec::new();
    for cell in 0..120usize {
        let (one, other, third) = (cell / 20, cell / 4 % 5, cell % 4);
        // Some cells have no rows, and some combinations of the first two none at all.
        let weight = cell * 7919 % 13;
        if weight < 3 || one * 5 + other == 17 {
            continue;
        }
        let mut row = vec![
            (0, 1.0),
            (1 + one, 1.0),
            (7 + other, 1.0),
            (12 + third, 1.0),
            (16 + one * 5 + other, 1.0),
        ];
        let values = covariates.iter().map(|value| value(cell));
        row.extend(values.enumerate().map(|(at, value)| (46 + at, value)));
        let response = (cell * 104_729 % 1009) as f64 / 1009.0 + one as f64 - other as f64;
        row.push((columns - 1, response));
        rows.push((weight as f64, row));
    }
    (columns, rows)
}

/// By cross products of sparse rows, and by rotations.
fn sparse_and_rotated(covariates: &[fn(usize) -> f64]) -> (Option<Triangle>, Triangle) {
    let (columns, rows) = crossed(covariates);
    let (mut sparse, mut rotated) = (Sparse::new(columns), Triangle::new(columns));
    for (weight, row) in &rows {
        sparse.add(*weight, row);
        rotated.add(|column| {
            let own = row.iter().find(|(other, _)| *other == column);
            own.map_or(0.0, |(_, value)| weight.sqrt() * value)
        });
    }
    (sparse.triangle(|column| (1..46).contains(&column)), rotated)
}

#[test]
fn sparse_products_and_rotations_come_to_the_same() {
    let (sparse, mut rotated) = sparse_and_rotated(&[|cell| (cell * 611_953 % 97) as f64 - 48.0]);
    let all: Vec<usize> = (0..48).collect();
    let [sparse, rotated] = [
        Fit::new(sparse.unwrap().settled(), &all),
        Fit::new(rotated.settled(), &all),
    ];
    assert_eq!(sparse.singular, rotated.singular);
    // The last level of each class, those of 6 + 5 - 1 among the crossed ones, and the combination without rows.
    assert_eq!(sparse.singular.iter().filter(|one| **one).count(), 14);
    let close = |one: &f64, other: &f64| (one - other).abs() < 1e-11 * other.abs().max(1.0);
    let same = |one: &[f64], other: &[f64]| one.iter().zip(other).all(|(a, b)| close(a, b));
    assert!(same(&sparse.estimates, &rotated.estimates));
    assert!(same(&sparse.inverse_diagonal, &rotated.inverse_diagonal));
    assert!(same(&sparse.sequential, &rotated.sequential));
    assert!(close(&sparse.error, &rotated.error));
}

#[test]
fn sparse_products_do_not_decide_what_they_cannot_tell() {
    // A covariate that the classes explain, wholly or but for little.
    let within: fn(usize) -> f64 = |cell| (cell / 20) as f64;
    let near: fn(usize) -> f64 = |cell| (cell / 20) as f64 + 1e-3 * (cell * 7919 % 11) as f64;
    for covariate in [within, near] {
        assert!(sparse_and_rotated(&[covariate]).0.is_none());
    }
}
