/** HED-2: what is still being prepared. */
import type { Case } from '../../case/case.ts'
import { applicableWhere, field, status } from '../../case/expect.ts'
import { one } from '../../case/names.ts'
import { base, collectionName, exportFormat, mark, members, references } from '../../case/references.ts'
import { body, create, simultaneous } from '../../case/steps.ts'

const [exporting, asked] = references('export', 'asked')

// The last of so many is not ready when it is asked for.
const many = 12

/** A retry is after seconds, or at a date. */
function objection(value: string): string | undefined {
  return /^\d+$/.test(value) || /GMT$/.test(value) ? undefined : `${value} is neither seconds nor an HTTP date`
}

const asks = simultaneous(
  many,
  exporting.post(
    `${base}/exports`,
    body.json({ collection: collectionName, filter: { [members.marker]: mark }, format: exportFormat }),
  ),
)

const pending = (method: 'HEAD' | 'GET'): Case => ({
  id: `HED-2/${method.toLowerCase()}`,
  title: `${method} of an export that is still being written is answered 202, with Retry-After`,
  kind: 'changing',
  needs: ['exports', 'create', 'list', 'marker'],
  alone: true,
  steps: [create(one), asks, asked.send(method, `${base}/exports/${exporting.json('/job_id')}/content`)],
  expect: [
    applicableWhere('exports are begun', (seen) => {
      const { answer, failure } = seen.of(exporting)
      return answer?.status === 202 ? undefined : `POST of an export was answered ${answer?.status ?? failure}`
    }),
    applicableWhere('it is not ready yet', (seen) =>
      seen.of(asked).answer?.status === 200 ? 'it was ready before anybody could ask' : undefined,
    ),
    status(asked, 202),
    field(asked, 'Retry-After', 'says when to ask again', objection),
  ],
  remedy:
    'While the file is being written answer GET and HEAD with 202 and Retry-After: 404 says that there will never be one.',
})

export const preparing: readonly Case[] = [pending('HEAD'), pending('GET')]
