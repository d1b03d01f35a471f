/** MET-2 to MET-4: POST creates, PUT replaces, PATCH changes. */
import { type Expectation, NotApplicable, NotSetUp, type Observations } from '../../case/case.ts'
import { common, define } from '../../case/define.ts'
import { answerOf, done, field, finding, refused, sameBody, short, status } from '../../case/expect.ts'
import { madeBy, recordAt, recordOf, recordSent, theRecord, type Wrong } from '../../case/expect-records.ts'
import { after, again, before, below, first, one, other, patch, put, read, second } from '../../case/names.ts'
import { applicableWhere, succeeded } from '../../case/preconditions.ts'
import { changedValue, collection, idMember, members, nestedList, Reference } from '../../case/references.ts'
import { body, create, setUp, together } from '../../case/steps.ts'
import { isObject, isSame, type JsonObject } from '../../values/json.ts'

const [there, onceStep, twice] = Reference.named('there', 'once', 'twice')
const [least, lacking] = Reference.named('least', 'lacking')

export const creation = define({
  'MET-2/created': {
    title: 'POST to a collection returns 201',
    steps: [create(other), one.post(collection, body.example)],
    expect: [status(one, 201)],
    remedy: 'Answer 201 Created where a record was made.',
  },
  'MET-2/whole': {
    title: 'The response to POST contains the whole new record',
    steps: [create(other), setUp(one.post(collection, body.fullExample)), setUp(read.get(one))],
    expect: [
      theRecord(one, (found, seen) => {
        const sent = sentAt(seen, one)
        const record = recordAt(read, seen) ?? {}
        const shown = Object.keys(sent).filter((name) => Object.hasOwn(record, name))
        const lacking = shown.find((name) => !Object.hasOwn(found, name))
        if (lacking !== undefined) return { message: `it lacks ${lacking}, which was sent and which GET shows` }
        return differing(found, sent, shown)
      }),
    ],
    remedy: 'Answer with the record as it is after it was made, with all its members.',
  },
  'MET-2/kept': {
    title: 'The new record has the members that POST sent',
    steps: [create(other), setUp(one.post(collection, body.fullExample)), read.get(one)],
    expect: [status(read, 200), holdsSent(read, one)],
    remedy: 'Store all members that are sent, and refuse what cannot be stored.',
  },
  'MET-2/location': {
    title: 'The response to POST has Location',
    steps: [create(one), read.get(one)],
    expect: [field(one, 'Location')],
    remedy: 'Send the path of the new record in Location.',
  },
  'MET-2/location-leads': {
    title: 'Location is the address of the new record',
    after: ['MET-2/location'],
    steps: [create(one), setUp(read.get(one)), there.get(one.location)],
    expect: [status(there, 200), sameBody(there, read)],
    remedy: 'Send in Location the path of the new record in the version of the request.',
  },
  'MET-2/again': {
    title: 'Every POST creates another record',
    steps: [
      create(one),
      together(again.post(collection, body.example), again.post(collection, body.example)),
      again.post(collection, body.example),
    ],
    expect: [
      (seen) => {
        const all = seen.all(again)
        const failed = all.find(({ answer }) => answer === undefined || answer.status >= 300)
        if (failed !== undefined) return finding(failed, 'status', `${failed.answer?.status ?? failed.failure}`)
        const made = all.map((exchange) => madeBy(exchange, seen))
        return new Set(made).size === 3 ? undefined : finding(all[1], 'body', `of three, two are one: ${short(made)}`)
      },
    ],
    remedy: 'Make a record for every POST; only Idempotency-Key says that two of them are one.',
  },
  'MET-2/nested': {
    title: 'POST to a nested collection creates a record that belongs to the parent',
    needsOnly: ['create', 'nested'],
    // The specification only shows GET of nested collections.
    level: 'may',
    steps: [create(one), below.post(nestedList, { ...body.example, without: [members.reference] })],
    expect: [
      done(below),
      answerOf(below, (answer, seen, exchange) => {
        const member = seen.fill(members.reference)
        const above = seen.fill(nestedList).split('/').at(-2) ?? ''
        const value = recordOf(answer, seen)?.[member]
        if (String(value) === decodeURIComponent(above)) return undefined
        return finding(exchange, { pointer: `/${member}` }, `${member} is ${short(value)} in place of ${short(above)}`)
      }),
    ],
    remedy: 'Accept POST at /{collection}/{id}/{child_collection} too, and set the reference from the address.',
  },
})

