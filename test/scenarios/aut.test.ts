/** AUT-3 to AUT-6: every form of access rule, compared with an oracle that is independent of predicates. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { AccessRule, Condition } from 'resourced-contract/model/declaration'
import type { CallerView } from 'resourced-contract/model/declared-functions'
import { defineInterface } from 'resourced-contract/model/inference/define-interface'
import { reference } from 'resourced-contract/model/type'
import { Type } from 'typebox'
import { type Sent, type Trial, trial } from '../harness.ts'

interface Thing {
  readonly id: string
  readonly title: string
  readonly level: string
  readonly holder: string | null
  readonly owner_id: string
  readonly parent_id: string | null
}
interface Caller {
  readonly id: string
  readonly roles: readonly string[]
}
/** What a form of rule says, written again by hand: whether it lets the caller in at all, and to which record. */
interface Form {
  readonly rule: AccessRule | readonly AccessRule[] | undefined
  readonly lets: (caller: Caller) => boolean
  readonly allows: (caller: Caller, thing: Thing, parent: Thing | undefined) => boolean
}

const isAdmin = (caller: Caller) => caller.roles.includes('admin')
const everyone = () => true
const readsParent = (caller: Caller, parent: Thing | undefined) =>
  parent !== undefined && (isAdmin(caller) || parent.owner_id === caller.id || parent.level === 'open')

const forms: Readonly<Record<string, Form>> = {
  undeclared: { rule: undefined, lets: isAdmin, allows: isAdmin },
  anyone: { rule: 'anyone', lets: everyone, allows: everyone },
  nobody: { rule: 'nobody', lets: () => false, allows: () => false },
  nothing: { rule: [], lets: () => false, allows: () => false },
  owner: { rule: 'owner', lets: everyone, allows: ({ id }, thing) => thing.owner_id === id },
  role: { rule: 'role:editor', lets: ({ id }) => id === 'eve', allows: ({ id }) => id === 'eve' },
  where: { rule: { where: { level: 'open' } }, lets: everyone, allows: (_, thing) => thing.level === 'open' },
  negated: {
    rule: { where: { not: { holder: 'ann' } } },
    lets: everyone,
    // Whether null is ann is unknown, and so is whether it is not.
    allows: (_, thing) => thing.holder !== null && thing.holder !== 'ann',
  },
  differing: {
    rule: { where: { holder: { not: 'ann' } } },
    lets: everyone,
    allows: (_, thing) => thing.holder !== 'ann',
  },
  caller: {
    rule: { where: { holder: { caller: 'id' }, level: { in: ['open', 'closed'] } } },
    lets: everyone,
    allows: ({ id }, thing) => thing.holder === id,
  },
  claim: { rule: { where: { not: { holder: { caller: 'claims.team' } } } }, lets: () => false, allows: () => false },
  absent: {
    rule: { where: { or: [{ holder: { caller: 'claims.team' } }, { level: 'open' }] } },
    lets: everyone,
    allows: (_, thing) => thing.level === 'open',
  },
  listed: {
    rule: { where: { holder: { in: [{ caller: 'claims.teams' }, { caller: 'id' }] } } },
    lets: everyone,
    allows: ({ id }, thing) => thing.holder === id,
  },
  unlisted: {
    rule: { where: { not: { holder: { in: [{ caller: 'claims.teams' }, 'ann'] } } } },
    lets: () => false,
    allows: () => false,
  },
  through: {
    rule: { through: 'parent_id', action: 'read' },
    lets: everyone,
    allows: (caller, _, parent) => readsParent(caller, parent),
  },
  action: {
    rule: { through: 'parent_id', action: 'update' },
    lets: everyone,
    allows: ({ id }, _, parent) => parent?.owner_id === id,
  },
  barred: {
    rule: { through: 'parent_id', action: 'delete' },
    lets: isAdmin,
    allows: (caller, _, parent) => isAdmin(caller) && parent !== undefined,
  },
  several: {
    rule: [
      'role:admin',
      'owner',
      { where: { level: 'open', holder: { null: true } } },
      { through: 'parent_id', action: 'update' },
    ],
    lets: everyone,
    allows: (caller, thing, parent) =>
      isAdmin(caller) ||
      thing.owner_id === caller.id ||
      (thing.level === 'open' && thing.holder === null) ||
      parent?.owner_id === caller.id,
  },
  code: {
    rule: (caller: CallerView) => caller.roles.includes('editor'),
    lets: ({ id }) => id === 'eve',
    allows: ({ id }) => id === 'eve',
  },
  unknown: {
    rule: (caller: CallerView): Condition => ({
      or: [{ holder: (caller.claims['team'] ?? null) as null }, { level: 'open', not: { holder: null } }],
    }),
    lets: () => false,
    allows: () => false,
  },
  condition: {
    rule: (caller: CallerView) => caller.id !== 'bob' && { holder: caller.id },
    lets: ({ id }) => id !== 'bob',
    allows: ({ id }, thing) => id !== 'bob' && thing.holder === id,
  },
}

