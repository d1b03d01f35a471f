/** MET-1 and MET-5: what reading leaves as it is, and what a deletion leaves. */
import type { Expectation, Seen } from '../../case/case.ts'
import { define } from '../../case/define.ts'
import { altogether, finding, itemsOf, sameBody, status, totalOf } from '../../case/expect.ts'
import { after as afterStep, before as beforeStep, gone, odd, one, other } from '../../case/names.ts'
import { caseRecords, idMember, type Reference } from '../../case/references.ts'
import { body, create, setUp } from '../../case/steps.ts'

const tricks = ['_method=DELETE', '_method=PUT', 'method=delete', 'action=delete', 'delete=true', 'id=', 'cmd=remove']
const overrides = ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override']

const isAsBefore: readonly Expectation[] = [status(afterStep, 200), sameBody(afterStep, beforeStep)]

/** How many records a list tells of, or holds where it tells nothing. */
function countIn(seen: Seen, step: Reference): number | undefined {
  const { answer } = seen.of(step)
  return totalOf(answer, seen) ?? itemsOf(answer, seen)?.length
}

export const safety = define({
  'MET-1/get': {
    title: 'GET of a record changes nothing, whatever parameters it carries',
    steps: [
      create(one),
      setUp(beforeStep.get(one)),
      ...tricks.map((trick) => odd.get(`${one}?${trick}`)),
      afterStep.get(one),
    ],
    expect: isAsBefore,
    remedy: 'Let the method of the request alone decide what is done, and read no other from parameters.',
  },
  'MET-1/head': {
    title: 'HEAD of a record changes nothing, whatever parameters it carries',
    steps: [
      create(one),
      setUp(beforeStep.get(one)),
      ...tricks.map((trick) => odd.head(`${one}?${trick}`)),
      afterStep.get(one),
    ],
    expect: isAsBefore,
    remedy: 'Let the method of the request alone decide what is done, and read no other from parameters.',
  },
  'MET-1/override': {
    title: 'GET changes nothing, whatever method a header field asks for',
    steps: [
      create(one),
      setUp(beforeStep.get(one)),
      ...overrides.map((name) => odd.get(one, { headers: { [name]: 'DELETE' } })),
      afterStep.get(one),
    ],
    expect: isAsBefore,
    remedy: 'Take no method from header fields, or at most from those of POST.',
  },
  'MET-1/list': {
    title: 'GET of a collection makes nothing, whatever parameters it carries',
    steps: [
      create(one),
      setUp(beforeStep.get(caseRecords)),
      odd.send('GET', `${caseRecords}&_method=POST`, { body: body.example }),
      odd.get(`${caseRecords}&action=create`),
      afterStep.get(caseRecords),
    ],
    expect: [
      altogether('there are as many as before', (seen) => {
        const [before, after] = [beforeStep, afterStep].map((step) => countIn(seen, step))
        return before === after ? undefined : finding(seen.of(afterStep), 'body', `${after} in place of ${before}`)
      }),
    ],
    remedy: 'Let the method of the request alone decide what is done, and read no body with GET.',
  },
})

export const removal = define({
  'MET-5/no-other': {
    title: 'DELETE removes the record at its address and no other, whatever its body says',
    steps: [
      create(one),
      create(other),
      gone.send('DELETE', one, { body: body.json({ ids: [other.id], [idMember]: other.id }) }),
      afterStep.get(other),
    ],
    expect: [status(afterStep, 200)],
    remedy: 'Take what is to be deleted from the address alone: a body of DELETE has no meaning.',
  },
})
