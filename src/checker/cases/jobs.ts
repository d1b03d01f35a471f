/** JOB: long work. */
import type { Case } from '../case/case.ts'
import { exportCases } from './jobs/exports.ts'
import { jobCases } from './jobs/status.ts'

export const jobs: readonly Case[] = [...jobCases, ...exportCases]
