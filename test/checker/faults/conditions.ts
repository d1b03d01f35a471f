/** Faults of conditions. */
import type { Fault } from '../planted.ts'
import { cachingFaults } from './conditions/caching.ts'
import { guardsFaults } from './conditions/guards.ts'
import { orderFaults } from './conditions/order.ts'
import { requiredFaults, tagsFaults } from './conditions/required.ts'
import { unmodifiedFaults } from './conditions/unmodified.ts'
import { validatorsFaults } from './conditions/validators.ts'
import { writersFaults } from './conditions/writers.ts'

export const conditionsFaults: readonly Fault[] = [
  ...cachingFaults,
  ...validatorsFaults,
  ...guardsFaults,
  ...unmodifiedFaults,
  ...writersFaults,
  ...orderFaults,
  ...requiredFaults,
  ...tagsFaults,
]
