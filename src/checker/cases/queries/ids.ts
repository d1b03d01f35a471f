/** WHR-5: filters by the identifier. */
import type { Case } from '../../case/case.ts'
import { define } from '../../case/define.ts'
import { idsOf, lists } from '../../case/expect-list.ts'
import { first, found, second } from '../../case/names.ts'
import { applicableWhere } from '../../case/preconditions.ts'
import { collection, idMember } from '../../case/references.ts'
import { create } from '../../case/steps.ts'

export const idCases: readonly Case[] = define({
  'WHR-5/in': {
    title: '[in] of the identifier finds all of the records that it names',
    steps: [create(first), create(second), found.get(`${collection}?${idMember}%5Bin%5D=${first.id},${second.id}`)],
    expect: [
      // Where the parameter is refused or ignored, this is no filter; QRY-8 is about ignored ones.
      applicableWhere((seen) => {
        const named = [first, second].flatMap(seen.ids)
        const { answer } = seen.of(found)
        return answer?.status === 200 && (idsOf(answer, seen)?.every((id) => named.includes(id)) ?? false)
      }, 'lists cannot be filtered by the identifier'),
      lists(found, first, second),
    ],
    remedy: 'Read id[in]=a,b as "the identifier is one of these", so that clients read many records by one request.',
  },
})
