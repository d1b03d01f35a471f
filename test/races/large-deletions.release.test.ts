/** DEL-8, DEL-10: a deletion by filter of many records, accepted by one of two servers while others write on both. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../until.ts'
import { atOnce, moment, raceOf, roundsUntil, skip } from './servers.ts'

const kind = { type: 'string', filter: true } as const

const race = raceOf({
  name: 'large',
  resources: {
    items: { fields: { kind, name: { type: 'string', optional: true } }, deletion: { byFilter: true } },
    parts: { fields: { item_id: { reference: 'items', onDelete: 'cascade' } } },
  },
})

const stamps = `'2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', 1`

/** Inserts records past the servers. Returns their ids. */
async function plant(kind: string, count: number): Promise<string[]> {
  const rows = await race.rows(
    `with made as (insert into items (id, kind, _folded_kind, created_at, updated_at, _revision)
       select gen_random_uuid(), '${kind}', '${kind}', ${stamps} from generate_series(1, ${count}) returning id),
     ticked as (update resourced_clocks set revision = revision + 1, live = live + ${count}
       where collection = 'items' and slot = 0)
     select id from made`,
  )
  return rows.map(({ id }) => id)
}

test('DEL-10: what matches when a deletion is accepted goes, and nothing that comes later', {
  skip,
}, async (context) => {
  const found = { left: 0, joined: 0, created: 0, restored: 0, refused: 0, late: 0 }
  const happened = () => Object.values(found).every((count) => count > 0)
  for (const round of roundsUntil(6, happened)) {
    const [old, other] = [`old-${round}`, `other-${round}`]
    const matching = await plant(old, 3_000)
    const joining = await plant(other, 60)
    const gone = await atOnce(20, () => race.make('items', { kind: old }))
    await atOnce(20, (number) => race.on(number).send('DELETE', `/v1/items/${gone[number].id}`))
    let accepted = Number.POSITIVE_INFINITY
    const mustStay = new Set<string>()
    const change = async (number: number, what: keyof typeof found, asked: [string, string, unknown?], id?: string) => {
      // The response comes when all matches are marked.
      await moment(1_500)
      const started = performance.now()
      const { status, json } = await race.on(number).send(asked[0], asked[1], { body: asked[2] })
      assert.ok([200, 201, 404, 409].includes(status), JSON.stringify(json))
      if (status > 201) found.refused++
      else {
        found[what]++
        // A record that was changed so that it does not match is live; others are if they were changed afterwards.
        if (what === 'left' || started > accepted) mustStay.add(id ?? json.id)
        if (started > accepted) found.late++
      }
    }
    const [answer] = await Promise.all([
      moment(100).then(async () => {
        const headers = { prefer: 'respond-async' }
        const answer = await race.on(round).send('DELETE', `/v1/items?kind=${old}`, { headers })
        accepted = performance.now()
        return answer
      }),
      atOnce(60, (number) => {
        const id = matching[number * 50] as string
        return change(number, 'left', ['PATCH', `/v1/items/${id}`, { kind: 'kept' }], id)
      }),
      atOnce(60, (number) => {
        const id = joining[number] as string
        return change(number, 'joined', ['PATCH', `/v1/items/${id}`, { kind: old }], id)
      }),
      atOnce(40, (number) => change(number, 'created', ['POST', '/v1/items', { kind: old }])),
      atOnce(20, (number) => change(number, 'restored', ['POST', `/v1/items/${gone[number].id}/restore`])),
    ])
    assert.equal(answer.status, 202, JSON.stringify(answer.json))
    const job = await until(async () => {
      const { json } = await race.on(round + 1).send('GET', answer.json.status_url)
      assert.notEqual(json.status, 'failed', JSON.stringify(json))
      return json.status === 'succeeded' && json
    })
    const isDeleted = `deleted_at is not null and _deletion = '${answer.json.job_id}'`
    const lost = await race.rows(
      `select id from items where id = any('{${[...mustStay].join()}}') and deleted_at is not null`,
    )
    assert.deepEqual(lost, [], 'what changed later stays')
    const [{ forgotten, deleted }] = await race.rows(
      `select count(*) filter (where deleted_at is null and kind = '${old}' and id = any('{${matching.join()}}'))::int
           as forgotten,
         count(*) filter (where ${isDeleted})::int as deleted from items`,
    )
    assert.equal(forgotten, 0, 'what matched goes')
    assert.deepEqual([job.result.deleted_count, job.result.left_count], [deleted, 0])
    const [clock] = await race.rows(`select sum(live)::int as live from resourced_clocks where collection = 'items'`)
    const [row] = await race.rows('select count(*)::int as live from items where deleted_at is null')
    assert.deepEqual(clock, row)
    const [{ rest }] = await race.rows(
      'select (select count(*) from resourced_queue)::int + (select count(*) from resourced_work)::int as rest',
    )
    assert.equal(rest, 0)
  }
  context.diagnostic(JSON.stringify(found))
  assert.ok(happened(), JSON.stringify(found))
})
