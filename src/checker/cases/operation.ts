/** OPS: operation. */
import type { Case } from '../case/case.ts'
import { answerOf, finding, status } from '../case/expect.ts'
import { when } from '../case/steps.ts'

export const operation: readonly Case[] = [
  {
    id: 'OPS-1/health',
    title: 'The address for its health answers 200 without a credential',
    kind: 'reading',
    needs: ['open'],
    steps: [when('health', 'GET', '{open}', { caller: 'nobody' })],
    expect: [status('health', 200)],
    mend: 'Answer for your health without a credential: what watches over you has none.',
  },
  {
    id: 'OPS-1/metrics',
    title: 'Metrics are not given to everybody on the listener of the interface',
    kind: 'reading',
    needs: [],
    steps: [when('metrics', 'GET', '/metrics', { caller: 'nobody' })],
    expect: [
      answerOf('metrics', 'has no metrics', (answer, _, exchange) =>
        answer.status < 300 && /^# (?:HELP|TYPE) /m.test(answer.body)
          ? finding(exchange, 'body', 'metrics, without a credential')
          : undefined,
      ),
    ],
    mend: 'Give metrics a listener of their own that only your network reaches.',
  },
]
