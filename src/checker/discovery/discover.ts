/** From an address to a profile, with safe requests alone. */

import { isSequential } from '../case/identifiers.ts'
import { jsonOf } from '../client/exchange.ts'
import { CannotCheck, type CollectionProfile, type Names, type Profile, usualNames } from '../profile/profile.ts'
import { mergeProfile, type PartialProfile } from '../profile/profile-file.ts'
import { countOfMeans } from '../run/choose-collections.ts'
import { type JsonObject, objectOf } from '../values/json.ts'
import { type Asker, ask, isGood } from './asker.ts'
import { type Document, expanded } from './document.ts'
import { type Draft, draftsOf, errorSchemas, isNumbered } from './drafts.ts'
import { addressesOf, serversOf } from './endpoints.ts'
import { findDocument, namedDocument } from './find-document.ts'
import { keepsItemsApart, type LeftAlone, noticesOf, reasonToLeave } from './left-alone.ts'
import { draftFrom, idIn, isList, type Looked, linksAt, lookAt } from './look.ts'
import { describe, narrowMembers } from './members.ts'
import { finishedOf, namesInError, namesOfErrors, namesOfList } from './names.ts'
import { bareAddress, beginnings, placed } from './places.ts'
import { reasonOf } from './reason.ts'

/** What to look for. */
export interface Looking {
  /** The address that was given. */
  readonly url: string
  /** A file or an address of the OpenAPI document; found at the usual places unless given. */
  readonly openapi?: string | undefined
  /** Collections to keep to; all that are found unless given. */
  readonly only?: readonly string[] | undefined
  readonly said?: PartialProfile | undefined
}

/** What was found. */
export interface Discovered {
  readonly profile: Profile
  /** What whoever asked should know. */
  readonly notices: readonly string[]
  /** Collections that no document describes: what can be done with them is found out by trying. */
  readonly guessed: ReadonlySet<string>
}

/**
 * Looks at a server.
 *
 * @throws CannotCheck where it does not answer, wants a credential first, or has no collection that anybody can find
 */
