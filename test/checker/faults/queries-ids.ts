/** Faults of filters by the identifier. */
import { listing } from '../plant/lists.ts'
import type { Fault } from '../planted.ts'

export const idFaults: readonly Fault[] = [
  {
    breaks: 'WHR-5/in',
    says: 'Of several ids it finds the first.',
    plant: listing((parameters) => {
      const ids = parameters.get('id[in]')
      if (ids !== null) parameters.set('id[in]', ids.split(',')[0] ?? '')
    }),
  },
]
