import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { allMistakes, spoil } from '../../../../../test/mistakes/all.ts'
import { completeVersions } from '../../../../server/src/versions/versions.ts'
import type { InterfaceDeclaration } from '../declaration.ts'
import { studio } from '../studio.fixture.ts'
import { checkDeclaration } from './check-declaration.ts'
import { formatProblems } from './problem.ts'

test('the declaration of the documentation has no mistakes', () => {
  assert.deepEqual(checkDeclaration(studio()), [])
})

describe('unusual declarations without a mistake', () => {
  const fine: Record<string, Record<string, unknown>> = {
    'a tree nested within itself': {
      'resources/nodes': {
        fields: { parent_id: { reference: 'nodes', optional: true, onDelete: 'cascade' } },
        within: 'parent_id',
      },
    },
    'a password that is no filter': { 'resources/users/fields/password': { type: 'string', writeOnly: true } },
    'a version that is no filter': { 'resources/users/fields/version': { enum: ['a', 'b'], filter: false } },
    'a deletion of every default': { 'resources/tasks/deletion': {} },
    'hard deletion without bulk': {
      'resources/tasks/deletion': { variant: 'hard', bulk: false, asynchronous: 'never' },
    },
    'access by a function': { 'resources/tasks/access/update': () => true },
    'a rule by a function': { 'resources/tasks/rules': [{ on: ['create', 'update'], check: () => undefined }] },
    'a rule on the record alone': {
      'resources/tasks/rules': [
        {
          on: 'update',
          code: 'TASK_LATE',
          message: 'Late.',
          unless: { where: { updated_at: { gte: { record: 'created_at' } } } },
        },
      ],
    },
    'a condition of everything the language has': {
      'resources/tasks/access/update': {
        where: {
          and: [
            { estimate: { gte: 1, lt: 9, not: 3 } },
            { or: [{ title: { startsWith: 'a' } }, { labels: { null: true } }] },
          ],
          not: { status: { in: ['open', { caller: 'claims.team.status' }] } },
          assignee_id: { caller: 'id' },
          deleted_at: { null: true },
        },
      },
    },
    'a schema with definitions': {
      'resources/tasks/fields/tree': {
        $defs: { a: { type: 'array', items: { $ref: '#/$defs/a' } } },
        $ref: '#/$defs/a',
      },
    },
    'one version by another name': { versions: { v3: {} }, versionCarriers: ['path'], changes: [] },
  }
  for (const [name, places] of Object.entries(fine)) {
    test(name, () => {
      const declaration = studio()
      for (const [place, value] of Object.entries(places)) spoil(declaration, place, value)
      assert.deepEqual(checkDeclaration(declaration), [])
      completeVersions(declaration as unknown as InterfaceDeclaration)
    })
  }
})

describe('each mistake is reported alone, at its place, with what to write instead', () => {
  for (const { name, at, write, path, message, remedy } of allMistakes) {
    test(`${name}: ${path}`, () => {
      const declaration = studio()
      const places = typeof at === 'string' ? { [at]: write } : at
      for (const [place, value] of Object.entries(places)) spoil(declaration, place, value)
      const problems = checkDeclaration(declaration)
      assert.deepEqual(
        problems.map((problem) => problem.path),
        [path],
        formatProblems(problems),
      )
      if (message !== undefined) assert.match(problems[0]!.message, message)
      if (remedy !== undefined) assert.match(problems[0]!.remedy, remedy)
      assert.notEqual(problems[0]!.remedy, '')
    })
  }
})

test('ten mistakes are ten messages', () => {
  const declaration = studio()
  const ten: Record<string, unknown> = {
    name: 'My Studio',
    'resources/project': { fields: { title: { type: 'string' } } },
    'resources/tasks/fields/project_id/onDelete': 'delete',
    'resources/tasks/fields/title/minLenght': 1,
    'resources/tasks/fields/dueOn': { type: 'string' },
    'resources/tasks/within': 'title',
    'resources/projects/owner': 'owner',
    'resources/projects/access/read': 'everyone',
    'resources/projects/deletion/gracePeriod': 'P1M',
    'resources/projects/rules/0/code': 'hasOpenTasks',
  }
  for (const [place, value] of Object.entries(ten)) spoil(declaration, place, value)
  const problems = checkDeclaration(declaration)
  assert.deepEqual(problems.map((problem) => problem.path).sort(), [
    'name',
    'resources.project',
    'resources.projects.access.read',
    'resources.projects.deletion.gracePeriod',
    'resources.projects.owner',
    'resources.projects.rules[0].code',
    'resources.tasks.fields.dueOn',
    'resources.tasks.fields.project_id.onDelete',
    'resources.tasks.fields.title.minLenght',
    'resources.tasks.within',
  ])
  const remedies = new Map(problems.map((problem) => [problem.path, problem.remedy]))
  assert.equal(remedies.get('name'), 'Write "my-studio".')
  assert.equal(remedies.get('resources.project'), 'Write "projects".')
  assert.equal(remedies.get('resources.tasks.fields.project_id.onDelete'), 'Did you mean "cascade"?')
  assert.equal(remedies.get('resources.tasks.fields.title.minLenght'), 'Did you mean "minLength"?')
  assert.equal(remedies.get('resources.tasks.fields.dueOn'), 'Write "due_on".')
  assert.equal(remedies.get('resources.projects.owner'), 'Did you mean "owner_id"?')
  assert.equal(remedies.get('resources.projects.rules[0].code'), 'Write "HAS_OPEN_TASKS".')
})

