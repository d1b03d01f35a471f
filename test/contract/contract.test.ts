/** The contract of storage engines, without HTTP, on the engine of this run. Another engine passes its own database. */
import { newDatabase } from '../engine.ts'
import { holdsAdministration } from './administration.ts'
import type { Engine } from './bookshop.ts'
import { holdsChanges } from './changes.ts'
import { holdsLists } from './lists.ts'

function holdsContract(engine: Engine): void {
  holdsChanges(engine)
  holdsLists(engine)
  holdsAdministration(engine)
}

holdsContract(newDatabase)