export async function discover(asker: Asker, { url, openapi, only = [], said = {} }: Looking): Promise<Discovered> {
  const isDocument = /\.(?:json|ya?ml)$/.test(new URL(url).pathname)
  const given = said.base ?? (isDocument ? new URL(url).origin : bareAddress(url))
  const root = await ask(asker, 'GET', isDocument ? url : given)
  if (root.answer === undefined) throw new CannotCheck(reasonOf(new URL(url), String(root.failure)))
  const named = openapi ?? (isDocument ? url : said.document)
  const document = named === undefined ? await findDocument(asker, given) : await namedDocument(asker, named)
  const notices: string[] = []
  const described = document === undefined ? undefined : await inDocument(asker, document, given)
  const base = said.base ?? described?.base ?? given
  const wanted = (draft: Pick<Draft, 'name' | 'path'>) =>
    only.length === 0 || only.some((each) => isCalled(draft, each))
  const isNamed = (draft: Pick<Draft, 'name' | 'path'>) =>
    only.some((each) => isCalled(draft, each)) || Object.hasOwn(said.collections ?? {}, draft.name)
  const left: LeftAlone[] = []
  const isApart = keepsItemsApart(described?.drafts.map(({ path }) => path) ?? [])
  /** Whether a collection may be used; what is left alone is not even read. */
  const isOurs = (draft: Draft, first?: JsonObject) => {
    const isSystems = isApart && !draft.path.startsWith('/items/')
    const why = isNamed(draft)
      ? undefined
      : (reasonToLeave(draft, first) ?? (isSystems ? 'the collections of the application are below /items' : undefined))
    if (why !== undefined) left.push({ name: draft.name, why })
    return why === undefined
  }
  const all = (described?.drafts ?? []).filter((draft) => isOurs(draft))
  const written = Object.entries(said.collections ?? {}).flatMap(([name, each]) =>
    each === false ? [] : [each.path ?? `/${name}`],
  )
  const paths = [...only.map((each) => `/${each.replace(/^\//, '')}`), ...written].filter(
    (path) => !described?.drafts.some((draft) => draft.path === path || isCalled(draft, path.slice(1))),
  )
  if (!described?.drafts.length && paths.length === 0) {
    paths.push(...(await linksAt(asker, base)).filter((path) => isOurs(bareDraft(path))))
  }
  const looked = new Map<string, Looked>()
  await Promise.all(
    [...new Set([...all.filter((each) => each.operations.includes('list')).map(({ path }) => path), ...paths])]
      .slice(0, mostLists)
      .map(async (path) => looked.set(path, await lookAt(asker, base + path))),
  )
  checkAdmitted([...looked.values()], root.answer.status, asker)
  const guesses = await Promise.all(
    paths.flatMap((path) => {
      const seen = looked.get(path)
      return seen !== undefined && isList(seen) ? [draftFrom(asker, base, path, seen)] : []
    }),
  )
  const drafts = [...all, ...guesses]
  const kept = drafts.filter((draft) => wanted(draft) || isReferredTo(draft, drafts.filter(wanted)))
  const used = kept.filter((draft) => isOurs(draft, looked.get(draft.path)?.first))
  notices.push(...noticesOf(left.filter(({ name }) => wanted({ name, path: `/${name}` }))))
  if (used.some(({ isSlashed }) => isSlashed))
    notices.push('Paths are written with a slash at their end; they are asked for without it.')
  const known = used.map((draft) => {
    const { collection, notices: told } = describe(observed(draft, looked.get(draft.path)), used)
    const id = looked.get(draft.path)?.first?.[collection.id]
    const sequential = id === undefined ? isNumbered(draft, collection.id) : isSequential(String(id))
    return { collection: { ...collection, sequential }, notices: told }
  })
  notices.push(...known.flatMap((each) => each.notices))
  const profile: Profile = {
    base,
    collections: known.map(({ collection }) => collection),
    names: await namesOf(asker, base, document, drafts, [...looked.values()]),
    document: document?.url,
    open: document === undefined ? [] : await openPaths(asker, document, base),
    ...(document === undefined ? {} : spokenOf(document)),
  }
  const found = mergeProfile(profile, said)
  const whole = {
    ...found,
    collections: found.collections.toSorted((left, right) => worth(right, found) - worth(left, found)),
  }
  if (whole.collections.length === 0) throw new CannotCheck(nothingFound(given, document, only, left))
  return { profile: whole, notices, guessed: new Set(guesses.map(({ name }) => name)) }
}

const mostLists = 60