test('problems are numbered for the terminal', () => {
  const text = formatProblems(
    [
      { path: 'name', message: 'is missing', remedy: 'Write one.' },
      { path: '', message: 'is odd', remedy: 'Even it.' },
    ],
    'resources.ts',
  )
  assert.equal(
    text,
    '2 things are wrong in resources.ts:\n\n  1. name\n     is missing\n     → Write one.\n\n' +
      '  2. the declaration\n     is odd\n     → Even it.',
  )
})

describe('checkDeclaration never throws', () => {
  const cycle: Record<string, unknown> = {}
  cycle.self = cycle
  const throwing = Object.defineProperty({}, 'name', { enumerable: true, get: () => assert.fail('read') })
  const hostile = new Proxy({}, { ownKeys: () => assert.fail('listed') })
  let deep: unknown = 'bottom'
  for (let level = 0; level < 5_000; level++) deep = { not: deep }
  const values = { null: null, undefined, number: 7, array: [], text: 'x', cycle, throwing, hostile, deep }
  for (const [name, value] of Object.entries(values)) {
    test(name, () => assert.notEqual(checkDeclaration(value).length, 0))
    test(`${name} as a field`, () => {
      const declaration = studio()
      spoil(declaration, 'resources/tasks/fields/title', value)
      if (value !== undefined) assert.notEqual(checkDeclaration(declaration).length, 0)
    })
  }

  test('sparse arrays of a billion items', () => {
    assert.equal(checkDeclaration({ ...studio(), versionCarriers: new Array(1_000_000_000) }).length, 1)
  })

  test('arbitrary values', () => {
    fc.assert(
      fc.property(
        fc.anything({ withNullPrototype: true, withDate: true, withMap: true, withBigInt: true }),
        (value) => {
          assert.ok(Array.isArray(checkDeclaration(value)))
        },
      ),
      { numRuns: 300 },
    )
  })

  test('after arbitrary changes, a declaration without mistakes can be completed', () => {
    let passed = 0
    const wild = fc.anything({ maxDepth: 2 })
    const change = fc.record({
      place: fc.nat(),
      kind: fc.constantFrom('remove', 'vary', 'replace'),
      number: fc.nat(),
      wild,
    })
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
        const declaration = studio()
        for (const { place, kind, number, wild } of changes) {
          const places = [...placesOf(declaration, '')]
          const [path, value] = places[place % places.length] as [string, unknown]
          spoil(declaration, path, kind === 'remove' ? undefined : kind === 'vary' ? vary(value, number) : wild)
        }
        if (checkDeclaration(declaration).length > 0) return
        passed++
        completeVersions(declaration as unknown as InterfaceDeclaration)
      }),
      { numRuns: 400 },
    )
    assert.ok(passed > 10, `${passed} of 400 passed the check`)
  })
})

/** Another value of the same type. */
function vary(value: unknown, number: number): unknown {
  const words = [
    'tasks',
    'projects',
    'users',
    'title',
    'status',
    'project_id',
    'read',
    'owner',
    'clear',
    'integer',
    'anyone',
  ]
  if (typeof value === 'boolean') return !value
  if (typeof value === 'number') return number % 1_000
  return typeof value === 'string' ? words[number % words.length] : value
}

function* placesOf(value: unknown, path: string): Generator<[string, unknown]> {
  if (path !== '') yield [path, value]
  if (typeof value !== 'object' || value === null) return
  // A key that holds a slash cannot be written as a place.
  for (const key of Object.keys(value).filter((each) => each !== '' && !each.includes('/'))) {
    yield* placesOf(Reflect.get(value, key), path === '' ? key : `${path}/${key}`)
  }
}

test('mistakes are in the order of the declaration, and at most 200 are listed', () => {
  const declaration = { limits: { pageSise: {} }, name: 7, resources: { notes: { fields: { a: { type: 'strin' } } } } }
  assert.deepEqual(
    checkDeclaration(declaration).map(({ path }) => path),
    ['limits.pageSise', 'name', 'resources.notes.fields.a.type'],
  )
  const many = Object.fromEntries(Array.from({ length: 150_000 }, (_, index) => [`key${index}`, 1]))
  const problems = checkDeclaration({ ...studio(), ...many })
  assert.equal(problems.length, 201)
  assert.deepEqual(problems.at(-1)?.message, 'has 149800 more mistakes')
})

test('a value of another kind is reported once, whatever else depends on it', () => {
  const declaration = studio()
  spoil(declaration, 'resources/tasks/deletion', { variant: 'hard', restorable: 'yes', bulk: { max: 'all' } })
  assert.deepEqual(
    checkDeclaration(declaration).map(({ path, message, remedy }) => [path, message, remedy]),
    [
      [
        'resources.tasks.deletion.restorable',
        'must be true or false, and is "yes"',
        'Write true: only true or false are booleans, in YAML too.',
      ],
      [
        'resources.tasks.deletion.bulk.max',
        'must be a whole number from 1 to 10000, and is "all"',
        'Write a number such as 1.',
      ],
    ],
  )
})
