/** AUT-8, CON-5 with two servers: access is decided by another record, whose owner changes meanwhile. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clientOf, type Send } from '../../durability/client.ts'
import { atOnce, type Gate, raceOf, skip } from '../servers.ts'

const name = { type: 'string' }
const owned = { name, owner_id: { type: 'string', readOnly: true } }
const through = (field: string, action: 'update') => ({ through: field, action })

/** Who owns a room may do everything with the cards on its desks. */
const race = raceOf({
  name: 'permissions',
  resources: {
    rooms: {
      fields: owned,
      owner: 'owner_id',
      access: { read: 'anyone', create: 'anyone', update: ['role:admin', 'owner'], delete: 'role:admin' },
    },
    // Notes may lie in boxes that their writer may read, through the room.
    boxes: {
      fields: { name, room_id: { reference: 'rooms', onDelete: 'cascade' } },
      access: { read: through('room_id', 'update'), create: 'anyone' },
    },
    notes: {
      fields: { name, box_id: { reference: 'boxes', optional: true } },
      access: { read: 'anyone', create: 'anyone', update: 'anyone' },
    },
    desks: {
      fields: { name, room_id: { reference: 'rooms', onDelete: 'cascade' } },
      access: { read: 'anyone', create: 'anyone', update: through('room_id', 'update') },
    },
    cards: {
      fields: { name: { ...name, filter: true }, desk_id: { reference: 'desks', onDelete: 'cascade' } },
      within: 'desk_id',
      deletion: { byFilter: true },
      access: {
        read: 'anyone',
        ...Object.fromEntries(
          ['create', 'update', 'delete', 'restore'].map((action) => [action, through('desk_id', 'update')]),
        ),
      },
    },
  },
})

let ann: Promise<Send> | undefined

/** Sends as ann, to the other server. */
const send: Send = async (...asked) => {
  ann ??= race
    .make('api-keys', { subject: 'ann', roles: [] })
    .then(({ key }) => clientOf(race.on(1).process.origin, key, 4).send)
  return (await ann)(...asked)
}

/** A room of ann's, whose owner changes, and what is in it. */
interface Places {
  readonly card: string
  /** A deleted one. */
  readonly deleted: string
  readonly desk: string
  readonly room: string
}

/**
 * The ways to change something through the room whose owner changes, and the event by which the change can be stopped.
 */
const ways: readonly {
  readonly name: string
  readonly event: 'insert' | 'update'
  readonly ask: (places: Places) => Parameters<Send>
  readonly status: number
}[] = [
  {
    name: 'a creation',
    event: 'insert',
    ask: ({ desk }) => ['POST', '/v1/cards', { body: { name: 'new', desk_id: desk } }],
    status: 201,
  },
  {
    name: 'a nested creation with a key',
    event: 'insert',
    ask: ({ desk }) => [
      ...(['POST', `/v1/desks/${desk}/cards`] as const),
      { body: { name: 'new' }, headers: { 'idempotency-key': `"${desk}"` } },
    ],
    status: 201,
  },
  {
    name: 'a change',
    event: 'update',
    ask: ({ card }) => ['PATCH', `/v1/cards/${card}`, { body: { name: 'changed' } }],
    status: 200,
  },
  {
    name: 'a JSON Patch',
    event: 'update',
    ask: ({ card }) => [
      ...(['PATCH', `/v1/cards/${card}`] as const),
      {
        body: [{ op: 'add', path: '/name', value: 'changed' }],
        headers: { 'content-type': 'application/json-patch+json' },
      },
    ],
    status: 200,
  },
  { name: 'a deletion', event: 'update', ask: ({ card }) => ['DELETE', `/v1/cards/${card}`], status: 204 },
  {
    name: 'a bulk deletion',
    event: 'update',
    ask: ({ card }) => ['POST', '/v1/cards/bulk-delete', { body: { ids: [card] } }],
    status: 200,
  },
  {
    name: 'a restoration',
    event: 'update',
    ask: ({ deleted }) => ['POST', `/v1/cards/${deleted}/restore`],
    status: 200,
  },
]

