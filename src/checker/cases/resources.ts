/** RES: addressing and fields. */
import type { CaseSection } from '../case.ts'
import { addresses } from './resources/addresses.ts'
import { identifiers } from './resources/identifiers.ts'
import { oddAddresses, unknownMembers } from './resources/strictness.ts'
import { names, structure } from './resources/structure.ts'
import { deletionTimes, times } from './resources/times.ts'

export const resources: CaseSection = {
  cases: [
    ...addresses,
    ...identifiers,
    ...times,
    ...deletionTimes,
    ...names,
    ...structure,
    ...unknownMembers,
    ...oddAddresses,
  ],
  unseen: {
    'RES-11':
      'Servers keep decimals in other forms too, and an OpenAPI document seldom says how many digits they have.',
    'RES-12': 'Few fields have a multipleOf, and which multiples a server gets wrong depends on its arithmetic.',
  },
}
