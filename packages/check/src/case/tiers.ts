/**
 * The tier of each case: what it is worth to a server that never claimed to follow this specification. A rule gives its
 * tier to its cases; the second table names the cases that differ.
 */
import type { RuleLevel } from 'resourced-contract/spec/rules/rule'
import { type Case, ruleOf } from './case.ts'

/** The tiers, in the order in which reports show them. */
export const tiers = ['http', 'safety', 'choices'] as const

export type Tier = (typeof tiers)[number]

/** Where a case belongs. */
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
  ...of(choice, 'RES-1 RES-2 RES-3 RES-4 RES-5 RES-6 RES-7 RES-8 RES-9 RES-10'),
  'MET-1': http('9.2.1'),
  ...of(choice, 'MET-2 MET-3 MET-4 MET-7 MET-8 MET-9 MET-10'),
  'MET-5': safety,
  'MET-6': http('15.5.6'),
  ...of(choice, 'QRY-1 QRY-2 QRY-3 QRY-4 QRY-5 QRY-6 QRY-7 QRY-8 QRY-9 WHR-5'),
  ...of(choice, 'PAG-1 PAG-2 PAG-3 PAG-4 PAG-5 PAG-7'),
  'PAG-6': safety,
  'CON-1': choice,
  'CON-2': http('8.8.1'),
  'CON-3': { ...safety, section: 'RFC 9110, section 13.1.1' },
  'CON-4': http('13.1.2'),
  'CON-5': { ...safety, section: 'RFC 9110, section 13.1.1' },
  'CON-6': choice,
  'CON-7': { ...safety, section: 'RFC 6585, section 3' },
  'CON-8': choice,
  'HED-1': http('9.3.2', 'should'),
  'HED-2': choice,
  'HED-3': http('14.2'),
  // OPTIONS need not be supported.
  'OPT-1': choice,
  'OPT-2': choice,
  'OPT-3': http(protocol),
  'OPT-4': http(protocol),
  'OPT-5': safety,
  'OPT-6': choice,
  ...of(safety, 'DEL-1 DEL-4 DEL-5 DEL-7 DEL-11'),
  ...of(choice, 'DEL-2 DEL-3 DEL-6 DEL-8 DEL-9 DEL-10'),
  ...of(choice, 'JOB-1 JOB-2 JOB-4 JOB-6'),
  ...of(safety, 'AUT-1 AUT-2 AUT-3 AUT-4 AUT-5 AUT-6 AUT-7'),
  ...of(choice, 'EVT-1 EVT-2 EVT-3 EVT-5 EVT-6 EVT-8'),
  ...of(safety, 'EVT-4 EVT-7'),
  'ERR-1': http('15.5'),
  ...of(choice, 'ERR-2 ERR-3'),
  'ERR-4': safety,
  'ERR-5': http('15.6'),
  'LIM-1': safety,
  'LIM-3': choice,
  ...of(choice, 'LIM-2 LIM-5 VER-1 VER-2'),
  'VER-3': http('RFC 9745, section 2'),
  'VER-4': http('15.5.11', 'should'),
  ...of(safety, 'SEC-1 SEC-2 SEC-3'),
  ...of(choice, 'DOC-1 OPS-1'),
}

