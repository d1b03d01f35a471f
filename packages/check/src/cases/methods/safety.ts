/** MET-1, MET-5 to MET-7: safe methods, DELETE of one record, unsupported methods and absent records. */

import type { Expectation } from '../../case/case.ts'
import { common, define } from '../../case/define.ts'
import { elementsOf, field, finding, nothingAt, sameBody, status } from '../../case/expect.ts'
import { ownCount } from '../../case/expect-list.ts'
import { after, before, gone, odd, one, other, patch, put } from '../../case/names.ts'
import { answered, applicableWhere, nobodyThere, succeeded } from '../../case/preconditions.ts'
import { absentId, collection, idMember, listWithCase } from '../../case/references.ts'
import { body, create, setUp } from '../../case/steps.ts'
import type { Operation } from '../../profile/profile.ts'

const tricks = ['_method=DELETE', '_method=PUT', 'method=delete', 'action=delete', 'delete=true', 'id=', 'cmd=remove']
const overrides = ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override']

const isAsBefore: readonly Expectation[] = [status(after, 200), sameBody(after, before)]

export const safety = common({ expect: isAsBefore, prepare: [create(one), setUp(before.get(one))] }).define({
  'MET-1/get': {
    title: 'GET of a record changes nothing, whatever its parameters',
    steps: [...tricks.map((trick) => odd.get(`${one}?${trick}`)), after.get(one)],
    remedy: 'Let the method of the request alone decide what is done, and read no other from parameters.',
  },
  'MET-1/head': {
    title: 'HEAD of a record changes nothing, whatever its parameters',
    steps: [...tricks.map((trick) => odd.head(`${one}?${trick}`)), after.get(one)],
    // Another record would be no control: a careless server deletes it.
    expect: [
      applicableWhere(
        (seen) => seen.all(odd).some(({ answer }) => ![404, 405, 501].includes(answer?.status ?? 404)),
        'HEAD is not supported',
      ),
      ...isAsBefore,
    ],
    remedy: 'Let the method of the request alone decide what is done, and read no other from parameters.',
  },
  'MET-1/override': {
    title: 'GET changes nothing, whatever method a header field asks for',
    steps: [...overrides.map((name) => odd.get(one, { headers: { [name]: 'DELETE' } })), after.get(one)],
    remedy: 'Ignore methods in header fields, except at most those of POST.',
  },
  'MET-1/list': {
    title: 'GET of a collection creates nothing, whatever its parameters',
    prepare: [],
    steps: [
      create(one),
      setUp(before.get(listWithCase)),
      odd.send('GET', `${listWithCase}&_method=POST`, { body: body.example }),
      odd.get(`${listWithCase}&action=create`),
      after.get(listWithCase),
    ],
    expect: [
      (seen) => {
        const [expected, count] = [before, after].map((step) => ownCount(step, seen))
        return count === expected ? undefined : finding(seen.of(after), 'body', `${count} in place of ${expected}`)
      },
    ],
    remedy: 'Let the method of the request alone decide what is done, and read no body with GET.',
  },
})

export const removal = define({
  'MET-5/no-other': {
    title: 'DELETE deletes only the record at its address, whatever its body',
    steps: [
      create(one),
      create(other),
      gone.send('DELETE', one, { body: body.json({ ids: [other.id], [idMember]: other.id }) }),
      after.get(other),
    ],
    expect: [status(after, 200)],
    remedy: 'Use only the address to find the record to delete: a body of DELETE has no meaning.',
  },
})

// The specification has no POST to a record, and the record belongs to the checker.
const steps = [create(one), odd.post(one, body.mark)]

const onlyWhereUnsupported = applicableWhere(
  (seen) => !succeeded(odd)(seen) && !answered(odd, 400, 409, 415, 422)(seen),
  'records take POST here',
)

const methodOf: Partial<Record<Operation, string>> = { read: 'GET', replace: 'PUT', update: 'PATCH', delete: 'DELETE' }

export const unsupported = define({
  'MET-6/status': {
    title: 'An unsupported method returns 405',
    steps,
    expect: [onlyWhereUnsupported, status(odd, 405)],
    remedy: 'Answer 405 if the address exists and does not support the method, 404 only if it does not exist.',
  },
  'MET-6/allow': {
    title: 'A 405 has Allow',
    after: ['MET-6/status'],
    steps,
    expect: [onlyWhereUnsupported, field(odd, 'Allow')],
    remedy: 'Send Allow with every 405 (RFC 9110 section 15.5.6).',
  },
  'MET-6/allow-true': {
    title: 'Allow of a 405 lists the methods that read, change and delete records, without the refused one',
    needs: ['read'],
    after: ['MET-6/allow'],
    steps,
    expect: [
      onlyWhereUnsupported,
      field(odd, 'Allow', (value, { collection }) => {
        const allowed = elementsOf(value)
        const wanted = collection.operations.flatMap((operation) => methodOf[operation] ?? [])
        const lacking = wanted.filter((method) => !allowed.includes(method))
        if (lacking.length > 0) return `${value}, without ${lacking.join(', ')}`
        return allowed.includes('POST') ? `${value}, although POST was just refused` : undefined
      }),
    ],
    remedy: 'Derive Allow from the table by which requests are routed.',
  },
})

// DEL-3 covers DELETE of a nonexistent record.
export const absent = define({
  'MET-7/put': {
    title: 'PUT to a nonexistent record returns 404 and creates none',
    steps: [
      create(one),
      ...nobodyThere,
      put.put(`${collection}/${absentId}`, body.example),
      after.get(`${collection}/${absentId}`),
    ],
    expect: [status(put, 404), nothingAt(after)],
    remedy: 'Let PUT replace what is there and make nothing: identifiers come from the server.',
  },
  'MET-7/patch': {
    title: 'PATCH of a nonexistent record returns 404',
    steps: [create(one), ...nobodyThere, patch.patch(`${collection}/${absentId}`, body.change)],
    expect: [status(patch, 404)],
    remedy: 'Answer 404 if there is no row to change.',
  },
})
