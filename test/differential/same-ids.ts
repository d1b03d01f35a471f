/**
 * Lets two applications in one process make the same ids and the same entity tags: whatever is imported after this file
 * gets `uuidv7` from `ids.ts`, and the marks of changes from `marks.ts`. Tests of one engine against another need nothing masked then, and ids sort alike in both.
 */
import { registerHooks } from 'node:module'

const ids = new URL('./ids.ts', import.meta.url).href
const marks = new URL('./marks.ts', import.meta.url).href

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === 'uuidv7') return { url: ids, shortCircuit: true }
    if (specifier.endsWith('/marks.ts') && context.parentURL !== marks) return { url: marks, shortCircuit: true }
    return next(specifier, context)
  },
})
