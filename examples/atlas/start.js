/** `npm start`. JavaScript, so that an older Node.js can say which version is needed. */
import '../../packages/server/src/cli/prepare-process.js'

await import('./start.ts')
