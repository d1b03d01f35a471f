/** Faults of collection parameters. */
import type { Fault } from '../planted.ts'

export const queriesFaults: readonly Fault[] = [
  {
    breaks: 'QRY-1/equality',
    says: 'PLACEHOLDER',
    plant: (server) => server,
  },
]