const thing = {
  title: Type.String({ filter: true, sort: true, search: true, unique: true }),
  level: Type.Enum(['open', 'closed'], { default: 'closed' }),
  holder: Type.Optional(Type.String({ filter: true })),
  count: Type.Optional(Type.Integer()),
  owner_id: Type.String({ readOnly: true }),
}
const vault = defineInterface({
  name: 'vault',
  resources: {
    parents: {
      fields: { ...thing },
      owner: 'owner_id',
      access: { read: ['role:admin', 'owner', { where: { level: 'open' } }], create: 'anyone', update: 'owner' },
    },
    ...Object.fromEntries(
      Object.entries(forms).map(([name, { rule }]) => [
        `${name}-things`,
        {
          fields: { ...thing, parent_id: Type.Optional(reference('parents')) },
          owner: 'owner_id',
          access: rule === undefined ? {} : { read: rule, create: rule, update: rule, delete: rule },
        },
      ]),
    ),
  },
})

const callers: readonly Caller[] = [
  { id: 'root', roles: ['admin'] },
  { id: 'ann', roles: [] },
  { id: 'bob', roles: [] },
  { id: 'eve', roles: ['editor'] },
]

for (const [name, form] of Object.entries(forms)) {
  describe(`the access rule of ${name}`, () => {
    const collection = `${name}-things`
    const decidesByParent = JSON.stringify(form.rule)?.includes('parent_id') === true
    const parents = new Map<string, Thing>()
    const things = new Map<string, Thing>()
    let current: Trial
    let number = 0

    before(async () => {
      current = await trial(vault, { memory: true })
      for (const [level, as] of [
        ['open', 'ann'],
        ['closed', 'ann'],
        ['open', 'bob'],
        ['closed', 'bob'],
      ] as const) {
        const made = await current.make('parents', { title: `${level} ${as}`, level }, as)
        parents.set(made.id, made)
      }
      for (const values of combinations()) for (const owner_id of ['ann', 'bob']) await seed({ ...values, owner_id })
    })
    after(() => current.close())

    function combinations(): Omit<Thing, 'id' | 'owner_id' | 'title'>[] {
      return ['open', 'closed'].flatMap((level) =>
        [null, 'ann', 'bob'].flatMap((holder) =>
          [null, ...parents.keys()].map((parent_id) => ({ level, holder, parent_id })),
        ),
      )
    }

    /** Puts a record in, whatever its rules say. */
    async function seed(values: Omit<Thing, 'id' | 'title'>): Promise<void> {
      const resource = current.app.catalog.resources.get(collection)
      assert.ok(resource !== undefined)
      const id = `00000000-0000-7000-8000-${String(++number).padStart(12, '0')}`
      const outcome = await current.app.storage.run({
        kind: 'create',
        resource,
        id,
        parent: undefined,
        body: { ...values, title: `thing ${number}` },
        permitted: { kind: 'always' },
        mayAssignOwner: true,
        caller: { id: 'root', roles: ['admin'], claims: {} },
        now: Date.now(),
      })
      assert.ok(outcome.kind === 'created', JSON.stringify(outcome))
      things.set(id, JSON.parse(outcome.json))
    }

    const allowed = (caller: Caller, each: Thing) => form.allows(caller, each, parents.get(each.parent_id ?? ''))
    const visible = (caller: Caller) =>
      [...things.values()]
        .filter((each) => allowed(caller, each))
        .map(({ id }) => id)
        .sort()

    for (const caller of callers) {
      it(`AUT-6: ${caller.id} reads the same records one by one and in lists`, async () => {
        const list = (query: string) => current.send({ path: `/v1/${collection}?${query}`, as: caller.id })
        const first = await list('')
        assert.equal(first.status, form.lets(caller) ? 200 : 403, first.text)
        for (const query of first.status === 200 ? ['', '&q=thing', '&sort=-title', '&level=open&level=closed'] : []) {
          const expected = visible(caller)
          const ids: string[] = []
          do {
            const { json } = await list(`offset=${ids.length}&limit=100${query}`)
            assert.equal(json.pagination.total_count, expected.length)
            ids.push(...json.data.map((each: Thing) => each.id))
            if (json.data.length === 0) break
          } while (ids.length < expected.length)
          assert.deepEqual(ids.sort(), expected, query)
        }
        for (const each of things.values()) {
          const expected = allowed(caller, each) ? 200 : 403
          for (const method of ['GET', 'HEAD']) {
            const answer = await current.send({ method, path: `/v1/${collection}/${each.id}`, as: caller.id })
            assert.equal(answer.status, expected, `${method} ${JSON.stringify(each)}`)
          }
        }
      })

      it(`AUT-3: ${caller.id} creates what the rule allows`, async () => {
        for (const values of combinations()) {
          const body = { ...values, title: `thing ${++number}` }
          const answer = await current.send({ path: `/v1/${collection}`, body, as: caller.id })
          const isAllowed = allowed(caller, { ...body, id: '', owner_id: caller.id })
          // A parent that the caller may not read is a mistake, if it is what decides.
          const isUnread = body.parent_id !== null && !readsParent(caller, parents.get(body.parent_id))
          const isMistaken = isUnread && (isAllowed || (form.lets(caller) && decidesByParent))
          const expected = isMistaken ? 400 : isAllowed ? 201 : 403
          assert.equal(answer.status, expected, `${JSON.stringify(body)} ${answer.text}`)
          if (answer.status === 201) things.set(answer.json.id, answer.json)
        }
        for (const body of [{ title: 5 }, { title: {}, level: 7, holder: ['ann'], parent_id: 'x' }, [], null, 'x']) {
          const answer = await current.send({
            method: 'POST',
            path: `/v1/${collection}`,
            body: JSON.stringify(body),
            as: caller.id,
          })
          assert.ok(answer.status === 400 || answer.status === 403, answer.text)
        }
      })

      it(`AUT-4: ${caller.id} changes and deletes exactly what the rule allows`, async () => {
        for (const each of [...things.values()].filter((_, index) => index % 3 === 0)) {
          const path = `/v1/${collection}/${each.id}`
          const body = { count: ++number }
          const patched = await current.send({ method: 'PATCH', path, body, as: caller.id })
          assert.equal(patched.status, allowed(caller, each) ? 200 : 403, `${JSON.stringify(each)} ${patched.text}`)
          if (patched.status === 200) assert.equal(patched.json.count, number)
        }
        for (const each of [...things.values()].filter((_, index) => index % 7 === 0)) {
          const path = `/v1/${collection}/${each.id}`
          const deleted = await current.send({ method: 'DELETE', path, as: caller.id })
          assert.equal(deleted.status, allowed(caller, each) ? 204 : 403, `${JSON.stringify(each)} ${deleted.text}`)
          if (deleted.status === 204) {
            things.delete(each.id)
            await seed({ level: each.level, holder: each.holder, parent_id: each.parent_id, owner_id: each.owner_id })
          }
        }
      })
    }

    it('AUT-1: every request needs a credential', async () => {
      const [each] = things.values()
      const path = `/v1/${collection}`
      for (const sent of [
        ...[{ path }, { path, method: 'HEAD' }, { path, body: {} }, { path: `${path}/${each?.id}` }],
        ...[
          { path: `${path}/${each?.id}`, method: 'DELETE' },
          { path: `${path}/${each?.id}`, method: 'PATCH', body: {} },
        ],
      ] satisfies Sent[]) {
        const answer = await current.send({ ...sent, as: null })
        assert.equal(answer.status, 401)
        assert.match(answer.headers['www-authenticate'] ?? '', /^Bearer/)
      }
    })
  })
}
