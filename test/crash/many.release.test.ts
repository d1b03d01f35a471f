/** BLK-1, BLK-2: the same as `many.slow.test.ts`, with a thousand kills. */
import { test } from 'node:test'
import { killDuringMany } from './many.ts'

test('BLK-1: arrays are whole or absent through a thousand kills', (context) => killDuringMany(context, 1_000))
