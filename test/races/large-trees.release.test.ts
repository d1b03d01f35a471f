/**
 * DEL-5, DEL-6: a tree of so many records that it is deleted and restored in batches, while children come and leave on
 * two servers. No child is left behind, and none is lost; and one that came before the deletion blocks it by `restrict`.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../until.ts'
import { atOnce, moment, raceOf, roundsUntil, skip } from './servers.ts'

const race = raceOf({
  name: 'stores',
  resources: {
    boxes: { fields: { name: { type: 'string', optional: true } }, deletion: { asynchronous: 'never' } },
    items: { fields: { box_id: { reference: 'boxes', onDelete: 'cascade' } } },
    parts: { fields: { item_id: { reference: 'items', onDelete: 'cascade' } } },
    seals: { fields: { item_id: { reference: 'items', onDelete: 'restrict' } } },
  },
})

/** More records than one transaction deletes or restores. */
const many = 1_100
const writers = 24

/** Inserts a box of many items past the servers, every tenth of which has a part. */
async function plant(): Promise<Tree> {
  const { id: box } = await race.make('boxes', {})
  const stamps = `'2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', 1`
  const rows = await race.rows(
    `with i as (insert into items (id, box_id, created_at, updated_at, _revision)
       select gen_random_uuid(), '${box}', ${stamps} from generate_series(1, ${many}) returning id),
     p as (insert into parts (id, item_id, created_at, updated_at, _revision)
       select gen_random_uuid(), id, ${stamps} from (select id, row_number() over () as n from i) x where n % 10 = 0 returning id),
     c as (update resourced_clocks set revision = revision + 1,
         live = live + case collection when 'items' then ${many} else ${many / 10} end
       where collection in ('items', 'parts') and slot = 0)
     select id from i`,
  )
  return { box, items: rows.map(({ id }) => id) }
}

interface Tree {
  readonly box: string
  readonly items: readonly string[]
}

/** The children that came to a tree and left it, and how often a change was refused. */
interface Traffic {
  readonly created: string[]
  readonly parts: string[]
  readonly left: string[]
  refused: number
}

/**
 * Sends changes at different moments: items and parts come, and items leave for another box, if there is one. A change
 * that is refused is sent again until the last attempt.
 */
async function comeAndLeave({ box, items }: Tree, other: string | undefined, isLast: () => boolean): Promise<Traffic> {
  const traffic: Traffic = { created: [], parts: [], left: [], refused: 0 }
  const change = async (into: 'created' | 'parts' | 'left', number: number, path: string, body: object) => {
    for (let isOver = false; !isOver; ) {
      await moment(600)
      isOver = isLast()
      const method = into === 'left' ? 'PATCH' : 'POST'
      const { status, json } = await race.on(number).send(method, `/v1/${path}`, { body })
      assert.ok([200, 201, 400, 404, 409].includes(status), JSON.stringify(json))
      if (status < 300) return void traffic[into].push(json.id)
      traffic.refused++
    }
  }
  await Promise.all([
    atOnce(writers, (number) => change('created', number, 'items', { box_id: box })),
    atOnce(writers, (number) => change('parts', number, 'parts', { item_id: items[number * 41 + 7] })),
    other === undefined ||
      atOnce(writers, (number) => change('left', number, `items/${items[number * 43]}`, { box_id: other })),
  ])
  return traffic
}

/** Waits until nothing is left to do of a deletion or restoration. */
async function settled(): Promise<void> {
  await until(async () => (await race.rows('select job from resourced_work')).length === 0)
}

/** The items of a box, and their parts, by whether they are live or which deletion has deleted them. */
async function contents(box: string) {
  const items = await race.rows(
    `select id, case when deleted_at is null then 'live' else _deletion end as state from items where box_id = '${box}'`,
  )
  const parts = await race.rows(
    `select p.id, case when p.deleted_at is null then 'live' else p._deletion end as state
       from parts p join items i on i.id = p.item_id where i.box_id = '${box}'`,
  )
  return { items, parts }
}

const sorted = (ids: Iterable<string>) => [...ids].sort()

