/** All cases of the checker, in the order of the rules. */
import { ruleSections } from '../spec/rules.ts'
import type { Case } from './case.ts'
import { callers } from './cases/callers.ts'
import { conditions } from './cases/conditions.ts'
import { deletion } from './cases/deletion.ts'
import { documents } from './cases/documents.ts'
import { errors } from './cases/errors.ts'
import { heads } from './cases/heads.ts'
import { jobs } from './cases/jobs.ts'
import { limits } from './cases/limits.ts'
import { methods } from './cases/methods.ts'
import { operation } from './cases/operation.ts'
import { pages } from './cases/pages.ts'
import { preflight } from './cases/preflight.ts'
import { queries } from './cases/queries.ts'
import { resources } from './cases/resources.ts'
import { transport } from './cases/transport.ts'
import { versions } from './cases/versions.ts'

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
