/**
 * The resources that every interface has, jobs and API keys, declared like others. Only the server changes their
 * records.
 */
import type { InterfaceDeclaration } from './declaration.ts'

/** The kinds of jobs. */
export const jobKinds = ['deletion', 'bulk-deletion', 'filtered-deletion', 'purge', 'export'] as const
export type JobKind = (typeof jobKinds)[number]

/** The states of a job (JOB-2). The last two are final. */
export const jobStatuses = ['pending', 'running', 'succeeded', 'failed'] as const
export type JobStatus = (typeof jobStatuses)[number]

const instant = { type: 'string', format: 'date-time', optional: true, filter: true, sort: true } as const

/** Records that the server creates by itself. */
export const madeByServer: InterfaceDeclaration['resources'] = {
  jobs: {
    title: 'Jobs',
    description: 'Long work: what it is, how far it is, and what came of it.',
    fields: {
      job_id: { type: 'string', format: 'uuid', description: 'The id once more.' },
      status: { enum: [...jobStatuses], description: 'Final are succeeded and failed.' },
      status_url: { type: 'string', format: 'uri-reference', description: 'Where to ask again.' },
      kind: { enum: [...jobKinds] },
      progress: {
        type: 'object',
        description: 'How many records are done, of how many; the total is null while nobody knows it.',
        properties: { done: { type: 'integer', minimum: 0 }, total: { type: ['integer', 'null'], minimum: 0 } },
        required: ['done', 'total'],
        additionalProperties: false,
      },
      started_at: instant,
      finished_at: instant,
      result: { type: 'object', optional: true, description: 'What came of it, once it has succeeded.' },
      error: { type: 'object', optional: true, description: 'The problem (RFC 9457) that it has failed with.' },
      started_by: { type: 'string', optional: true, filter: true, description: 'Who started it; null: the server.' },
    },
    owner: 'started_by',
    access: { read: ['role:admin', 'owner'], delete: ['role:admin', 'owner'] },
    deletion: { variant: 'hard', bulk: false },
  },
}

/** The limits of a key: characters of its subject, number of roles, characters of a role. */
export const keyBounds = { subject: 200, roles: 50, role: 100 } as const

/** Records that the server creates and revokes when clients ask for it. */
export const madeForClients: InterfaceDeclaration['resources'] = {
  'api-keys': {
    title: 'API keys',
    description: 'Who may call, as whom and until when. A key itself is shown once, to whoever asked for it.',
    fields: {
      subject: { type: 'string', filter: true, sort: true, description: 'Who calls with it.' },
      roles: { type: 'array', items: { type: 'string' }, description: 'What the caller is.' },
      hint: { type: 'string', description: 'How the key begins, to tell keys apart.' },
      expires_at: { ...instant, description: 'From when on it is refused; null: never.' },
      last_used_at: { ...instant, description: 'When it was last used, give or take two minutes; null: never yet.' },
      revoked_at: { ...instant, description: 'Since when it is refused for good; null: it was not revoked.' },
      made_by: {
        ...{ type: 'string', optional: true, filter: true },
        description:
          'Who made it: the id of the API key, or the subject of the token, that the request came with; null: ' +
          'the command line.',
      },
    },
    owner: 'subject',
    access: { read: ['role:admin', 'owner'], create: 'anyone', delete: ['role:admin', 'owner'] },
    deletion: { variant: 'hard', bulk: false },
  },
}
