/** Finds all mistakes in a declaration, each with its place and what to write instead. */
import { below, type Steps } from '../place.ts'
import { isObject, plainCopy } from '../plain-copy.ts'
import { checkChanges } from './changes.ts'
import { checkInterface } from './interface.ts'
import { checkCollectionName } from './names.ts'
import { type Finding, Part, type ResourceView, type ResourceViews, viewsOf } from './parts.ts'
import type { Problem } from './problem.ts'
import { checkResource, type Edge } from './resource.ts'
import type { SourcePlace } from './source-place.ts'

// More collections than any interface has, and few enough to follow their references.
const mostResources = 500

/**
 * Finds the place of a part in the text that the declaration was read from.
 *
 * @param steps to the part; a missing part has the place of the nearest one that exists
 * @param isKey whether the key is meant, and not its value
 */
export type Locate = (steps: Steps, isKey: boolean) => SourcePlace | undefined

/**
 * Finds all mistakes in a declaration. It never throws. If it finds nothing, the value is an `InterfaceDeclaration`
 * that `completeCatalog` accepts.
 *
 * @param locate finds the places of mistakes in a text; default: the declaration has no text
 */
export function checkDeclaration(value: unknown, locate?: Locate): Problem[] {
  const findings: Finding[] = []
  const declaration = new Part(
    plainCopy(value, (steps, message, remedy) => findings.push({ steps, code: 'INVALID_VALUE', message, remedy })),
    findings,
  )
  if (isObject(declaration.value)) checkInterfaceAndResources(declaration)
  else if (findings.length === 0) {
    declaration.mustBe('an object', 'Write export default defineInterface({ name, resources }).')
  }
  return findings.map(({ steps, message, remedy, isKey = false }) => {
    const source = locate?.(steps, isKey)
    return { path: below('', steps), message, remedy, ...(source === undefined ? {} : { source }) }
  })
}

function checkInterfaceAndResources(declaration: Part): void {
  checkInterface(declaration)
  const resources = declaration.key('resources')
  const example = 'resources: { notes: { fields: { text: { type: "string" } } } }'
  if (!resources.object(example)) return
  const count = Object.keys(resources.record).length
  if (count === 0) resources.report('is empty', `Declare a collection: ${example}.`)
  if (count > mostResources) {
    resources.report(`has more than ${mostResources} collections`, 'Split the interface into smaller ones.')
    return
  }
  const views = viewsOf(resources)
  checkResources(resources, views)
  checkChanges(declaration, views)
}

function checkResources(declared: Part, resources: ResourceViews): void {
  const dependencies = declared.entries().flatMap(([name, part]) => {
    checkCollectionName(part, name)
    const resource = resources.get(name)
    if (resource !== undefined) return checkResource(resource, resources)
    part.object('{ fields: { title: { type: "string" } } }')
    return []
  })
  const remedy = 'Let one of them be decided by a role, the owner or a condition.'
  reportCycles(dependencies, 'reads through itself and never ends', remedy)
  const references = [...resources.values()].flatMap(requiredReferences)
  const message = 'is needed in a circle, so that nothing could ever be created'
  reportCycles(references, message, 'Write "optional": true on one of these references.')
}

/** The references that every record must have: in a cycle of them no record could ever be created. */
function requiredReferences({ name, fields }: ResourceView): Edge[] {
  return [...fields.values()].flatMap(({ declared: { reference }, shape, part }): Edge[] =>
    typeof reference === 'string' && !shape.optional ? [{ from: name, to: reference, place: part }] : [],
  )
}

function reportCycles(edges: readonly Edge[], message: string, remedy: string): void {
  for (const cycle of findCycles(edges)) {
    const [first] = cycle
    const round = [...cycle, first].map((edge) => edge?.from).join(' → ')
    first?.place.report(`${message}: ${round}`, remedy)
  }
}

/** One cycle for each group of nodes that lead back to themselves: its edges in order, from the first declared. */
function findCycles(edges: readonly Edge[]): Edge[][] {
  const leaving = Map.groupBy(edges, (edge) => edge.from)
  const done = new Set<string>()
  const reported = new Set<string>()
  const cycles: Edge[][] = []

  function visit(node: string, trail: readonly Edge[]): void {
    for (const edge of leaving.get(node) ?? []) {
      const start = trail.findIndex((step) => step.from === edge.to)
      const cycle = edge.to === node ? [edge] : start >= 0 ? [...trail.slice(start), edge] : undefined
      if (cycle !== undefined) {
        if (!cycle.some((step) => reported.has(step.from))) cycles.push(cycle)
        for (const step of cycle) reported.add(step.from)
      } else if (!done.has(edge.to)) visit(edge.to, [...trail, edge])
    }
    done.add(node)
  }

  for (const node of leaving.keys()) if (!done.has(node)) visit(node, [])
  return cycles
}
