import { common } from '../../case/define.ts'
import { answerOf, done, errorsIn, everyAnswerOf, short, status, unexpected } from '../../case/expect.ts'
import { after, before, odd, one, read } from '../../case/names.ts'
import { base, collection, collectionPath, Reference } from '../../case/references.ts'
import { body, create, setUp } from '../../case/steps.ts'
import { type Exchange, jsonOf } from '../../client/exchange.ts'
import { objectOf, valueAt } from '../../values/json.ts'
import { addsSlash } from './addresses.ts'

const [replaced, between] = Reference.named('replaced', 'between')

const unknown = { unheard_of: 'x' }
const refuse =
  'Compare the members of a body with those that there are, and answer 400 with an error for each that is none.'
const route = 'Match addresses exactly as they stand, before anything is looked up: what is not there is answered 404.'

export const unknownMembers = common({ remedy: refuse, expect: [status(odd, 400, 422)] }).define({
  'RES-9/unknown-in-post': {
    title: 'POST with an unknown member is refused',
    steps: [create(one), odd.post(collection, { ...body.example, with: unknown })],
  },
  'RES-9/unknown-in-patch': {
    title: 'PATCH with an unknown member is refused',
    steps: [create(one), odd.patch(one, { ...body.change, with: unknown })],
  },
  'RES-9/unknown-in-put': {
    title: 'PUT with an unknown member is refused',
    steps: [create(one), odd.put(one, { ...body.sentBy(one), with: unknown })],
  },
  'RES-9/each-unknown': {
    title: 'Each unknown member gets its own error',
    after: ['RES-9/unknown-in-post'],
    steps: [create(one), odd.post(collection, { ...body.example, with: { ...unknown, unheard_too: 1 } })],
    expect: [
      answerOf(odd, (answer, seen) => {
        const { pointer = seen.profile.names.errors, errors = [] } = errorsIn(answer, seen) ?? {}
        // Many frameworks list errors by the names of members: {"unheard_of": ["Unknown field."]}.
        const byMember = objectOf(valueAt(jsonOf(answer), pointer))
        if (['unheard_of', 'unheard_too'].every((name) => Object.hasOwn(byMember, name))) return undefined
        const isNamed = ['unheard_of', 'unheard_too'].every((name) => JSON.stringify(errors).includes(name))
        if (errors.length >= 2 && isNamed) return undefined
        return `${errors.length} errors at ${pointer} for two members: ${short(errors)}`
      }),
    ],
  },
  'RES-9/prototype': {
    title: '__proto__ and constructor are refused like every unknown member',
    after: ['RES-9/unknown-in-post'],
    steps: [
      create(one),
      odd.post(collection, {
        ...body.example,
        with: { ['__proto__']: { polluted: true }, constructor: { prototype: { polluted: true } } },
      }),
    ],
    remedy: 'Parse bodies into objects without a prototype, or refuse __proto__ and constructor.',
  },
  'RES-9/read-only-repeated': {
    title: 'PUT accepts read-only members with unchanged values',
    steps: [create(one), setUp(read.get(one)), replaced.put(one, body.answerTo(read))],
    expect: [done(replaced)],
    remedy: 'Accept the current id and timestamps in a PUT: clients send back what they have read.',
  },
  'RES-9/read-only-changed': {
    title: 'PUT that would change a read-only member is refused',
    after: ['RES-5/created-at', 'RES-5/not-set-by-put'],
    steps: [
      create(one),
      setUp(read.get(one)),
      odd.put(one, { ...body.answerTo(read), with: { created_at: '2001-02-03T04:05:06.789Z' } }),
    ],
    remedy: 'Compare id and the timestamps in a PUT with the record, and answer 400 with an error for each difference.',
  },
})

export const oddAddresses = common({ remedy: route }).define({
  'RES-10/slash-after-collection': {
    title: 'A collection’s path with a slash at the end returns 404',
    steps: [odd.get(`${collection}/`)],
    expect: [status(odd, 404)],
  },
  'RES-10/slash-after-record': {
    title: 'A record’s path with a slash at the end returns 404',
    needs: ['read'],
    steps: [create(one), odd.get(`${one}/`)],
    expect: [status(odd, 404)],
  },
  'RES-10/slash-deletes-nothing': {
    title: 'DELETE of a record’s path with a slash at the end deletes nothing',
    needs: ['delete'],
    steps: [create(one), odd.delete(`${one}/`), after.get(one)],
    expect: [
      // A redirect deletes nothing.
      everyAnswerOf(odd, ({ status: told }) => (told >= 300 && told < 500 ? undefined : `${told} in place of 404`)),
      status(after, 200),
    ],
  },
  'RES-10/empty-segment': {
    title: 'A path with an empty segment returns 404',
    needs: ['list'],
    steps: [create(one), before.get(`${base}/${collectionPath}`), between.get(`${collection}//${one.id}`)],
    expect: [before, between].map((step) => (seen) => (addsSlash(seen.of(step)) ? undefined : status(step, 404)(seen))),
  },
  'RES-10/escape': {
    title: 'An invalid percent-encoding in a path is refused with 400',
    needsOnly: ['list'],
    steps: [
      odd.get(`${collection}/%zz`),
      odd.get(`${collection}/%`),
      odd.get(`${collection}/%ff%fe`),
      odd.get(`${collection}/%c0%ae`),
    ],
    expect: [
      (seen) => {
        // Octets that are no UTF-8 are well-formed in an address: nothing may be there.
        const isFine = ({ asked: { url }, answer }: Exchange) =>
          answer?.status === 400 || (answer?.status === 404 && /%(?:ff|c0)/.test(url))
        const wrong = seen.all(odd).find((each) => !isFine(each))
        const path = wrong?.asked.url.split('/').findLast((segment) => segment !== '')
        return wrong && unexpected(wrong, `400 for ${path}`)
      },
    ],
    remedy: 'Answer 400 where a path does not decode as UTF-8, rather than failing (500) or guessing.',
  },
})
