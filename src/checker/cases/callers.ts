/** AUT: who, and what they may do. */
import type { CaseSection } from '../case.ts'
import { authentication } from './credentials.ts'
import { ownRecords } from './own-records.ts'
import { permissions } from './permissions.ts'

export const callers: CaseSection = {
  cases: [...authentication, ...permissions, ...ownRecords],
  unseen: {
    'AUT-8': 'An OpenAPI document does not say which values of a record its access rules look at.',
  },
}
