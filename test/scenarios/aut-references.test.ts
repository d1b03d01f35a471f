/**
 * AUT-5: a record that a caller may not read counts as not there when they refer to it, in every way to write one. The
 * response is the same as for an id that no record has.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import type { Resource } from 'resourced-contract/model/resource'
import { reference, Type } from 'resourced-contract/model/type'
import { uuidv7 } from 'uuidv7'
import { importRecords } from '../../packages/server/src/jobs/import.ts'
import { places, type Received, type Sent, type Trial, trialFor } from '../harness.ts'

const name = Type.String({ minLength: 1 })
const owned = { owner: 'owner_id' } as const
const owner_id = Type.String({ readOnly: true })
const everyone = { create: 'anyone', update: 'anyone', delete: 'anyone', restore: 'anyone' } as const

const guild = defineInterface({
  name: 'guild',
  versions: { v1: {}, v2: {} },
  changes: [{ version: 'v2', resource: 'notes', rename: { place_id: 'hall_id' } }],
  resources: {
    halls: {
      fields: { name, open: Type.Boolean({ default: false }), owner_id },
      ...owned,
      access: { ...everyone, read: ['owner', { where: { open: true } }] },
    },
    // Read through the hall.
    rooms: {
      fields: { name, hall_id: reference('halls', { onDelete: 'cascade', requires: 'none' }) },
      within: 'hall_id',
      access: { ...everyone, read: { through: 'hall_id', action: 'read' } },
    },
    // Read by a function.
    chests: {
      fields: { name, owner_id },
      ...owned,
      access: { ...everyone, read: (caller) => ({ owner_id: caller.id }) },
    },
    // Read by nobody.
    seals: { fields: { name }, access: { ...everyone, read: 'nobody' } },
    notes: {
      fields: {
        text: Type.String({ minLength: 1 }),
        state: Type.Enum(['new', 'old'], { default: 'new', transitions: { new: ['old'] } }),
        hall_id: Type.Optional(reference('halls')),
        room_id: Type.Optional(reference('rooms')),
        chest_id: Type.Optional(reference('chests')),
        seal_id: Type.Optional(reference('seals')),
        free_id: Type.Optional(reference('halls', { requires: 'none' })),
      },
      unique: [['hall_id', 'text']],
      access: { ...everyone, read: 'anyone', readDeleted: 'anyone' },
    },
    // The permission to write depends on the record that is referred to.
    tools: {
      fields: {
        name,
        hall_id: Type.Optional(reference('halls')),
        room_id: Type.Optional(reference('rooms')),
      },
      access: {
        ...everyone,
        read: 'anyone',
        create: { through: 'hall_id', action: 'update' },
        update: ['owner', { through: 'hall_id', action: 'update' }].slice(1) as [
          { through: 'hall_id'; action: 'update' },
        ],
        fields: { room_id: { write: { through: 'room_id', action: 'update' } } },
      },
    },
  },
})

/** What a caller sees of an answer, without the id that they have sent themselves. */
const told = ({ status, text, headers }: Received, id: string) => [
  status,
  text.replace(/"request_id":"[^"]*"/, '').replaceAll(id, 'ID'),
  headers['etag'] === undefined,
]

const jsonPatch = { 'content-type': 'application/json-patch+json' }

interface Way {
  readonly name: string
  readonly sent: (note: string, field: string, id: string) => Sent
  readonly status: number
}