/** Resolves once both wait for something; rejects where one of them is answered before. */
async function bothWait(gate: Gate, asked: readonly Promise<unknown>[]): Promise<void> {
  const answered = asked.map(async (each) => {
    const answer = await each
    throw new Error(`One did not wait for the other: ${JSON.stringify(answer)}`)
  })
  await Promise.race([gate.waiting(2), ...answered])
}

async function placesOf(): Promise<Places> {
  const room = (await send('POST', '/v1/rooms', { body: { name: 'own' } })).json.id
  const desk = (await send('POST', '/v1/desks', { body: { name: 'd', room_id: room } })).json.id
  const made = async (text: string) =>
    (await send('POST', '/v1/cards', { body: { name: text, desk_id: desk } })).json.id as string
  const [card, deleted] = [await made('kept'), await made('deleted')]
  assert.equal((await send('DELETE', `/v1/cards/${deleted}`)).status, 204)
  return { card, deleted, desk, room }
}

const handOver = ({ room }: Places) =>
  race.on(0).send('PATCH', `/v1/rooms/${room}`, { body: { owner_id: 'bob', name: 'handed over' } })

for (const { name, event, ask, status } of ways) {
  test(`CON-5: the owner of a room changes while ${name} through it is written: the change of owner comes after it`, {
    skip,
  }, async () => {
    const places = await placesOf()
    const gate = await race.gate(`${event} on cards`)
    const written = send(...ask(places))
    await gate.waiting(1)
    const given = handOver(places)
    try {
      await bothWait(gate, [written, given])
    } finally {
      await gate.open()
    }
    assert.deepEqual([(await written).status, (await given).status], [status, 200])
    assert.equal((await send('PATCH', `/v1/desks/${places.desk}`, { body: { name: 'x' } })).status, 403)
  })

  test(`CON-5: ${name} waits while the owner of the room that permits it changes, and is refused`, {
    skip,
  }, async () => {
    const places = await placesOf()
    const gate = await race.gate('update on rooms')
    const given = handOver(places)
    await gate.waiting(1)
    const written = send(...ask(places))
    try {
      await bothWait(gate, [written, given])
    } finally {
      await gate.open()
    }
    assert.deepEqual([(await given).status, (await written).status], [200, 403])
  })
}

/** The ways to refer to a box. */
const referring: readonly (readonly [
  name: string,
  event: 'insert' | 'update',
  status: number,
  ask: (box: string, note: string) => Parameters<Send>,
])[] = [
  ['a creation', 'insert', 201, (box) => ['POST', '/v1/notes', { body: { name: 'new', box_id: box } }]],
  [
    'a creation with a key',
    'insert',
    201,
    (box) => [
      ...(['POST', '/v1/notes'] as const),
      { body: { name: 'new', box_id: box }, headers: { 'idempotency-key': `"${box}"` } },
    ],
  ],
  ['a change', 'update', 200, (box, note) => ['PATCH', `/v1/notes/${note}`, { body: { box_id: box } }]],
  ['a replacement', 'update', 200, (box, note) => ['PUT', `/v1/notes/${note}`, { body: { name: 'x', box_id: box } }]],
]

