/**
 * Lets two applications in one process make the same ids: whatever is imported after this file gets `uuidv7` from
 * `ids.ts`. Tests of one engine against another need nothing masked then, and ids sort alike in both.
 */
import { registerHooks } from 'node:module'

const ids = new URL('./ids.ts', import.meta.url).href

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'uuidv7' ? { url: ids, shortCircuit: true } : next(specifier, context),
})
