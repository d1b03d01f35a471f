/** HED: HEAD and ranges. */
import type { Case } from '../case/case.ts'
import { preparing } from './heads/pending.ts'
import { ranges } from './heads/ranges.ts'
import { same } from './heads/same.ts'

export const heads: readonly Case[] = [...same, ...preparing, ...ranges]
