/**
 * The four conditions as RFC 9110 sections 13.1 and 13.2.2 define them: the oracle of the table tests. The table has
 * the meaning of each field value, so the oracle parses no header.
 */
import { formatHttpDate } from 'resourced-contract/fields/header-fields'
import type { Verdict } from './preconditions.ts'

/** The expected result of a request. */
export type Answer = Verdict | 'MALFORMED_CONDITION'

/** A value of If-Match or If-None-Match, and its meaning. Without `text` the request has no such field. */
export interface TagForm {
  readonly text?: string
  readonly means?: 'any' | { readonly strong: readonly string[]; readonly weak: readonly string[] }
}

/** A value of If-Modified-Since or If-Unmodified-Since, and the second it means. */
export interface DateForm {
  readonly text?: string
  readonly means?: number
}

/** The record as it is: its tag, and the second of its last change. */
export interface State {
  readonly tag: string
  readonly date?: number
}

/** One request and the state it meets. */
export interface Row {
  readonly method: string
  readonly ifMatch: TagForm
  readonly ifNoneMatch: TagForm
  readonly ifModifiedSince: DateForm
  readonly ifUnmodifiedSince: DateForm
  readonly state: State | undefined
}

/** Every kind of value of If-Match and If-None-Match, for a client that has read the tag. */
export function tagForms(tag: string): Readonly<Record<string, TagForm>> {
  return {
    absent: {},
    exact: { text: `"${tag}"`, means: { strong: [tag], weak: [] } },
    'in a list': { text: `"5", W/"6" , "${tag}"`, means: { strong: ['5', tag], weak: ['6'] } },
    weak: { text: `W/"${tag}"`, means: { strong: [], weak: [tag] } },
    compressed: { text: `"${tag}-gzip"`, means: { strong: [tag], weak: [] } },
    '*': { text: '*', means: 'any' },
    malformed: { text: `"${tag}`, means: undefined },
    empty: { text: '', means: undefined },
  }
}

/** Every kind of value of the dates, for a record that was changed in that second. */
export function dateForms(second: number): Readonly<Record<string, DateForm>> {
  return {
    absent: {},
    before: { text: formatHttpDate(second - 1), means: second - 1 },
    same: { text: formatHttpDate(second), means: second },
    after: { text: formatHttpDate(second + 1), means: second + 1 },
    malformed: { text: '1970-01-01T00:16:40Z', means: undefined },
  }
}

/** RFC 9110 section 13.2.2, step by step; before it our rule on If-Match (CON-3). */
export function expected({ method, ifMatch, ifNoneMatch, ifModifiedSince, ifUnmodifiedSince, state }: Row): Answer {
  const isGetOrHead = method === 'GET' || method === 'HEAD'
  const exists = state !== undefined
  const date = state?.date

  const ifMatchIsPresent = ifMatch.text !== undefined
  if (ifMatchIsPresent && ifMatch.means === undefined) return 'MALFORMED_CONDITION'
  // 13.1.1: "*" is true where there is a current representation, a list where one tag matches. By our rule on If-Match,
  // the weak form of a tag matches, too.
  let ifMatchIsTrue = false
  if (exists && ifMatch.means === 'any') ifMatchIsTrue = true
  else if (exists && ifMatch.means !== 'any' && ifMatch.means !== undefined) {
    const { strong, weak } = ifMatch.means
    ifMatchIsTrue = strong.includes(state.tag) || weak.includes(state.tag)
  }

  // 13.1.2: "*" is false where there is a current representation, a list where one tag matches by weak comparison.
  const ifNoneMatchIsPresent = ifNoneMatch.text !== undefined
  let ifNoneMatchIsTrue = true
  if (exists && ifNoneMatch.means === 'any') ifNoneMatchIsTrue = false
  else if (exists && ifNoneMatch.means !== undefined && ifNoneMatch.means !== 'any') {
    const { strong, weak } = ifNoneMatch.means
    if (strong.includes(state.tag) || weak.includes(state.tag)) ifNoneMatchIsTrue = false
  }

  // 13.1.3: ignored where it is no date, where there is no date to compare with, for any other method, and where the
  // request contains If-None-Match: contains, whether or not that can be read.
  const ifModifiedSinceCounts =
    ifModifiedSince.means !== undefined && date !== undefined && isGetOrHead && !ifNoneMatchIsPresent
  const ifModifiedSinceIsTrue = !(Number(date) <= Number(ifModifiedSince.means))

  // 13.1.4: ignored where it is no date, where there is no date to compare with, and where If-Match is present.
  const ifUnmodifiedSinceCounts = ifUnmodifiedSince.means !== undefined && date !== undefined && !ifMatchIsPresent
  const ifUnmodifiedSinceIsTrue = Number(date) <= Number(ifUnmodifiedSince.means)

  // Steps 1 to 4; step 5 is of If-Range, step 6 performs the method.
  if (ifMatchIsPresent && !ifMatchIsTrue) return { failed: 'If-Match' }
  if (ifUnmodifiedSinceCounts && !ifUnmodifiedSinceIsTrue) return { failed: 'If-Unmodified-Since' }
  if (ifNoneMatchIsPresent && !ifNoneMatchIsTrue) return isGetOrHead ? 'not-modified' : { failed: 'If-None-Match' }
  if (ifModifiedSinceCounts && !ifModifiedSinceIsTrue) return 'not-modified'
  return 'proceed'
}
