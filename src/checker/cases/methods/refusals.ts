/** MET-6 and MET-7: methods that an address does not have, and records that are not there. */
import { define } from '../../case/define.ts'
import { altogether, applicableWhere, field, finding, status } from '../../case/expect.ts'
import { after as afterStep, odd, one, patch, put } from '../../case/names.ts'
import { absentId, collection } from '../../case/references.ts'
import { body, create, nobodyThere } from '../../case/steps.ts'
import type { Operation } from '../../profile/profile.ts'

// A record has no POST in the specification, and a record of our own can bear one.
const steps = [create(one), odd.post(one, body.mark)]

const onlyWhereUnsupported = applicableWhere('a record takes no POST', (seen) => {
  const { answer } = seen.of(odd)
  return answer !== undefined && answer.status < 300 ? 'records take POST here' : undefined
})

const methodOf: Partial<Record<Operation, string>> = { read: 'GET', replace: 'PUT', update: 'PATCH', delete: 'DELETE' }

export const unsupported = define({
  'MET-6/status': {
    title: 'A method that an address does not support is answered 405',
    steps,
    expect: [onlyWhereUnsupported, status(odd, 405)],
    remedy:
      'Answer 405 where the address is one and the method is not among those it has, and 404 only where there is no address.',
  },
  'MET-6/allow': {
    title: 'With 405 an address says in Allow which methods it supports',
    after: ['MET-6/status'],
    steps,
    expect: [onlyWhereUnsupported, field(odd, 'Allow')],
    remedy: 'Send Allow with every 405 (RFC 9110 section 15.5.6).',
  },
  'MET-6/allow-true': {
    title: 'Allow of a 405 names the methods that the address supports, and not the one that was refused',
    needs: ['read'],
    after: ['MET-6/allow'],
    steps,
    expect: [
      onlyWhereUnsupported,
      field(odd, 'Allow', 'is true', (value, { collection }) => {
        const allowed = value.split(',').map((method) => method.trim())
        const wanted = collection.operations.flatMap((operation) => methodOf[operation] ?? [])
        const lacking = wanted.filter((method) => !allowed.includes(method))
        if (lacking.length > 0) return `${value}, without ${lacking.join(', ')}`
        return allowed.includes('POST') ? `${value}, although POST was just refused` : undefined
      }),
    ],
    remedy: 'Derive Allow from the table by which requests are routed.',
  },
})

// DELETE of what never was is a matter of DEL-3, too, and tried there.
export const absent = define({
  'MET-7/put': {
    title: 'PUT where there is no record is answered 404, and makes none',
    steps: [
      create(one),
      ...nobodyThere,
      put.put(`${collection}/${absentId}`, body.example),
      afterStep.get(`${collection}/${absentId}`),
    ],
    expect: [
      status(put, 404),
      altogether('nothing is there afterwards', (seen) => {
        const after = seen.of(afterStep)
        return after.answer?.status === 200 ? finding(after, 'status', 'a record is there: 200') : undefined
      }),
    ],
    remedy: 'Let PUT replace what is there and make nothing: identifiers come from the server.',
  },
  'MET-7/patch': {
    title: 'PATCH where there is no record is answered 404',
    steps: [create(one), ...nobodyThere, patch.patch(`${collection}/${absentId}`, body.change)],
    expect: [status(patch, 404)],
    remedy: 'Answer 404 where no row was changed because there is none.',
  },
})
