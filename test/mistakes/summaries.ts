/** In summaries that a resource keeps. */
import { type Mistake, tasks } from './mistake.ts'

function summary(name: string, write: unknown, inner: string, remedy?: RegExp): Mistake {
  return {
    name,
    at: `${tasks}/summaries`,
    write: { kept: write },
    path: `resources.tasks.summaries.kept${inner}`,
    remedy,
  }
}

export const summariesMistakes: readonly Mistake[] = [
  { name: 'summaries as a list', at: `${tasks}/summaries`, write: ['status'], path: 'resources.tasks.summaries' },
  {
    name: 'the name of a summary',
    at: `${tasks}/summaries`,
    write: { 'by-status': { group: [] } },
    path: 'resources.tasks.summaries.by-status',
    remedy: /by_status/,
  },
  summary('a summary without groups', {}, '.group'),
  summary('a group as a text', { group: 'status' }, '.group', /\["status"\]/),
  summary('an unknown group', { group: ['statsu'] }, '.group[0]', /"status"/),
  summary('a free text as a group', { group: ['title'] }, '.group[0]'),
  summary('a date-time without a period', { group: ['created_at'] }, '.group[0]', /"created_at:/),
  summary('an unknown period', { group: ['created_at:hour'] }, '.group[0]'),
  summary('a date twice', { group: ['created_at:month', 'created_at:year'] }, '.group[1]', /shortest/),
  summary(
    'too many groups',
    { group: ['status', 'created_at:day', 'updated_at:day', 'project_id'] },
    '.group',
    /several/,
  ),
  summary('a text that is added up', { group: [], sum: ['title'] }, '.sum[0]'),
  summary('a figure that is not kept', { group: [], min: ['title'] }, '.min'),
]
