/** All cases of the checker, in the order of the rules. */
import { ruleSections } from 'resourced-contract/spec/rules'
import type { Case } from '../case/case.ts'
import { authentication } from './callers/credentials.ts'
import { ownRecords, permissions } from './callers/permissions.ts'
import { guards, required } from './conditions/guards.ts'
import { atOnce, order } from './conditions/order.ts'
import { unmodified } from './conditions/unmodified.ts'
import { caching, tags, validators } from './conditions/validators.ts'
import { bulkCases, refusedBulkCases } from './deletion/bulk.ts'
import { deletionByFilter, dependentCases } from './deletion/dependents.ts'
import { answerCases, goneCases } from './deletion/gone.ts'
import { restoreCases } from './deletion/restore.ts'
import { documents } from './documents.ts'
import { errors } from './errors/errors.ts'
import { eventCases } from './events/reading.ts'
import { streamCases } from './events/streams.ts'
import { webhookCases } from './events/webhooks.ts'
import { ranges } from './heads/ranges.ts'
import { preparing, same } from './heads/same.ts'
import { exportCases } from './jobs/exports.ts'
import { jobCases } from './jobs/status.ts'
import { limits } from './limits.ts'
import { preferences, repeats, searches } from './methods/repeats.ts'
import { absent, removal, safety, unsupported } from './methods/safety.ts'
import { changes, creation, replacement } from './methods/writes.ts'
import { operation } from './operation.ts'
import { cursorCases, linkCases } from './pages/cursors.ts'
import { sizeCases, styleCases, totalCases } from './pages/styles.ts'
import { cors } from './preflight/cors.ts'
import { options } from './preflight/options.ts'
import { fieldsCases, filterCases, idCases } from './queries/filters.ts'
import { orderCases, searchCases } from './queries/order.ts'
import { deletedCases, refusedCases } from './queries/refused.ts'
import { addresses, identifiers } from './resources/addresses.ts'
import { deletionTimes, names, structure, times } from './resources/members.ts'
import { oddAddresses, unknownMembers } from './resources/strictness.ts'
import { transport } from './transport.ts'
import { versions } from './versions.ts'

/** The cases of each section. A case comes after the cases that it depends on. */
export const casesByPrefix = {
  RES: [
    ...addresses,
    ...identifiers,
    ...times,
    ...deletionTimes,
    ...names,
    ...structure,
    ...unknownMembers,
    ...oddAddresses,
  ],
  MET: [
    ...safety,
    ...creation,
    ...replacement,
    ...changes,
    ...removal,
    ...unsupported,
    ...absent,
    ...preferences,
    ...repeats,
    ...searches,
  ],
  QRY: [...filterCases, ...orderCases, ...fieldsCases, ...searchCases, ...deletedCases, ...refusedCases],
  WHR: idCases,
  PAG: [...sizeCases, ...styleCases, ...totalCases, ...cursorCases, ...linkCases],
  CON: [...caching, ...validators, ...guards, ...unmodified, ...atOnce, ...order, ...required, ...tags],
  HED: [...same, ...preparing, ...ranges],
  OPT: [...options, ...cors],
  DEL: [
    ...goneCases,
    ...answerCases,
    ...dependentCases,
    ...restoreCases,
    ...bulkCases,
    ...refusedBulkCases,
    ...deletionByFilter,
  ],
  JOB: [...jobCases, ...exportCases],
  AUT: [...authentication, ...permissions, ...ownRecords],
  EVT: [...eventCases, ...streamCases, ...webhookCases],
  ERR: errors,
  LIM: limits,
  VER: versions,
  SEC: transport,
  DOC: documents,
  OPS: operation,
} as const satisfies Readonly<Record<string, readonly Case[]>>

export const cases: readonly Case[] = ruleSections.flatMap(
  ({ prefix }) => (casesByPrefix as Readonly<Record<string, readonly Case[]>>)[prefix] ?? [],
)
