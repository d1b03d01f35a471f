/** Every kind of difference, and whether it breaks clients (spec 9.3) or not (spec 9.4). Decision 023 has the reasons. */

/** Whether clients of the old interface break. `review`: what is compared does not say. */
export type Severity = 'breaking' | 'review' | 'compatible'

/** Which way what differs travels: to the server, or back. */
export type Direction = 'request' | 'response'

type Judgement = Severity | Readonly<Record<Direction, Severity>>

// The server must go on accepting the requests that it accepted; clients must go on understanding the answers that they get.
const narrowed: Judgement = { request: 'breaking', response: 'compatible' }
const widened: Judgement = { request: 'compatible', response: 'breaking' }

const judgements = {
  'version-removed': 'breaking',
  'version-retired': 'compatible',
  'version-added': 'compatible',
  'resource-removed': 'breaking',
  'resource-added': 'compatible',
  'operation-removed': 'breaking',
  'operation-added': 'compatible',
  'operation-deprecated': 'compatible',
  'security-added': 'breaking',
  'security-relaxed': 'compatible',

  'parameter-removed': 'breaking',
  'parameter-added': 'compatible',
  'parameter-added-required': 'breaking',
  'parameter-required': 'breaking',
  'parameter-optional': 'compatible',
  'parameter-written': 'breaking',
  'body-removed': 'breaking',
  'body-added': 'compatible',
  'body-added-required': 'breaking',
  'body-required': 'breaking',
  'body-optional': 'compatible',
  'media-type-removed': 'breaking',
  'media-type-added': 'compatible',
  'status-removed': 'breaking',
  'status-added': 'review',
  'part-status-added': 'compatible',
  'condition-required': 'breaking',
  'condition-optional': 'compatible',
  'code-removed': 'breaking',
  'code-added': 'review',
  'header-removed': 'breaking',
  'header-added': 'compatible',

  'field-removed': 'breaking',
  'field-added': 'compatible',
  'field-added-required': 'breaking',
  'field-required': narrowed,
  'field-optional': widened,
  'field-read-only': 'breaking',
  'field-deprecated': 'compatible',
  'type-changed': 'breaking',
  'type-narrowed': narrowed,
  'type-widened': widened,
  'null-added': widened,
  'null-removed': narrowed,
  'values-removed': narrowed,
  'values-added': widened,
  'values-listed': narrowed,
  'values-unlisted': widened,
  'limit-narrowed': narrowed,
  'limit-widened': widened,
  'format-changed': 'breaking',
  'pattern-changed': 'review',
  'keyword-changed': 'review',
  'default-changed': 'review',
  'object-closed': 'breaking',
  'object-opened': 'compatible',
  'others-widened': 'breaking',

  'access-narrowed': 'breaking',
  'access-widened': 'compatible',
  'access-changed': 'review',
  'deletion-hard': 'breaking',
  'deletion-soft': 'compatible',
  'grace-shortened': 'breaking',
  'grace-lengthened': 'compatible',
  'deletion-answer': 'breaking',
  'deletion-always-later': 'breaking',
  'deletion-sooner-later': 'review',
  'unique-added': 'breaking',
  'immutable-added': 'breaking',
  'immutable-removed': 'compatible',
  'transitions-removed': 'breaking',
  'transitions-added': 'compatible',
  'reference-changed': 'breaking',
  'on-delete-stricter': 'breaking',
  'on-delete-changed': 'review',
  'owner-changed': 'breaking',
  'search-removed': 'breaking',
  'search-added': 'compatible',
  'rule-added': 'breaking',
  'rule-changed': 'review',
  'body-limit-lowered': 'breaking',
  'export-limit-lowered': 'breaking',
  'rate-lowered': 'review',
  'cached-longer': 'review',
} as const satisfies Readonly<Record<string, Judgement>>

/** A kind of difference. Stable: programs may look at it. */
export type Kind = keyof typeof judgements

/** Every kind. */
export const kinds = Object.keys(judgements) as Kind[]

/** Whether a difference breaks clients. */
export function severityOf(kind: Kind, direction: Direction | undefined): Severity {
  const judgement: Judgement = judgements[kind]
  if (typeof judgement === 'string') return judgement
  // What travels both ways breaks where either does.
  return direction === undefined ? 'breaking' : judgement[direction]
}