const changed = { ...body.sentBy(one), plus: 'change' } as const

/** The omitted member no longer has its old value. */
function isReplaced(step: Reference) {
  return theRecord(step, (found, seen: Observations) => {
    const member = seen.fill(members.optional)
    const old = recordAt(before, seen)?.[member]
    // A server that gives the member a value by itself, such as the id of the caller, may keep the value.
    if (isSame(found[member], old) && typeof optionalAt(lacking, seen) === 'string') {
      throw new NotApplicable(`the server gives ${member} a value by itself`)
    }
    return isSame(found[member], old) ? { member, message: `${member} still has the value ${short(old)}` } : undefined
  })
}

/** Creates a record without the optional member, which is left out on purpose later. */
const leastRecord = [
  create(other),
  setUp(least.post(collection, { ...body.fullExample, without: [members.optional] })),
  setUp(lacking.get(least)),
]

/** The value of the optional member in a record that a step read. */
function optionalAt(step: Reference, seen: Observations): unknown {
  return recordAt(step, seen)?.[seen.fill(members.optional)] ?? null
}

/** The case is applicable only if the optional member had another value than a record that was created without it. */
const onlyIfOptional = applicableWhere(
  (seen) => !isSame(optionalAt(before, seen), optionalAt(lacking, seen)),
  (seen) => `${seen.fill(members.optional)} was sent, and has the value of a record without it`,
)

/** The same, and a record without the member shows no value: it may be null. */
const onlyIfNullable = [
  onlyIfOptional,
  applicableWhere(
    (seen) => optionalAt(lacking, seen) === null,
    (seen) => `${seen.fill(members.optional)} has a default`,
  ),
]

export const replacement = common({ needs: ['read'] }).define({
  'MET-3/status': {
    title: 'PUT of the whole record returns 200',
    steps: [create(one), put.put(one, changed)],
    expect: [status(put, 200)],
    remedy: 'Answer PUT with 200 and the record as it is now.',
  },
  'MET-3/answer': {
    title: 'The response to PUT contains the changed record',
    steps: [create(one), put.put(one, changed)],
    expect: [holdsSent(put, put)],
    remedy: 'Read the record after it was written, and answer with that.',
  },
  'MET-3/kept': {
    title: 'The record has the members that PUT sent',
    steps: [create(one), setUp(put.put(one, changed)), read.get(one)],
    expect: [status(read, 200), holdsSent(read, put)],
    remedy: 'Store all members that are sent, and refuse what cannot be stored.',
  },
  'MET-3/clears': {
    title: 'PUT clears the members that it omits',
    steps: [
      ...leastRecord,
      setUp(one.post(collection, body.fullExample)),
      setUp(before.get(one)),
      put.put(one, { ...body.sentBy(one), without: [members.optional] }),
      read.get(one),
    ],
    expect: [onlyIfOptional, done(put), isReplaced(read)],
    remedy: 'Let PUT write every member: one that is not in the body gets its default or null.',
  },
  'MET-3/required': {
    title: 'PUT without a required member is refused and changes nothing',
    steps: [
      create(one),
      setUp(before.get(one)),
      put.put(one, { ...body.sentBy(one), without: [members.required] }),
      after.get(one),
    ],
    expect: [refused(put), status(after, 200), sameBody(after, before)],
    remedy: 'Validate the body of PUT as that of POST: what is required is required in both.',
  },
  'MET-3/twice': {
    title: 'PUT is idempotent',
    steps: [
      create(one),
      setUp(first.put(one, changed)),
      setUp(onceStep.get(one)),
      second.put(one, body.sentBy(first)),
      twice.get(one),
    ],
    expect: [
      applicableWhere(succeeded(first), 'PUT was refused'),
      done(second),
      answerOf(twice, (answer, seen) => {
        const once = recordAt(onceStep, seen) ?? {}
        const names = [...Object.keys(sentAt(seen, first)), seen.collection.id, 'created_at']
        const wrong = differing(recordOf(answer, seen) ?? {}, once, names)
        return wrong && `after the second PUT ${wrong.message}`
      }),
    ],
    remedy: 'Let PUT set values, and never add to them.',
  },
})

