/** DEL-4, DEL-5 with two servers: records gain and lose references to a record that is being deleted. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { atOnce, moment, raceOf, roundsUntil, skip } from './servers.ts'

const name = { type: 'string' }
const above = (collection: string, onDelete: string) => ({ reference: collection, onDelete, optional: true })

/** Parents of one kind, and dependents of each kind under them. */
function family(kind: string, deletion: object) {
  const parents = `${kind}-parents`
  return {
    [parents]: { fields: { name }, deletion },
    [`${kind}-restricts`]: { fields: { name, parent_id: above(parents, 'restrict') } },
    [`${kind}-cascades`]: { fields: { name, parent_id: above(parents, 'cascade') } },
    [`${kind}-clears`]: { fields: { name, parent_id: above(parents, 'clear') } },
  }
}

const kinds = {
  soft: { variant: 'soft', asynchronous: 'never' },
  hard: { variant: 'hard', asynchronous: 'never' },
  slow: { variant: 'soft', asynchronous: 'always' },
}

const race = raceOf({
  name: 'parents',
  resources: Object.assign({}, ...Object.entries(kinds).map(([kind, deletion]) => family(kind, deletion))),
})

const rounds = 16

/** Live records that refer to what is not live. */
async function orphansOf(kind: string, dependents: string) {
  return race.rows(
    `select c.id from "${kind}-${dependents}" c left join "${kind}-parents" p on p.id = c.parent_id
     where c.deleted_at is null and c.parent_id is not null and (p.id is null or p.deleted_at is not null)`,
  )
}

/** Waits until the jobs of deletions are done. */
async function jobsDone() {
  while ((await race.rows('select job from resourced_work')).length > 0) await moment(20)
}

for (const kind of Object.keys(kinds)) {
  for (const dependents of ['restricts', 'cascades', 'clears']) {
    test(`DEL-5: ${dependents} are created under a ${kind} parent, and leave it, while it is deleted`, {
      skip,
    }, async (context) => {
      const found = { deleted: 0, kept: 0, came: 0, refused: 0, left: 0, stayed: 0 }
      // Many would keep a parent for good that must have none.
      const each = dependents === 'restricts' ? 2 : 6
      const happened = () =>
        found.came > 0 && found.refused > 0 && found.left > 0 && (dependents !== 'cascades' || found.stayed > 0)
      for (const round of roundsUntil(rounds, happened)) {
        const collection = `${kind}-${dependents}`
        const path = (id: string) => `/v1/${collection}/${id}`
        const parent = await race.make(`${kind}-parents`, { name: 'goes' })
        const other = await race.make(`${kind}-parents`, { name: 'stays' })
        const movers = await atOnce(each, () => race.make(collection, { name: 'comes', parent_id: other.id }))
        const leavers = await atOnce(dependents === 'restricts' ? round % 2 : each, () =>
          race.make(collection, { name: 'leaves', parent_id: parent.id }),
        )
        // Those who come are at it before those who leave in some rounds, and after them in others.
        const [early, late] = round % 2 === 0 ? [40, kind === 'slow' ? 100 : 12] : [12, 0]
        const [deleted, created, moved, left] = await Promise.all([
          moment(12).then(() => race.on(round).send('DELETE', `/v1/${kind}-parents/${parent.id}`)),
          atOnce(each, async (number) => {
            await moment(early)
            return race.on(number).send('POST', `/v1/${collection}`, { body: { name: 'new', parent_id: parent.id } })
          }),
          atOnce(each, async (number) => {
            await moment(early)
            return race.on(number).send('PATCH', path(movers[number].id), { body: { parent_id: parent.id } })
          }),
          atOnce(leavers.length, async (number) => {
            await moment(late)
            return race.on(number).send('PATCH', path(leavers[number].id), { body: { parent_id: other.id } })
          }),
        ])
        await jobsDone()
        const isDeleted = deleted.status < 300
        assert.ok(isDeleted || (dependents === 'restricts' && deleted.status === 409), JSON.stringify(deleted.json))
        assert.deepEqual(await orphansOf(kind, dependents), [])
        const rows = new Map(
          (await race.rows(`select id, parent_id, deleted_at from "${collection}"`)).map((row) => [row.id, row]),
        )
        for (const [number, { status, json }] of [...created, ...moved].entries()) {
          const row = rows.get(number < each ? json.id : movers[number - each].id)
          if (status >= 300) {
            assert.ok(isDeleted && (status === 400 || status === 409), JSON.stringify(json))
            if (number >= each) assert.deepEqual([row.parent_id, row.deleted_at], [other.id, null])
            found.refused++
            continue
          }
          found.came++
          // It is there, or has gone with its parent, or is there without one.
          if (dependents === 'cascades') assert.equal(row.deleted_at !== null, isDeleted)
          else assert.equal(row.deleted_at, null)
          assert.equal(row.parent_id, dependents === 'clears' && isDeleted ? null : parent.id)
          assert.ok(dependents !== 'restricts' || !isDeleted)
        }
        for (const [number, { status, json }] of left.entries()) {
          const row = rows.get(leavers[number].id)
          if (status === 200) {
            // Whoever has left is not taken along, nor changed.
            assert.deepEqual([row.parent_id, row.deleted_at], [other.id, null])
            found.left++
          } else {
            assert.ok(
              dependents === 'cascades' && isDeleted && (status === 404 || status === 409),
              JSON.stringify(json),
            )
            assert.notEqual(row.deleted_at, null)
            found.stayed++
          }
        }
        found[isDeleted ? 'deleted' : 'kept']++
      }
      context.diagnostic(JSON.stringify(found))
      assert.ok(happened())
    })
  }
}

test('DEL-5: the counts of all collections equal their records', { skip }, async () => {
  for (const { collection, live, deleted } of await race.rows(
    'select collection, sum(live)::int as live, sum(deleted)::int as deleted from resourced_clocks group by collection',
  )) {
    const [row] = await race.rows(
      `select count(*) filter (where deleted_at is null)::int as live, count(deleted_at)::int as deleted from "${collection}"`,
    )
    if (collection.includes('-') && collection !== 'api-keys') assert.deepEqual({ live, deleted }, row, collection)
  }
})
