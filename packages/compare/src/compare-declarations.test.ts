import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { completeCatalog } from 'resourced-contract/model/catalog'
import { checkDeclaration } from 'resourced-contract/model/check/check-declaration'
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'
import { keywords } from 'resourced-contract/model/keywords'
import { openApiDocument } from '../../server/src/documents/openapi.ts'
import { compareInterfaces, type ServedVersion } from './compare-interfaces.ts'
import { comparedKeywords, type Finding } from './finding.ts'
import { documentOf } from './openapi-document.ts'

type Data = { readonly [key: string]: unknown }

function served(declaration: Data): ServedVersion {
  assert.deepEqual(checkDeclaration(declaration), [])
  const catalog = completeCatalog(declaration as unknown as InterfaceDeclaration)
  return {
    document: documentOf(JSON.parse(JSON.stringify(openApiDocument(catalog)))),
    version: catalog.version,
    catalog,
  }
}

function found(old: Data, now: Data): Finding[] {
  return compareInterfaces([served(old)], [served(now)], 0)
}

const brief = ({ severity, kind, direction, resources, field, within, names }: Finding) =>
  [severity, kind, direction, resources.join('+'), within ?? field, names?.join()].filter(Boolean).join(' ')

/** An interface of tasks and their projects. */
function tasks(more: Data = {}, fields: Data = {}, whole: Data = {}): Data {
  const tasks = { fields: { title: { type: 'string', sort: true, search: true }, ...fields }, ...more }
  return { name: 'studio', resources: { projects: { fields: { name: { type: 'string' } } }, tasks }, ...whole }
}
const field = (declared: Data) => tasks({}, { a: { type: 'string', optional: true, ...declared } })
const decimal = (precision: number, scale: number, more: Data = {}) =>
  field({ type: 'decimal', precision, scale, ...more })
const project = (onDelete: string) =>
  tasks({}, { project_id: { reference: 'projects', onDelete, optional: true, immutable: true } })
const needing = (requires: string) => tasks({}, { project_id: { reference: 'projects', requires, optional: true } })
const read = (rule: unknown) => tasks({ access: { read: rule } })
const rule = (code: string, status: string) => ({
  on: 'delete',
  code,
  message: 'No.',
  unless: { where: { title: status } },
})
const states = (transitions: Data) => field({ type: undefined, enum: ['x', 'y'], transitions })
const owned = (rule: unknown) =>
  tasks({ owner: 'owner_id', access: { read: rule } }, { owner_id: { type: 'string', readOnly: true } })