const mergePatch = { 'Content-Type': 'application/merge-patch+json' }
/** The operation of a JSON Patch that changes one member. */
const replaceOne = { op: 'replace', path: `/${members.change}`, value: changedValue }

const jsonPatch = { 'Content-Type': 'application/json-patch+json' }

const full = [create(first), setUp(one.post(collection, body.fullExample)), setUp(before.get(one))]

/** The optional member has no value any more. */
const isCleared = theRecord(after, (found, seen) => {
  const member = seen.fill(members.optional)
  const value = found[member]
  return value === undefined || value === null ? undefined : { member, message: `${member} is ${short(value)}` }
})

export const changes = common({ needs: ['read'] }).define({
  'MET-4/status': {
    title: 'PATCH returns 200',
    steps: [create(one), patch.patch(one, body.change)],
    expect: [status(patch, 200)],
    remedy: 'Answer PATCH with 200 and the record as it is now.',
  },
  'MET-4/answer': {
    title: 'The response to PATCH contains the changed record',
    steps: [create(one), patch.patch(one, body.change)],
    expect: [holdsSent(patch, patch)],
    remedy: 'Read the record after it was written, and answer with that.',
  },
  'MET-4/kept': {
    title: 'The record has the members that PATCH sent',
    steps: [create(one), setUp(patch.patch(one, body.change)), after.get(one)],
    expect: [status(after, 200), holdsSent(after, patch)],
    remedy: 'Store all members that are sent, and refuse what cannot be stored.',
  },
  'MET-4/others': {
    title: 'PATCH does not change the members that it omits',
    steps: [...full, setUp(patch.patch(one, body.someChange)), after.get(one)],
    expect: [
      applicableWhere((seen) => omittedBy(patch, seen).length > 0, 'a change has all members of a record'),
      status(after, 200),
      theRecord(after, (found, seen) => {
        const others = [...omittedBy(patch, seen), seen.collection.id]
        return differing(found, recordAt(before, seen) ?? {}, others)
      }),
    ],
    remedy: 'Write only the members that are in the body: what is not there is not null.',
  },
  'MET-4/merge-patch': {
    title: 'PATCH accepts application/merge-patch+json',
    after: ['MET-4/kept'],
    // The specification asks for JSON; the name of the format is our decision.
    level: 'should',
    steps: [create(one), patch.patch(one, body.change, { headers: mergePatch }), after.get(one)],
    expect: [done(patch), holdsSent(after, patch)],
    remedy: 'Read application/merge-patch+json (RFC 7396) as plain JSON is read: it says what is meant.',
  },
  'MET-4/null': {
    title: 'PATCH with null clears a member',
    // RFC 7396 is our decision; the specification says only that what is sent is changed.
    level: 'should',
    steps: [...leastRecord, ...full, patch.patch(one, body.json({ [members.optional]: null })), after.get(one)],
    expect: [...onlyIfNullable, done(patch), isCleared],
    remedy: 'Treat null in PATCH as "no value" (RFC 7396), not as "not sent".',
  },
  'MET-4/nested': {
    title: 'PATCH of one part of an object does not change its other parts',
    level: 'should',
    steps: [...full, patch.patch(one, body.part), after.get(one)],
    expect: [
      applicableWhere(
        (seen) => isObject(recordAt(before, seen)?.[seen.fill(members.object)]),
        'the record shows no member that is an object',
      ),
      done(patch),
      theRecord(after, (found, seen) => {
        const member = seen.fill(members.object)
        const old = recordAt(before, seen)?.[member]
        if (isSame(found[member], old)) return undefined
        return { member, message: `${member} is ${short(found[member])} in place of ${short(old)}` }
      }),
    ],
    remedy: 'Merge objects member by member (RFC 7396), rather than putting the new one in place of the old.',
  },
  'MET-4/json-patch': {
    title: 'PATCH accepts application/json-patch+json',
    // Beyond the specification.
    level: 'may',
    steps: [create(one), patch.patch(one, body.json([replaceOne]), { headers: jsonPatch }), after.get(one)],
    expect: [
      done(patch),
      theRecord(after, (found, seen) => {
        const member = seen.fill(members.change)
        return differing(found, { [member]: seen.collection.change[member] })
      }),
    ],
    remedy: 'Carry out JSON Patch (RFC 6902) too: it can test, and change parts of arrays.',
  },
  'MET-4/json-patch-test': {
    title: 'A JSON Patch with a failing operation changes nothing',
    after: ['MET-4/json-patch'],
    level: 'may',
    steps: [
      create(one),
      setUp(before.get(one)),
      patch.patch(one, body.json([replaceOne, { op: 'test', path: `/${idMember}`, value: one.otherId }]), {
        headers: jsonPatch,
      }),
      after.get(one),
    ],
    expect: [refused(patch), sameBody(after, before)],
    remedy: 'Apply all operations to a copy, and store it only if none fails (RFC 5789 section 2, RFC 6902 section 5).',
  },
})