for (const [name, event, status, ask] of referring) {
  const made = async () => {
    const room = (await send('POST', '/v1/rooms', { body: { name: 'own' } })).json.id
    const box = (await send('POST', '/v1/boxes', { body: { name: 'b', room_id: room } })).json.id
    const note = (await send('POST', '/v1/notes', { body: { name: 'n' } })).json.id
    return { places: { room } as Places, asked: ask(box, note) }
  }

  test(`AUT-5: ${name} refers to a box, and its room changes hands after it`, { skip }, async () => {
    const { places, asked } = await made()
    const gate = await race.gate(`${event} on notes`)
    const written = send(...asked)
    await gate.waiting(1)
    const given = handOver(places)
    try {
      await bothWait(gate, [written, given])
    } finally {
      await gate.open()
    }
    assert.deepEqual([(await written).status, (await given).status], [status, 200])
  })

  test(`AUT-5: ${name} refers to a box that its writer may not read any more, and is refused`, { skip }, async () => {
    const { places, asked } = await made()
    const gate = await race.gate('update on rooms')
    const given = handOver(places)
    await gate.waiting(1)
    const written = send(...asked)
    try {
      await bothWait(gate, [written, given])
    } finally {
      await gate.open()
    }
    const { status: refused, json } = await written
    assert.deepEqual([(await given).status, refused, json.errors?.[0]?.code], [200, 400, 'INVALID_REFERENCE'])
  })
}

test('AUT-8: a record moves to a room before the owner of the room changes, or not at all', { skip }, async () => {
  const places = await placesOf()
  const other = await placesOf()
  const move = () => send('PATCH', `/v1/cards/${places.card}`, { body: { desk_id: other.desk } })
  const gate = await race.gate('update on rooms')
  const given = handOver(other)
  await gate.waiting(1)
  const moved = move()
  try {
    await bothWait(gate, [moved, given])
  } finally {
    await gate.open()
  }
  assert.deepEqual([(await given).status, (await moved).status], [200, 403])
  const { json } = await send('GET', `/v1/cards/${places.card}`)
  assert.equal(json.desk_id, places.desk)
})

test('CON-5: a deletion by filter waits while the owner of a room changes, and deletes nothing in it', {
  skip,
}, async () => {
  const places = await placesOf()
  const gate = await race.gate('update on rooms')
  const given = handOver(places)
  await gate.waiting(1)
  const written = send('DELETE', '/v1/cards?name=kept')
  try {
    await bothWait(gate, [written, given])
  } finally {
    await gate.open()
  }
  assert.deepEqual([(await given).status, (await written).status], [200, 200])
  assert.equal((await send('GET', `/v1/cards/${places.card}`)).status, 200)
})

test('DEL-5: rooms are deleted while their records are created, changed and moved through them, without a deadlock', {
  skip,
}, async () => {
  const [before] = await race.rows('select deadlocks from pg_stat_database where datname = current_database()')
  const refuge = await placesOf()
  for (let round = 0; round < 12; round++) {
    const { card, desk, deleted, room } = await placesOf()
    const made = await atOnce(4, async (number) => {
      const answer = await send('POST', '/v1/cards', { body: { name: `${round} ${number}`, desk_id: desk } })
      return answer.json.id as string
    })
    const answers = await Promise.all([
      race.on(0).send('DELETE', `/v1/rooms/${room}`),
      send('POST', '/v1/cards', { body: { name: 'new', desk_id: desk } }),
      send('POST', `/v1/desks/${desk}/cards`, { body: { name: 'new' } }),
      send('PATCH', `/v1/cards/${card}`, { body: { name: 'changed' } }),
      send('PATCH', `/v1/cards/${refuge.card}`, { body: { desk_id: desk } }),
      send('PATCH', `/v1/cards/${made[0]}`, { body: { desk_id: refuge.desk } }),
      send('DELETE', `/v1/cards/${made[1]}`),
      send('POST', '/v1/cards/bulk-delete', { body: { ids: made.slice(2) } }),
      send('POST', `/v1/cards/${deleted}/restore`),
    ])
    assert.equal(answers[0]?.status, 204)
    for (const { status, json } of answers) assert.ok(status < 500, JSON.stringify(json))
    if ((await send('GET', `/v1/cards/${refuge.card}`)).status === 404) {
      Object.assign(refuge, await placesOf())
    }
  }
  const [after] = await race.rows('select deadlocks from pg_stat_database where datname = current_database()')
  assert.equal(after.deadlocks, before.deadlocks)
})
