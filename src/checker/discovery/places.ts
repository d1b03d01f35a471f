/** Where the collections of a document are: its servers' paths, and the address that was given. */
import type { Document } from './document.ts'
import type { Draft } from './drafts.ts'
import { serversOf } from './endpoints.ts'

/** The base of an interface: without a slash at the end, a query or a fragment. */
export function bareAddress(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname.replace(/\/+$/, '')
}

/** Paths with which those of a document may begin, the most likely first. */
export function beginnings({ root, url }: Document, given: string): string[] {
  const here = new URL(url ?? `${given}/`)
  const told = serversOf(root).flatMap((each) => (URL.canParse(each, here) ? [pathOf(new URL(each, here).href)] : []))
  const asked = pathOf(given)
  // Of several servers the one that was asked for.
  const sorted = told.toSorted((left, right) => Number(right === asked) - Number(left === asked))
  return [...new Set([...sorted, asked, ''])]
}

function pathOf(url: string): string {
  return new URL(url).pathname.replace(/\/+$/, '')
}

/** Collections from the root of a server, those under the given address alone where there are some; and their common base. */
export function placed(
  drafts: readonly Draft[],
  beginning: string,
  given: string,
): { readonly base: string; readonly drafts: readonly Draft[] } {
  const all = drafts.map((draft) => ({ ...draft, path: beginning + draft.path }))
  const asked = pathOf(given)
  const under = all.filter(({ path }) => path.startsWith(`${asked}/`))
  const kept = under.length > 0 ? under : all
  const base = deepened(
    under.length > 0 ? asked : '',
    kept.map(({ path }) => path),
  )
  return {
    base: new URL(given).origin + base,
    drafts: named(kept.map((draft) => ({ ...draft, path: draft.path.slice(base.length) }))),
  }
}

const isCommon = /^(?:api|rest|public|v\d[\w.-]*)$/i

/** A base with what all paths begin with after it, as far as it is usual: `/api/v1`. */
function deepened(base: string, paths: readonly string[]): string {
  const rests = paths.map((path) => path.slice(base.length).split('/'))
  const first = rests[0]?.[1]
  const isShared =
    first !== undefined && isCommon.test(first) && rests.every((each) => each.length > 2 && each[1] === first)
  return isShared ? deepened(`${base}/${first}`, paths) : base
}

/** Names that are there once: of two collections of one name the longer path. */
function named(drafts: readonly Draft[]): Draft[] {
  const count = (name: string) => drafts.filter((each) => each.name === name).length
  return drafts.map((draft) =>
    count(draft.name) === 1 ? draft : { ...draft, name: draft.path.slice(1).replaceAll('/', '-') },
  )
}