const older = (field: string) => (field === 'hall_id' ? 'place_id' : field)
const ways: readonly Way[] = [
  { name: 'POST', status: 201, sent: (_, field, id) => ({ path: '/v2/notes', body: { text: uuidv7(), [field]: id } }) },
  {
    name: 'POST with a key',
    status: 201,
    sent: (_, field, id) => ({
      path: '/v2/notes',
      body: { text: uuidv7(), [field]: id },
      headers: { 'idempotency-key': `"${uuidv7()}"` },
    }),
  },
  {
    name: 'PUT',
    status: 200,
    sent: (note, field, id) => ({ method: 'PUT', path: `/v2/notes/${note}`, body: { text: uuidv7(), [field]: id } }),
  },
  {
    name: 'PATCH',
    status: 200,
    sent: (note, field, id) => ({ method: 'PATCH', path: `/v2/notes/${note}`, body: { [field]: id } }),
  },
  {
    name: 'JSON Patch',
    status: 200,
    sent: (note, field, id) => ({
      ...{ method: 'PATCH', path: `/v2/notes/${note}`, headers: jsonPatch },
      body: [{ op: 'add', path: `/${field}`, value: id }],
    }),
  },
  {
    name: 'POST of an older version',
    status: 201,
    sent: (_, field, id) => ({ path: '/v1/notes', body: { text: uuidv7(), [older(field)]: id } }),
  },
  {
    name: 'PATCH of an older version',
    status: 200,
    sent: (note, field, id) => ({ method: 'PATCH', path: `/v1/notes/${note}`, body: { [older(field)]: id } }),
  },
]

/** A record of each collection that notes refer to, made by a caller. */
async function targetsOf(trial: Trial, as: string): Promise<Readonly<Record<string, string>>> {
  const make = async (path: string, body: object): Promise<string> => {
    const answer = await trial.send({ path: `/v2/${path}`, body, as })
    assert.equal(answer.status, 201, answer.text)
    // Of what its maker may not read, the address says the id.
    return String(answer.headers['location']).split('/').at(-1) as string
  }
  const hall_id = await make('halls', { name: 'h' })
  return {
    hall_id,
    room_id: await make('rooms', { name: 'r', hall_id }),
    chest_id: await make('chests', { name: 'c' }),
    seal_id: await make('seals', { name: 's' }),
  }
}

const note = async (trial: Trial, values: object, as = 'ann'): Promise<Received['json']> => {
  const answer = await trial.send({ path: '/v2/notes', body: { text: uuidv7(), ...values }, as })
  assert.equal(answer.status, 201, answer.text)
  return answer.json
}

