/** The first import of the published package: refuses an older Node.js before the library is run. */
import { missingRuntime } from './supported-node.js'

const missing = missingRuntime()
if (missing !== undefined) throw new Error(missing)
