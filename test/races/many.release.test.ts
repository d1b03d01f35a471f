/** BLK-1, BLK-2: the same as `many.slow.test.ts`, far more often. */
import { test } from 'node:test'
import { raceMany } from './many.ts'

test('BLK-2: some order explains ten thousand rounds of requests for one and for many records', (context) =>
  raceMany(context, 10_000))
