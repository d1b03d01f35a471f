/** Finds the base address of an interface: where on the server the paths of its document begin. */
import { type Requester, request } from '../client/client.ts'
import { serverPaths } from '../values/openapi.ts'
import { type Candidate, candidatesIn } from './candidate.ts'
import type { Document } from './openapi.ts'

/** An address without a slash at its end, a query and a fragment. */
export function bareAddress(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname.replace(/\/+$/, '')
}

/** The path of an address; empty for the root. */
export function pathAt(url: string): string {
  return new URL(url).pathname.replace(/\/+$/, '')
}

/** The collections that a document describes, with their paths from the base of the interface. */
export interface Located {
  readonly base: string
  readonly candidates: readonly Candidate[]
}

/** Tries the prefixes of a document's paths until one of its collections answers. */
export async function locate(requester: Requester, document: Document, given: string): Promise<Located> {
  const candidates = candidatesIn(document.root)
  const probe = candidates.find(({ operations }) => operations.includes('list')) ?? candidates[0]
  if (probe === undefined) return { base: given, candidates }
  const prefixes = pathPrefixes(document, given)
  for (const prefix of prefixes) {
    const { answer } = await request(requester, 'GET', new URL(given).origin + prefix + probe.path)
    if (answer !== undefined && answer.status !== 404 && answer.status < 500) return placed(candidates, prefix, given)
  }
  return placed(candidates, prefixes[0] ?? '', given)
}

/** Prefixes that the paths of a document may have on the server, the most likely first. */
export function pathPrefixes({ root, url }: Document, given: string): string[] {
  const asked = pathAt(given)
  const sorted = serverPaths(root, url ?? `${given}/`).toSorted(
    (left, right) => Number(right === asked) - Number(left === asked),
  )
  return [...new Set([...sorted, asked, ''])]
}

/** Candidates with their paths from the base. If some are below the given address, the others are left out. */
export function placed(candidates: readonly Candidate[], prefix: string, given: string): Located {
  const all = candidates.map((each) => ({ ...each, path: prefix + each.path }))
  const asked = pathAt(given)
  const below = all.filter(({ path }) => path.startsWith(`${asked}/`))
  const kept = below.length > 0 ? below : all
  const base = commonBase(
    below.length > 0 ? asked : '',
    kept.map(({ path }) => path),
  )
  return {
    base: new URL(given).origin + base,
    candidates: withUniqueNames(kept.map((each) => ({ ...each, path: each.path.slice(base.length) }))),
  }
}

const usualSegment = /^(?:api|rest|public|v\d[\w.-]*)$/i

/** A base, extended by the usual segments with which all paths go on: `/api/v1`. */
function commonBase(base: string, paths: readonly string[]): string {
  const rests = paths.map((path) => path.slice(base.length).split('/'))
  const first = rests[0]?.[1]
  const isShared =
    first !== undefined && usualSegment.test(first) && rests.every((each) => each.length > 2 && each[1] === first)
  return isShared ? commonBase(`${base}/${first}`, paths) : base
}

/** Collections with the same name are named by their whole paths. */
function withUniqueNames(candidates: readonly Candidate[]): Candidate[] {
  const count = (name: string) => candidates.filter((each) => each.name === name).length
  return candidates.map((each) =>
    count(each.name) === 1 ? each : { ...each, name: each.path.slice(1).replaceAll('/', '-') },
  )
}
