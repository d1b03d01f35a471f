/** Finds all mistakes in a declaration, each with its place and what to write instead. */
import { formSums } from '../field.ts'
import { below, pointerTo, type Steps } from '../place.ts'
import { isObject, plainCopy } from '../plain-copy.ts'
import { root } from '../structure/declaration-schema.ts'
import { checkChanges } from './changes.ts'
import { checkInterface } from './interface.ts'
import { checkTotals } from './kept-figures.ts'
import { checkCollectionName, checkRelations } from './names.ts'
import { type Finding, Part, type ResourceView, type ResourceViews, viewsOf } from './parts.ts'
import type { Problem } from './problem.ts'
import { checkResource, type Edge } from './resource.ts'
import type { SourcePlace } from './source-place.ts'
import { checkStructure } from './structure.ts'

// More collections than any interface has, and few enough to follow their references.
const mostResources = 500
// One mistake can be in thousands of places.
const mostProblems = 200

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
  const copied: Finding[] = []
  const copy = plainCopy(value, (steps, message, remedy) =>
    copied.push({ steps, code: 'INVALID_VALUE', message, remedy }),
  )
  const declaration = new Part(formSums(copy), copied)
  if (!isObject(declaration.value) && copied.length === 0) {
    const example = locate === undefined ? 'export default defineInterface({ name, resources })' : 'name and resources'
    declaration.mustBe('an object', `Write ${example}.`)
  }
  const findings = isObject(declaration.value) ? checkInterfaceAndResources(declaration) : copied
  const found = inOrder(findings, declaration.value)
    .slice(0, mostProblems)
    .map(({ steps, message, remedy, isKey = false }): Problem => {
      const source = locate?.(steps, isKey)
      return { path: below('', steps), message, remedy, ...(source === undefined ? {} : { source }) }
    })
  if (findings.length <= mostProblems) return found
  const more = `has ${findings.length - mostProblems} more mistakes`
  return [...found, { path: '', message: more, remedy: 'Correct the mistakes above first.' }]
}

/** Findings in the order of their places in the declaration; missing keys come last. */
function inOrder(findings: readonly Finding[], declaration: unknown): readonly Finding[] {
  const positions = new Map<object, ReadonlyMap<string, number>>()
  const placed = findings.map((finding) => {
    let holder: unknown = declaration
    const place = finding.steps.map((step) => {
      if (typeof holder !== 'object' || holder === null) return 0
      const indexes = positions.get(holder) ?? new Map(Object.keys(holder).map((key, index) => [key, index]))
      positions.set(holder, indexes)
      holder = Reflect.get(holder, step)
      return indexes.get(String(step)) ?? indexes.size
    })
    return { finding, place }
  })
  const order = (left: readonly number[], right: readonly number[]) =>
    left.map((index, level) => index - (right[level] ?? index)).find((difference) => difference !== 0) ?? 0
  return placed.sort((left, right) => order(left.place, right.place)).map(({ finding }) => finding)
}

function checkInterfaceAndResources(declaration: Part): readonly Finding[] {
  const resources = declaration.key('resources')
  if (Object.keys(resources.record).length > mostResources) {
    resources.report(`has more than ${mostResources} collections`, 'Split the interface into smaller ones.')
    return declaration.findings
  }
  checkStructure(declaration, root)
  const structural = declaration.findings.length
  checkMeaning(declaration, resources)
  // A value of another kind has no meaning either.
  const broken = new Set(declaration.findings.slice(0, structural).map(({ steps }) => pointerTo(steps)))
  const isBroken = (steps: Steps) => steps.some((_, index) => broken.has(pointerTo(steps.slice(0, index + 1))))
  return declaration.findings.filter(({ steps }, index) => index < structural || !isBroken(steps))
}

function checkMeaning(declaration: Part, resources: Part): void {
  checkInterface(declaration)
  if (!isObject(resources.value)) return
  if (Object.keys(resources.value).length === 0) {
    resources.report('is empty', 'Declare one: resources: { notes: { fields: { text: { type: "string" } } } }.')
  }
  const views = viewsOf(resources)
  checkResources(resources, views)
  checkChanges(declaration, views)
}

function checkResources(declared: Part, resources: ResourceViews): void {
  const dependencies = declared.entries().flatMap(([name, part]) => {
    checkCollectionName(part, name)
    const resource = resources.get(name)
    return resource === undefined ? [] : checkResource(resource, resources)
  })
  checkRelations(resources)
  checkTotals(resources)
  const remedy = 'Let one of them be decided by a role, the owner or a condition.'
  reportCycles(dependencies, 'reads through itself and never ends', remedy)
  const references = [...resources.values()].flatMap(requiredReferences)
  const message = 'is needed in a circle, so that nothing could ever be created'
  reportCycles(references, message, 'Write "optional": true on one of these references.')
}

/** The references that every record must have: in a cycle of them no record could ever be created. */
function requiredReferences({ name, fields }: ResourceView): Edge[] {
  return fields.flatMap(({ declared: { reference }, shape, part }): Edge[] =>
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
