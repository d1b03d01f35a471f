/** Faults of CON-2. */
import { createHash } from 'node:crypto'
import { answering, on } from '../../plant/answers.ts'
import { listIn } from '../../plant/lists.ts'
import { remembering } from '../../plant/memory.ts'
import { type Members, withField, without } from '../../plant/messages.ts'
import { all, always, at, isCollection, isRead, isRecord, of, pathOf } from '../../plant/which.ts'
import type { Fault } from '../../planted.ts'

const isRecordRead = all(isRead, isRecord)

/** Lists whose tag is made of something else than before. */
function listTag(madeOf: (items: readonly Members[], path: string) => unknown): Fault['plant'] {
  return answering(
    of('GET', isCollection, at(/\?/)),
    on(200, (answer, { path }) => {
      const made = madeOf(listIn(answer)?.data ?? [], path)
      const tag = createHash('sha256').update(JSON.stringify(made)).digest('hex').slice(0, 16)
      return withField('etag', `"${tag}"`)(answer)
    }),
  )
}

export const validatorsFaults: readonly Fault[] = [
  {
    breaks: 'CON-2/etag',
    says: 'Its records have no entity tag.',
    plant: answering(isRecordRead, without('etag')),
  },
  {
    breaks: 'CON-2/strong-etag',
    says: 'Its entity tags are weak.',
    plant: answering(
      always,
      withField('etag', (tag) => `W/${tag}`),
    ),
  },
  {
    breaks: 'CON-2/etag-stays',
    says: 'Its entity tags hold how often the record was read.',
    plant: remembering(() => {
      const reads = new Map<string, number>()
      return answering(isRecordRead, (answer, { method, path }) => {
        const count = (reads.get(path) ?? 0) + (method === 'GET' ? 1 : 0)
        reads.set(path, count)
        return withField('etag', (tag) => `${tag.slice(0, -1)}-${count}"`)(answer)
      })
    }),
  },
  {
    breaks: 'CON-2/etag-changes',
    says: 'It makes the entity tag from the identifier of the record.',
    plant: remembering(() => {
      const first = new Map<string, string>()
      return answering(isRecordRead, (answer, request) =>
        withField('etag', (tag) => {
          const known = first.get(pathOf(request)) ?? tag
          first.set(pathOf(request), known)
          return known
        })(answer),
      )
    }),
  },
  {
    breaks: 'CON-2/etag-of-change',
    says: 'It answers a change without an entity tag.',
    plant: answering(of('PATCH'), without('etag')),
  },
  {
    breaks: 'CON-2/last-modified',
    says: 'It writes Last-Modified as ISO 8601 has it.',
    plant: answering(
      isRecordRead,
      withField('last-modified', (date) => new Date(date).toISOString()),
    ),
  },
  {
    breaks: 'CON-2/list-etag',
    says: 'Its lists have no entity tag.',
    plant: answering(all(isRead, isCollection), on(200, without('etag'))),
  },
  {
    breaks: 'CON-2/list-etag-creation',
    says: 'It makes the tag of a list from the first record in it.',
    plant: listTag(([first]) => first ?? null),
  },
  {
    breaks: 'CON-2/list-etag-change',
    says: 'It makes the tag of a list from the identifiers of its records.',
    plant: listTag((items) => items.map(({ id }) => id)),
  },
  {
    breaks: 'CON-2/list-etag-deletion',
    says: 'It makes the tag of a list from all that was ever in it.',
    plant: remembering(() => {
      const seen = new Map<string, Map<unknown, Members>>()
      return listTag((items, path) => {
        const all = seen.get(path) ?? new Map<unknown, Members>()
        seen.set(path, all)
        for (const item of items) all.set(item['id'], item)
        return [...all.values()]
      })
    }),
  },
]
