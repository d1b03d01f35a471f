/** In sums of children. */
import { fields, type Mistake } from './mistake.ts'

const projects = 'resources/projects/fields'

function total(name: string, write: object, inner: string, remedy?: RegExp, more: object = {}): Mistake {
  const at = { [`${fields}/hours`]: { type: 'integer', optional: true }, [`${projects}/hours`]: write, ...more }
  return { name, at, path: `resources.projects.fields.hours${inner}`, remedy }
}

export const totalsMistakes: readonly Mistake[] = [
  total('a sum of nothing', { type: 'integer', sumOf: 'hours' }, '.sumOf', /"lines\.amount"/),
  total('a sum of no relation', { type: 'integer', sumOf: 'task.hours' }, '.sumOf', /"tasks"/),
  total('a sum of no field', { type: 'integer', sumOf: 'tasks.hour' }, '.sumOf', /"hours"/),
  total('a sum of texts', { type: 'integer', sumOf: 'tasks.title' }, '.sumOf', /hours/),
  total('a sum in another form', { type: 'decimal', precision: 5, scale: 2, sumOf: 'tasks.hours' }, '', /"integer"/),
  total('a sum with a default', { type: 'integer', default: 3, sumOf: 'tasks.hours' }, '.default', /Remove/),
]