const rows: [name: string, old: Data, now: Data, ...expected: string[]][] = [
  ['nothing', tasks(), tasks()],
  ['words', tasks(), tasks({ title: 'Tasks', description: 'What to do.' }, {}, { title: 'X', description: 'Y' })],
  ['a larger maximum of pages', tasks(), tasks({}, {}, { limits: { pageSize: { max: 200 } } }), 'compatible limit-widened request api-keys+jobs+projects+tasks parameter per_page', 'compatible limit-widened request api-keys+jobs+projects+tasks parameter limit'],
  ['a smaller maximum of pages', tasks(), tasks({}, {}, { limits: { pageSize: { max: 50 } } }), 'breaking limit-narrowed request api-keys+jobs+projects+tasks parameter per_page', 'breaking limit-narrowed request api-keys+jobs+projects+tasks parameter limit'],
  ['fewer exports', tasks(), tasks({}, {}, { limits: { exports: { count: 5 } } }), 'breaking export-limit-lowered'],
  ['smaller bodies', tasks(), tasks({}, {}, { limits: { bodyBytes: 2048 } }), 'breaking body-limit-lowered'],
  ['fewer members', tasks(), tasks({}, {}, { limits: { bodyMembers: 500 } }), 'breaking body-members-lowered'],
  ['shorter patches', tasks(), tasks({}, {}, { limits: { patchOperations: 9 } }), 'breaking patch-operations-lowered'],
  ['a lower rate', tasks(), tasks({}, {}, { limits: { rate: { caller: '60/minute' } } }), 'review rate-lowered'],
  ['a higher rate', tasks(), tasks({}, {}, { limits: { rate: { caller: '6000/minute' } } })],
  ['a decimal of more digits', decimal(12, 2), decimal(14, 2), 'breaking limit-widened response tasks a', 'compatible limit-widened request tasks a'],
  ['a decimal of less digits', decimal(12, 2), decimal(10, 2), 'breaking limit-narrowed request tasks a', 'compatible limit-narrowed response tasks a'],
  ['a decimal of a larger scale', decimal(12, 2), decimal(12, 4), 'review pattern-changed request tasks a', 'review pattern-changed response tasks a'],
  ['a decimal of a larger scale, with the same digits before the point', decimal(12, 2), decimal(14, 4), 'compatible limit-widened request tasks a', 'review pattern-changed response tasks a'],
  ['a number that becomes a decimal', field({ type: 'number' }), decimal(12, 2), 'breaking limit-narrowed request tasks a', 'breaking type-changed response tasks a', 'compatible type-widened request tasks a'],
  ['a decimal that becomes a text', decimal(12, 2), field({}), 'breaking limit-widened response tasks a', 'breaking limit-widened response tasks a', 'breaking type-narrowed request tasks a', 'compatible limit-widened request tasks a'],
  ['a higher minimum of a decimal', decimal(12, 2, { minimum: '0.05' }), decimal(12, 2, { minimum: '0.1' }), 'breaking limit-narrowed request tasks a'],
  ['a field', field({}), tasks(), 'breaking field-removed tasks a'],
  ['a new field', tasks(), field({}), 'compatible field-added tasks a'],
  ['a new field that must be sent', tasks(), field({ optional: false }), 'breaking field-added-required request tasks a', 'compatible field-added response tasks a'],
  ['a filter withdrawn, with its operators', field({ filter: true }), field({}), 'breaking parameter-removed tasks query a,a[not],a[contains],a[starts_with],a[null]'],
  ['a sort withdrawn', field({ sort: true }), field({}), 'breaking values-removed request tasks parameter sort a'],
  ['search withdrawn', field({ search: true }), field({}), 'breaking search-removed tasks a'],
  ['search', field({}), field({ search: true }), 'compatible search-added tasks a'],
  ['uniqueness', field({}), field({ unique: true }), 'breaking unique-added tasks a', 'compatible operation-added tasks'],
  ['uniqueness of more together, where fewer were unique', field({ unique: true }), tasks({ unique: [['a', 'title']] }, { a: { type: 'string', optional: true, unique: true } })],
  ['fixed on creation', field({}), field({ immutable: true }), 'breaking immutable-added tasks a'],
  ['not fixed any more', field({ immutable: true }), field({}), 'compatible immutable-removed tasks a'],
  ['a transition less', states({ x: ['y'], y: ['x'] }), states({ x: ['y'], y: [] }), 'breaking transitions-removed tasks a from y to x'],
  ['a transition more', states({ x: ['y'], y: [] }), states({ x: ['y'], y: ['x'] }), 'compatible transitions-added tasks a from y to x'],
  ['a deletion that is refused', project('cascade'), project('restrict'), 'breaking on-delete-stricter tasks project_id', 'breaking code-removed response projects code BEING_DELETED'],
  ['a deletion that takes along', project('restrict'), project('cascade'), 'review on-delete-changed tasks project_id', 'review code-added response projects code BEING_DELETED'],
  ['a reference that requires permission to read', needing('none'), needing('read'), 'breaking reference-narrowed tasks project_id'],
  ['a reference that requires nothing', needing('read'), needing('none'), 'compatible reference-widened tasks project_id'],
  ['a rule that applies to fewer records', tasks({ rules: [rule('TITLE_STAYS', 'x')] }), tasks({ rules: [{ ...rule('TITLE_STAYS', 'x'), when: { title: 'z' } }] }), 'review rule-changed tasks TITLE_STAYS'],
  ['a business rule', tasks({ rules: [] }), tasks({ rules: [rule('TITLE_STAYS', 'x')] }), 'breaking rule-added tasks TITLE_STAYS'],
  ['another condition of a rule', tasks({ rules: [rule('TITLE_STAYS', 'x')] }), tasks({ rules: [rule('TITLE_STAYS', 'y')] }), 'review rule-changed tasks TITLE_STAYS'],
  ['a rule gone: its code is', tasks({ rules: [rule('TITLE_STAYS', 'x')] }), tasks(), 'breaking code-removed response tasks code TITLE_STAYS'],
  ['access for fewer', read(['anyone']), read(['role:a']), 'breaking access-narrowed tasks'],
  ['access for a role less', read(['role:a', 'role:b']), read(['role:a']), 'breaking access-narrowed tasks'],
  ['access for more', read(['role:a']), read(['role:a', 'role:b']), 'compatible access-widened tasks'],
  ['access for everyone', read(['role:a']), read('anyone'), 'compatible access-widened tasks'],
  ['access for nobody', read(['role:a']), read('nobody'), 'breaking access-narrowed tasks'],
  ['access for a role instead of a condition', read([{ where: { title: 'x' } }]), read(['role:a']), 'breaking access-narrowed tasks'],
  ['access by a condition instead of a role', read(['role:a']), read([{ where: { title: 'x' } }]), 'review access-changed tasks'],
  ['access by a condition instead of anyone', read('anyone'), read([{ where: { title: 'x' } }]), 'breaking access-narrowed tasks'],
  ['access for a role that nobody stood beside', read(['nobody', 'role:a']), read(['nobody']), 'breaking access-narrowed tasks'],
  ['access for someone instead of nobody', read('nobody'), read(['role:a']), 'compatible access-widened tasks'],
  ['access by another condition', read([{ where: { title: 'x' } }]), read([{ where: { title: 'y' } }]), 'review access-changed tasks'],
  ['access by one rule more of all', read([{ all: ['role:a'] }]), read([{ all: ['role:a', { none: 'tasks', where: { title: { caller: 'id' } } }] }]), 'review access-changed tasks'],
  ['access by all in another order', read([{ all: ['role:a', 'role:b'] }]), read([{ all: ['role:b', 'role:a'] }])],
  ['access in another order', owned(['role:a', 'owner']), owned(['owner', 'role:a'])],
  ['a field that fewer write', field({}), tasks({ access: { fields: { a: { write: 'role:a' } } } }, { a: { type: 'string', optional: true } }), 'breaking access-narrowed tasks'],
  ['a field that more write', tasks({ access: { fields: { a: { write: 'role:a' } } } }, { a: { type: 'string', optional: true } }), field({}), 'compatible access-widened tasks'],
  ['deletion for good', tasks(), tasks({ deletion: { variant: 'hard' } }), 'breaking deletion-hard tasks', 'breaking field-removed response tasks deleted_at', 'breaking operation-removed tasks', 'breaking parameter-removed tasks query include_deleted'],
  ['a shorter grace period', tasks(), tasks({ deletion: { gracePeriod: 'P7D' } }), 'breaking grace-shortened tasks'],
  ['a longer grace period', tasks(), tasks({ deletion: { gracePeriod: 'P60D' } }), 'compatible grace-lengthened tasks'],
  ['no restoration', tasks(), tasks({ deletion: { restorable: false } }), 'breaking operation-removed tasks'],
  ['another answer to a deletion', tasks(), tasks({ deletion: { answer: 'summary' } }), 'breaking deletion-answer tasks'],
  ['another answer to a second deletion', tasks(), tasks({ deletion: { repeated: 'no-content' } }), 'breaking status-removed response tasks 404'],
  ['every deletion a job', tasks(), tasks({ deletion: { asynchronous: 'always' } }), 'breaking deletion-always-later tasks'],
  ['more deletions jobs', tasks(), tasks({ deletion: { asynchronous: { above: 10 } } }), 'review deletion-sooner-later tasks'],
  ['no bulk deletion', tasks(), tasks({ deletion: { bulk: false } }), 'breaking operation-removed tasks'],
  ['a smaller bulk', tasks(), tasks({ deletion: { bulk: { max: 10 } } }), 'breaking limit-narrowed request tasks ids'],
  ['deletion by filter', tasks(), tasks({ deletion: { byFilter: true } }), 'compatible operation-added tasks', 'review code-added response tasks code BEING_DELETED'],
  ['a condition required', tasks(), tasks({ preconditions: 'required' }), 'breaking condition-required tasks'],
  ['a condition optional', tasks({ preconditions: 'required' }), tasks(), 'compatible condition-optional tasks'],
  ['kept longer by caches', tasks(), tasks({ maxAge: 60 }), 'review cached-longer tasks'],
] // biome-ignore format: one row reads best

