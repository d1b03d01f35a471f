/** MET-6 and MET-7: methods that an address does not have, and records that are not there. */
import type { Case } from '../../case/case.ts'
import { altogether, field, finding, onlyWhere, status } from '../../case/expect.ts'
import { nobodyThere, record, when } from '../../case/steps.ts'
import type { Operation } from '../../profile/profile.ts'

// A record has no POST in the specification, and a record of our own can bear one.
const steps = [record(), when('odd', 'POST', '{one}', { body: { from: 'mark' } })]

const onlyWhereUnsupported = onlyWhere('a record takes no POST', (seen) => {
  const { answer } = seen.of('odd')
  return answer !== undefined && answer.status < 300 ? 'records take POST here' : undefined
})

const methodOf: Partial<Record<Operation, string>> = { read: 'GET', replace: 'PUT', update: 'PATCH', delete: 'DELETE' }

export const unsupported: readonly Case[] = [
  {
    id: 'MET-6/status',
    title: 'A method that an address does not support is answered 405',
    kind: 'changing',
    needs: ['create'],
    steps,
    expect: [onlyWhereUnsupported, status('odd', 405)],
    mend: 'Answer 405 where the address is one and the method is not among those it has, and 404 only where there is no address.',
  },
  {
    id: 'MET-6/allow',
    title: 'With 405 an address says in Allow which methods it supports',
    kind: 'changing',
    needs: ['create'],
    after: ['MET-6/status'],
    steps,
    expect: [onlyWhereUnsupported, field('odd', 'Allow')],
    mend: 'Send Allow with every 405 (RFC 9110 section 15.5.6).',
  },
  {
    id: 'MET-6/allow-true',
    title: 'Allow of a 405 names the methods that the address supports, and not the one that was refused',
    kind: 'changing',
    needs: ['create', 'read'],
    after: ['MET-6/allow'],
    steps,
    expect: [
      onlyWhereUnsupported,
      field('odd', 'Allow', 'is true', (value, { collection }) => {
        const allowed = value.split(',').map((method) => method.trim())
        const wanted = collection.operations.flatMap((operation) => methodOf[operation] ?? [])
        const lacking = wanted.filter((method) => !allowed.includes(method))
        if (lacking.length > 0) return `${value}, without ${lacking.join(', ')}`
        return allowed.includes('POST') ? `${value}, although POST was just refused` : undefined
      }),
    ],
    mend: 'Derive Allow from the table by which requests are routed.',
  },
]

// DELETE of what never was is a matter of DEL-3, too, and tried there.
export const absent: readonly Case[] = [
  {
    id: 'MET-7/put',
    title: 'PUT where there is no record is answered 404, and makes none',
    kind: 'changing',
    needs: ['create', 'read', 'replace', 'unconditional'],
    steps: [
      record(),
      ...nobodyThere,
      when('put', 'PUT', '{collection}/{absent}', { body: { from: 'example' } }),
      when('after', 'GET', '{collection}/{absent}'),
    ],
    expect: [
      status('put', 404),
      altogether('nothing is there afterwards', (seen) => {
        const after = seen.of('after')
        return after.answer?.status === 200 ? finding(after, 'status', 'a record is there: 200') : undefined
      }),
    ],
    mend: 'Let PUT replace what is there and make nothing: identifiers come from the server.',
  },
  {
    id: 'MET-7/patch',
    title: 'PATCH where there is no record is answered 404',
    kind: 'changing',
    needs: ['create', 'read', 'update', 'change', 'unconditional'],
    steps: [record(), ...nobodyThere, when('patch', 'PATCH', '{collection}/{absent}', { body: { from: 'change' } })],
    expect: [status('patch', 404)],
    mend: 'Answer 404 where no row was changed because there is none.',
  },
]
