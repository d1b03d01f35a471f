/** In what versions say that they changed. */
import type { Mistake } from './mistake.ts'

const versions = { v1: {}, v2: {} }

/** A mistake in one change of version 2 to the tasks. */
function wrong(name: string, change: Record<string, unknown>, path: string, more: Partial<Mistake> = {}): Mistake {
  const changes = [{ version: 'v2', resource: 'tasks', ...change }]
  return { name, at: { versions, changes }, path: path === '' ? 'changes[0]' : `changes[0].${path}`, ...more }
}

const number = { type: 'integer' }
const same = (value: unknown) => value

export const changesMistakes: readonly Mistake[] = [
  { name: 'changes that are no array', at: { versions, changes: {} }, path: 'changes' },
  { name: 'a change that is a text', at: { versions, changes: ['v2'] }, path: 'changes[0]' },
  {
    name: 'a former name that events need',
    at: { versions, changes: [{ version: 'v2', resource: 'tasks', was: 'events' }], 'resources/tasks/events': true },
    path: 'changes[0].was',
    message: /because tasks has events/,
  },
  wrong('an unknown key of a change', { renamed: {} }, 'renamed', { remedy: /"rename"/ }),
  wrong('a change of a version that is not there', { version: 'v3' }, 'version', { remedy: /v2/ }),
  wrong('a change of the oldest version', { version: 'v1' }, 'version', { message: /oldest/ }),
  {
    name: 'a change without versions',
    at: { changes: [{ version: 'v2', resource: 'tasks' }] },
    path: 'changes[0].version',
    remedy: /versions/,
  },
  wrong('a change of no collection', { resource: 'task' }, 'resource', { remedy: /"tasks"/ }),
  wrong('a rename of no field', { rename: { name: 'titel' } }, 'rename.name', { remedy: /"title"/ }),
  wrong('a rename to what another field is called', { rename: { status: 'title' } }, 'rename.status', {
    message: /two fields/,
  }),
  wrong('a rename from no name', { rename: { 'Old name': 'title' } }, 'rename["Old name"]', { remedy: /old_name/ }),
  wrong('an added field that is none', { add: ['label'] }, 'add[0]', { message: /no field/ }),
  wrong('an added field that older versions cannot leave out', { add: ['title'] }, 'add[0]', { remedy: /default/ }),
  wrong('added fields as a text', { add: 'labels' }, 'add'),
  wrong('a removed field without value', { remove: { priority: { schema: number } } }, 'remove.priority.value'),
  wrong(
    'a removed field whose value does not fit',
    { remove: { priority: { schema: number, value: 'x' } } },
    'remove.priority.value',
  ),
  wrong(
    'a removed field that is null and may not be',
    { remove: { priority: { schema: number, value: null } } },
    'remove.priority.value',
    { remedy: /optional/ },
  ),
  wrong(
    'a removed field of an unsound schema',
    { remove: { priority: { schema: { type: 'int' }, value: 3 } } },
    'remove.priority.schema.type',
  ),
  wrong('a removed field that is there', { remove: { title: { schema: number, value: 3 } } }, 'remove.title', {
    message: /two fields/,
  }),
  wrong(
    'a removed field before no field',
    { remove: { priority: { schema: number, value: 3, before: 'titel' } } },
    'remove.priority.before',
    { remedy: /"title"/ },
  ),
  wrong(
    'a removed field that is searched',
    { remove: { priority: { schema: { type: 'string', search: true }, value: 'x' } } },
    'remove.priority.schema.search',
  ),
  wrong(
    'a conversion of no field',
    { convert: { titel: { schema: number, older: same, newer: same } } },
    'convert.titel',
    { remedy: /"title"/ },
  ),
  wrong('a conversion one way', { convert: { title: { schema: number, older: same } } }, 'convert.title.newer', {
    message: /function/,
  }),
  wrong(
    'a conversion that awaits',
    { convert: { title: { schema: number, older: async () => {}, newer: same } } },
    'convert.title.older',
    { message: /await/ },
  ),
  wrong(
    'a conversion of a reference',
    { convert: { project_id: { schema: number, older: same, newer: same } } },
    'convert.project_id',
    { message: /cannot be converted/ },
  ),
  wrong(
    'a conversion that would be writeOnly and a filter',
    { convert: { title: { schema: { type: 'string', writeOnly: true, filter: true }, older: same, newer: same } } },
    'convert.title.schema.filter',
  ),
  wrong(
    'a conversion that shows what is writeOnly',
    { convert: { secret_note: { schema: number, older: same, newer: same } } },
    'convert.secret_note.schema.writeOnly',
    { message: /show/ },
  ),
  wrong('a collection that was called what another is', { was: 'projects' }, 'was', { message: /another collection/ }),
  wrong('a collection that was called nothing', { was: '' }, 'was'),
  wrong('a collection that is neither added nor removed', { collection: 'new' }, 'collection'),
]
