/** In business rules. */
import { type Mistake, tasks } from './mistake.ts'

/** A mistake in the rule of projects. */
function rule(name: string, key: string, write: unknown, inner: string, remedy?: RegExp): Mistake {
  const at = `resources/projects/rules/0/${key}`
  return { name, at, write, path: `resources.projects.rules[0].${inner}`, remedy }
}

export const rulesMistakes: readonly Mistake[] = [
  { name: 'rules as an object', at: `${tasks}/rules`, write: {}, path: 'resources.tasks.rules' },
  { name: 'a rule as a text', at: `${tasks}/rules`, write: ['x'], path: 'resources.tasks.rules[0]' },
  rule('an unknown trigger', 'on', 'remove', 'on'),
  rule('an unknown trigger in a list', 'on', ['create', 'updat'], 'on[1]', /"update"/),
  rule('no trigger', 'on', undefined, 'on'),
  rule('a code in small letters', 'code', 'project-has-tasks', 'code', /"PROJECT_HAS_TASKS"/),
  rule('a code of our own', 'code', 'NOT_FOUND', 'code'),
  rule('no message', 'message', undefined, 'message'),
  rule('an unknown key', 'pointer', '/x', 'pointer'),
  rule('no unless', 'unless', undefined, 'unless'),
  rule('an unknown collection', 'unless/none', 'task', 'unless.none', /"tasks"/),
  rule('a when that is no condition', 'when', true, 'when'),
  rule('a when on an unknown field', 'when', { visibilty: 'public' }, 'when.visibilty', /"visibility"/),
  rule('a when on a field of the other collection', 'when', { project_id: { null: false } }, 'when.project_id'),
  rule('none and some', 'unless/some', 'tasks', 'unless.some'),
  rule('no where', 'unless/where', undefined, 'unless.where'),
  rule('a field of the other collection', 'unless/where', { visibility: 'public' }, 'unless.where.visibility'),
  rule(
    'an unknown field of the record',
    'unless/where',
    { project_id: { record: 'uid' } },
    'unless.where.project_id.record',
    /"id"/,
  ),
  rule(
    'a field of the record of another type',
    'unless/where',
    { estimate: { record: 'id' } },
    'unless.where.estimate.record',
  ),
  {
    name: 'a check that is no function',
    at: `${tasks}/rules`,
    write: [{ on: 'create', check: 'x' }],
    path: 'resources.tasks.rules[0].check',
  },
  {
    name: 'a check with a when',
    at: `${tasks}/rules`,
    write: [{ on: 'create', check: () => undefined, when: { title: 'x' } }],
    path: 'resources.tasks.rules[0].when',
  },
  {
    name: 'a check that awaits',
    at: `${tasks}/rules`,
    write: [{ on: 'create', check: async () => undefined }],
    path: 'resources.tasks.rules[0].check',
  },
  {
    name: 'a prepare that is data',
    at: `${tasks}/prepare`,
    write: { title: 'x' },
    path: 'resources.tasks.prepare',
    remedy: /TypeScript or JavaScript/,
  },
  {
    name: 'a prepare that awaits',
    at: `${tasks}/prepare`,
    write: async () => ({}),
    path: 'resources.tasks.prepare',
    remedy: /without async/,
  },
  {
    name: 'a function of an unknown kind of event',
    at: { [`${tasks}/on`]: { changed: 'mail' }, [`${tasks}/events`]: true },
    path: 'resources.tasks.on.changed',
  },
  {
    name: 'a function of events that is data',
    at: { [`${tasks}/on`]: { created: 'mail' }, [`${tasks}/events`]: true },
    path: 'resources.tasks.on.created',
    remedy: /TypeScript or JavaScript/,
  },
  {
    name: 'functions without events',
    at: `${tasks}/on`,
    write: { created: () => {} },
    path: 'resources.tasks.on',
    remedy: /events: true/,
  },
  {
    name: 'check and a code',
    at: `${tasks}/rules`,
    write: [{ on: 'create', check: () => undefined, code: 'A' }],
    path: 'resources.tasks.rules[0].code',
  },
]