describe('declarations (VER-5)', () => {
  for (const [name, old, now, ...expected] of rows) {
    test(name, () => assert.deepEqual(found(old, now).map(brief).sort(), expected.sort()))
  }

  for (const word of comparedKeywords) {
    test(`the keyword ${word}, added and removed`, () => {
      const { added, removed } = keywords[word].changes
      const without = field({})
      assert.deepEqual(found(without, field({ [word]: true })).map(brief), [`${added.severity} ${word}-added tasks a`])
      assert.deepEqual(found(field({ [word]: true }), without).map(brief), [
        `${removed.severity} ${word}-removed tasks a`,
      ])
      const readOnly = { readOnly: true, default: 'x' }
      const prepared = (more: Data) => tasks({ prepare: () => ({}) }, { a: { type: 'string', ...readOnly, ...more } })
      assert.deepEqual(found(prepared({}), prepared({ [word]: true })), [])
    })
  }

  test('a difference that only declarations show has its place in the declaration', () => {
    const [finding] = found(tasks(), tasks({ deletion: { gracePeriod: 'P7D' } }))
    assert.deepEqual(finding?.places, [
      { in: 'new', of: 'declaration', pointer: '/resources/tasks/deletion/gracePeriod' },
    ])
    assert.equal(finding?.message, 'deleted records can be restored for 7 days instead of 30 days')
  })

  test('a declaration does not differ from its own document', () => {
    const both = served(tasks({ within: 'project_id' }, { project_id: { reference: 'projects' } }))
    assert.deepEqual(compareInterfaces([both], [{ document: both.document }], 0), [])
    assert.deepEqual(compareInterfaces([{ document: both.document }], [both], 0), [])
  })

  test('a removed resource is one finding', () => {
    const { tasks: _, ...resources } = tasks()['resources'] as Data
    const findings = found(tasks(), { ...tasks(), resources })
    assert.deepEqual(findings.map(brief), [
      'breaking resource-removed tasks',
      'breaking values-removed request exports collection tasks',
    ])
  })

  test('another version is one finding', () => {
    const findings = found(tasks(), tasks({}, {}, { versions: { v2: {} } }))
    assert.deepEqual(findings.map(brief), ['breaking version-removed v2', 'compatible version-added v1'])
  })
})

