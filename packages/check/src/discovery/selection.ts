/**
 * Selects the collections to check. Unless the user names them, it excludes those of a system itself, those whose
 * records act or grant access, accounts and stored files.
 */

import type { PartialProfile } from '../profile/profile.ts'
import { objectOf } from '../values/json.ts'
import { describeCollection } from './describe.ts'
import { bareCandidate, type Candidate, isCalled } from './openapi.ts'

interface Excluded {
  readonly name: string
  readonly why: string
}

/** Which candidates to check: those that the user names, and without names all that are not excluded. */
export class Selection {
  readonly excluded: Excluded[] = []
  /** Collections that the user names. */
  readonly named: readonly Candidate[]
  readonly #only: readonly string[]
  readonly #given: NonNullable<PartialProfile['collections']>
  readonly #hasItemsPath: boolean

  /**
   * @param only names and paths that the user gives; all candidates are wanted if empty
   * @param given collections of a profile file
   * @param described candidates of the document
   */
  constructor(only: readonly string[], given: PartialProfile['collections'], described: readonly Candidate[]) {
    this.#only = only
    this.#given = given ?? {}
    this.#hasItemsPath = hasItemsPath(described.map(({ path }) => path))
    const givenPaths = Object.entries(this.#given).flatMap(([name, each]) =>
      each === false ? [] : [bareCandidate(each.path ?? `/${name}`, name)],
    )
    this.named = [...givenPaths, ...only.map((each) => bareCandidate(`/${each.replace(/^\//, '')}`))]
  }

  /** A candidate under the name that a profile file gives to its path. */
  rename<One extends Pick<Candidate, 'name' | 'path'>>(candidate: One): One {
    const given = Object.entries(this.#given).find(([, each]) => each !== false && each.path === candidate.path)
    return given === undefined ? candidate : { ...candidate, name: given[0] }
  }

  isWanted(candidate: Pick<Candidate, 'name' | 'path'>): boolean {
    return this.#only.length === 0 || this.#isNamed(candidate)
  }

  #isNamed(candidate: Pick<Candidate, 'name' | 'path'>): boolean {
    return this.#only.some((each) => isCalled(candidate, each))
  }

