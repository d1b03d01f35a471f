/** RES-9 and RES-10: bodies and addresses that are not quite right. */
import type { Case, Expectation } from '../../case/case.ts'
import { altogether, answerOf, done, finding, short, status } from '../../case/expect.ts'
import { given, record, when } from '../../case/steps.ts'
import { jsonOf } from '../../client/exchange.ts'
import { valueAt } from '../../values/json.ts'

const unknown = { unheard_of: 'x' }
const refuse =
  'Compare the members of a body with those that there are, and answer 400 with an error for each that is none.'
const route = 'Match addresses exactly as they stand, before anything is looked up: what is not there is answered 404.'

export const unknownMembers: readonly Case[] = [
  {
    id: 'RES-9/unknown-in-post',
    title: 'POST with a member that the resource does not have is refused',
    kind: 'changing',
    needs: ['create'],
    steps: [record(), when('odd', 'POST', '{collection}', { body: { from: 'example', with: unknown } })],
    expect: [status('odd', 400)],
    mend: refuse,
  },
  {
    id: 'RES-9/unknown-in-patch',
    title: 'PATCH with a member that the resource does not have is refused',
    kind: 'changing',
    needs: ['create', 'update', 'change', 'unconditional'],
    steps: [record(), when('odd', 'PATCH', '{one}', { body: { from: 'change', with: unknown } })],
    expect: [status('odd', 400)],
    mend: refuse,
  },
  {
    id: 'RES-9/unknown-in-put',
    title: 'PUT with a member that the resource does not have is refused',
    kind: 'changing',
    needs: ['create', 'replace', 'unconditional'],
    steps: [record(), when('odd', 'PUT', '{one}', { body: { from: { sent: 'one' }, with: unknown } })],
    expect: [status('odd', 400)],
    mend: refuse,
  },
  {
    id: 'RES-9/each-unknown',
    title: 'Each member that the resource does not have gets an error of its own',
    kind: 'changing',
    needs: ['create'],
    after: ['RES-9/unknown-in-post'],
    steps: [
      record(),
      when('odd', 'POST', '{collection}', { body: { from: 'example', with: { ...unknown, unheard_too: 1 } } }),
    ],
    expect: [
      answerOf('odd', 'has an error for each of two members', (answer, { profile }, exchange) => {
        const errors = valueAt(jsonOf(answer), profile.names.errors)
        const count = Array.isArray(errors) ? errors.length : 0
        const isNamed = ['unheard_of', 'unheard_too'].every((name) => JSON.stringify(errors ?? '').includes(name))
        return count >= 2 && isNamed
          ? undefined
          : finding(exchange, 'body', `${count} errors at ${profile.names.errors} for two members: ${short(errors)}`)
      }),
    ],
    mend: refuse,
  },
  {
    id: 'RES-9/prototype',
    title: 'Members that have a meaning for JavaScript are refused like all that the resource does not have',
    kind: 'changing',
    needs: ['create'],
    after: ['RES-9/unknown-in-post'],
    steps: [
      record(),
      when('odd', 'POST', '{collection}', {
        // Computed: as a literal it would set the prototype.
        body: {
          from: 'example',
          with: { ['__proto__']: { polluted: true }, constructor: { prototype: { polluted: true } } },
        },
      }),
    ],
    expect: [status('odd', 400)],
    mend: 'Read bodies into objects without a prototype, or refuse __proto__ and constructor before anything is copied.',
  },
  {
    id: 'RES-9/read-only-repeated',
    title: 'PUT may repeat what only the server sets, with the value that it has',
    kind: 'changing',
    needs: ['create', 'read', 'replace', 'unconditional'],
    steps: [
      record(),
      given('read', 'GET', '{one}'),
      when('replaced', 'PUT', '{one}', { body: { from: { answered: 'read' } } }),
    ],
    expect: [done('replaced')],
    mend: 'Take id and the times in a PUT where they are those of the record: clients send back what they have read.',
  },
  {
    id: 'RES-9/read-only-changed',
    title: 'PUT that would change what only the server sets is refused',
    kind: 'changing',
    needs: ['create', 'read', 'replace', 'unconditional'],
    after: ['RES-5/created-at', 'RES-5/not-set-by-put'],
    steps: [
      record(),
      given('read', 'GET', '{one}'),
      when('odd', 'PUT', '{one}', {
        body: { from: { answered: 'read' }, with: { created_at: '2001-02-03T04:05:06.789Z' } },
      }),
    ],
    expect: [status('odd', 400)],
    mend: 'Compare id and the times in a PUT with those of the record, and answer 400 with an error for each that differs.',
  },
]

function leadsNowhere(step: string): Expectation {
  return status(step, 404)
}

export const oddAddresses: readonly Case[] = [
  {
    id: 'RES-10/slash-after-collection',
    title: 'A slash after a collection leads nowhere',
    kind: 'reading',
    needs: ['list'],
    steps: [when('odd', 'GET', '{collection}/')],
    expect: [leadsNowhere('odd')],
    mend: route,
  },
  {
    id: 'RES-10/slash-after-record',
    title: 'A slash after a record leads nowhere',
    kind: 'changing',
    needs: ['create', 'read'],
    steps: [record(), when('odd', 'GET', '{one}/')],
    expect: [leadsNowhere('odd')],
    mend: route,
  },
  {
    id: 'RES-10/slash-deletes-nothing',
    title: 'DELETE with a slash after the record deletes nothing',
    kind: 'changing',
    needs: ['create', 'read', 'delete'],
    steps: [record(), when('odd', 'DELETE', '{one}/'), when('after', 'GET', '{one}')],
    expect: [leadsNowhere('odd'), status('after', 200)],
    mend: route,
  },
  {
    id: 'RES-10/empty-segment',
    title: 'An empty segment in an address leads nowhere',
    kind: 'changing',
    needs: ['create', 'read', 'list'],
    steps: [record(), when('before', 'GET', '{base}/{path}'), when('between', 'GET', '{collection}//{one.id}')],
    expect: [leadsNowhere('before'), leadsNowhere('between')],
    mend: route,
  },
  {
    id: 'RES-10/escape',
    title: 'An invalid percent-escape in an address is refused',
    kind: 'reading',
    needs: ['list'],
    steps: [
      when('odd', 'GET', '{collection}/%zz'),
      when('odd', 'GET', '{collection}/%'),
      when('odd', 'GET', '{collection}/%ff%fe'),
      when('odd', 'GET', '{collection}/%c0%ae'),
    ],
    expect: [
      altogether('each is answered 400', (seen) => {
        const wrong = seen.all('odd').find(({ answer }) => answer?.status !== 400)
        const path = wrong?.asked.url.split('/').at(-1)
        return wrong && finding(wrong, 'status', `${wrong.answer?.status ?? wrong.failure} in place of 400 for ${path}`)
      }),
    ],
    mend: 'Answer 400 where a path does not decode as UTF-8, rather than failing (500) or guessing.',
  },
]
