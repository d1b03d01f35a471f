/** Faults of operation. */
import type { Fault } from '../planted.ts'
import { answering } from './words.ts'

export const operationFaults: readonly Fault[] = [
  {
    breaks: 'OPS-1/health',
    says: 'Only callers hear of its health.',
    plant: answering(
      ({ path, headers }) => path.startsWith('/health/') && headers['authorization'] === undefined,
      (answer) => ({ ...answer, status: 401 }),
    ),
  },
  {
    breaks: 'OPS-1/metrics',
    says: 'All can read its metrics.',
    plant: answering(
      ({ path }) => path === '/metrics',
      () => ({ status: 200, headers: {}, body: '# HELP up Whether it is up.\n# TYPE up gauge\nup 1\n' }),
    ),
  },
]
