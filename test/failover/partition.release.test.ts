/** Machines do not reach each other, or not etcd. */
import { cases } from './cases.ts'
import { survives } from './survives.ts'

survives(cases.partition)
