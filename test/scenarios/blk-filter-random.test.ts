/**
 * BLK-3: random histories of changes by filter, in one transaction and as jobs, among single changes, deletions and
 * restorations at the same time. Events show what each has done: `HISTORIES=10000` runs more.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { engine } from '../engine.ts'
import { type Received, type Sent, type Trial, trialFor } from '../harness.ts'
import { fill } from '../steps.ts'

const histories = Number(process.env.HISTORIES ?? 15)
const seed = Number(process.env.SEED ?? 1)

const declaration: InterfaceDeclaration = {
  name: 'parcels',
  resources: {
    parcels: {
      fields: { place: { enum: ['a', 'b'], filter: true }, tag: { type: 'integer', default: 0, filter: true } },
      updates: { byFilter: true },
      deletion: { byFilter: true },
      events: true,
    },
  },
}

/** Numbers from 0 to below `most`, which follow from the seed. */
function randomly(state: number): (most: number) => number {
  let at = state
  return (most) => {
    at = (Math.imul(at, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((at / 2 ** 32) * most)
  }
}

interface Event {
  readonly record: string
  readonly kind: string
  readonly data: { readonly place: string; readonly tag: number } | null
}

async function eventsOf({ send }: Trial): Promise<Event[]> {
  const found: Event[] = []
  for (let cursor = ''; ; ) {
    const { json } = await send({ path: `/v1/events?limit=100${cursor}` })
    found.push(...json.data)
    if (json.pagination.next_cursor === null) return found
    cursor = `&cursor=${json.pagination.next_cursor}`
  }
}

/** A change by filter, what came of it, and where. */
interface Made {
  readonly tag: number
  readonly place: string
  readonly isJob: boolean
  readonly count: number
}

it(`BLK-3: ${histories} histories end as their events say`, async (context) => {
  const current = await trialFor(context, declaration)
  const { app, send } = current
  const random = randomly(seed)
  const ids = await fill(
    current,
    'parcels',
    Array.from({ length: 8 }, (_, index) => ({ place: 'ab'[index % 2] })),
  )
  const made: Made[] = []
  let [tag, done, conflicts] = [0, 0, 0]
  for (let history = 0; history < histories; history++) {
    await Promise.all(
      Array.from({ length: 10 }, async () => {
        const place = 'ab'[random(2)] as string
        const path = `/v1/parcels/${ids[random(ids.length)]}`
        const own = ++tag
        const isJob = random(2) === 0
        const kind = random(8)
        const several = `/v1/parcels?place=${place}`
        const headers: Record<string, string> = isJob ? { prefer: 'respond-async' } : {}
        const sent: Sent =
          kind < 4
            ? { method: 'PATCH', path: several, body: { tag: own }, headers }
            : kind < 6
              ? { method: 'PATCH', path, body: { place } }
              : kind === 6
                ? { method: 'DELETE', path: random(4) === 0 ? several : path, headers }
                : { method: 'POST', path: `${path}/restore` }
        const answer = await send(sent)
        assert.ok([200, 202, 204, 404, 409].includes(answer.status), answer.text)
        if (answer.status === 409) conflicts++
        else if (answer.status < 300) done++
        if (kind < 4) made.push({ tag: own, place, isJob, count: await countOf(current, answer) })
      }),
    )
    await app.runner.idle()
  }
  assert.ok(done > histories && made.some(({ count, isJob }) => count > 0 && isJob))
  context.diagnostic(`${done} done, ${conflicts} conflicts`)
  check(await eventsOf(current), made)
  const left = (await current.send({ path: '/v1/parcels?limit=100&include_deleted=true' })).json.data
  assert.equal(left.length, ids.length)
})

/** How many records a change has changed, once it has ended. */
async function countOf({ app, send }: Trial, answer: Received): Promise<number> {
  if (answer.status === 200) return answer.json.updated_count
  if (answer.status !== 202) return 0
  for (;;) {
    const { json } = await send({ path: answer.json.status_url })
    if (json.status === 'succeeded') return json.result.updated_count
    assert.notEqual(json.status, 'failed')
    app.runner.wake()
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}

/** Replays the events: each change was made to as many records as it says, which were then at its place. */
function check(events: readonly Event[], made: readonly Made[]): void {
  const changes = new Map(made.map((each) => [each.tag, { ...each, seen: 0 }]))
  const records = new Map<string, { place: string; tag: number; isLive: boolean }>()
  for (const { record, kind, data } of events) {
    const before = records.get(record)
    const after = {
      place: data?.place ?? before?.place ?? '',
      tag: data?.tag ?? before?.tag ?? 0,
      isLive: kind !== 'deleted',
    }
    records.set(record, after)
    const change = kind === 'updated' && before?.tag !== after.tag ? changes.get(after.tag) : undefined
    if (change === undefined) continue
    change.seen++
    assert.deepEqual([before?.place, before?.isLive], [change.place, true])
    // Of a transaction the last one leaves no match as it was. PostgreSQL numbers events of several at once.
    if (engine === 'postgres' || change.isJob || change.seen < change.count) continue
    const others = [...records.values()].filter((each) => each.isLive && each.place === change.place)
    assert.ok(
      others.every((each) => each.tag === change.tag),
      `change ${change.tag} has left a match`,
    )
  }
  for (const { tag, count, seen } of changes.values()) assert.equal(seen, count, `change ${tag}`)
}
