/** The leader is moved in order: clients wait for some seconds. */
import { cases } from './cases.ts'
import { survives } from './survives.ts'

survives(cases.switchover)
