/** OPT: OPTIONS and CORS. */
import type { Case } from '../case/case.ts'
import { cors } from './preflight/cors.ts'
import { options } from './preflight/options.ts'

export const preflight: readonly Case[] = [...options, ...cors]
