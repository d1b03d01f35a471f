/** In access rules, and in references that go round in circles. */
import { fields, type Mistake, shown, tasks } from './mistake.ts'

export const accessMistakes: readonly Mistake[] = [
  { name: 'access as a text', at: `${tasks}/access`, write: 'anyone', path: 'resources.tasks.access' },
  { name: 'an unknown action', at: `${tasks}/access/write`, write: 'anyone', path: 'resources.tasks.access.write' },
  {
    name: 'an action mistyped',
    at: `${tasks}/access/raed`,
    write: 'anyone',
    path: 'resources.tasks.access.raed',
    remedy: /"read"/,
  },
  {
    name: 'an unknown word',
    at: `${tasks}/access/update`,
    write: 'everyone',
    path: 'resources.tasks.access.update',
    remedy: /"anyone"/,
  },
  {
    name: 'a role without role:',
    at: `${tasks}/access/update`,
    write: ['admin'],
    path: 'resources.tasks.access.update[0]',
    remedy: /"role:admin"/,
  },
  {
    name: 'a role without a name',
    at: `${tasks}/access/update`,
    write: 'role:',
    path: 'resources.tasks.access.update',
  },
  { name: 'no rule', at: `${tasks}/access/update`, write: [], path: 'resources.tasks.access.update', remedy: /nobody/ },
  { name: 'a rule that is a flag', at: `${tasks}/access/update`, write: true, path: 'resources.tasks.access.update' },
  {
    name: 'a rule of other words',
    at: `${tasks}/access/update`,
    write: { role: 'admin' },
    path: 'resources.tasks.access.update',
  },
  {
    name: 'a rule that awaits',
    at: `${tasks}/access/update`,
    write: async () => true,
    path: 'resources.tasks.access.update',
  },
  {
    name: 'an owner rule without owner',
    at: `${tasks}/access/update`,
    write: ['owner'],
    path: 'resources.tasks.access.update[0]',
  },
  {
    name: 'through a text',
    at: `${tasks}/access/update`,
    write: { through: 'title', action: 'read' },
    path: 'resources.tasks.access.update.through',
    remedy: /project_id/,
  },
  {
    name: 'through no field',
    at: `${tasks}/access/update`,
    write: { through: 'projectid', action: 'read' },
    path: 'resources.tasks.access.update.through',
    remedy: /"project_id"/,
  },
  {
    name: 'through an unknown action',
    at: `${tasks}/access/update`,
    write: { through: 'project_id', action: 'see' },
    path: 'resources.tasks.access.update.action',
  },
  {
    name: 'through without an action',
    at: `${tasks}/access/update`,
    write: { through: 'project_id' },
    path: 'resources.tasks.access.update.action',
  },
  {
    name: 'through an undeclared action',
    at: `${tasks}/access/update`,
    write: { through: 'assignee_id', action: 'read' },
    path: 'resources.tasks.access.update.action',
    message: /not declared in users/,
  },
  {
    name: 'another key beside through',
    at: `${tasks}/access/update`,
    write: { through: 'project_id', action: 'read', where: {} },
    path: 'resources.tasks.access.update.where',
  },
  {
    name: 'through itself',
    at: {
      [`${fields}/parent_id`]: { reference: 'tasks', optional: true },
      [`${tasks}/access/update`]: { through: 'parent_id', action: 'update' },
    },
    path: 'resources.tasks.access.update',
    message: /tasks\.update → tasks\.update/,
  },
  {
    name: 'through others in a circle',
    at: {
      'resources/projects/fields/main_task_id': { reference: 'tasks', optional: true },
      'resources/projects/access/read': ['owner', { through: 'main_task_id', action: 'read' }],
    },
    path: 'resources.projects.access.read[1]',
    message: /projects\.read → tasks\.read → projects\.read/,
  },
  {
    name: 'references that need each other',
    at: { 'resources/projects/fields/main_task_id': { reference: 'tasks' } },
    path: 'resources.projects.fields.main_task_id',
    message: /projects → tasks → projects/,
  },
  {
    name: 'a reference that needs itself',
    at: { [`${fields}/parent_id`]: { reference: 'tasks' } },
    path: `${shown}.parent_id`,
    remedy: /optional/,
  },
]
