/**
 * Mistakes in declarations that the compiler reports. Each stands under a comment with words of its message: the
 * compiler fails for a comment without a mistake, and `messages.test.ts` compares the words.
 */
import { defineInterface, reference, Type } from 'resourced'

export const mistakes = defineInterface({
  name: 'studio',
  resources: {
    projects: {
      fields: {
        name: Type.String({ maxLength: 120, search: true }),
        budget: Type.Integer({ default: 0 }),
        labels: Type.Array(Type.String(), { filter: true }),
        visibility: Type.Enum(['private', 'public'], { default: 'private' }),
        owner_id: Type.String({ readOnly: true }),
      },
      // @ts-expect-error "ownr_id" "name" | "owner_id"
      owner: 'ownr_id',
      access: {
        // @ts-expect-error 'visibilty' 'visibility'
        read: ['anyone', { where: { visibilty: 'public' } }],
        // @ts-expect-error "secret" "private" | "public"
        create: { where: { visibility: 'secret' } },
        // @ts-expect-error 'number'
        readDeleted: { where: { labels: { has: 3 } } },
        // @ts-expect-error "everyone" "anyone" | "nobody" | "owner"
        update: ['everyone'],
        // @ts-expect-error "task" "tasks"
        delete: { some: 'task', where: { title: { caller: 'id' } } },
        // @ts-expect-error 'ttle' 'title'
        restore: { all: ['owner', { none: 'tasks', where: { ttle: { caller: 'id' } } }] },
      },
      rules: [
        {
          on: 'update',
          check: ({ current, next }) => {
            // @ts-expect-error 'number | undefined' 'string'
            const spent: string = next?.budget
            // @ts-expect-error 'budgt' 'budget'
            return spent === '' || current?.budgt === 0 ? { code: 'SPENT', message: 'Too late.' } : undefined
          },
        },
        // @ts-expect-error "chnge"
        { on: 'chnge', code: 'NO', message: 'No.', unless: { where: { budget: 0 } } },
        // @ts-expect-error "task" "tasks"
        { on: 'delete', code: 'NO', message: 'No.', unless: { none: 'task', where: { title: 'x' } } },
        // @ts-expect-error "hih" "high" | "low"
        { on: 'delete', code: 'NO', message: 'No.', unless: { none: 'tasks', where: { urgency: 'hih' } } },
        // @ts-expect-error 'stats'
        { on: 'delete', code: 'NO', message: 'No.', unless: { none: 'tasks', where: { stats: 'open' } } },
        // @ts-expect-error 'budgt'
        { on: 'delete', code: 'NO', message: 'No.', unless: { where: { budgt: 0 } } },
      ],
    },
    tasks: {
      fields: {
        title: Type.String({ maxLength: 200 }),
        urgency: { enum: ['high', 'low'] },
        // @ts-expect-error "opn" "open" | "done"
        status: Type.Enum(['open', 'done'], { default: 'opn' }),
        stage: Type.Enum(['new', 'old'], {
          // @ts-expect-error "odl" "new" | "old"
          transitions: { new: ['odl'] },
        }),
        phase: Type.Enum(['in', 'out'], {
          // @ts-expect-error 'uot'
          transitions: { in: ['out'], uot: ['in'] },
        }),
        // @ts-expect-error 'dnoe'
        step: { enum: ['to do', 'done'], transitions: { 'to do': ['done'], dnoe: [] } },
        // @ts-expect-error "low" "high" "medium"
        priority: { enum: ['high', 'medium'], default: 'low' },
        // @ts-expect-error 'serch' 'search'
        note: { type: 'string', serch: true },
        // @ts-expect-error 'srt' 'sort'
        size: Type.Integer({ srt: true }),
        // @ts-expect-error "projcts" "projects" | "tasks"
        project_id: reference('projcts'),
        // @ts-expect-error "destroy" "cascade"
        other_id: reference('projects', { onDelete: 'destroy' }),
      },
      // @ts-expect-error "projct_id" "project_id"
      within: 'projct_id',
      // @ts-expect-error "titel" "title"
      unique: [['project_id', 'titel']],
      access: {
        // @ts-expect-error "projct" "project_id"
        read: { through: 'projct', action: 'read' },
        // @ts-expect-error "reed" "read"
        create: { through: 'project_id', action: 'reed' },
      },
    },
    users: {
      fields: { name: { type: 'string' } },
      // @ts-expect-error 'ownr' 'owner'
      ownr: 'name',
    },
    labels: {
      fields: { name: { type: 'string' } },
      // @ts-expect-error 'raed'
      access: { create: 'anyone', raed: 'anyone' },
    },
  },
  versions: { v1: {}, v2: {} },
  changes: [
    // @ts-expect-error "v3" "v1" | "v2"
    { version: 'v3', resource: 'tasks', add: ['title'] },
    // @ts-expect-error "taks" "tasks"
    { version: 'v2', resource: 'taks', add: ['title'] },
    // @ts-expect-error "titel" "title"
    { version: 'v2', resource: 'tasks', rename: { name: 'titel' } },
    // @ts-expect-error "titel" "title"
    { version: 'v2', resource: 'tasks', add: ['titel'] },
    {
      version: 'v2',
      resource: 'tasks',
      // @ts-expect-error 'titel'
      convert: { titel: { schema: { type: 'string' }, older: String, newer: String } },
    },
  ],
  // @ts-expect-error 'task.create' "*.create"
  limits: { rate: { actions: { 'task.create': '10/minute' } } },
})

export const members = defineInterface({
  name: 'shop',
  resources: {
    goods: {
      fields: { place: Type.Object({ size: Type.Integer() }, { filter: ['/size'] }) },
      // @ts-expect-error 'siz'
      access: { read: { where: { place: { siz: 3 } } } },
    },
  },
})
