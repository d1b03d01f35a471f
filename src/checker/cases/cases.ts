/** All cases of the checker, in the order of the rules. */
import { ruleSections } from '../../spec/rules.ts'
import type { Case } from '../case/case.ts'
import { callers } from './callers.ts'
import { conditions } from './conditions.ts'
import { deletion } from './deletion.ts'
import { documents } from './documents.ts'
import { errors } from './errors.ts'
import { heads } from './heads.ts'
import { jobs } from './jobs.ts'
import { limits } from './limits.ts'
import { methods } from './methods.ts'
import { operation } from './operation.ts'
import { pages } from './pages.ts'
import { preflight } from './preflight.ts'
import { queries } from './queries.ts'
import { resources } from './resources.ts'
import { transport } from './transport.ts'
import { versions } from './versions.ts'

const casesByPrefix: Readonly<Record<string, readonly Case[]>> = {
  RES: resources,
  MET: methods,
  QRY: queries,
  PAG: pages,
  CON: conditions,
  HED: heads,
  OPT: preflight,
  DEL: deletion,
  JOB: jobs,
  AUT: callers,
  ERR: errors,
  LIM: limits,
  VER: versions,
  SEC: transport,
  DOC: documents,
  OPS: operation,
}

/** All cases, in the order of the sections of the rules. A case comes after the cases that it depends on. */
export const cases: readonly Case[] = ruleSections.flatMap(({ prefix }) => casesByPrefix[prefix] ?? [])
