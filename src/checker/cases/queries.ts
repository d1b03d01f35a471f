/** QRY: collection parameters. */
import type { CaseSection } from '../case.ts'
import { status } from '../expect.ts'
import { record, when } from '../steps.ts'

export const queries: CaseSection = {
  cases: [
    {
      id: 'QRY-1/equality',
      title: 'PLACEHOLDER: a filter finds what is equal',
      kind: 'changing',
      needs: ['create', 'list', 'marker'],
      steps: [record(), when('found', 'GET', '{collection}?{mine}')],
      expect: [status('found', 200)],
      mend: 'PLACEHOLDER',
    },
  ],
  unseen: {},
}