describe('references to records that the caller may not read', () => {
  for (const way of ways) {
    it(`AUT-5: ${way.name} of an unreadable record is answered as of one that is not there`, async (context) => {
      const trial = await trialFor(context, guild, { memory: true })
      const [own, others] = [await targetsOf(trial, 'ann'), await targetsOf(trial, 'bob')]
      const { id } = await note(trial, {})
      for (const field of Object.keys(own)) {
        const ask = async (target: string) => trial.send({ ...way.sent(id, field, target), as: 'ann' })
        const missing = uuidv7()
        const [unread, none] = [await ask(others[field] as string), await ask(missing)]
        assert.deepEqual(told(unread, others[field] as string), told(none, missing), field)
        const pointer = way.name.includes('older') ? older(field) : field
        assert.deepEqual([unread.status, ...places(unread)], [400, `INVALID_REFERENCE /${pointer}`], unread.text)
        // Nobody may read a seal.
        const status = field === 'seal_id' ? 400 : way.status
        const readable = await ask(own[field] as string)
        assert.equal(readable.status, status, `${field}: ${readable.text}`)
      }
    })
  }

  it('AUT-5: what a record becomes readable by counts, and what it stops being readable by', async (context) => {
    const trial = await trialFor(context, guild, { memory: true })
    const { hall_id, room_id } = await targetsOf(trial, 'bob')
    const ask = (as: string) => trial.send({ path: '/v2/notes', body: { text: uuidv7(), hall_id, room_id }, as })
    assert.deepEqual(places(await ask('ann')), ['INVALID_REFERENCE /hall_id', 'INVALID_REFERENCE /room_id'])
    const open = (open: boolean) => trial.send({ method: 'PATCH', path: `/v2/halls/${hall_id}`, body: { open } })
    assert.equal((await open(true)).status, 200)
    assert.equal((await ask('ann')).status, 201)
    assert.equal((await open(false)).status, 204)
    assert.equal((await ask('ann')).status, 400)
    assert.equal((await ask('bob')).status, 201)
  })

  it('AUT-5: values that stay, null, and fields that require nothing pass', async (context) => {
    const trial = await trialFor(context, guild, { memory: true })
    const [own, others] = [await targetsOf(trial, 'ann'), await targetsOf(trial, 'bob')]
    const made = await note(trial, { hall_id: others['hall_id'], room_id: others['room_id'] }, 'bob')
    const send = (method: string, body: unknown, headers = {}) =>
      trial.send({ method, path: `/v2/notes/${made.id}`, body, headers, as: 'ann' })
    const { text, hall_id, room_id } = made
    assert.equal((await send('PUT', { text, hall_id, room_id })).status, 200)
    assert.equal((await send('PUT', { text: 'other', hall_id, room_id })).status, 200)
    assert.equal((await send('PATCH', { text: 'again', hall_id })).status, 200)
    assert.equal((await send('PATCH', [{ op: 'replace', path: '/text', value: 'more' }], jsonPatch)).status, 200)
    assert.equal((await send('PATCH', [{ op: 'replace', path: '/hall_id', value: hall_id }], jsonPatch)).status, 200)
    const moved = await send('PUT', { text, hall_id, room_id: own['room_id'] })
    assert.deepEqual([moved.status, moved.json.hall_id], [200, hall_id])
    // Once it is gone, it cannot be set again.
    assert.equal((await send('PATCH', { hall_id: null })).status, 200)
    assert.deepEqual(places(await send('PATCH', { hall_id })), ['INVALID_REFERENCE /hall_id'])
    assert.equal((await send('PATCH', { free_id: others['hall_id'] })).status, 200)
    assert.deepEqual(places(await send('PATCH', { free_id: uuidv7() })), ['INVALID_REFERENCE /free_id'])
  })

  it('AUT-5: a record returns with the references that it had', async (context) => {
    const trial = await trialFor(context, guild, { memory: true })
    const others = await targetsOf(trial, 'bob')
    const { id } = await note(trial, { hall_id: others['hall_id'] }, 'bob')
    assert.equal((await trial.send({ method: 'DELETE', path: `/v2/notes/${id}`, as: 'ann' })).status, 204)
    const restored = await trial.send({ method: 'POST', path: `/v2/notes/${id}/restore`, as: 'ann' })
    assert.deepEqual([restored.status, restored.json.hall_id], [200, others['hall_id']], restored.text)
  })

  it('AUT-5, CON-6: other mistakes and conflicts come in the same order', async (context) => {
    const trial = await trialFor(context, guild, { memory: true })
    const others = await targetsOf(trial, 'bob')
    await note(trial, { text: 'taken', hall_id: others['hall_id'] }, 'bob')
    const old = await note(trial, { state: 'old' })
    const bodies: readonly [body: object, ...errors: string[]][] = [
      [{ text: '' }, 'TOO_SHORT /text', 'INVALID_REFERENCE /hall_id'],
      [{}, 'REQUIRED /text', 'INVALID_REFERENCE /hall_id'],
      // The values are unique together: the clash is not told.
      [{ text: 'taken' }, 'INVALID_REFERENCE /hall_id'],
      [{ text: 'free', seal_id: uuidv7() }, 'INVALID_REFERENCE /hall_id', 'INVALID_REFERENCE /seal_id'],
    ]
    for (const [body, ...errors] of bodies) {
      const answers: unknown[] = []
      for (const hall_id of [others['hall_id'] as string, uuidv7()]) {
        const created = await trial.send({ path: '/v2/notes', body: { ...body, hall_id }, as: 'ann' })
        assert.deepEqual([created.status, ...places(created)], [400, ...errors], created.text)
        const path = `/v2/notes/${old.id}`
        const changed = await trial.send({ method: 'PATCH', path, body: { ...body, state: 'new', hall_id }, as: 'ann' })
        answers.push([told(created, hall_id), told(changed, hall_id)])
      }
      assert.deepEqual(answers[0], answers[1])
    }
  })

  it('AUT-5, AUT-8: a permission that depends on the record is refused as for none', async (context) => {
    const trial = await trialFor(context, guild, { memory: true })
    const [own, others] = [await targetsOf(trial, 'ann'), await targetsOf(trial, 'bob')]
    const tool = async (body: object) => trial.send({ path: '/v2/tools', body: { name: 't', ...body }, as: 'ann' })
    const made = await tool({ hall_id: own['hall_id'] })
    assert.equal(made.status, 201, made.text)
    const move = async (body: object) =>
      trial.send({ method: 'PATCH', path: `/v2/tools/${made.json.id}`, body, as: 'ann' })
    // A rule of a field must hold for the record as it is, too.
    for (const [ask, ...fields] of [[tool, 'hall_id', 'room_id'] as const, [move, 'hall_id'] as const]) {
      for (const field of fields) {
        const rest = field === 'hall_id' ? {} : { hall_id: own['hall_id'] }
        const missing = uuidv7()
        const [unread, none] = [
          await ask({ ...rest, [field]: others[field] }),
          await ask({ ...rest, [field]: missing }),
        ]
        assert.deepEqual(told(unread, others[field] as string), told(none, missing), field)
        assert.deepEqual([unread.status, ...places(unread)], [400, `INVALID_REFERENCE /${field}`])
      }
    }
  })

  it('AUT-5: the parent in the address is decided by the address', async (context) => {
    const trial = await trialFor(context, guild, { memory: true })
    const [own, others] = [await targetsOf(trial, 'ann'), await targetsOf(trial, 'bob')]
    const ask = (hall: string) => trial.send({ path: `/v2/halls/${hall}/rooms`, body: { name: 'r' }, as: 'ann' })
    assert.equal((await ask(own['hall_id'] as string)).status, 201)
    assert.equal((await ask(others['hall_id'] as string)).status, 403)
    assert.equal((await ask(uuidv7())).status, 404)
  })

  it('AUT-5: an import refers to all records', async (context) => {
    const trial = await trialFor(context, guild, { memory: true })
    const others = await targetsOf(trial, 'bob')
    const { catalog, storage } = trial.app
    const values = [
      { text: 'a', hall_id: others['hall_id'], seal_id: others['seal_id'] },
      { text: 'b', hall_id: uuidv7() },
    ]
    async function* records() {
      for (const [index, value] of values.entries()) yield { line: index + 1, value, size: 100 }
    }
    const problems: string[] = []
    const { imported } = await importRecords({
      ...{ storage, resource: catalog.resources.get('notes') as Resource, records: records() },
      ...{ caller: { id: 'import', roles: [], claims: {} }, skipInvalid: true },
      onProblem: ({ issues }) => void problems.push(...issues.map(({ code, pointer }) => `${code} ${pointer}`)),
    })
    assert.deepEqual([imported, problems], [1, ['INVALID_REFERENCE /hall_id']])
  })

  it('AUT-9: records in the way of a deletion are not counted for callers who may not read them', async (context) => {
    const trial = await trialFor(context, guild, { memory: true })
    const { hall_id } = await targetsOf(trial, 'ann')
    const remove = async () => {
      const { status, json } = await trial.send({ method: 'DELETE', path: `/v2/halls/${hall_id}`, as: 'ann' })
      assert.deepEqual([status, json.code], [409, 'HAS_DEPENDENTS'])
      return json.errors
    }
    const id = (await note(trial, { free_id: hall_id })).id
    const [{ message, ...seen }] = await remove()
    assert.deepEqual(seen, { code: 'HAS_DEPENDENTS', collection: 'notes', count: 1, ids: [id] })
    assert.match(message, /^1 record of notes refers to halls by free_id/)
  })
})

