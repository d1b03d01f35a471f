/** Finds all mistakes in a declaration, each with its place and what to write instead. */

import { isRecord } from '../field.ts'
import { at } from '../place.ts'
import { plainCopy } from '../plain-copy.ts'
import { checkAccess } from './access.ts'
import { checkChanges } from './changes.ts'
import { checkDeletion } from './deletion.ts'
import { checkFields } from './fields.ts'
import { checkInterface } from './interface.ts'
import { checkCollectionName } from './names.ts'
import {
  checkChoice,
  checkKeys,
  checkText,
  checkTitle,
  checkWhole,
  expectRecord,
  mustBe,
  own,
  type Problem,
  type Report,
} from './problem.ts'
import { checkOwner, checkUnique, checkWithin, findCycles, requiredReferences } from './relations.ts'
import { checkRules } from './rules.ts'
import { type ResourceView, type ResourceViews, viewsOf } from './views.ts'

export { DeclarationError, formatProblems, type Problem } from './problem.ts'

// More collections than any interface has, and few enough to follow them all round.
const mostResources = 500

/**
 * Finds everything wrong in a declaration. Never throws, whatever it is given; where it finds nothing, the value is
 * an `InterfaceDeclaration` that `completeCatalog` accepts.
 */
export function checkDeclaration(value: unknown): Problem[] {
  const problems: Problem[] = []
  const report: Report = (path, message, remedy) => {
    problems.push({ path, message, remedy })
  }
  const declaration = plainCopy(value, report)
  if (!isRecord(declaration)) {
    const remedy = 'Write export default defineInterface({ name, resources }).'
    if (problems.length === 0) report('', mustBe('an object', declaration), remedy)
    return problems
  }
  checkInterface(report, declaration)
  const resources = own(declaration, 'resources')
  const example = 'resources: { notes: { fields: { text: { type: "string" } } } }'
  if (!expectRecord(report, 'resources', resources, example)) return problems
  const names = Object.keys(resources)
  if (names.length === 0) report('resources', 'is empty', `Declare a collection: ${example}.`)
  if (names.length > mostResources) {
    report('resources', `has more than ${mostResources} collections`, 'Split the interface into smaller ones.')
    return problems
  }
  const views = viewsOf(declaration)
  checkResources(report, resources, views)
  checkChanges(report, declaration, views)
  return problems
}

function checkResources(report: Report, declared: Readonly<Record<string, unknown>>, resources: ResourceViews): void {
  const throughs = Object.keys(declared).flatMap((name) => {
    const path = at('resources', name)
    checkCollectionName(report, path, name)
    const resource = resources.get(name)
    if (resource !== undefined) return checkResource(report, resource, resources)
    expectRecord(report, path, declared[name], '{ fields: { title: { type: "string" } } }')
    return []
  })
  for (const cycle of findCycles(throughs)) {
    const round = [...cycle.map((edge) => edge.from), cycle[0]?.from].join(' → ')
    report(
      cycle[0]?.path ?? '',
      `reads through itself and never ends: ${round}`,
      'Let one of them be decided by a role, the owner or a condition.',
    )
  }
  for (const cycle of findCycles([...resources.values()].flatMap(requiredReferences))) {
    const round = [...cycle.map((edge) => edge.from), cycle[0]?.from].join(' → ')
    report(
      cycle[0]?.path ?? '',
      `is needed in a circle, so that nothing could ever be created: ${round}`,
      'Write "optional": true on one of these references.',
    )
  }
}

const keys = [
  'title', 'description', 'fields', 'owner', 'within', 'unique', 'deletion', 'access', 'rules', 'preconditions', 'maxAge',
] // biome-ignore format: one row reads best

/** Checks a resource; returns which of its actions read through which others. */
function checkResource(report: Report, resource: ResourceView, resources: ResourceViews) {
  const { path, declared } = resource
  checkKeys(report, path, declared, keys)
  checkTitle(report, at(path, 'title'), own(declared, 'title'))
  checkText(report, at(path, 'description'), own(declared, 'description'))
  checkFields(report, resource, resources)
  checkOwner(report, resource)
  checkWithin(report, resource)
  checkUnique(report, resource)
  checkDeletion(report, resource)
  const throughs = checkAccess(report, resource, resources)
  checkRules(report, resource, resources)
  checkChoice(report, at(path, 'preconditions'), own(declared, 'preconditions'), ['optional', 'required'])
  checkWhole(report, at(path, 'maxAge'), own(declared, 'maxAge'), 0, 31_536_000)
  return throughs
}
