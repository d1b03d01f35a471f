/** VER-2: reading and writing records in an older version, through any chain of changes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { checkDeclaration } from 'resourced-contract/model/check/check-declaration'
import { formatProblems } from 'resourced-contract/model/check/problem'
import type { ChangeDeclaration, FieldDeclaration, InterfaceDeclaration } from 'resourced-contract/model/declaration'
import {
  isMapped,
  type MappedResource,
  type RecordValues,
  type Resource,
  resourceInVersion,
} from 'resourced-contract/model/resource'
import { type Issue, issue, sentenceOf } from 'resourced-contract/spec/faults'
import { issuesFromStored, jsonFromStored, recordFromStored } from '../versions/translate-record.ts'
import { completeVersions } from '../versions/versions.ts'
import { draftCreate, draftUpdate } from './draft.ts'
import type { Create, Update } from './plan.ts'

const text: FieldDeclaration = { type: 'string', optional: true, filter: true }
/** The way to a version and back; of two of them the order matters. */
const marking = (mark: string) => ({
  older: (value: string) => (value.endsWith(mark) ? value.slice(0, -mark.length) : value),
  newer: (value: string) => value + mark,
})

/** One thing that a version does to a field; `pick` says to which. */
const step = fc.record({
  kind: fc.constantFrom('rename', 'add', 'remove', 'convert', 'swap'),
  pick: fc.nat(100),
})

/**
 * What versions 2, 3, … did in turn to a resource with three fields: their changes, and the fields that there are now.
 */
function evolved(steps: readonly { readonly kind: string; readonly pick: number }[]): InterfaceDeclaration {
  let fields = ['a', 'b', 'c']
  const changes: ChangeDeclaration[] = []
  for (const [index, { kind, pick }] of steps.entries()) {
    const of = { version: `v${index + 2}`, resource: 'things' }
    const name = fields[pick % fields.length]!
    const fresh = `f${index}`
    const other = fields[(pick + 1) % fields.length]!
    if (kind === 'rename') {
      fields = fields.map((each) => (each === name ? fresh : each))
      changes.push({ ...of, rename: { [name]: fresh } })
    } else if (kind === 'add') {
      fields = fields.toSpliced(pick % fields.length, 0, fresh)
      changes.push({ ...of, add: [fresh] })
    } else if (kind === 'convert') {
      changes.push({ ...of, convert: { [name]: { schema: text, ...marking(`~${index}`) } } })
    } else if (kind === 'swap' && name !== other) {
      changes.push({ ...of, rename: { [name]: other, [other]: name } })
    } else if (fields.length > 1) {
      fields = fields.filter((each) => each !== name)
      changes.push({ ...of, remove: { [name]: { schema: text, value: 'gone' } } })
    }
  }
  const versions = Object.fromEntries(Array.from({ length: steps.length + 1 }, (_, index) => [`v${index + 1}`, {}]))
  const declared = Object.fromEntries(fields.map((name) => [name, text]))
  return { name: 'chain', versions, changes, resources: { things: { fields: declared } } }
}

const chains = fc.array(step, { minLength: 1, maxLength: 5 })
const texts = fc.string({ minLength: 1, maxLength: 5, unit: 'grapheme-ascii' })

function recordOf(resource: Resource, values: readonly string[]): RecordValues {
  const fields = resource.fields.map(({ name }, index) => [name, values[index % values.length]])
  return {
    id: 'x',
    created_at: '2026-01-01T00:00:00.000Z',
    updated_at: '2026-01-01T00:00:00.000Z',
    ...Object.fromEntries(fields),
    deleted_at: null,
  }
}

function update(older: MappedResource, body: unknown, kind: Update['kind'] = 'replace'): Update {
  const always = { kind: 'always' } as const
  return {
    ...{
      kind,
      resource: older.mapping.stored,
      versionResource: older,
      id: 'x',
      body,
      permitted: always,
      mayCreate: always,
    },
    ...{ movedBy: [], mayRead: always, mayAssignOwner: false, conditions: {}, now: Date.parse('2026-02-01T00:00:00Z') },
    caller: { id: 'ann', roles: [], claims: {} },
  }
}

/** The resource of a version that differs from the stored one; `undefined`: it does not. */
function mappedIn(declaration: InterfaceDeclaration, version: string): MappedResource | undefined {
  const resource = resourceInVersion(completeVersions(declaration).stored, version, 'things')
  return resource !== undefined && isMapped(resource) ? resource : undefined
}

function draftOf(plan: Update, record: RecordValues) {
  const made = draftUpdate(plan, record)
  assert.equal(made.kind, 'draft')
  return made.kind === 'draft' ? made.draft : assert.fail()
}

