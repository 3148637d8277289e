SELECT *, sqrt(x1) AS n1, trunc(x2 * 10) AS n2, abs(x3 - x4) AS n3, greatest(x5, x6) AS n4 FROM source.t WHERE c1 IN ('a', 'b')
