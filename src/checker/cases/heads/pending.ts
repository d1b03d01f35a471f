/** HED-2: what is still being prepared. */
import type { Case } from '../../case/case.ts'
import { field, onlyWhere, status } from '../../case/expect.ts'
import { record, together, when } from '../../case/steps.ts'

// The last of so many is not ready when it is asked for.
const many = 12

/** A retry is after seconds, or at a date. */
function objection(value: string): string | undefined {
  return /^\d+$/.test(value) || /GMT$/.test(value) ? undefined : `${value} is neither seconds nor an HTTP date`
}

const asks = together(
  ...Array.from({ length: many }, () =>
    when('export', 'POST', '{base}/exports', {
      body: { json: { collection: '{name}', filter: { '{member:marker}': '{mark}' }, format: '{format}' } },
    }),
  ),
)

const pending = (method: 'HEAD' | 'GET'): Case => ({
  id: `HED-2/${method.toLowerCase()}`,
  title: `${method} of an export that is still being written is answered 202, with Retry-After`,
  kind: 'changing',
  needs: ['exports', 'create', 'list', 'marker'],
  alone: true,
  steps: [record(), asks, when('asked', method, '{base}/exports/{export.json:/job_id}/content')],
  expect: [
    onlyWhere('exports are begun', (seen) => {
      const { answer, failure } = seen.of('export')
      return answer?.status === 202 ? undefined : `POST of an export was answered ${answer?.status ?? failure}`
    }),
    onlyWhere('it is not ready yet', (seen) =>
      seen.of('asked').answer?.status === 200 ? 'it was ready before anybody could ask' : undefined,
    ),
    status('asked', 202),
    field('asked', 'Retry-After', 'says when to ask again', objection),
  ],
  mend: 'While the file is being written answer GET and HEAD with 202 and Retry-After: 404 says that there will never be one.',
})

export const preparing: readonly Case[] = [pending('HEAD'), pending('GET')]
