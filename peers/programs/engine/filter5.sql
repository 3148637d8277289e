SELECT id, k, m, x1,x2,x3,x4,x5,x6,x7,x8,x9,x10,x11,x12,x13,x14,x15,x16,x17, x1 * x2 AS n1, x3 * x4 AS n2, x5 * x6 AS n3, x7 * x8 AS n4 FROM source.t WHERE x3 > 0.5