test('VER-2: for any chain of changes, a PUT of a read record changes nothing, and sent values are read back', () => {
  fc.assert(
    fc.property(chains, fc.array(texts, { minLength: 3, maxLength: 9 }), texts, (steps, values, sent) => {
      const declaration = evolved(steps)
      const problems = checkDeclaration(declaration)
      assert.deepEqual(problems, [], formatProblems(problems))
      for (const version of Object.keys(declaration.versions ?? {})) {
        const resource = mappedIn(declaration, version)
        if (resource === undefined) continue
        const { mapping } = resource
        const record = recordOf(mapping.stored, values)
        const older = recordFromStored(resource, record)
        assert.deepEqual(
          Object.keys(older).slice(4),
          resource.fields.map(({ name }) => name),
        )
        const { id: _id, created_at: _created, updated_at: _updated, deleted_at: _deleted, ...body } = older
        // A record that is sent back as it was read changes nothing, not even fields that the version does not have.
        assert.deepEqual(draftOf(update(resource, body), record), { values: record, issues: [], changed: [] })
        for (const { name } of resource.fields) {
          const stored: string | undefined = mapping.toStored.get(name)
          for (const kind of ['replace', 'merge'] as const) {
            const asked = kind === 'merge' ? { [name]: sent } : { ...body, [name]: sent }
            const draft = draftOf(update(resource, asked, kind), record)
            const expected: string[] = stored === undefined || older[name] === sent ? [] : [stored]
            assert.deepEqual(draft.changed, expected)
            assert.equal(recordFromStored(resource, draft.values)[name], stored === undefined ? older[name] : sent)
            for (const field of mapping.stored.fields) {
              if (field.name !== stored) assert.equal(draft.values[field.name], record[field.name])
            }
          }
        }
        // A JSON text is converted as a record is.
        const names = [...mapping.toStored]
        const json = JSON.stringify(Object.fromEntries(names.map(([name, field]) => [name, record[field]])))
        const expected = Object.fromEntries(names.map(([name]) => [name, older[name]]))
        assert.deepEqual(JSON.parse(jsonFromStored(resource, json)), expected)
      }
    }),
  )
})

test('VER-2: a POST of an older version sets other fields to their defaults', () => {
  fc.assert(
    fc.property(chains, texts, (steps, sent) => {
      const resource = mappedIn(evolved(steps), 'v1')
      if (resource === undefined) return
      const { stored, toStored, fromStored, constants } = resource.mapping
      const body = Object.fromEntries(resource.fields.map(({ name }) => [name, sent]))
      const always = { kind: 'always' } as const
      const plan: Create = {
        ...{
          kind: 'create',
          resource: stored,
          versionResource: resource,
          id: 'x',
          parent: undefined,
          body,
          permitted: always,
        },
        ...{ mayAssignOwner: false, caller: { id: 'ann', roles: [], claims: {} }, now: 0 },
      }
      const draft = draftCreate(plan)
      assert.ok('values' in draft)
      assert.deepEqual(draft.issues, [])
      const older = recordFromStored(resource, draft.values)
      for (const { name } of resource.fields) assert.equal(older[name], toStored.has(name) ? sent : constants.get(name))
      for (const { name } of stored.fields) if (!fromStored.has(name)) assert.equal(draft.values[name], null)
    }),
  )
})

test('VER-2: issues have the names of the older version', () => {
  const declaration: InterfaceDeclaration = {
    name: 'names',
    versions: { v1: {}, v2: {} },
    // Version 2 has a `name` too, which is another field.
    changes: [{ version: 'v2', resource: 'things', rename: { name: 'title' }, add: ['name', 'extra'] }],
    resources: {
      things: {
        fields: {
          title: { type: 'string', minLength: 2 },
          name: { type: 'integer', optional: true },
          extra: { type: 'string', optional: true, unique: true },
        },
      },
    },
  }
  const resource = mappedIn(declaration, 'v1')!
  const record = { ...recordOf(resource.mapping.stored, ['old']), name: 7, extra: null }
  const shown = (issues: readonly Issue[]) =>
    issuesFromStored({ resources: new Map([[resource.name, resource]]) }, resource.mapping.stored, issues).map(
      (issue) => `${issue.pointer}: ${sentenceOf(issue)}`,
    )
  const issuesOf = (body: unknown) => shown(draftOf(update(resource, body), record).issues)
  assert.deepEqual(issuesOf({ name: 'x' }), ['/name: name must have at least 2 characters.'])
  assert.deepEqual(issuesOf({ name: 'fine', title: 'x', extra: 'y' }), [
    '/title: title is not a field of things.',
    '/extra: extra is not a field of things.',
  ])
  const taken = 'by another record; choose another value.'
  // The issue of the current version for a field that the older version does not show.
  assert.deepEqual(shown([issue('taken', { field: 'extra', fields: [] })]), [`: extra is taken ${taken}`])
  assert.deepEqual(shown([issue('taken', { field: 'title', fields: ['extra', 'title'] })]), [
    `/name: name is taken together with extra and name ${taken}`,
  ])
  // Pointers into another body, and the words of a rule, are not about its fields.
  assert.deepEqual(shown([issue('given', { code: 'X', pointer: '/title/0', message: 'title: things.' })]), [
    '/title/0: title: things.',
  ])
})

test('VER-2: a conversion to a value that the current version refuses is an error, and nothing is written', () => {
  const declaration: InterfaceDeclaration = {
    name: 'wrong',
    versions: { v1: {}, v2: {} },
    changes: [
      {
        version: 'v2',
        resource: 'things',
        convert: { size: { schema: { type: 'string' }, older: String, newer: Number } },
      },
    ],
    resources: { things: { fields: { size: { type: 'integer' } } } },
  }
  const resource = mappedIn(declaration, 'v1')!
  const record = { ...recordOf(resource.mapping.stored, ['x']), size: 3 }
  assert.throws(() => draftUpdate(update(resource, { size: 'large' }), record), /conversion of size in v1/)
  assert.equal(draftOf(update(resource, { size: '12' }), record).values['size'], 12)
  // Numbers beyond the precision of JavaScript stay exact beside converted values.
  assert.equal(
    jsonFromStored(resource, '{"size":3,"other":12345678901234567890}'),
    '{"size":"3","other":12345678901234567890}',
  )
})
