/** Faults of what is deleted and not quite gone (DEL-1). */
import { answering, type Change, on, withBody } from '../../plant/answers.ts'
import { listIn, withList, withMore } from '../../plant/lists.ts'
import { collectionOf, filteredList, ghostsIn, markOf, type Watch, watching } from '../../plant/memory.ts'
import { jsonOf, withMembers } from '../../plant/messages.ts'
import { always, at, has, isNested, isRestore, not, of } from '../../plant/which.ts'
import type { Fault } from '../../planted.ts'

/** What was made, with what was sent now. */
function written({ made }: Watch): Change {
  return (answer, request) => withBody({ ...made.get(request.path), ...jsonOf(request) }, 200)(answer)
}

export const goneFaults: readonly Fault[] = [
  {
    breaks: 'DEL-1/gone',
    says: 'GET still shows a deleted record, with its deleted_at, unless somebody has asked to restore it.',
    plant: watching(({ made, deleted }) => (server) => {
      const asked = new Set<string>()
      return async (request) => {
        const { method, path } = request
        if (isRestore(request)) asked.add(collectionOf(path))
        const answer = await server(request)
        const row = made.get(path)
        if (method !== 'GET' || !deleted.has(path) || row === undefined || asked.has(path)) return answer
        return withBody({ ...row, deleted_at: '2026-01-01T00:00:00.000Z' }, 200)(answer)
      }
    }),
  },
  {
    breaks: 'DEL-1/put',
    says: 'PUT writes to deleted records.',
    plant: watching((watch) =>
      answering(
        of('PUT', ({ path }) => watch.deleted.has(path)),
        written(watch),
      ),
    ),
  },
  {
    breaks: 'DEL-1/patch',
    says: 'PATCH without a condition changes deleted records.',
    plant: watching((watch) =>
      answering(
        of('PATCH', not(has('if-match')), ({ path }) => watch.deleted.has(path)),
        written(watch),
      ),
    ),
  },
  {
    breaks: 'DEL-1/list',
    says: 'Lists still show deleted records that they have shown before.',
    plant: watching((watch) => {
      const shown = new Set<string>()
      return answering(always, (answer, request) => {
        const [list, { data } = {}] = [filteredList(request), listIn(answer)]
        if (list === undefined || data === undefined) return answer
        const ghosts = ghostsIn(watch).filter(
          (row) => shown.has(`${list.path}/${row['id']}`) && markOf(row) === list.value,
        )
        for (const { id } of data) shown.add(`${list.path}/${id}`)
        return withMore(ghosts)(answer)
      })
    }),
  },
  {
    breaks: 'DEL-1/nested',
    says: 'Lists below a parent still show deleted records.',
    plant: watching((watch) =>
      answering(of('GET', isNested), (answer, { path }) =>
        withMore(ghostsIn(watch).filter((row) => path.endsWith(`/${row['shelf_id']}/items`)))(answer),
      ),
    ),
  },
  {
    breaks: 'DEL-1/others-stay',
    says: 'A deletion marks records of the same name as changed.',
    plant: watching(({ made, deleted }) =>
      answering(
        of('GET', ({ path }) => made.has(path)),
        on(200, (answer, { path }) => {
          const mark = markOf(made.get(path))
          const isTouched = [...deleted].some((other) => other !== path && markOf(made.get(other)) === mark)
          return isTouched ? withMembers({ updated_at: '2027-01-01T00:00:00.000Z' })(answer) : answer
        }),
      ),
    ),
  },
  {
    breaks: 'DEL-1/kept',
    says: 'A soft deletion empties the record.',
    plant: answering(
      of('GET', at(/include_deleted=true/)),
      withList(({ data }) => {
        for (const row of data) if (typeof row['deleted_at'] === 'string') row['price'] = null
      }),
    ),
  },
  {
    breaks: 'DEL-1/for-good',
    says: 'What is deleted for good is only marked.',
    plant: watching((watch) =>
      answering(at(/^\/v3\/notes\?text=[^&]*&include_deleted=true$/), (answer, { path }) =>
        withMore(ghostsIn(watch).filter(({ text }) => path.includes(`?text=${text}&`)))(answer),
      ),
    ),
  },
]
