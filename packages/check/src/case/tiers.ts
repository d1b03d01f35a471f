/**
 * The tier of each case: what it is worth to a server that never claimed to follow this specification. A rule gives its
 * tier to its cases; the second table names the cases that differ.
 */
import type { RuleLevel } from 'resourced-contract/spec/rules/rule'
import { type Case, ruleOf } from './case.ts'

/** The tiers, in the order in which reports show them. */
export const tiers = ['http', 'safety', 'choices'] as const

export type Tier = (typeof tiers)[number]

export interface Placement {
  readonly tier: Tier
  /** The section of the standard that it follows from: every case about HTTP has one. */
  readonly section?: string
  /** The level that the standard has for it, if other than that of the case. */
  readonly level?: RuleLevel
}

/** A fact of HTTP: it holds for every server. */
const http = (section: string, level?: RuleLevel): Placement => ({
  ...{ tier: 'http', section: section.includes(',') ? section : `RFC 9110, section ${section}` },
  ...(level && { level }),
})

/** Data that is lost, changed or disclosed: updates, deletions, permissions, limits. */
const safety: Placement = { tier: 'safety' }

/** The specification chooses it; another choice is as good. */
const choice: Placement = { tier: 'choices' }

const protocol = 'Fetch, CORS protocol'

const byRule: Readonly<Record<string, Placement>> = {
  ...of(choice, 'RES-1 RES-2 RES-3 RES-4 RES-5 RES-6 RES-7 RES-8 RES-9 RES-10 MET-2 MET-3 MET-4 MET-7 MET-8'),
  ...of(choice, 'MET-9 MET-10 QRY-1 QRY-2 QRY-3 QRY-4 QRY-5 QRY-6 QRY-7 QRY-8 QRY-9 WHR-5 PAG-1 PAG-2 PAG-3'),
  ...of(choice, 'PAG-4 PAG-5 PAG-7 CON-1 CON-6 CON-8 HED-2 OPT-2 OPT-6 DEL-2 DEL-3 DEL-6 DEL-8 DEL-9 DEL-10'),
  ...of(choice, 'JOB-1 JOB-2 JOB-4 JOB-6 EVT-1 EVT-2 EVT-3 EVT-5 EVT-6 EVT-8 ERR-2 ERR-3 LIM-3 LIM-2 LIM-5'),
  ...of(choice, 'VER-1 VER-2 DOC-1 OPS-1'),
  // OPTIONS need not be supported.
  'OPT-1': choice,
  ...of(safety, 'MET-5 PAG-6 OPT-5 DEL-1 DEL-4 DEL-5 DEL-7 DEL-11 AUT-1 AUT-2 AUT-3 AUT-4 AUT-5 AUT-6 AUT-7'),
  ...of(safety, 'EVT-4 EVT-7 ERR-4 LIM-1 SEC-1 SEC-2 SEC-3'),
  'CON-7': { ...safety, section: 'RFC 6585, section 3' },
  ...of({ ...safety, section: 'RFC 9110, section 13.1.1' }, 'CON-3 CON-5'),
  'CON-2': http('8.8.1'),
  'MET-1': http('9.2.1'),
  'HED-1': http('9.3.2', 'should'),
  'CON-4': http('13.1.2'),
  'HED-3': http('14.2'),
  'ERR-1': http('15.5'),
  'MET-6': http('15.5.6'),
  'VER-4': http('15.5.11', 'should'),
  'ERR-5': http('15.6'),
  'VER-3': http('RFC 9745, section 2'),
  ...of(http(protocol), 'OPT-3 OPT-4'),
}

