/** Names of steps that occur in many cases. */
import { references } from './references.ts'

export const [after, again, all, back, before, below] = references('after', 'again', 'all', 'back', 'before', 'below')
export const [both, change, changed, removed] = references('both', 'change', 'changed', 'deleted')
export const [deletion, empty, error, first, found] = references('deletion', 'empty', 'error', 'first', 'found')
export const [gone, good, job, last, list, listings] = references('gone', 'good', 'job', 'last', 'list', 'lists')
export const [made, many, odd, one, other, pages] = references('made', 'many', 'odd', 'one', 'other', 'pages')
export const [patch, plain, put, read, refusal] = references('patch', 'plain', 'put', 'read', 'refused')
export const [second, seen, three, two, whole] = references('second', 'seen', 'three', 'two', 'whole')