  /** Whether the checker may use a candidate. Notes the reason if not. Excluded candidates are not even read. */
  includes(candidate: Candidate): boolean {
    if (this.#isNamed(candidate) || Object.hasOwn(this.#given, candidate.name)) return true
    const isOutside = this.#hasItemsPath && !candidate.path.startsWith('/items/')
    const why =
      reasonToExclude(candidate) ?? (isOutside ? 'the collections of the application are below /items' : undefined)
    if (why !== undefined) this.excluded.push({ name: candidate.name, why })
    return why === undefined
  }

  /** The wanted candidates, and those to which their records refer. */
  withReferences(candidates: readonly Candidate[]): Candidate[] {
    const wanted = candidates.filter((each) => this.isWanted(each))
    return candidates.filter(
      (each) =>
        wanted.includes(each) ||
        wanted.some((by) =>
          Object.values(describeCollection(by, [by, each]).collection.references).includes(each.name),
        ),
    )
  }
}

/** A pattern for names that are one of several, given as parts of regular expressions. */
function oneOf(...names: readonly string[]): RegExp {
  return new RegExp(`^(?:${names.flatMap((each) => each.split(' ')).join('|')})$`, 'i')
}

/** Prefixes of tables and collections that belong to a system. */
const reserved = oneOf(
  '_.*',
  '(?:directus|pg|sqlite|mysql|sys|information_schema|auth|django|strapi|up|wp|hdb|knex|prisma|flyway|pb)_.*',
  '(?:kinto|system|internal)_.*',
)

/** Segments of a path below which a system keeps its own collections. */
const systemPaths = oneOf('admin auth system internal users-permissions content-manager content-type-builder upload')

/** A record acts, grants access, or costs something. */
const acting = oneOf(
  '(?:api_?)?keys (?:access_?|refresh_?|api_?)?tokens sessions logins? auth passwords credentials secrets',
  'payments charges refunds transfers payouts e?mails sms messages notifications invitations invites',
  '(?:web_?)?hooks triggers functions flows workflows crons? queues',
)

/** Creating a record starts work; reading one is harmless. */
const working = oneOf('(?:cron_?)?jobs exports imports deployments builds')

/** Names of collections that configure the server or hold permissions. */
const configuring = oneOf(
  'super_?users? admins? administrators roles user_?roles permissions policies grants acls? access scopes',
  'oauth_?(?:clients|applications) settings configs? configurations? migrations schema_?migrations schemas',
  'content_?types collections fields relations presets plugins extensions buckets backups',
  'logs audits? audit_?logs? activity revisions',
)

const people = oneOf('users? accounts? members profiles identities principals logins operators')
const files = oneOf('files? uploads? media assets attachments')

/** Members of accounts: secrets, names for authentication, and rights. */
const secret = oneOf(
  '(?:(?:hashed|encrypted)_?)?pass(?:word|wd|phrase|code)(?:_?(?:hash|digest|salt|confirm(?:ation)?|reset.*))?',
  '(?:access|refresh|reset|auth|api|confirmation|verification|remember|static)_?token token_?key',
  '(?:api|private|secret)_?key client_?secret (?:tfa|mfa|otp|totp)_?secret',
)
const login = oneOf('e_?mail user_?name login login_?name')
const right = oneOf(
  'roles? is_?(?:admin|staff|super_?user) admin super_?user permissions scopes groups blocked confirmed verified',
  'email_?(?:visibility|verified) last_?(?:login|access|seen)(?:_?at)? provider',
)
const strongRight = oneOf('is_?(?:admin|staff|super_?user) super_?user permissions scopes last_?login(?:_?at)?')

/** Members of stored files. */
const fileFact = oneOf(
  'mime(?:_?type)? content_?type file_?name(?:_?(?:disk|download))? file_?size ext(?:ension)?',
  'hash checksum storage bucket url',
)

type Described = Pick<Candidate, 'name' | 'path' | 'operations' | 'creation' | 'changing' | 'record' | 'listed'>

/** Why the checker excludes a collection; `undefined` if the collection is one of an application's own. */
export function reasonToExclude(candidate: Described): string | undefined {
  const parts = candidate.path.split('/').filter((part) => part !== '')
  const name = (parts.at(-1) ?? candidate.name).replaceAll('-', '_')
  if (parts.some((part) => reserved.test(part.replaceAll('-', '_')) || systemPaths.test(part))) {
    return 'its name is one that systems reserve for themselves'
  }
  if (acting.test(name) || (working.test(name) && candidate.operations.includes('create'))) {
    return 'its records may act, grant access or cost something'
  }
  if (configuring.test(name)) return 'its records may configure the server or its permissions'
  const members = membersOf(candidate)
  const found = (pattern: RegExp) => members.find((each) => pattern.test(each))
  const password = found(secret)
  if (password !== undefined) return `its records look like accounts (${password})`
  const called = found(login)
  const entitled = found(people.test(name) ? right : strongRight)
  if (called !== undefined && entitled !== undefined)
    return `its records look like accounts (${called} and ${entitled})`
  const facts = members.filter((each) => fileFact.test(each))
  if (files.test(name) && facts.length > 1)
    return `its records look like stored files (${facts.slice(0, 2).join(' and ')})`
  return undefined
}

function membersOf({ creation, changing, record, listed }: Described): string[] {
  const described = [creation, changing, record].flatMap((schema) => Object.keys(objectOf(schema?.['properties'])))
  return [...new Set([...described, ...Object.keys(listed?.first ?? {})])]
}

/**
 * Whether a document keeps an application's collections below `/items`, as that of Directus. All others are the
 * system's.
 */
export function hasItemsPath(paths: readonly string[]): boolean {
  return paths.some((path) => path.startsWith('/items/')) && paths.includes('/collections') && paths.includes('/fields')
}

/** One line for each reason, with its collections and how to include them. */
export function exclusionNotices(all: readonly Excluded[]): string[] {
  return [...new Set(all.map(({ why }) => why))].map((why) => {
    const names = all.filter((each) => each.why === why).map(({ name }) => name)
    return (
      `${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} excluded: ${why}. Include one with --collection ` +
      'NAME or an entry in a profile.'
    )
  })
}