const schema: fc.Arbitrary<Data> = fc.oneof(
  fc.record({ type: fc.constant('string'), minLength: fc.nat(3), maxLength: fc.integer({ min: 10, max: 99 }) }),
  fc.record({ type: fc.constant('integer'), minimum: fc.nat(9) }),
  fc.record({ type: fc.constant('array'), items: fc.constant({ type: 'string' }) }),
  fc.record({ enum: fc.constant(['x', 'y', 'z']) }),
  fc.record({ type: fc.constant('boolean') }),
)
const flags = fc.record({
  optional: fc.boolean(),
  immutable: fc.boolean(),
  writeOnly: fc.constantFrom(true, undefined),
})
const fields = fc
  .array(fc.tuple(schema, flags), { minLength: 1, maxLength: 6 })
  .map((list) => Object.fromEntries(list.map(([one, more], index) => [`f${index}`, { ...one, ...more }])))
const deletion = fc.record({ variant: fc.constantFrom('soft', 'hard'), answer: fc.constantFrom('empty', 'summary') })
const declared = fc.record({ fields, deletion }).map(({ fields, deletion }) => tasks({ deletion }, fields))

/** The same with another `tasks`. */
function changed(declaration: Data, change: (fields: Data, resource: Data) => Data): Data {
  const resources = declaration['resources'] as Data
  const resource = resources['tasks'] as Data
  return {
    ...declaration,
    resources: { ...resources, tasks: { ...resource, ...change(resource['fields'] as Data, resource) } },
  }
}
const first = (fields: Data, more: Data) => ({ fields: { ...fields, f0: { ...(fields['f0'] as Data), ...more } } })

