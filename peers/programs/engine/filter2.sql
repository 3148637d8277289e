SELECT *, x1 + x2 AS n1, x3 - x4 AS n2, x5 * x6 AS n3, k * 100 + m AS n4 FROM source.t WHERE k <= 10
