/** MET-10: QUERY. */
import { define } from '../../case/define.ts'
import { answerOf, finding, itemsOf, status } from '../../case/expect.ts'
import { one, other as otherStep } from '../../case/names.ts'
import { listed } from '../../case/records.ts'
import { collection, mark, members, type Reference, references } from '../../case/references.ts'
import { body, create } from '../../case/steps.ts'

const [query] = references('query')

/** The list of a step holds a record, and of two of them only that. */
function finds(step: Reference, record: Reference, other?: Reference) {
  return answerOf(step, `finds ${record.name}`, (answer, seen, exchange) => {
    if (itemsOf(answer, seen) === undefined) return finding(exchange, 'body', 'there is no list in it')
    if (listed(answer, seen, seen.fill(record.id)) === undefined)
      return finding(exchange, 'body', `${record.name} is not in it`)
    return other !== undefined && listed(answer, seen, seen.fill(other.id)) !== undefined
      ? finding(exchange, 'body', `${other.name} is in it, which does not match`)
      : undefined
  })
}

export const searches = define({
  'MET-10/query': {
    title: 'A collection takes QUERY with its parameters in a JSON body',
    steps: [create(one), query.send('QUERY', collection, { body: body.json({ [members.marker]: mark }) })],
    expect: [status(query, 200), finds(query, one)],
    remedy: 'Take QUERY (RFC 10008) on collections, with the parameters of GET as members of a JSON object.',
  },
  'MET-10/filters': {
    title: 'QUERY finds what its body asks for, and nothing else',
    after: ['MET-10/query'],
    steps: [
      create(one),
      create(otherStep, { [members.marker]: `${mark}-other` }),
      query.send('QUERY', collection, { body: body.json({ [members.marker]: mark }) }),
    ],
    expect: [finds(query, one, otherStep)],
    remedy: 'Read the body of QUERY with the code that reads the parameters of GET.',
  },
  'MET-10/long': {
    title: 'QUERY takes more than fits into an address',
    after: ['MET-10/query'],
    steps: [
      create(one),
      query.send('QUERY', collection, {
        body: body.json({
          [members.marker]: [...Array.from({ length: 300 }, (_, at) => `${mark}-${at}-${'x'.repeat(40)}`), mark],
        }),
      }),
    ],
    expect: [status(query, 200), finds(query, one)],
    remedy: 'Let the body of QUERY be as long as that of other requests: long filters are what it is for.',
  },
})