const breaking: Readonly<Record<string, (declaration: Data) => Data>> = {
  'a field goes': (old) => changed(old, ({ f0: _, ...fields }) => ({ fields })),
  'a field is renamed': (old) => changed(old, ({ f0, ...fields }) => ({ fields: { ...fields, g0: f0 } })),
  'a field must be sent': (old) => changed(old, (fields) => ({ fields: { ...fields, must: { type: 'string' } } })),
  'a field is of another type': (old) => changed(old, (fields) => first(fields, { type: 'object', enum: undefined, minLength: undefined, maxLength: undefined, minimum: undefined, items: undefined })),
  'a field becomes read-only': (old) => changed(old, (fields) => first(fields, { readOnly: true, writeOnly: undefined, immutable: undefined, optional: true })),
  'a sort goes': (old) => changed(old, (fields) => ({ fields: { ...fields, title: { type: 'string', search: true } } })),
  'bulk deletion goes': (old) => changed(old, (_, { deletion }) => ({ deletion: { ...(deletion as Data), bulk: false } })),
} // biome-ignore format: one row reads best

const titled = (old: Data, more: Data) =>
  changed(old, (fields) => ({ fields: { ...fields, title: { ...(fields['title'] as Data), ...more } } }))

const additive: Readonly<Record<string, (declaration: Data) => Data>> = {
  'a field that may be sent': (old) => changed(old, (fields) => ({ fields: { ...fields, more: { type: 'string', optional: true } } })),
  'a resource': (old) => ({ ...old, resources: { ...(old['resources'] as Data), notes: { fields: { text: { type: 'string' } } } } }),
  'a sort and a filter': (old) => titled(old, { sort: true, filter: true }),
  'words': (old) => titled(old, { description: 'Something.' }),
} // biome-ignore format: one row reads best

describe('any declaration (VER-5)', () => {
  const runs = { numRuns: 30 }
  test('does not differ from itself', () => {
    fc.assert(
      fc.property(declared, (declaration) => assert.deepEqual(found(declaration, declaration), [])),
      runs,
    )
  })
  test('a breaking change among others is found', () => {
    const one = fc.constantFrom(...Object.keys(breaking))
    const others = fc.subarray(Object.keys(additive))
    const holds = (declaration: Data, name: string, more: readonly string[]) => {
      const now = more.reduce((value, each) => additive[each]!(value), breaking[name]!(declaration))
      // An additive change restores a sort that a breaking change removed.
      if (name === 'a sort goes' && more.includes('a sort and a filter')) return
      assert.ok(
        found(declaration, now).some(({ severity }) => severity === 'breaking'),
        name,
      )
    }
    fc.assert(fc.property(declared, one, others, holds), { numRuns: 70 })
  })
  test('additions are reported and break nothing', () => {
    const some = fc.subarray(Object.keys(additive), { minLength: 1 })
    const holds = (declaration: Data, names: readonly string[]) => {
      const findings = found(
        declaration,
        names.reduce((value, each) => additive[each]!(value), declaration),
      )
      assert.deepEqual(findings.filter(({ severity }) => severity !== 'compatible').map(brief), [])
      assert.equal(
        findings.length > 0,
        names.some((name) => name !== 'words'),
      )
    }
    fc.assert(fc.property(declared, some, holds), { numRuns: 40 })
  })
})
