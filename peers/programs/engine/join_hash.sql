SELECT l.key, l.x1, s.w FROM source.t AS l, second.t AS s WHERE l.short = s.id
