/** Faults of what is deleted and not quite gone (DEL-1). */
import type { Fault } from '../../planted.ts'
import { collectionOf, dataOf, filteredList, markOf, rowOf, showing, telling, watched } from './watch.ts'

export const goneFaults: readonly Fault[] = [
  {
    breaks: 'DEL-1/gone',
    says: 'GET still shows a deleted record, with its deleted_at, unless somebody has asked to restore it.',
    plant: watched((server, { made, deleted }) => {
      const asked = new Set<string>()
      return async (request) => {
        const { method, path } = request
        if (path.endsWith('/restore')) asked.add(path.slice(0, -'/restore'.length))
        const answer = await server(request)
        const row = made.get(path)
        if (method !== 'GET' || !deleted.has(path) || row === undefined || asked.has(path)) return answer
        return telling(answer, { ...row, deleted_at: '2026-01-01T00:00:00.000Z' }, 200)
      }
    }),
  },
  {
    breaks: 'DEL-1/put',
    says: 'PUT writes to deleted records.',
    plant: watched((server, { made, deleted }) => async (request) => {
      const answer = await server(request)
      if (request.method !== 'PUT' || !deleted.has(request.path)) return answer
      return telling(answer, { ...made.get(request.path), ...rowOf(request) }, 200)
    }),
  },
  {
    breaks: 'DEL-1/patch',
    says: 'PATCH without a condition changes deleted records.',
    plant: watched((server, { made, deleted }) => async (request) => {
      const answer = await server(request)
      const isConditional = request.headers['if-match'] !== undefined
      if (request.method !== 'PATCH' || isConditional || !deleted.has(request.path)) return answer
      return telling(answer, { ...made.get(request.path), ...rowOf(request) }, 200)
    }),
  },
  {
    breaks: 'DEL-1/list',
    says: 'Lists still show deleted records that they have shown before.',
    plant: watched((server, { made, deleted }) => {
      const shown = new Set<string>()
      return async (request) => {
        const [answer, list] = [await server(request), filteredList(request)]
        const data = dataOf(answer)
        if (list === undefined || data === undefined) return answer
        const ghosts = [...deleted.keys()].filter(
          (path) => shown.has(path) && collectionOf(path) === list.path && markOf(made.get(path)) === list.value,
        )
        for (const { id } of data) shown.add(`${list.path}/${id}`)
        return ghosts.length === 0 ? answer : showing(answer, [...data, ...ghosts.map((path) => made.get(path))])
      }
    }),
  },
  {
    breaks: 'DEL-1/nested',
    says: 'Lists below a parent still show deleted records.',
    plant: watched((server, { made, deleted }) => async (request) => {
      const answer = await server(request)
      const [found, data] = [/^\/v3\/shelves\/([^/?]+)\/items$/.exec(request.path), dataOf(answer)]
      if (request.method !== 'GET' || found === null || data === undefined) return answer
      const ghosts = [...deleted.keys()].filter((path) => made.get(path)?.['shelf_id'] === found[1])
      return showing(answer, [...data, ...ghosts.map((path) => made.get(path))])
    }),
  },
  {
    breaks: 'DEL-1/others-stay',
    says: 'A deletion marks records of the same name as changed.',
    plant: watched((server, { made, deleted }) => async (request) => {
      const answer = await server(request)
      if (request.method !== 'GET' || answer.status !== 200 || !made.has(request.path)) return answer
      const mark = markOf(made.get(request.path))
      const isTouched = [...deleted.keys()].some((path) => path !== request.path && markOf(made.get(path)) === mark)
      return isTouched ? telling(answer, { ...rowOf(answer), updated_at: '2027-01-01T00:00:00.000Z' }) : answer
    }),
  },
  {
    breaks: 'DEL-1/kept',
    says: 'A soft deletion empties the record.',
    plant: watched((server) => async (request) => {
      const answer = await server(request)
      const data = dataOf(answer)
      if (request.method !== 'GET' || data === undefined || !request.path.includes('include_deleted=true'))
        return answer
      return showing(
        answer,
        data.map((row) => (typeof row['deleted_at'] === 'string' ? { ...row, price: null } : row)),
      )
    }),
  },
  {
    breaks: 'DEL-1/for-good',
    says: 'What is deleted for good is only marked.',
    plant: watched((server, { made, deleted }) => async (request) => {
      const answer = await server(request)
      const [found, data] = [/^\/v3\/notes\?text=([^&]*)&include_deleted=true$/.exec(request.path), dataOf(answer)]
      if (found === null || data === undefined) return answer
      const ghosts = [...deleted.keys()].map((path) => made.get(path)).filter((row) => row?.['text'] === found[1])
      return showing(answer, [...data, ...ghosts])
    }),
  },
]
