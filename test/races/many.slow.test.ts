/** BLK-1, BLK-2: requests for many records at the same time as others end as some order of them would. */
import { test } from 'node:test'
import { raceMany } from './many.ts'

test('BLK-2: some order explains what requests for one and for many records do at the same time', (context) =>
  raceMany(context, 400))