const byCase: Readonly<Record<Case['id'], Placement>> = {
  ...of(choice, 'CON-2/etag-of-change CON-3/malformed-delete CON-3/malformed-put CON-3/malformed-patch'),
  ...of(choice, 'CON-3/status-delete CON-3/status-put CON-3/status-patch OPT-3/no-content'),
  ...of(choice, 'OPT-3/condition-headers OPT-3/age OPT-3/no-preflight DEL-4/errors DEL-4/status'),
  ...of(choice, 'DEL-5/own-variant DEL-11/free-again ERR-4/server-names VER-3/works'),
  // RFC 9110 defines ranges for GET only.
  ...of(choice, 'HED-3/announced HED-3/head'),
  // Servers without credentials in cookies may allow every origin.
  ...of(choice, 'OPT-4/foreign OPT-4/foreign-preflight OPT-4/null OPT-4/null-preflight'),
  // Data may be public, and credentials may be sent in other ways.
  ...of(choice, 'AUT-1/bearer AUT-1/list AUT-1/record AUT-1/other-scheme AUT-1/no-scheme AUT-1/challenge'),
  ...of(choice, 'AUT-1/malformed AUT-1/no-cookie AUT-1/wrong-status'),
  // 422 is a common status of validation, and 400 of an identifier of another form.
  ...of(choice, 'ERR-5/validation ERR-5/malformed-json ERR-5/record'),
  ...of(safety, 'RES-4/kept MET-2/kept MET-4/others MET-9/other-caller MET-9/at-once QRY-3/ties QRY-6/forbidden'),
  ...of(safety, 'QRY-9/not-repeated PAG-5/nobody PAG-5/other-caller CON-4/nobody OPT-4/longer'),
  ...of(safety, 'OPT-4/longer-preflight DEL-3/odd DEL-8/done DEL-9/others-stay DEL-9/all-or-nothing'),
  ...of(safety, 'DEL-9/already-gone DEL-9/dependents DEL-9/at-once DEL-9/many DEL-9/odd DEL-9/empty'),
  ...of(safety, 'DEL-9/no-list DEL-10/others-stay DEL-10/maximum JOB-4/others JOB-4/not-listed JOB-6/others'),
  ...of(safety, 'EVT-6/others EVT-8/hidden OPS-1/metrics'),
  ...of({ ...safety, section: 'RFC 6585, section 4' }, 'LIM-1/too-many LIM-1/retry-after'),
  'CON-2/strong-etag': { ...safety, section: 'RFC 9110, section 13.1.1', level: 'should' },
  // Without a validator, clients cannot prevent lost updates.
  'CON-2/etag': { ...safety, section: 'RFC 9110, section 8.8.4', level: 'should' },
  ...of({ ...safety, section: 'RFC 9111, section 5.2.2.7' }, 'CON-1/private-read CON-1/private-list'),
  'DEL-2/no-body': http('8.6'),
  'CON-2/last-modified': http('8.8.2.1', 'should'),
  'CON-2/list-etag': http('8.8.4', 'should'),
  'MET-3/twice': http('9.2.2'),
  ...of(http('9.3.2', 'must'), 'HED-1/no-body-record HED-1/no-body-list HED-1/no-body-missing'),
  ...of(http('9.3.3', 'should'), 'MET-2/created MET-2/location'),
  ...of(http('9.3.4'), 'MET-3/kept MET-3/clears'),
  'DEL-2/answer': http('9.3.5', 'should'),
  'MET-2/location-leads': http('10.2.2'),
  'AUT-1/scheme-in-any-case': http('11.1'),
  ...of(http('11.6.1'), 'AUT-1/www-authenticate AUT-1/creation-challenge'),
  'ERR-5/accept': http('12.5.1'),
  'CON-8/vary': http('12.5.5'),
  ...of(http('13.1.3'), 'CON-4/date CON-4/head-date CON-4/earlier-date CON-4/no-date'),
  ...of(http('13.1.5'), 'HED-3/if-range HED-3/if-range-other'),
  ...of(http('13.2.1'), 'CON-4/deleted CON-6/404-before-412'),
  ...of(http('13.2.2'), 'CON-4/tag-before-date HED-3/not-modified'),
  ...of(http('14.1.2'), 'HED-3/rest HED-3/last HED-3/over-end'),
  ...of(http('14.2'), 'HED-3/backwards JOB-6/resumed'),
  'HED-3/length': http('15.3.7'),
  'HED-3/several': http('15.3.7.2'),
  'VER-4/target': http('15.4', 'should'),
  'CON-4/fields': http('15.4.5'),
  ...of(http('15.5.4', 'should'), 'AUT-4/create AUT-4/read AUT-4/update AUT-4/delete'),
  ...of(http('15.5.5'), 'JOB-1/unknown ERR-5/path'),
  ...of(http('15.5.6', 'should'), 'MET-6/status DEL-10/not-offered'),
  'ERR-5/media-type': http('15.5.16'),
  'HED-3/beyond': http('15.5.17'),
  ...of(http('15.6'), 'QRY-5/syntax PAG-1/no-number PAG-7/far'),
  'DEL-4/refused': http('15.6', 'should'),
  ...of(http('RFC 5789, section 2'), 'MET-4/kept MET-4/json-patch-test'),
  'MET-7/patch': http('RFC 5789, section 2.2', 'should'),
  ...of(http('RFC 8288, section 3'), 'PAG-7/link-followed PAG-7/link-cursor-followed VER-3/link'),
  'VER-3/sunset': http('RFC 8594, section 3'),
  'RES-10/escape': http('RFC 9112, section 3.2', 'should'),
}

function of(placement: Placement, names: string): Readonly<Record<string, Placement>> {
  return Object.fromEntries(names.split(' ').map((name) => [name, placement]))
}

export function placementOf(one: Pick<Case, 'id'>): Placement {
  return byCase[one.id] ?? byRule[ruleOf(one)] ?? choice
}

/** The cases and rules that the tables name. */
export const placed: readonly string[] = [...Object.keys(byRule), ...Object.keys(byCase)]