it('AUT-5, DEL-8: a record that is being deleted is missing for callers who may not read it', async (context) => {
  const trial = await trialFor(context, guild, { memory: true })
  const { jobs } = trial.app.storage
  Object.assign(jobs, { step: async () => 'more' })
  const { hall_id } = await targetsOf(trial, 'bob')
  const { id: room_id } = (await trial.send({ path: '/v2/rooms', body: { name: 'r', hall_id }, as: 'bob' })).json
  const headers = { prefer: 'respond-async' }
  const deleted = await trial.send({ method: 'DELETE', path: `/v2/halls/${hall_id}`, headers, as: 'bob' })
  assert.equal(deleted.status, 202, deleted.text)
  const ask = (as: string, body: object) => trial.send({ path: '/v2/notes', body: { text: 'a', ...body }, as })
  for (const [field, id] of Object.entries({ hall_id, room_id }) as [string, string][]) {
    const missing = uuidv7()
    const [unread, none] = [await ask('ann', { [field]: id }), await ask('ann', { [field]: missing })]
    assert.deepEqual(told(unread, id), told(none, missing))
    assert.equal(unread.status, 400)
    assert.deepEqual(places(await ask('bob', { [field]: id })), [`BEING_DELETED /${field}`])
  }
})

describe('references and values of the server', () => {
  const teams = defineInterface({
    name: 'teams',
    resources: {
      teams: { fields: { name }, access: { read: 'role:admin', create: 'anyone', delete: 'anyone' } },
      members: {
        fields: {
          name,
          team_id: Type.Optional(reference('teams')),
          chosen_id: Type.Optional(reference('teams', { default: { caller: 'claims.team' } })),
          set_id: Type.Optional(reference('teams', { set: { onCreate: { caller: 'claims.team' } } })),
        },
        access: { create: 'anyone', update: 'anyone', read: ['role:admin', { where: { name: 'Open' } }] },
        prepare: ({ next }) => (next.name === 'prepared' ? { team_id: next.chosen_id } : {}),
      },
    },
  })

  it('RES-13, RES-14, RES-15: what the server and prepare set passes, and what the caller chooses does not', async (context) => {
    let team = ''
    const authenticate = () => ({ id: 'zoe', roles: [], claims: { team } })
    const trial = await trialFor(context, teams, { authenticate })
    const make = async (path: string, body: object) => trial.send({ path: `/v1/${path}`, body, as: 'own' })
    const idOf = ({ headers }: Received) => String(headers['location']).split('/').at(-1) as string
    team = idOf(await make('teams', { name: 'a' }))
    const other = idOf(await make('teams', { name: 'b' }))
    const member = await make('members', { name: 'Open' })
    assert.deepEqual([member.status, member.json.chosen_id, member.json.set_id], [201, team, team], member.text)
    assert.deepEqual((await make('members', { name: 'prepared' })).status, 201)
    // The value that the server would set itself tells nothing.
    assert.equal((await make('members', { name: 'x', chosen_id: team })).status, 201)
    assert.deepEqual(places(await make('members', { name: 'x', chosen_id: other })), ['INVALID_REFERENCE /chosen_id'])
    assert.deepEqual(places(await make('members', { name: 'x', team_id: team })), ['INVALID_REFERENCE /team_id'])

    const [blocked] = [await trial.send({ method: 'DELETE', path: `/v1/teams/${team}`, as: 'own' })]
    const hidden = blocked.json.errors.map(({ message, ...rest }: { message: string }) => [message, rest])
    const words = (field: string) =>
      `Records of members refer to teams by ${field}; you may not read them all. Ask somebody who may change them.`
    const about = { code: 'HAS_DEPENDENTS', collection: 'members' }
    assert.deepEqual(
      [blocked.status, ...hidden],
      [
        409,
        [words('team_id'), about],
        [words('chosen_id'), { ...about, ids: [member.json.id] }],
        [words('set_id'), { ...about, ids: [member.json.id] }],
      ],
    )
  })
})