/** The members with which a record was created and that a change omits. */
function omittedBy(step: Reference, seen: Observations): string[] {
  const sent = sentAt(seen, step)
  return Object.keys(sentAt(seen, one)).filter((name) => !Object.hasOwn(sent, name))
}

/** The JSON object that a step sent; empty if it sent none. */
function sentAt(seen: Observations, step: Reference): JsonObject {
  try {
    const value = recordSent(seen.of(step).asked, seen)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

/**
 * The first member that has another value than it should have. Members that are not there say nothing: some are never
 * shown.
 */
function differing(record: JsonObject, wanted: JsonObject, names = Object.keys(wanted)): Wrong | undefined {
  const member = names.find(
    (name) => Object.hasOwn(wanted, name) && Object.hasOwn(record, name) && !isAlike(record[name], wanted[name]),
  )
  if (member === undefined) return undefined
  return { member, message: `${member} is ${short(record[member])} in place of ${short(wanted[member])}` }
}

/** The record of a step has the values that another step sent, as far as it shows these members. */
function holdsSent(step: Reference, sent: Reference): Expectation {
  return theRecord(step, (record, seen) => {
    const wanted = sentAt(seen, sent)
    const isShown = Object.keys(wanted).some((name) => Object.hasOwn(record, name))
    if (isShown) return differing(record, wanted)
    // Its members may be there, in an envelope that the checker does not know.
    const isElsewhere = Object.keys(wanted).some((name) => JSON.stringify(record).includes(JSON.stringify(name)))
    if (isElsewhere)
      throw new NotSetUp('the response holds the members that were sent where the checker finds no record')
    return { message: 'it holds none of the members that were sent' }
  })
}

/**
 * Whether a text is a number with the value of another one. Servers show decimals, and identifiers of records, as texts
 * that they take as numbers.
 */
function isSameDecimal(text: unknown, other: unknown): boolean {
  const isDecimal = typeof text === 'string' && /^-?\d+(?:\.\d+)?$/.test(text)
  const isOther = typeof other === 'number' || (typeof other === 'string' && /^-?\d+(?:\.\d+)?$/.test(other))
  return isDecimal && isOther && Number(text) === Number(other)
}

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d/

/** Whether two values are the same, or the same instant or number in another form: `0` and `"0.00"`. */
export function isAlike(left: unknown, right: unknown): boolean {
  if (isSame(left, right) || isSameDecimal(left, right) || isSameDecimal(right, left)) return true
  if (isObject(left) && isObject(right)) return differing(left, right) === undefined
  // A server may show the record to which a member refers in place of its identifier.
  if (isObject(left) && !isObject(right) && right !== null) return String(left['id'] ?? left['_id']) === String(right)
  return [left, right].every((each) => typeof each === 'string' && instant.test(each))
    ? Date.parse(left as string) === Date.parse(right as string)
    : false
}