test('DEL-5, DEL-6: children come and leave while a large tree is deleted, and while it is restored', {
  skip,
}, async (context) => {
  const found = { came: 0, left: 0, refused: 0, cameBack: 0, refusedBack: 0 }
  const happened = () => Object.values(found).every((count) => count > 0)
  const { id: other } = await race.make('boxes', {})
  for (const round of roundsUntil(2, happened)) {
    const tree = await plant()
    const { box } = tree
    const [deleted, during] = await Promise.all([
      moment(200).then(() => race.on(round).send('DELETE', `/v1/boxes/${box}`)),
      comeAndLeave(tree, other, () => true),
    ])
    assert.equal(deleted.status, 204, JSON.stringify(deleted.json))
    await settled()
    const [{ deletion }] = await race.rows(`select _deletion as deletion from boxes where id = '${box}'`)
    const gone = await contents(box)
    const expected = new Set([...tree.items, ...during.created])
    for (const id of during.left) expected.delete(id)
    assert.deepEqual(sorted(gone.items.map(({ id }) => id)), sorted(expected))
    for (const { state } of [...gone.items, ...gone.parts]) assert.equal(state, deletion)
    // What has left is live, with its parts.
    const stayed = await race.rows(
      `select i.id from items i left join parts p on p.item_id = i.id
         where i.box_id = '${other}' and (i.deleted_at is not null or p.deleted_at is not null)`,
    )
    assert.deepEqual(stayed, [])
    found.came += during.created.length + during.parts.length
    found.left += during.left.length
    found.refused += during.refused

    let isRestored = false
    const [restored, meanwhile] = await Promise.all([
      race
        .on(round + 1)
        .send('POST', `/v1/boxes/${box}/restore`)
        .finally(() => {
          isRestored = true
        }),
      comeAndLeave({ box, items: sorted(expected) }, undefined, () => isRestored),
    ])
    assert.equal(restored.status, 200, JSON.stringify(restored.json))
    await settled()
    const back = await contents(box)
    assert.deepEqual(sorted(back.items.map(({ id }) => id)), sorted([...expected, ...meanwhile.created]))
    const parts = [...gone.parts.map(({ id }) => id), ...meanwhile.parts]
    assert.deepEqual(sorted(back.parts.map(({ id }) => id)), sorted(parts))
    // What waited for the end of the restoration is made then.
    assert.deepEqual([meanwhile.created.length, meanwhile.parts.length], [writers, writers])
    for (const { state } of [...back.items, ...back.parts]) assert.equal(state, 'live')
    found.cameBack += meanwhile.created.length + meanwhile.parts.length
    found.refusedBack += meanwhile.refused
  }
  context.diagnostic(JSON.stringify(found))
  assert.ok(happened(), JSON.stringify(found))
})

for (const [change, how] of [
  ['of one statement', 'asleep'],
  ['that has waited for a lock', 'locked'],
] as const) {
  test(`DEL-4: a large deletion sees what a change ${change} did that began before it`, { skip }, async () => {
    const { box, items } = await plant()
    const [first, last] = [sorted(items)[0], sorted(items).at(-1)]
    const gate = await race.gate('insert on seals', undefined, how)
    // The announcement locks the first 1,001 items. For one of those it would wait itself, and announce nothing.
    const sealing = race.on(0).send('POST', '/v1/seals', { body: { item_id: last } })
    await gate.waiting(1)
    const deleting = race.on(1).send('DELETE', `/v1/boxes/${box}`)
    await until(async () => (await race.rows('select job from resourced_work')).length > 0)
    // Later changes wait for neither. They see the announcement.
    assert.equal((await race.on(1).send('POST', '/v1/boxes', { body: {} })).status, 201)
    const late = await race.on(1).send('POST', '/v1/parts', { body: { item_id: first } })
    assert.deepEqual([late.status, late.json.code], [409, 'BEING_DELETED'], JSON.stringify(late.json))
    // Time for a check that would not wait.
    const ended = await Promise.race([deleting, sleep(300)])
    assert.equal(ended, undefined, `it ended beside the change: ${ended?.status} ${JSON.stringify(ended?.json)}`)
    await gate.open()
    const [sealed, blocked] = await Promise.all([sealing, deleting])
    assert.equal(sealed.status, 201, JSON.stringify(sealed.json))
    assert.deepEqual([blocked.status, blocked.json?.code], [409, 'HAS_DEPENDENTS'], JSON.stringify(blocked.json))
    assert.deepEqual(blocked.json.errors[0].ids, [sealed.json.id])
    await settled()
    const kept = await contents(box)
    assert.deepEqual([kept.items.length, kept.parts.length], [many, many / 10])
    for (const { state } of [...kept.items, ...kept.parts]) assert.equal(state, 'live')
    assert.equal((await race.on(0).send('DELETE', `/v1/seals/${sealed.json.id}`)).status, 204)
    assert.equal((await race.on(1).send('DELETE', `/v1/boxes/${box}`)).status, 204)
  })
}

test('DEL-5: the counts of all collections equal their records', { skip }, async () => {
  await settled()
  for (const collection of ['boxes', 'items', 'parts', 'seals']) {
    const [clock] = await race.rows(
      `select sum(live)::int as live, sum(deleted)::int as deleted from resourced_clocks where collection = '${collection}'`,
    )
    const [row] = await race.rows(
      `select count(*) filter (where deleted_at is null)::int as live, count(deleted_at)::int as deleted from ${collection}`,
    )
    assert.deepEqual(clock, row, collection)
  }
  assert.deepEqual(await race.rows('select * from resourced_queue'), [])
})
