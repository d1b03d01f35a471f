/** The connection of a signed-in caller: version, catalog, permissions, and the function that sends requests. */
import { useQuery } from '@tanstack/react-query'
import { createContext, type ReactNode, use } from 'react'
import { loadCaller } from './caller.ts'
import { type Catalog, type Collection, type OpenApiDocument, readCatalog } from './catalog.ts'
import type { PageSettings, VersionSetting } from './page-settings.ts'
import { permittedCatalog } from './permitted-fields.ts'
import type { Problem } from './problem.ts'
import { relatedCatalog } from './relations.ts'
import { makeSend, type Send } from './send.ts'
import { session, updateSession } from './session.ts'

/** Which records an action is permitted on. */
export type Granted = 'all' | 'some' | 'none'

/** The actions that a declaration permits or refuses. */
export type Action = 'read' | 'create' | 'update' | 'delete' | 'restore' | 'read_deleted' | 'read_history'

/** A rule as it is declared, such as `role:admin`, `owner` or `{ where: … }`. */
export type Rule = string | Readonly<Record<string, unknown>>

/** The response of `GET /caller` (AUT-11). */
export interface Caller {
  readonly id: string
  readonly roles: readonly string[]
  readonly expires_at: string | null
  readonly credential: string
  readonly permissions: Readonly<
    Record<string, Readonly<Partial<Record<Action, { readonly granted: Granted; readonly rules: readonly Rule[] }>>>>
  >
  /** By collection, then by field: fields that not everybody may use who may use the record (AUT-13, AUT-14). */
  readonly field_permissions?: Readonly<
    Record<string, Readonly<Record<string, { readonly [Use in 'read' | 'write']?: { readonly granted: Granted } }>>>
  >
}

export interface Connection {
  readonly settings: PageSettings
  readonly version: VersionSetting
  readonly catalog: Catalog
  readonly caller: Caller
  readonly send: Send
}

const context = createContext<Connection | undefined>(undefined)

/** The connection of the view that calls this. */
export function useConnection(): Connection {
  const connection = use(context)
  if (connection === undefined) throw new Error('useConnection() was called outside a ConnectionProvider.')
  return connection
}

/** @param action `none` if the action is unknown: a server may have fewer */
export function grantOf({ caller }: Connection, collection: string, action: Action): Granted {
  return caller.permissions[collection]?.[action]?.granted ?? 'none'
}

/** Whether the caller has a recycle bin for a collection. */
export function hasBin(connection: Connection, { name, deletion }: Collection): boolean {
  return deletion?.restorable === true && grantOf(connection, name, 'read_deleted') !== 'none'
}

/** Whether the records of a collection have a history that the caller may read. */
export function mayReadHistory(connection: Connection, { name }: Collection): boolean {
  return grantOf(connection, name, 'read_history') !== 'none'
}

interface Props {
  readonly settings: PageSettings
  readonly version: VersionSetting
  readonly waiting: ReactNode
  readonly failed: (problem: Problem, again: () => void) => ReactNode
  /** Is called when the server says that the version was retired. */
  readonly onRetired: () => void
  readonly children: ReactNode
}

/** Loads the document and the caller, then shows its children with them. */
export function ConnectionProvider({ settings, version, waiting, failed, onRetired, children }: Props): ReactNode {
  const { data, error, refetch } = useQuery({
    queryKey: [version.name, 'connection'],
    queryFn: async ({ signal }) => {
      const send = makeSend({ name: settings.name, version, carrier: settings.carrier, onRetired })
      const [document, caller] = await Promise.all([
        send<OpenApiDocument>({ path: '/openapi.json', signal }),
        loadCaller(send, { signal }),
      ])
      noteCaller(caller.body, caller.headers)
      const permitted = permittedCatalog(readCatalog(document.body), caller.body)
      const { permissions } = caller.body
      const catalog = relatedCatalog(permitted, (name) => (permissions[name]?.read?.granted ?? 'none') !== 'none')
      return { settings, version, send, catalog, caller: caller.body }
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
  })
  // What failed to load anew does not take away what somebody is typing.
  if (data !== undefined) return <context.Provider value={data}>{children}</context.Provider>
  return error === null ? waiting : failed(error as Problem, () => void refetch())
}

/** Notes whose credential it is, and when it expires by this computer's clock, which may be wrong. */
function noteCaller({ id, expires_at }: Caller, headers: Pick<Headers, 'get'>): void {
  const wrong = Date.now() - Date.parse(headers.get('Date') ?? '')
  const expiresAt = expires_at === null ? session.current().expiresAt : Date.parse(expires_at) + (wrong || 0)
  updateSession({ caller: id, expiresAt })
}
