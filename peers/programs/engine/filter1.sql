SELECT *, x2 * x3 + x4 AS n1, x2 / (x3 + 1) AS n2, (x2 - x3) * (x2 - x3) + 2 * x4 AS n3, x2 + x3 + x4 + x5 * 0.5 AS n4 FROM source.t WHERE x1 < 0.403