const byCase: Readonly<Record<Case['id'], Placement>> = {
  'RES-4/kept': safety,
  'RES-10/escape': http('RFC 9112, section 3.2', 'should'),
  'MET-2/created': http('9.3.3', 'should'),
  'MET-2/location': http('9.3.3', 'should'),
  'MET-2/location-leads': http('10.2.2'),
  'MET-2/kept': safety,
  'MET-3/kept': http('9.3.4'),
  'MET-3/clears': http('9.3.4'),
  'MET-3/twice': http('9.2.2'),
  'MET-4/kept': http('RFC 5789, section 2'),
  'MET-4/others': safety,
  'MET-4/json-patch-test': http('RFC 5789, section 2'),
  'MET-6/status': http('15.5.6', 'should'),
  'MET-7/patch': http('RFC 5789, section 2.2', 'should'),
  'MET-9/other-caller': safety,
  'MET-9/at-once': safety,
  'QRY-3/ties': safety,
  'QRY-5/syntax': http('15.6'),
  'QRY-6/forbidden': safety,
  'QRY-9/not-repeated': safety,
  'PAG-1/no-number': http('15.6'),
  'PAG-5/nobody': safety,
  'PAG-5/other-caller': safety,
  'PAG-7/link-followed': http('RFC 8288, section 3'),
  'PAG-7/link-cursor-followed': http('RFC 8288, section 3'),
  'PAG-7/far': http('15.6'),
  'CON-1/private-read': { ...safety, section: 'RFC 9111, section 5.2.2.7' },
  'CON-1/private-list': { ...safety, section: 'RFC 9111, section 5.2.2.7' },
  // Without a validator, clients cannot prevent lost updates.
  'CON-2/etag': { ...safety, section: 'RFC 9110, section 8.8.4', level: 'should' },
  'CON-2/strong-etag': { ...safety, section: 'RFC 9110, section 13.1.1', level: 'should' },
  'CON-2/etag-of-change': choice,
  'CON-2/last-modified': http('8.8.2.1', 'should'),
  'CON-2/list-etag': http('8.8.4', 'should'),
  ...of(choice, 'CON-3/malformed-delete CON-3/malformed-put CON-3/malformed-patch'),
  ...of(choice, 'CON-3/status-delete CON-3/status-put CON-3/status-patch'),
  'CON-4/fields': http('15.4.5'),
  'CON-4/deleted': http('13.2.1'),
  'CON-4/nobody': safety,
  ...of(http('13.1.3'), 'CON-4/date CON-4/head-date CON-4/earlier-date CON-4/no-date'),
  'CON-4/tag-before-date': http('13.2.2'),
  'CON-6/404-before-412': http('13.2.1'),
  'CON-8/vary': http('12.5.5'),
  ...of(http('9.3.2', 'must'), 'HED-1/no-body-record HED-1/no-body-list HED-1/no-body-missing'),
  // RFC 9110 defines ranges for GET only.
  ...of(choice, 'HED-3/announced HED-3/head'),
  'HED-3/length': http('15.3.7'),
  ...of(http('14.1.2'), 'HED-3/rest HED-3/last HED-3/over-end'),
  'HED-3/beyond': http('15.5.17'),
  'HED-3/backwards': http('14.2'),
  ...of(http('13.1.5'), 'HED-3/if-range HED-3/if-range-other'),
  'HED-3/not-modified': http('13.2.2'),
  'HED-3/several': http('15.3.7.2'),
  ...of(choice, 'OPT-3/no-content OPT-3/condition-headers OPT-3/age OPT-3/no-preflight'),
  // Servers without credentials in cookies may allow every origin.
  ...of(choice, 'OPT-4/foreign OPT-4/foreign-preflight OPT-4/null OPT-4/null-preflight'),
  ...of(safety, 'OPT-4/longer OPT-4/longer-preflight'),
  'DEL-2/answer': http('9.3.5', 'should'),
  'DEL-2/no-body': http('8.6'),
  'DEL-3/odd': safety,
  'DEL-4/refused': http('15.6', 'should'),
  ...of(choice, 'DEL-4/errors DEL-4/status'),
  'DEL-5/own-variant': choice,
  'DEL-8/done': safety,
  ...of(safety, 'DEL-9/others-stay DEL-9/all-or-nothing DEL-9/already-gone DEL-9/dependents DEL-9/at-once'),
  ...of(safety, 'DEL-9/many DEL-9/odd DEL-9/empty DEL-9/no-list DEL-10/others-stay DEL-10/maximum'),
  'DEL-10/not-offered': http('15.5.6', 'should'),
  'DEL-11/free-again': choice,
  'JOB-1/unknown': http('15.5.5'),
  ...of(safety, 'JOB-4/others JOB-4/not-listed JOB-6/others'),
  'JOB-6/resumed': http('14.2'),
  // Data may be public, and credentials may be sent in other ways.
  ...of(choice, 'AUT-1/bearer AUT-1/list AUT-1/record AUT-1/other-scheme AUT-1/no-scheme AUT-1/challenge'),
  ...of(choice, 'AUT-1/malformed AUT-1/no-cookie AUT-1/wrong-status'),
  'AUT-1/scheme-in-any-case': http('11.1'),
  ...of(http('11.6.1'), 'AUT-1/www-authenticate AUT-1/creation-challenge'),
  ...of(http('15.5.4', 'should'), 'AUT-4/create AUT-4/read AUT-4/update AUT-4/delete'),
  ...of(safety, 'EVT-6/others EVT-8/hidden'),
  'ERR-4/server-names': choice,
  // 422 is a common status of validation, and 400 of an identifier of another form.
  ...of(choice, 'ERR-5/validation ERR-5/malformed-json ERR-5/record'),
  'ERR-5/path': http('15.5.5'),
  'ERR-5/media-type': http('15.5.16'),
  'ERR-5/accept': http('12.5.1'),
  'LIM-1/too-many': { ...safety, section: 'RFC 6585, section 4' },
  'LIM-1/retry-after': { ...safety, section: 'RFC 6585, section 4' },
  'VER-3/works': choice,
  'VER-3/sunset': http('RFC 8594, section 3'),
  'VER-3/link': http('RFC 8288, section 3'),
  'VER-4/target': http('15.4', 'should'),
  'OPS-1/metrics': safety,
}

function of(placement: Placement, names: string): Readonly<Record<string, Placement>> {
  return Object.fromEntries(names.split(' ').map((name) => [name, placement]))
}

/** Where a case belongs. */
export function placementOf(one: Pick<Case, 'id'>): Placement {
  return byCase[one.id] ?? byRule[ruleOf(one)] ?? choice
}

/** The cases and rules that the tables name. */
export const placed: readonly string[] = [...Object.keys(byRule), ...Object.keys(byCase)]
