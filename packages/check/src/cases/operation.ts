/** OPS: operation. */
import { define } from '../case/define.ts'
import { answerOf, status } from '../case/expect.ts'
import { configured, Reference } from '../case/references.ts'
import { asNobody } from '../case/steps.ts'

const [health, metrics] = Reference.named('health', 'metrics')

export const operation = define({
  'OPS-1/health': {
    title: 'The health address returns 200 without a credential',
    steps: [health.get(configured.openPath, asNobody)],
    expect: [status(health, 200)],
    remedy: 'Answer health checks without a credential: monitoring has none.',
  },
  'OPS-1/metrics': {
    title: 'Metrics are not public on the listener of the interface',
    steps: [metrics.get('/metrics', asNobody)],
    expect: [
      answerOf(metrics, (answer) =>
        answer.status < 300 && /^# (?:HELP|TYPE) /m.test(answer.body) ? 'metrics, without a credential' : undefined,
      ),
    ],
    remedy: 'Give metrics a listener of their own that only your network reaches.',
  },
})
