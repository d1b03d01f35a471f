/** MET-8: Prefer. */

import type { Expectation } from '../../case/case.ts'
import { define } from '../../case/define.ts'
import { done, field, noBody, status, unless } from '../../case/expect.ts'
import { made, one, patch as patchStep } from '../../case/names.ts'
import { theRecord } from '../../case/records.ts'
import { collection, type Reference } from '../../case/references.ts'
import { body, create } from '../../case/steps.ts'

function patch(preference: string) {
  return patchStep.patch(one, body.change, { headers: { Prefer: preference } })
}

function applied(step: Reference, preference: string): Expectation {
  return field(step, 'Preference-Applied', `says ${preference}`, (value) =>
    unless(value.replaceAll(/["\s]/g, '').split(',').includes(preference), `${value} in place of ${preference}`),
  )
}

export const preferences = define({
  'MET-8/minimal': {
    title: 'PATCH with Prefer: return=minimal is answered without a body',
    steps: [create(one), patch('return=minimal')],
    expect: [status(patchStep, 204, 200), noBody(patchStep)],
    remedy: 'Answer 204 where a client says that it does not want the record back (RFC 7240).',
  },
  'MET-8/applied': {
    title: 'Preference-Applied says that return=minimal was done',
    after: ['MET-8/minimal'],
    steps: [create(one), patch('return=minimal')],
    expect: [applied(patchStep, 'return=minimal')],
    remedy: 'Name in Preference-Applied what was done (RFC 7240 section 3).',
  },
  'MET-8/minimal-creation': {
    title: 'POST with Prefer: return=minimal is answered 201 without a body, with Location',
    after: ['MET-8/minimal'],
    steps: [create(one), made.post(collection, body.example, { headers: { Prefer: 'return=minimal' } })],
    expect: [status(made, 201, 204), noBody(made), field(made, 'Location')],
    remedy: 'Answer 201 with Location alone where a client says that it does not want the record back.',
  },
  'MET-8/representation': {
    title: 'PATCH with Prefer: return=representation is answered with the record, and says so',
    after: ['MET-8/minimal'],
    steps: [create(one), patch('return=representation')],
    expect: [
      status(patchStep, 200),
      theRecord(patchStep, 'is there', () => undefined),
      applied(patchStep, 'return=representation'),
    ],
    remedy: 'Answer 200 with the record, and name the preference in Preference-Applied.',
  },
  'MET-8/unknown': {
    title: 'A preference that the server does not know is ignored',
    steps: [create(one), patch('x-unheard-of=1; with="parts, and more"')],
    expect: [done(patchStep)],
    remedy: 'Leave unknown preferences aside: they are wishes (RFC 7240 section 2).',
  },
  'MET-8/strict': {
    title: 'With handling=strict a preference that the server does not know is refused',
    after: ['MET-8/minimal'],
    steps: [create(one), patch('handling=strict, x-unheard-of=1')],
    expect: [status(patchStep, 400)],
    remedy: 'Answer 400 under handling=strict where a preference cannot be followed.',
  },
})
