/** Names of steps that occur in many cases. */
import { Reference } from './references.ts'

export const [after, again, all, back, before, below] = Reference.named(
  'after',
  'again',
  'all',
  'back',
  'before',
  'below',
)
export const [both, change, changed, removed] = Reference.named('both', 'change', 'changed', 'deleted')
export const [deletion, empty, error, first, found] = Reference.named('deletion', 'empty', 'error', 'first', 'found')
export const [gone, good, job, last, list, listings] = Reference.named('gone', 'good', 'job', 'last', 'list', 'lists')
export const [made, many, odd, one, other, pages] = Reference.named('made', 'many', 'odd', 'one', 'other', 'pages')
export const [patch, plain, put, read, refusal] = Reference.named('patch', 'plain', 'put', 'read', 'refused')
export const [second, seen, three, two, whole] = Reference.named('second', 'seen', 'three', 'two', 'whole')
