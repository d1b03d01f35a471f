/** AUT: who, and what they may do. */
import type { CaseSection } from '../case.ts'
import { authentication } from './credentials.ts'
import { ownRecords } from './own-records.ts'
import { permissions } from './permissions.ts'

export const callers: CaseSection = {
  cases: [...authentication, ...permissions, ...ownRecords],
  unseen: {
    'AUT-9': 'What a caller may not read cannot be told from what is not there.',
    'AUT-10': 'The checker makes no API keys: one that it could not revoke would stay valid.',
    'AUT-8': 'An OpenAPI document does not say which values of a record its access rules look at.',
  },
}
