/** Faults of operation. */
import { answering, withStatus } from '../plant/answers.ts'
import { all, at, isAnonymous } from '../plant/which.ts'
import type { Fault } from '../planted.ts'

export const operationFaults: readonly Fault[] = [
  {
    breaks: 'OPS-1/health',
    says: 'Only callers hear of its health.',
    plant: answering(all(at(/^\/health\//), isAnonymous), withStatus(401)),
  },
  {
    breaks: 'OPS-1/metrics',
    says: 'All can read its metrics.',
    plant: answering(at('/metrics'), () => ({
      status: 200,
      headers: {},
      body: '# HELP up Whether it is up.\n# TYPE up gauge\nup 1\n',
    })),
  },
]
