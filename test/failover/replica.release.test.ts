/** The replica that servers read from is promoted, lags or hangs: nobody reads what is stale. */
import { cases } from './cases.ts'
import { survives } from './survives.ts'

survives(cases.replica)
