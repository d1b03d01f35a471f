/** Interfaces whose records are changed by filter (BLK-3). */
import type { InterfaceDeclaration } from 'resourced-contract/model/declaration'

/** Tickets in queues; a change of more than 20 of them is a job. */
export const desk: InterfaceDeclaration = {
  name: 'desk',
  versions: { v1: {}, v2: {} },
  changes: [{ version: 'v2', resource: 'tickets', was: 'cases', rename: { level: 'priority' } }],
  resources: {
    queues: {
      fields: { name: { type: 'string' }, is_open: { type: 'boolean', default: true } },
      access: { read: 'anyone', delete: 'anyone' },
    },
    tickets: {
      fields: {
        title: { type: 'string', minLength: 1, filter: true, search: true },
        status: {
          ...{ enum: ['new', 'open', 'done'], default: 'new', filter: true },
          transitions: { new: ['open'], open: ['done'] },
        },
        priority: { type: 'integer', default: 0, minimum: 0, maximum: 9, filter: true },
        queue_id: { reference: 'queues', optional: true, filter: true },
        number: { type: 'integer', optional: true, filter: true },
        code: { type: 'string', optional: true, unique: true },
        origin: { type: 'string', optional: true, immutable: true },
        labels: { type: 'object', optional: true },
        changed_by: { type: 'string', optional: true, set: { onUpdate: { caller: 'id' } } },
      },
      unique: [['queue_id', 'number']],
      updates: { byFilter: true, above: 20 },
      deletion: { byFilter: true },
      events: true,
      access: { read: 'anyone', create: 'anyone', update: 'anyone', delete: 'anyone' },
      rules: [
        {
          ...{ on: 'update', code: 'BANNED', message: 'The title is banned.' },
          unless: { none: 'bans', where: { title: { record: 'title' } } },
        },
        {
          ...{ on: 'update', code: 'TOO_URGENT', message: 'Only one ticket has priority 9.', when: { priority: 9 } },
          unless: { none: 'tickets', where: { priority: 9 } },
        },
      ],
    },
    remarks: { fields: { text: { type: 'string' }, ticket_id: { reference: 'tickets' } } },
    bans: { fields: { title: { type: 'string' } } },
  },
}

/** Notes of callers, with functions, hidden fields and rules that a change may break. */
export const notes: InterfaceDeclaration = {
  name: 'notes',
  resources: {
    notes: {
      fields: {
        text: { type: 'string', filter: true },
        is_open: { type: 'boolean', default: true, filter: true },
        kept: { type: 'boolean', default: true },
        remark: { type: 'string', optional: true, filter: true },
        rank: { type: 'integer', optional: true },
        label: { type: 'string', optional: true, readOnly: true },
        owner_id: { type: 'string', readOnly: true },
      },
      owner: 'owner_id',
      updates: { byFilter: true, above: 20 },
      prepare: ({ next }) => ({ ...next, label: next['rank'] === null ? null : `${next['text']} ${next['rank']}` }),
      access: {
        read: [{ where: { is_open: true } }, 'owner', 'role:admin'],
        create: 'anyone',
        update: [{ all: ['owner', { where: { kept: true } }] }, 'role:admin'],
        fields: { remark: { read: ['owner', 'role:admin'] }, rank: { write: 'role:admin' } },
      },
      rules: [
        {
          on: 'update',
          check: ({ next }) =>
            next?.['rank'] === 13 ? { code: 'UNLUCKY', message: 'Take another rank.', pointer: '/rank' } : undefined,
        },
      ],
    },
  },
}
