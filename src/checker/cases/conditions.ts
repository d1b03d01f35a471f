/** CON: caching and conditions. */
import type { Case } from '../case/case.ts'
import { caching } from './conditions/caching.ts'
import { guards } from './conditions/guards.ts'
import { order } from './conditions/order.ts'
import { required } from './conditions/required.ts'
import { tags } from './conditions/tags.ts'
import { unmodified } from './conditions/unmodified.ts'
import { validators } from './conditions/validators.ts'
import { atOnce } from './conditions/writers.ts'

export const conditions: readonly Case[] = [
  ...caching,
  ...validators,
  ...guards,
  ...unmodified,
  ...atOnce,
  ...order,
  ...required,
  ...tags,
]
