/** CON-5: of writers who hold one tag, one succeeds. */
import type { Ask, Expectation, Finding, Request, Seen, Step } from '../../case/case.ts'
import { define } from '../../case/define.ts'
import { altogether, applicableWhere, finding } from '../../case/expect.ts'
import { one, seen as seenStep } from '../../case/names.ts'
import { type Reference, references } from '../../case/references.ts'
import { create, setUp, simultaneous, together } from '../../case/steps.ts'
import type { Exchange } from '../../client/exchange.ts'

const [readyStep, again, writes, changes, deletions] = references('ready', 'repeated', 'writes', 'changes', 'deletions')

const many = 8

/** As many connections as writers, so that all can write at the same moment. */
const ready: Step = simultaneous(many, setUp(readyStep.get(one)))

function writers(as: Reference, method: string, count: number, body?: Request['body']): Ask[] {
  const more = { headers: { 'If-Match': seenStep.etag }, ...(body === undefined ? {} : { body }) }
  return Array.from({ length: count }, () => as.send(method, one, more))
}

const isDone = ({ answer }: Exchange) => answer !== undefined && answer.status >= 200 && answer.status < 300

/** An exchange that was neither carried out nor refused as it may be. */
function odd(exchanges: readonly Exchange[], refusals: readonly number[]): Finding | undefined {
  const found = exchanges.find((each) => !isDone(each) && !refusals.includes(each.answer?.status ?? 0))
  return (
    found && finding(found, 'status', `${found.answer?.status ?? found.failure} in place of ${refusals.join(' or ')}`)
  )
}

const oneIsMade = (refusals: readonly number[]): Expectation =>
  altogether(`one is carried out, all others are answered ${refusals.join(' or ')}`, (seen) => {
    const all = seen.all(writes)
    const made = all.filter(isDone)
    if (made.length === 1) return odd(all, refusals)
    return (
      odd(all, refusals) ?? finding(made[1] ?? all[0], 'status', `${made.length} of ${all.length} were carried out`)
    )
  })

/** Of changes and deletions at once either one change is made, or the record is deleted. */
function oneKindIsMade(seen: Seen): Finding | undefined {
  const [changed, deleted] = [seen.all(changes).filter(isDone), seen.all(deletions).filter(isDone)]
  const wrong = odd([...seen.all(changes), ...seen.all(deletions)], [412, 404, 409, 410])
  if (wrong !== undefined) return wrong
  if (changed.length > 0 && deleted.length > 0) {
    return finding(deleted[0], 'status', `${changed.length} changes were made, and a deletion that knew of none`)
  }
  return changed.length + Math.min(1, deleted.length) === 1
    ? undefined
    : finding(
        changed[1] ?? seen.all(changes)[0],
        'status',
        `${changed.length} changes and ${deleted.length} deletions were made`,
      )
}

const mend =
  'Decide the condition in the transaction that writes, on a row that is locked or by "update … where revision = …": of two writers one has to find that the other was first.'

export const atOnce = define({
  'CON-5/one-wins': {
    title: `Of ${many} PATCH at once with one entity tag exactly one is carried out`,
    after: ['CON-3/stale-patch'],
    steps: [
      create(one),
      setUp(seenStep.get(one)),
      ready,
      together(...writers(writes, 'PATCH', many, { from: 'change' })),
    ],
    expect: [oneIsMade([412])],
    remedy: mend,
  },
  'CON-5/one-replaces': {
    title: `Of ${many} PUT at once with one entity tag exactly one is carried out`,
    needs: ['update'],
    after: ['CON-3/fits-put', 'CON-3/stale-put'],
    steps: [
      create(one),
      setUp(seenStep.get(one)),
      ready,
      together(...writers(writes, 'PUT', many, { from: 'example', plus: 'change' })),
    ],
    expect: [oneIsMade([412])],
    remedy: mend,
  },
  'CON-5/one-deletes': {
    title: `Of ${many} DELETE at once with one entity tag exactly one is carried out`,
    after: ['CON-3/fits-delete', 'CON-3/other-delete'],
    steps: [
      create(one),
      setUp(seenStep.get(one)),
      ready,
      together(...writers(writes, 'DELETE', many)),
      again.delete(one, { headers: { 'If-Match': seenStep.etag } }),
    ],
    expect: [
      applicableWhere('a deletion that is repeated is not answered like the first', (seen) => {
        const { answer } = seen.of(again)
        return answer !== undefined && answer.status >= 400
          ? undefined
          : `it is answered ${answer?.status}: who was first cannot be told`
      }),
      oneIsMade([412, 404, 409, 410]),
    ],
    remedy: mend,
  },
  'CON-5/change-or-deletion': {
    title: 'Of PATCH and DELETE at once with one entity tag only one is carried out',
    after: ['CON-5/one-wins', 'CON-5/one-deletes'],
    steps: [
      create(one),
      setUp(seenStep.get(one)),
      ready,
      together(
        ...Array.from({ length: many / 2 }, () => [
          ...writers(deletions, 'DELETE', 1),
          ...writers(changes, 'PATCH', 1, { from: 'change' }),
        ]).flat(),
      ),
    ],
    expect: [altogether('either one change is made, or the record is deleted', oneKindIsMade)],
    remedy: mend,
  },
})
