/** PAG-1: a list always comes in pages, and how large they may be. */
import type { Case } from '../case/case.ts'
import { define } from '../case/define.ts'
import { altogether, everyStatus, finding, itemsOf } from '../case/expect.ts'
import { isPart, numbersBeside } from '../case/expect-list.ts'
import { good, list, refusal } from '../case/names.ts'
import { collection, references, sizeParameter } from '../case/references.ts'
import { outgrow, setUp } from '../case/steps.ts'

const [answered] = references('answered')

// More than the greatest page that the rule allows unless declared otherwise.
const most = 101

/** A case of sizes that are refused. */
function refused(name: string, title: string, sizes: readonly string[], mend: string): Case {
  return {
    id: `PAG-1/${name}`,
    title,
    kind: 'reading',
    needs: ['list', 'paged'],
    level: 'should',
    steps: [
      setUp(good.get(`${collection}?${sizeParameter}=1`)),
      ...sizes.map((size) => refusal.get(`${collection}?${sizeParameter}=${size}`)),
    ],
    expect: [everyStatus(refusal, 400)],
    remedy: mend,
  }
}

export const sizeCases: readonly Case[] = [
  ...define({
    'PAG-1/default': {
      title: 'A list comes in pages without being asked to',
      alone: true,
      steps: [outgrow(list, most)],
      expect: [
        altogether('does not hold all records, or says how many it may hold', (seen) => {
          const exchange = seen.of(list)
          const count = itemsOf(exchange.answer, seen)?.length
          if (exchange.answer === undefined || count === undefined) {
            return finding(exchange, 'body', `there is no array at ${seen.profile.names.items || 'the root'}`)
          }
          if (isPart(exchange.answer, seen, seen.ids(list))) return undefined
          const size = numbersBeside(exchange.answer, seen).find(
            ({ name, value }) => /limit|size|per_?page/i.test(name) && value > count,
          )
          if (size !== undefined) return undefined
          return finding(
            exchange,
            'body',
            `all ${count} records came at once, and nothing tells of a size that pages have`,
          )
        }),
      ],
      remedy:
        'Limit every list, to 20 records for instance, where the request does not say how many it wants: tables grow.',
    },
  }),
  refused('zero', 'Pages of no records are refused', ['0'], 'Refuse sizes of pages below 1.'),
  refused('negative', 'Pages of fewer than no records are refused', ['-1'], 'Refuse sizes of pages below 1.'),
  refused(
    'fraction',
    'The size of a page is a whole number',
    ['1.5', '1e1', '0x10', 'many', '%201'],
    'Read sizes of pages with a pattern such as ^\\d+$: parsers of numbers forgive too much.',
  ),
  refused(
    'huge',
    'Pages of a billion records are refused',
    ['1000000000'],
    'Refuse sizes above the greatest that you allow: who is given fewer records than asked for may take them for all.',
  ),
  ...define({
    'PAG-1/no-number': {
      title: 'A size that no number type can hold does no harm',
      steps: [
        setUp(good.get(`${collection}?${sizeParameter}=1`)),
        ...['9223372036854775808', '9'.repeat(400), '-9223372036854775809', 'Infinity', 'NaN'].map((size) =>
          answered.get(`${collection}?${sizeParameter}=${size}`),
        ),
      ],
      expect: [everyStatus(answered, 200, 400)],
      remedy:
        'Check a size before it is made a number of the database: what does not fit is a 400, not a failure of the server.',
    },
  }),
]
