/** What the examples of this folder share: an interface, and sessions as an application has them. */
import { createApp, defineInterface, Type, Unauthenticated } from 'resourced'

const declaration = defineInterface({
  name: 'tasks',
  resources: {
    tasks: {
      fields: {
        title: Type.String({ minLength: 1, maxLength: 200, search: true, sort: true }),
        done: Type.Boolean({ default: false, filter: true }),
        owner_id: Type.String({ readOnly: true }),
      },
      owner: 'owner_id',
      access: { create: 'anyone', read: 'owner', update: 'owner', delete: 'owner' },
    },
  },
})

// A real application keeps its sessions in a database.
const sessions = new Map([
  ['session-of-ann', { id: 'ann', roles: [] }],
  ['session-of-bob', { id: 'bob', roles: [] }],
])

/** Finds the caller of a request by its session cookie. */
export async function authenticate({ headers }) {
  const [, session] = /(?:^|; *)session=([^;]*)/.exec(headers.cookie ?? '') ?? []
  if (session === undefined) return undefined
  const user = sessions.get(session)
  if (user === undefined) throw new Unauthenticated('There is no such session.')
  return user
}

export const api = createApp(declaration, {
  database: process.env.DATABASE_URL ?? 'sqlite:tasks.db',
  basePath: '/api',
  authenticate,
})
