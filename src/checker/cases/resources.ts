/** RES: addressing and fields. */
import type { Case } from '../case/case.ts'
import { addresses } from './resources/addresses.ts'
import { identifiers } from './resources/identifiers.ts'
import { oddAddresses, unknownMembers } from './resources/strictness.ts'
import { names, structure } from './resources/structure.ts'
import { deletionTimes, times } from './resources/times.ts'

export const resources: readonly Case[] = [
  ...addresses,
  ...identifiers,
  ...times,
  ...deletionTimes,
  ...names,
  ...structure,
  ...unknownMembers,
  ...oddAddresses,
]
