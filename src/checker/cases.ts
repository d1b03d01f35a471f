/** All cases, section by section, and why rules have none. */
import type { Case, CaseSection } from './case.ts'
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

const sections: readonly CaseSection[] = [
  resources,
  methods,
  queries,
  pages,
  conditions,
  heads,
  preflight,
  deletion,
  jobs,
  callers,
  errors,
  limits,
  versions,
  transport,
  documents,
  operation,
]

/** All cases, in the order of the rules' document. */
export const cases: readonly Case[] = sections.flatMap((section) => section.cases)

/** Rules of which nothing can be seen from outside, and why. */
export const unseen: Readonly<Record<string, string>> = Object.assign({}, ...sections.map((section) => section.unseen))
