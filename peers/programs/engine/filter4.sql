SELECT *, CASE WHEN x3 > 0.5 THEN x3 * x4 ELSE x5 END AS n1, CASE WHEN m <= 6 THEN 1.0 ELSE 2.0 END AS n2, x6 * x7 - x8 AS n3, n1 + n2 + n3 AS n4 FROM source.t WHERE x1 + x2 < 0.9
