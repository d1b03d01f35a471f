/** MET-8: Prefer. */
import type { Case, Expectation, Need } from '../../case/case.ts'
import { done, field, noBody, status } from '../../case/expect.ts'
import { theRecord } from '../../case/records.ts'
import { record, when } from '../../case/steps.ts'

const needs: readonly Need[] = ['create', 'update', 'change', 'unconditional']

function patch(preference: string) {
  return when('patch', 'PATCH', '{one}', { body: { from: 'change' }, headers: { Prefer: preference } })
}

function applied(step: string, preference: string): Expectation {
  return field(step, 'Preference-Applied', `says ${preference}`, (value) =>
    value.replaceAll(/["\s]/g, '').split(',').includes(preference) ? undefined : `${value} in place of ${preference}`,
  )
}

export const preferences: readonly Case[] = [
  {
    id: 'MET-8/minimal',
    title: 'PATCH with Prefer: return=minimal is answered without a body',
    kind: 'changing',
    needs,
    steps: [record(), patch('return=minimal')],
    expect: [status('patch', 204, 200), noBody('patch')],
    mend: 'Answer 204 where a client says that it does not want the record back (RFC 7240).',
  },
  {
    id: 'MET-8/applied',
    title: 'Preference-Applied says that return=minimal was done',
    kind: 'changing',
    needs,
    after: ['MET-8/minimal'],
    steps: [record(), patch('return=minimal')],
    expect: [applied('patch', 'return=minimal')],
    mend: 'Name in Preference-Applied what was done (RFC 7240 section 3).',
  },
  {
    id: 'MET-8/minimal-creation',
    title: 'POST with Prefer: return=minimal is answered 201 without a body, with Location',
    kind: 'changing',
    needs: ['create'],
    after: ['MET-8/minimal'],
    steps: [
      record(),
      when('made', 'POST', '{collection}', { body: { from: 'example' }, headers: { Prefer: 'return=minimal' } }),
    ],
    expect: [status('made', 201, 204), noBody('made'), field('made', 'Location')],
    mend: 'Answer 201 with Location alone where a client says that it does not want the record back.',
  },
  {
    id: 'MET-8/representation',
    title: 'PATCH with Prefer: return=representation is answered with the record, and says so',
    kind: 'changing',
    needs,
    after: ['MET-8/minimal'],
    steps: [record(), patch('return=representation')],
    expect: [
      status('patch', 200),
      theRecord('patch', 'is there', () => undefined),
      applied('patch', 'return=representation'),
    ],
    mend: 'Answer 200 with the record, and name the preference in Preference-Applied.',
  },
  {
    id: 'MET-8/unknown',
    title: 'A preference that the server does not know is ignored',
    kind: 'changing',
    needs,
    steps: [record(), patch('x-unheard-of=1; with="parts, and more"')],
    expect: [done('patch')],
    mend: 'Leave unknown preferences aside: they are wishes (RFC 7240 section 2).',
  },
  {
    id: 'MET-8/strict',
    title: 'With handling=strict a preference that the server does not know is refused',
    kind: 'changing',
    needs,
    after: ['MET-8/minimal'],
    steps: [record(), patch('handling=strict, x-unheard-of=1')],
    expect: [status('patch', 400)],
    mend: 'Answer 400 under handling=strict where a preference cannot be followed.',
  },
]