function isCalled({ name, path }: Pick<Draft, 'name' | 'path'>, called: string): boolean {
  const bare = called.replace(/^\//, '')
  return name === bare || path === `/${bare}`
}

/** Whether records of one of these cannot be made without it. */
function isReferredTo(draft: Draft, by: readonly Draft[]): boolean {
  return by.some((each) => Object.values(describe(each, [each, draft]).collection.references).includes(draft.name))
}

/** A collection of which only the path is known. */
function bareDraft(path: string): Draft {
  return {
    ...{ name: path.split('/').at(-1) ?? '', path, operations: [], query: [], below: [], deletionAnswers: [] },
    ...{ isConditional: false, isSlashed: false },
  }
}

/** A draft with what its list has shown, where the document is silent. */
function observed(draft: Draft, looked: Looked | undefined): Draft {
  const first = looked?.first
  if (first === undefined) return draft
  const id = idIn(first, draft.name)
  return draft.idParameter === undefined && id !== undefined ? { ...draft, idParameter: id } : draft
}

/** More can be tried on it, and with less beside it. */
function worth(collection: CollectionProfile, profile: Profile): number {
  const isMade = collection.operations.includes('create') && collection.example !== undefined
  return (
    countOfMeans(collection, profile) +
    (isMade ? 20 : 0) -
    3 * Object.keys(collection.references).length -
    4 * narrowMembers(collection).length
  )
}

async function inDocument(asker: Asker, document: Document, given: string) {
  const drafts = draftsOf(document)
  const probe = drafts.find(({ operations }) => operations.includes('list')) ?? drafts[0]
  if (probe === undefined) return undefined
  const all = beginnings(document, given)
  for (const beginning of all) {
    const { answer } = await ask(asker, 'GET', new URL(given).origin + beginning + probe.path)
    if (answer !== undefined && answer.status !== 404 && answer.status < 500) return placed(drafts, beginning, given)
  }
  return placed(drafts, all[0] ?? '', given)
}

function checkAdmitted(looked: readonly Looked[], root: number, { credential }: Asker): void {
  const statuses = looked.map(({ exchange }) => exchange.answer?.status ?? 0)
  const all = statuses.length > 0 ? statuses : [root]
  if (!all.every((status) => status === 401 || status === 403)) return
  throw new CannotCheck(
    credential.length === 0
      ? `The server answers ${all[0]} to everything: it wants a credential. Give one with --key KEY (Authorization: Bearer), RESOURCED_CHECK_KEY, or --header 'Name: value'.`
      : `The server answers ${all[0]} to everything, also with the credential that was given. Give one that may read and change, with --key or --header.`,
  )
}

function nothingFound(
  given: string,
  document: Document | undefined,
  only: readonly string[],
  left: readonly LeftAlone[],
): string {
  if (left.length > 0 && only.length === 0) return ['No collection is left to check.', ...noticesOf(left)].join('\n')
  if (only.length > 0)
    return `There is no collection ${only.join(' or ')} at ${given}: GET of it answers no list. Name it as its path has it.`
  return document === undefined
    ? `No OpenAPI document was found at ${given}, and no collection either. Give the document with --openapi FILE or URL, or name a collection: --collection cities.`
    : `The OpenAPI document ${document.url ?? ''} describes no collection: no path /x beside a path /x/{id}. Name one with --collection cities.`
}

/** What is called how: what was seen counts more than what a document says, and that more than what is usual. */
async function namesOf(
  asker: Asker,
  base: string,
  document: Document | undefined,
  drafts: readonly Draft[],
  looked: readonly Looked[],
): Promise<Names> {
  const told = drafts.flatMap(({ list }) => (list === undefined ? [] : [namesOfList(list)]))
  const seen = looked.filter(isList).map(({ names }) => names)
  const { answer } = await ask(asker, 'GET', `${base}/no-such-collection-${Date.now().toString(36)}`)
  const error = answer !== undefined && answer.status >= 400 ? namesInError(jsonOf(answer)) : {}
  const job = drafts.find(({ name }) => name === 'jobs')?.record
  const finished = finishedOf(job)
  return {
    ...usualNames,
    ...Object.assign({}, ...told.toReversed()),
    ...(document === undefined ? {} : namesOfErrors(errorSchemas(document))),
    ...Object.assign({}, ...seen.toReversed()),
    ...error,
    ...(finished !== undefined && { finished }),
  }
}

/** What a document says of the server as a whole. */
function spokenOf({ root }: Document) {
  const addresses = addressesOf(root)
  const fields = addresses.flatMap(({ endpoints }) => [...endpoints.values()].flatMap(({ parameters }) => parameters))
  const versionField = fields.find(
    (each) => each.in === 'header' && /^(?:x-)?(?:api|accept)-version$/i.test(each.name),
  )?.name
  const body = addresses.find(({ path }) => /\/exports$/.test(path))?.endpoints.get('POST')?.body
  const properties = objectOf(body && expanded(root, body['schema'])['properties'])
  const formats = objectOf(properties['format'])['enum']
  return {
    ...(versionField !== undefined && { versionField }),
    ...(Array.isArray(formats) && 'collection' in properties && { exports: formats.map(String) }),
  }
}

/** Paths that the document calls open to all, and are. */
async function openPaths(asker: Asker, { root, url }: Document, base: string): Promise<string[]> {
  const here = new URL(url ?? `${base}/`)
  const open = addressesOf(root).filter(
    ({ path, endpoints }) =>
      /health|alive|live|ready|status|ping/i.test(path) && !path.includes('{') && endpoints.get('GET')?.isOpen,
  )
  const paths = open.slice(0, 10).map(({ path, servers }) => {
    const server = servers[0] ?? serversOf(root)[0] ?? ''
    return (URL.canParse(server, here) ? new URL(server, here).pathname.replace(/\/+$/, '') : '') + path
  })
  const answers = await Promise.all(
    paths.map((path) => ask(asker, 'GET', new URL(base).origin + path, { asNobody: true })),
  )
  return paths.filter((_, index) => isGood(answers[index]?.answer))
}
