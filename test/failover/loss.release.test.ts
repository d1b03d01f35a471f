/** Machines and programs end or stop without notice. */
import { cases } from './cases.ts'
import { survives } from './survives.ts'

survives(cases.loss)
