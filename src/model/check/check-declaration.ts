/** Finds all mistakes in a declaration, each with its place and what to write instead. */
import { isObject, plainCopy } from '../plain-copy.ts'
import { checkAccess } from './access.ts'
import { checkChanges } from './changes.ts'
import { checkDeletion } from './deletion.ts'
import { checkFields } from './fields.ts'
import { checkInterface } from './interface.ts'
import { checkCollectionName } from './names.ts'
import { Part, type ResourceView, type ResourceViews, viewsOf } from './parts.ts'
import { mustBe, type Problem, type Report } from './problem.ts'
import { checkOwner, checkUnique, checkWithin, type Edge, findCycles, requiredReferences } from './relations.ts'
import { checkRules } from './rules.ts'

export { DeclarationError, formatProblems, type Problem } from './problem.ts'

// More collections than any interface has, and few enough to follow their references.
const mostResources = 500

/**
 * Finds all mistakes in a declaration. It never throws. If it finds nothing, the value is an `InterfaceDeclaration`
 * that `completeCatalog` accepts.
 */
export function checkDeclaration(value: unknown): Problem[] {
  const problems: Problem[] = []
  const report: Report = (path, message, remedy) => void problems.push({ path, message, remedy })
  const declaration = new Part('', plainCopy(value, report), report)
  if (!isObject(declaration.value)) {
    const remedy = 'Write export default defineInterface({ name, resources }).'
    if (problems.length === 0) report('', mustBe('an object', declaration.value), remedy)
    return problems
  }
  checkInterface(declaration)
  const resources = declaration.key('resources')
  const example = 'resources: { notes: { fields: { text: { type: "string" } } } }'
  if (!resources.object(example)) return problems
  const count = Object.keys(resources.record).length
  if (count === 0) resources.report('is empty', `Declare a collection: ${example}.`)
  if (count > mostResources) {
    resources.report(`has more than ${mostResources} collections`, 'Split the interface into smaller ones.')
    return problems
  }
  const views = viewsOf(resources)
  checkResources(resources, views, report)
  checkChanges(declaration, views, report)
  return problems
}

function checkResources(declared: Part, resources: ResourceViews, report: Report): void {
  const dependencies = declared.entries().flatMap(([name, part]) => {
    checkCollectionName(part, name)
    const resource = resources.get(name)
    if (resource !== undefined) return checkResource(resource, resources, report)
    part.object('{ fields: { title: { type: "string" } } }')
    return []
  })
  const reportCycles = (edges: readonly Edge[], message: string, remedy: string) => {
    for (const cycle of findCycles(edges)) {
      const round = [...cycle.map((edge) => edge.from), cycle[0]?.from].join(' → ')
      report(cycle[0]?.path ?? '', `${message}: ${round}`, remedy)
    }
  }
  const remedy = 'Let one of them be decided by a role, the owner or a condition.'
  reportCycles(dependencies, 'reads through itself and never ends', remedy)
  const references = [...resources.values()].flatMap(requiredReferences)
  const message = 'is needed in a circle, so that nothing could ever be created'
  reportCycles(references, message, 'Write "optional": true on one of these references.')
}

const keys = [
  'title', 'description', 'fields', 'owner', 'within', 'unique', 'deletion', 'access', 'rules', 'preconditions',
  'maxAge',
] // biome-ignore format: one row reads best

/** Checks a resource; returns which of its actions depend on which others. */
function checkResource(resource: ResourceView, resources: ResourceViews, report: Report): Edge[] {
  const { part } = resource
  part.keys(keys)
  part.key('title').title()
  part.key('description').prose()
  checkFields(resource, resources, report)
  checkOwner(resource)
  checkWithin(resource)
  checkUnique(resource)
  checkDeletion(resource)
  const dependencies = checkAccess(resource, resources)
  checkRules(resource, resources)
  part.key('preconditions').choice(['optional', 'required'])
  part.key('maxAge').whole(0, 31_536_000)
  return dependencies
}
