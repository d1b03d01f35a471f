/** BLK-1, BLK-2: if the server is killed at any moment, no array is there in part. */
import { test } from 'node:test'
import { killDuringMany } from './many.ts'

test('BLK-1: arrays are whole or absent through three kills', (context) => killDuringMany(context, 3))
