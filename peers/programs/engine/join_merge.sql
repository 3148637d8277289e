SELECT l.key, l.x1, r.x1 AS x2 FROM source.t AS l, second.t AS r WHERE l.key = r.key
